//! The rules of a run, built in and loaded from folders, as the command line lists and selects them.

use std::collections::BTreeMap;
use std::io::stderr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use walkdir::WalkDir;

use super::Failure;
use super::output::{self, When};
use crate::diag::counted;
use crate::diag::reason;
use crate::diag::{Finding, Level, render};
use crate::graph::syntax::suggest::closest;
use crate::rules::registry::{EXTENSION, RuleSet};
use crate::rules::rule::RuleStatus;

/// A rule as the command line lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    pub name: String,
    pub level: Level,
    pub status: RuleStatus,
    /// "safe" or "unsafe" if a rewrite rule of the catalog fixes findings with this code.
    pub fix: Option<&'static str>,
    pub summary: String,
}

/// Every rule, by code.
#[derive(Clone, Debug)]
pub struct Catalog {
    known: BTreeMap<String, RuleInfo>,
    rules: Arc<RuleSet>,
    /// The rules that are not previews.
    stable: Arc<RuleSet>,
}

/// Extent to which the built-in rules are parsed. Codes and names of all rules are always available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent<'c> {
    /// Rules with a pattern that report findings or fix them, without their examples.
    Linting,
    /// Rules with a pattern, without their examples.
    Fixing,
    /// All rules, with their examples.
    Pages,
    /// All rules; those with one of these codes or names have their examples.
    PagesOf(&'c [&'c str]),
}

impl Catalog {
    /// Loads the built-in rules and those in `folders`.
    ///
    /// # Errors
    /// A folder cannot be read or has no rule file, or a rule has an error. Errors and warnings are printed to standard
    /// error.
    pub fn load(folders: &[PathBuf], extent: Extent<'_>, color: When) -> Result<Self, Failure> {
        RuleSet::load().map_err(Failure::new)?;
        let (mut rules, mut faults) = match extent {
            Extent::Pages => RuleSet::embedded(),
            Extent::PagesOf(codes) => (RuleSet::with_examples_of(codes), Vec::new()),
            Extent::Linting => (RuleSet::with_previews().reporting(), Vec::new()),
            Extent::Fixing => (RuleSet::with_previews(), Vec::new()),
        };
        add_folders("--rules", folders, &mut rules, &mut faults, color)?;
        Ok(Catalog { known: known(&rules), stable: Arc::new(rules.stable()), rules: Arc::new(rules) })
    }

    /// Returns the parsed rules, including previews.
    pub fn rules(&self) -> &Arc<RuleSet> {
        &self.rules
    }

    /// Returns the rules that a run applies, with or without previews.
    pub fn applied(&self, preview: bool) -> &Arc<RuleSet> {
        if preview { &self.rules } else { &self.stable }
    }

    /// Returns the codes of the rules that a run does not apply: the preview rules, or none with `preview`.
    pub fn not_applied(&self, preview: bool) -> impl Iterator<Item = String> {
        let previews = self.iter().filter(move |(_, known)| !preview && known.status.is_preview());
        previews.map(|(code, _)| code.to_owned())
    }

    /// Iterates over all rules in the order of their codes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RuleInfo)> {
        self.known.iter().map(|(code, known)| (code.as_str(), known))
    }

    /// Returns the codes of the rules with this code or name.
    ///
    /// Several rules may have the same name, for example if one fixes the findings of another.
    pub fn codes(&self, code_or_name: &str) -> Vec<&str> {
        let meant = |(code, known): &(&str, &RuleInfo)| {
            code.eq_ignore_ascii_case(code_or_name) || known.name == code_or_name
        };
        self.iter().filter(meant).map(|(code, _)| code).collect()
    }

    /// Returns true if the code of any rule begins with `prefix`.
    pub fn has_prefix(&self, prefix: &str) -> bool {
        self.known.range(prefix.to_owned()..).next().is_some_and(|(code, _)| code.starts_with(prefix))
    }

    /// Returns the code, family or name closest to `word`, if any is close.
    pub fn suggest(&self, word: &str) -> Option<&str> {
        let family = |code: &'_ str| code.find(|char: char| char.is_ascii_digit()).unwrap_or(code.len());
        let words = self.iter().flat_map(|(code, known)| [code, known.name.as_str()]);
        let families = self.iter().map(|(code, _)| &code[..family(code)]);
        closest(word, words.chain(families))
    }
}

