//! The effective settings of a file: its configuration combined with the command line.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::args::Args;
use super::configured::{Entry, entries};
use super::globs::Globs;
use crate::cli::catalog::Catalog;
use crate::cli::config::{Config, Configs};
use crate::cli::{Failure, opset, selectors, targets};
use crate::diag::{Finding, Level, RuleId, Selection, rule_ids};
use crate::evidence::Input;
use crate::lint::LintOptions;
use crate::read::external::DataFolders;
use crate::rules::registry::RuleSet;
use crate::source::SourceFiles;
use crate::targets::Profile;

/// The settings that all files of one configuration share.
#[derive(Debug)]
pub struct Settings {
    /// Warnings about the selected rules.
    pub remarks: Vec<String>,
    pub sources: Arc<SourceFiles>,
    /// The targets of `--target` or the configuration.
    pub targets: Vec<Arc<Profile>>,
    /// Axes of inputs that are to be dynamic.
    pub dynamic: Vec<crate::batching::request::FreeDim>,
    opset: Option<i64>,
    rules: Arc<RuleSet>,
    selection: Selection,
    /// The lowest severity to show.
    severity: Level,
    /// Configured severities by code or prefix; `None` for rules that are off.
    levels: BTreeMap<String, Option<Level>>,
    /// The suppressions of the configuration.
    pub suppress: Vec<Entry>,
    /// Codes to ignore in some files.
    per_file_ignores: Globs<Selection>,
}

impl Settings {
    /// Combines the command line and a configuration.
    pub fn new(args: &Args, config: &Config, catalog: &Catalog) -> Result<Self, Failure> {
        let in_config = |key: &str| config.origin(key);
        let codes = |words: &[String], origin: &str| selectors::resolve(words, catalog, origin);

        let mut select = match (&args.select, &config.select) {
            (Some(words), _) => codes(words, "--select")?,
            (None, Some(words)) => codes(words, &in_config("select"))?,
            (None, None) => vec!["ALL".to_owned()],
        };
        select.extend(codes(&config.extend_select, &in_config("extend-select"))?);
        select.extend(codes(&args.extend_select, "--extend-select")?);
        let mut ignore = codes(&config.ignore, &in_config("ignore"))?;
        ignore.extend(codes(&args.ignore, "--ignore")?);

        let preview = args.preview || config.preview;
        ignore.extend(catalog.not_applied(preview));

        let mut levels = BTreeMap::new();
        for (rule, level) in &config.rule_severity {
            let origin = in_config("rule-severity");
            for code in codes(std::slice::from_ref(rule), &origin)? {
                levels.insert(code, *level);
            }
        }
        let mut ignores = Vec::new();
        for (glob, words) in &config.per_file_ignores {
            let codes = codes(words, &in_config("per-file-ignores"))?;
            ignores.push((glob.as_str(), Selection::new(codes, Vec::new())));
        }
        let warnings = |words: &[String], origin: &str| selectors::warnings(words, catalog, origin, preview);
        let mut remarks = match (&args.select, &config.select) {
            (Some(words), _) => warnings(words, "--select"),
            (None, words) => warnings(words.as_deref().unwrap_or_default(), &in_config("select")),
        };
        remarks.extend(warnings(&config.extend_select, &in_config("extend-select")));
        remarks.extend(warnings(&args.extend_select, "--extend-select"));
        Ok(Settings {
            remarks,
            sources: Arc::new(sources(args, config)),
            targets: targets(args, config)?,
            dynamic: args.dynamic.clone(),
            opset: args.opset.or(opset::configured(config.opset, &in_config("opset"))?),
            rules: catalog.applied(preview).clone(),
            selection: Selection::new(select, ignore),
            severity: args.severity.or(config.severity).unwrap_or(default_severity(args)),
            levels,
            suppress: entries(config, catalog)?,
            per_file_ignores: Globs::new(&config.folder, ignores.into_iter())?,
        })
    }

    /// Returns the lint options for the model in `input`.
    pub fn lint_options(&self, input: &Input) -> LintOptions {
        LintOptions {
            selection: self.selection.clone(),
            rules: self.rules.clone(),
            folders: input.path.as_deref().map(DataFolders::of_model),
            opset: self.opset,
            targets: self.targets.clone(),
            dynamic: self.dynamic.clone(),
            sources: self.sources.clone(),
        }
    }

    /// Returns true if a rule is selected.
    pub fn selects(&self, code: &str) -> bool {
        self.selection.contains(code)
    }

    /// Returns true if a suppression of these rules may be reported when it suppresses nothing.
    ///
    /// With the options of this run, at least one of the rules must be able to report findings, and each rule that is
    /// able to must be enabled for the file.
    pub fn judges(&self, input: &Input, codes: &Selection) -> bool {
        let rules =
            rule_ids::ALL.iter().map(|rule| rule.code).chain(self.rules.iter().map(|rule| &*rule.code));
        let mut meant = rules.filter(|code| codes.contains(code) && self.could_report(code)).peekable();
        let is_ignored = |code: &str| {
            let mut ignores = input.path.iter().flat_map(|path| self.per_file_ignores.matches(path));
            ignores.any(|ignored| ignored.contains(code))
        };
        let is_enabled =
            |code: &str| self.selects(code) && self.level(code, Level::Error).is_some() && !is_ignored(code);
        meant.peek().is_some() && meant.all(is_enabled)
    }

