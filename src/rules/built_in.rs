//! The built-in rules: their files and the index of them.
//!
//! All builds embed the files and the index. Debug builds read the folder `rules/` of the checkout at run
//! time, so that rules can be edited without recompiling, and index only the files that have changed since
//! the compilation. In every build, the environment variable `ONNX_LINT_RULES` selects a different folder.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::{env, fs, io};

use walkdir::WalkDir;

use super::check::{Faults, check_file};
use super::index::{Index, Indexed};
use super::rule::{Phase, Rule, RuleStatus};
use super::syntax::ast::FileAst;
use super::syntax::parse;
use crate::diag::{Finding, Level};
use crate::graph::syntax::Source;

mod embedded {
    use super::{Level, Phase, RuleHeader};

    include!(concat!(env!("OUT_DIR"), "/rules.rs"));

    /// Whether the build uses these rules even if the folder of the checkout has changed.
    #[cfg(embedded_rules)]
    pub const ARE_DEFAULT: bool = true;
    /// Whether the build uses these rules even if the folder of the checkout has changed.
    #[cfg(not(embedded_rules))]
    pub const ARE_DEFAULT: bool = false;

    /// The rules at the time of the compilation.
    pub static RULES: super::BuiltIn = super::BuiltIn { files: FILES, headers: HEADERS, shared: SHARED };
}

/// File name extension of rule files.
pub const EXTENSION: &str = "rule";

/// Environment variable that selects the folder of the built-in rules.
pub const VARIABLE: &str = "ONNX_LINT_RULES";

/// Built-in rules: the rule files and their index.
#[derive(Debug, Default)]
pub struct BuiltIn {
    /// Path and text of each file, sorted by path; a path begins with `rules/`.
    pub files: &'static [(&'static str, &'static str)],
    /// Index entries of all rules.
    pub headers: &'static [RuleHeader],
    /// Texts that rules share: the `defaults` entry and the functions of each rule file.
    shared: &'static [&'static str],
}

impl BuiltIn {
    /// Returns the index entries of the rules of a file. The entries are in the order of the files.
    fn headers_of(&self, path: &str) -> &'static [RuleHeader] {
        let start = self.headers.partition_point(|header| header.path < path);
        let end = self.headers.partition_point(|header| header.path <= path);
        &self.headers[start..end]
    }
}

/// Index entry of a rule, with its text without examples.
#[derive(Clone, Debug)]
pub struct RuleHeader {
    /// `OPT101`.
    pub code: &'static str,
    /// `double-transpose`.
    pub name: &'static str,
    /// Name of the rule's status, and the code of the successor of a deprecated rule.
    pub(super) status: (&'static str, Option<&'static str>),
    /// Level that the rule declares; findings of an analysis can have another level.
    pub severity: Level,
    /// First line of the rule's docs.
    pub summary: &'static str,
    /// Code after `fixes`: the rule that reports the findings that this rule fixes.
    pub fixes: Option<&'static str>,
    /// First opset at which the rule applies without a target.
    pub since: Option<i64>,
    /// For some nodes that all matches contain, the operators that each may have.
    pub needs: &'static [&'static [&'static str]],
    /// Phase; `None` for the page of a built-in analysis, which has no pattern.
    pub(super) phase: Option<Phase>,
    pub(super) path: &'static str,
    /// Indices into [`BuiltIn::shared`]: the defaults of the rule's file, and the functions that the rule
    /// calls.
    shared: &'static [usize],
    text: &'static str,
}

impl RuleHeader {
    /// Returns the status of the rule.
    pub fn status(&self) -> RuleStatus {
        let (name, successor) = self.status;
        RuleStatus::of_words(name, successor).unwrap_or_default()
    }

    /// Returns true if the rule has this code, in upper or lower case, or this name.
    pub fn is_named(&self, code_or_name: &str) -> bool {
        self.code.eq_ignore_ascii_case(code_or_name) || self.name == code_or_name
    }