/// Loads the rules in `folders` alone.
///
/// # Errors
/// A folder cannot be read or has no rule file, or a rule has an error. Errors and warnings are printed to standard error.
pub fn own(folders: &[PathBuf], color: When) -> Result<RuleSet, Failure> {
    RuleSet::load().map_err(Failure::new)?;
    let mut rules = RuleSet::default();
    add_folders("--test-rules", folders, &mut rules, &mut Vec::new(), color)?;
    Ok(rules)
}

/// Adds the rules in `folders`; failures begin with the option `flag`.
fn add_folders(
    flag: &str,
    folders: &[PathBuf],
    rules: &mut RuleSet,
    faults: &mut Vec<Finding>,
    color: When,
) -> Result<(), Failure> {
    for folder in folders {
        if !has_files(folder, EXTENSION) {
            return Err(Failure::at(folder, format!("{flag}: the folder has no .rule file")));
        }
        let found = rules.add_folder(folder);
        let failure = |error| Failure::at(folder, format!("{flag}: {}", reason(&error)));
        faults.extend(found.map_err(failure)?);
    }
    if faults.iter().any(|fault| fault.level == Level::Error) {
        return Err(bad_rules(faults, color));
    }
    if !faults.is_empty() {
        output::warn(&render::findings(faults, output::look(&stderr(), color)));
    }
    Ok(())
}

/// Returns true if a folder contains a file with this extension, at any depth.
pub fn has_files(folder: &Path, ending: &str) -> bool {
    let mut files = WalkDir::new(folder).into_iter().filter_map(Result::ok);
    files.any(|entry| entry.path().is_file() && entry.path().extension().is_some_and(|end| end == ending))
}

fn known(rules: &RuleSet) -> BTreeMap<String, RuleInfo> {
    let headers = RuleSet::headers().iter().map(|brief| {
        let (name, summary) = (brief.name.to_owned(), brief.summary.to_owned());
        let info = RuleInfo { name, level: brief.severity, status: brief.status(), fix: None, summary };
        (brief.code.to_owned(), info)
    });
    // Parsed rules override the index.
    let written = rules.with_texts().map(|rule| {
        let (name, summary) = (rule.name.to_string(), rule.summary().to_owned());
        let (status, fix) = (rule.status.clone(), rule.listed().fix);
        (rule.code.to_string(), RuleInfo { name, level: rule.severity, status, fix, summary })
    });
    let mut known: BTreeMap<String, RuleInfo> = headers.chain(written).collect();
    // A rule may fix the findings of another rule; a safe fix takes precedence.
    for rule in rules.with_texts() {
        let found = rule.fixes.as_deref().and_then(|code| known.get_mut(code));
        if let Some(found) = found.filter(|found| found.fix != Some("safe")) {
            found.fix = rule.listed().fix;
        }
    }
    known
}

/// Prints the faults of built-in rules that were dropped.
///
/// # Errors
/// A rule was dropped. Only rules from a folder have faults.
pub fn none_dropped() -> Result<(), Failure> {
    let faults = RuleSet::faults();
    if faults.is_empty() { Ok(()) } else { Err(bad_rules(&faults, When::Auto)) }
}

fn bad_rules(faults: &[Finding], color: When) -> Failure {
    output::warn(&render::findings(faults, output::look(&stderr(), color)));
    let count = faults.iter().filter(|fault| fault.level == Level::Error).count();
    Failure::new(format!("the rules have {}", counted(count, "fault")))
}