    /// Returns true if the linter may report a rule in runs with these options.
    fn could_report(&self, code: &str) -> bool {
        let is = |rule: RuleId| rule.code == code;
        let family = code.trim_end_matches(|char: char| char.is_ascii_digit());
        match family {
            // onnx-fix reports CVT, FIX and VER. INT, RUL and SUP are about the linter, rule files and
            // suppressions, not about a model.
            "CVT" | "FIX" | "VER" | "INT" | "RUL" | "SUP" => false,
            // These three OPV rules depend on the model alone.
            _ if [
                rule_ids::IR_VERSION_MISMATCH,
                rule_ids::RESIZE_SEMANTICS_CHANGED,
                rule_ids::FUNCTION_OPSET,
            ]
            .into_iter()
            .any(is) =>
            {
                true
            }
            "OPV" => self.opset.is_some() || !self.targets.is_empty(),
            _ if is(rule_ids::TARGET_UNSUPPORTED) => !self.targets.is_empty(),
            _ if is(rule_ids::STATIC_AXIS) => !self.dynamic.is_empty(),
            _ => !is(rule_ids::EXPORT_FAILED),
        }
    }

    /// Returns the configured severity of a rule, else `own`; `None` if the rule is off.
    ///
    /// The severity that is configured for the longest matching prefix applies.
    pub fn level(&self, code: &str, own: Level) -> Option<Level> {
        let given = self.levels.iter().filter(|(word, _)| *word == "ALL" || code.starts_with(&**word));
        let length = |word: &str| if word == "ALL" { 0 } else { word.len() };
        given.max_by_key(|(word, _)| length(word)).map_or(Some(own), |(_, level)| *level)
    }

    /// Sets the configured severity of a finding; returns true if its rule is enabled for the file.
    pub fn enables(&self, input: &Input, finding: &mut Finding) -> bool {
        let Some(level) = self.level(&finding.code, finding.level) else { return false };
        finding.level = level;
        let mut ignores = input.path.iter().flat_map(|path| self.per_file_ignores.matches(path));
        self.selection.contains(&finding.code) && !ignores.any(|ignored| ignored.contains(&finding.code))
    }

    /// Returns true if a finding is below the lowest severity to show.
    pub fn hides(&self, finding: &Finding) -> bool {
        finding.level < self.severity
    }

    /// Sets the configured severity of a finding; returns true if it is to be shown.
    pub fn shows(&self, input: &Input, finding: &mut Finding) -> bool {
        self.enables(input, finding) && !self.hides(finding)
    }
}

/// Returns the targets of the command line, else those of the configuration.
fn targets(args: &Args, config: &Config) -> Result<Vec<Arc<Profile>>, Failure> {
    let known = targets::load(&targets::folders(&args.targets, config), args.color.when)?;
    match args.target.is_empty() {
        false => targets::find(&known, &args.target, "--target"),
        true => targets::find(&known, &config.target, &config.origin("target")),
    }
}

/// Returns the lowest severity to show if no severity is set.
///
/// There are many hints, so by default they are shown only if the command line selects rules.
fn default_severity(args: &Args) -> Level {
    let asked = args.select.is_some() || !args.extend_select.is_empty();
    if asked { Level::Hint } else { Level::Info }
}

fn sources(args: &Args, config: &Config) -> SourceFiles {
    let mapped = |(from, to): (&String, &String)| {
        (from.clone(), config.resolve(to.as_ref()).to_string_lossy().into_owned())
    };
    let path_map = args.path_map.iter().cloned().chain(config.path_map.iter().map(mapped)).collect();
    let roots = config.source_root.iter().map(|root| config.resolve(root));
    SourceFiles::new(path_map, args.source_root.iter().cloned().chain(roots).collect())
}

/// An input with its settings.
pub type Assigned = (Input, Arc<Settings>);

/// Pairs every input with its settings, which inputs of one configuration share.
pub fn assign(
    inputs: Vec<Input>,
    args: &Args,
    configs: &Configs,
    catalog: &Catalog,
) -> Result<Vec<Assigned>, Failure> {
    let mut known: Vec<(Arc<Config>, Arc<Settings>)> = Vec::new();
    let mut assigned = Vec::with_capacity(inputs.len());
    for input in inputs {
        let config = configs.for_folder(input.folder())?;
        let settings = match known.iter().find(|(other, _)| Arc::ptr_eq(other, &config)) {
            Some((_, settings)) => settings.clone(),
            None => {
                let settings = Arc::new(Settings::new(args, &config, catalog)?);
                known.push((config, settings.clone()));
                settings
            }
        };
        assigned.push((input, settings));
    }
    Ok(assigned)
}