    /// Parses the rule, without examples, or returns `None` if the rule has a fault.
    pub(super) fn read(&self) -> Option<Rule> {
        let BuiltIn { shared, .. } = built_in();
        let mut text: String = self.shared.iter().flat_map(|&index| [shared[index], "\n"]).collect();
        text.push_str(self.text);
        let source = Source::new(self.path, &text);
        let (file, _) = parse(&source);
        // The text lacks the examples, and functions of the file that the rule does not call.
        let file = FileAst { is_whole: false, ..file };
        let rules = check_file(file, &mut Faults::new(&source));
        let rule = rules.into_iter().rev().find(|rule| *rule.code == *self.code);
        if rule.is_none() {
            dropped().insert(self.path);
        }
        rule.map(|rule| Rule { is_built_in: true, ..rule })
    }
}

/// Returns the files of the rules that were dropped because of a fault.
fn dropped() -> MutexGuard<'static, BTreeSet<&'static str>> {
    static DROPPED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    DROPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the faults in the files of rules that were dropped so far. Embedded rules have no faults.
pub fn faults() -> Vec<Finding> {
    let paths = dropped().clone();
    let files = built_in().files.iter().filter(|(path, _)| paths.contains(path));
    let faults = files.flat_map(|(path, text)| {
        let source = Source::new(path, text);
        let (file, mut findings) = parse(&source);
        let mut faults = Faults::new(&source);
        check_file(file, &mut faults);
        findings.extend(faults.into_findings());
        findings
    });
    faults.collect()
}

/// Returns the built-in rules, or no rules if these cannot be loaded. [`load`] returns the reason.
pub fn built_in() -> &'static BuiltIn {
    static NONE: BuiltIn = BuiltIn { files: &[], headers: &[], shared: &[] };
    load().unwrap_or(&NONE)
}

/// Loads the built-in rules once.
///
/// # Errors
/// The folder or one of its files cannot be read, or the index lacks a valid property of a rule, such as its phase.
pub fn load() -> Result<&'static BuiltIn, &'static str> {
    static LOADED: OnceLock<Result<&'static BuiltIn, String>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| match env::var_os(VARIABLE) {
        None if embedded::ARE_DEFAULT => Ok(&embedded::RULES),
        folder => read_folder(folder).map(|rules| &*Box::leak(Box::new(rules))),
    });
    loaded.as_ref().copied().map_err(String::as_str)
}

fn read_folder(named: Option<OsString>) -> Result<BuiltIn, String> {
    let is_named = named.is_some();
    let folder = named.map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("rules"), PathBuf::from);
    let files = rule_files(&folder).map_err(|error| match is_named {
        true => format!("{VARIABLE}: {}: {error}", folder.display()),
        false => format!("{}: {error}; set {VARIABLE} to use another folder of rules", folder.display()),
    })?;
    let known = &embedded::RULES;
    let (mut index, mut headers) = (Index::default(), Vec::new());
    for file @ (path, text) in files {
        if known.files.binary_search(file).is_ok() {
            headers.extend_from_slice(known.headers_of(path));
        } else {
            index.add(path, text).map_err(|why| format!("{path}: {why}"))?;
        }
    }
    for mut rule in index.rules {
        // The texts of the changed files follow those of the embedded files.
        rule.shared.iter_mut().for_each(|at| *at += known.shared.len());
        headers.push(brief(rule)?);
    }
    let shared = [known.shared, &index.shared].concat();
    Ok(BuiltIn { files, headers: headers.leak(), shared: shared.leak() })
}

/// Returns the paths and texts of the rule files below a folder, sorted by path.
/// The texts are leaked to get the lifetime `'static` of embedded texts.
fn rule_files(folder: &Path) -> io::Result<&'static [(&'static str, &'static str)]> {
    let mut files: Vec<(&str, &str)> = Vec::new();
    for entry in WalkDir::new(folder) {
        let path = entry?.into_path();
        if path.extension().is_some_and(|extension| extension == EXTENSION) {
            let inside = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            files.push((format!("rules/{inside}").leak(), fs::read_to_string(&path)?.leak()));
        }
    }
    files.sort_unstable();
    Ok(files.leak())
}

fn brief(rule: Indexed<'static>) -> Result<RuleHeader, String> {
    let Indexed { path, code, name, summary, status, fixes, since, .. } = rule;
    let phase = match rule.phase {
        Some(word) => {
            Some(Phase::of_word(word).ok_or_else(|| format!("{path}: {code}: unknown phase `{word}`"))?)
        }
        None => None,
    };
    let text = |op: Cow<'static, str>| match op {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => text.leak(),
    };
    let ops = |ops: Vec<Cow<'static, str>>| &*ops.into_iter().map(text).collect::<Vec<&str>>().leak();
    let needs: Vec<&[&str]> = rule.needs.into_iter().map(ops).collect();
    Ok(RuleHeader {
        severity: rule.severity.parse().map_err(|why| format!("{path}: {code}: {why}"))?,
        needs: needs.leak(),
        shared: rule.shared.leak(),
        text: rule.text.leak(),
        code,
        name,
        summary,
        status,
        fixes,
        since,
        phase,
        path,
    })
}

/// Returns the files of `rules/lib`, whose functions and patterns every rule can use.
pub fn library() -> &'static [FileAst] {
    static LIBRARY: OnceLock<Vec<FileAst>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let files = built_in().files.iter().filter(|(path, _)| path.starts_with("rules/lib/"));
        files.map(|(path, text)| parse(&Source::new(path, text)).0).collect()
    })
}
