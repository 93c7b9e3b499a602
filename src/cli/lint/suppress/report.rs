//! SUP001 to SUP003: suppressions that suppress nothing, name unknown rules, or are malformed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::file::{Directive, Language};
use super::{Commented, Suppressions, codes, file_name, language, own_path, read};
use crate::cli::lint::settings::{Assigned, Settings};
use crate::diag::rule_ids::{MALFORMED_SUPPRESSION, UNKNOWN_SUPPRESSED_RULE, UNUSED_SUPPRESSION};
use crate::diag::{Finding, Place, Selection, TextPlace};
use crate::evidence::Input;

/// Findings about suppressions.
#[derive(Debug, Default)]
pub struct Report {
    /// Findings for each input, in input order.
    pub of_inputs: Vec<Vec<Finding>>,
    /// Findings for each configuration file, with the index of an input that uses it.
    pub of_configs: BTreeMap<PathBuf, (usize, Vec<Finding>)>,
}

impl Suppressions<'_> {
    /// Reports faults of suppressions.
    ///
    /// An unused comment in Python and an unused entry of a configuration may be meant for a model of another
    /// run, so they are reported only if the run covered the whole project (`is_whole`). An unused comment in
    /// Python is reported only if the run also included a model, and if no finding refers to a missing file of
    /// the same name.
    pub fn report(mut self, inputs: &[Assigned], is_whole: bool) -> Report {
        let languages: Vec<Option<Language>> = inputs.iter().map(|(input, _)| language(input)).collect();
        let is_python = |language: &Option<Language>| *language == Some(Language::Python);
        let has_models = !languages.iter().all(is_python);
        let mut report = Report::default();
        for (index, ((input, settings), language)) in inputs.iter().zip(languages).enumerate() {
            let judges_unused = !is_python(&language) || (is_whole && has_models && !self.is_missing(input));
            let mut found = self.of_comments((input, language), settings, judges_unused);
            found.extend(self.of_metadata(input, settings));
            for finding in &mut found {
                finding.file = input.name.clone();
            }
            report.of_inputs.push(found);
            for (at, one) in settings.suppress.iter().enumerate().filter(|_| is_whole) {
                if self.used_entries.insert((one.config.clone(), at)) && settings.judges(input, &one.codes) {
                    let place = one.place.clone().map_or(Place::File, Place::Text);
                    let finding = unused(&format!("`{}`", one.words.join(", ")), place);
                    let of_config = report.of_configs.entry(one.config.to_path_buf());
                    of_config.or_insert((index, Vec::new())).1.push(finding);
                }
            }
        }
        report
    }

    /// Reports faults of the suppression comments in one file; unused comments only in ONNX text.
    pub fn of_document(mut self, input: &Input, settings: &Settings) -> Vec<Finding> {
        let language = language(input);
        self.of_comments((input, language), settings, language == Some(Language::OnnxText))
    }

    /// Returns true if findings refer to a Python file of this name that was not found.
    fn is_missing(&self, input: &Input) -> bool {
        file_name(&input.name).is_some_and(|name| self.missing.contains(name))
    }

    fn of_comments(
        &mut self,
        (input, language): (&Input, Option<Language>),
        settings: &Settings,
        judges_unused: bool,
    ) -> Vec<Finding> {
        let Some(language) = language else { return Vec::new() };
        let path = own_path(input);
        let commented = self.files.entry(path).or_insert_with(|| Commented::of(&read(input), language));
        let at = |place: &TextPlace| match language {
            Language::Python => Place::Source(crate::diag::SourcePlace {
                file: input.name.clone(),
                line: place.line,
                column: place.column,
                width: place.width,
                code: Some(place.text.clone()),
                function: None,
                cell: None,
            }),
            Language::OnnxText | Language::Rules => Place::Text(place.clone()),
        };
        let mut found = Vec::new();
        for (place, why) in &commented.directives.malformed {
            let message = format!("malformed suppression: {why}");
            let help = "write `# onnx-lint: ignore[EXP001]: reason`";
            found.push(MALFORMED_SUPPRESSION.finding(message, at(place)).help(help));
        }
        for (directive, used) in commented.directives.all.iter().zip(&commented.used) {
            let words = &directive.suppression.words;
            let mut useless = Vec::new();
            for (word, is_used) in words.iter().zip(used) {
                match codes(word, self.catalog) {
                    Err(suggestion) => {
                        let message = format!("the suppression names the unknown rule `{word}`");
                        let finding = UNKNOWN_SUPPRESSED_RULE.finding(message, at(&directive.place));
                        found.push(finding.help(match suggestion {
                            Some(known) => format!("did you mean `{known}`?"),
                            None => "`onnx-lint --list-rules` lists the rules".to_owned(),
                        }));
                    }
                    Ok(codes) if !is_used && judges_unused && settings.judges(input, &codes) => {
                        useless.push(&**word)
                    }
                    Ok(_) => {}
                }
            }
            let is_useless =
                words.is_empty() && !used[0] && judges_unused && settings.judges(input, &Selection::all());
            if is_useless || (!words.is_empty() && useless.len() == words.len()) {
                found.push(unused(&format!("`{}`", written(directive)), at(&directive.place)));
            } else if !useless.is_empty() {
                let what = format!("`{}` in `{}`", useless.join(", "), written(directive));
                found.push(unused(&what, at(&directive.place)));
            }
        }
        found.retain(|finding| {
            let line = match &finding.place {
                Place::Source(source) => Some(source.line),
                Place::Text(text) => Some(text.line),
                _ => None,
            };
            let mut covering = commented.directives.at(line).flat_map(|(_, one)| &one.suppression.words);
            !covering.any(|word| codes(word, self.catalog).is_ok_and(|codes| codes.contains(&finding.code)))
        });
        found
    }

    /// Reports the unused suppressions in the metadata of a model, and the unknown rules that they name.
    fn of_metadata(&mut self, input: &Input, settings: &Settings) -> Vec<Finding> {
        let unused_ones = self.in_models.remove(&input.name).unwrap_or_default();
        let mut found = Vec::new();
        for one in unused_ones {
            let what = format!("`{}` in the metadata", one.words.join(", "));
            for word in one.words.iter().filter(|word| codes(word, self.catalog).is_err()) {
                let message = format!("the suppression in the metadata names the unknown rule `{word}`");
                found.push(UNKNOWN_SUPPRESSED_RULE.finding(message, one.place.clone()));
            }
            if settings.judges(input, &self.selection(&one.words)) {
                found.push(unused(&what, one.place));
            }
        }
        found
    }
}

fn unused(what: &str, place: Place) -> Finding {
    UNUSED_SUPPRESSION.finding(format!("{what} suppresses nothing"), place).help("remove it")
}

/// Formats a suppression as written: `ignore[EXP001, DTY]`.
fn written(directive: &Directive) -> String {
    let suppression = &directive.suppression;
    let word = match suppression.scope {
        super::comment::Scope::Line => "ignore",
        super::comment::Scope::File => "ignore-file",
    };
    match suppression.words.as_slice() {
        [] => word.to_owned(),
        words => format!("{word}[{}]", words.join(", ")),
    }
}
