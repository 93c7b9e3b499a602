//! Target sets: built-in targets, and those that a user adds.

use std::io;
use std::path::Path;
use std::sync::Arc;

use walkdir::WalkDir;

use super::check::{Target, check, parts};
use super::profile::{Profile, Range};
use super::syntax::{TARGETS, parse};
use crate::diag::Finding;
use crate::graph::syntax::Source;
use crate::graph::syntax::suggest::closest;
use crate::rules::check::Faults;

include!(concat!(env!("OUT_DIR"), "/targets.rs"));

/// File name extension of target files.
pub const EXTENSION: &str = "target";

/// Built-in target, parsed on demand.
struct Embedded {
    name: &'static str,
    aliases: &'static [&'static str],
    path: &'static str,
    text: &'static str,
}

/// Available targets.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// Targets added by the user; they take precedence over built-in ones of the same name.
    own: Vec<Arc<Target>>,
}

/// Parses and checks one file.
fn read(source: &Source) -> (Option<Target>, Vec<Finding>) {
    let (ast, mut findings) = parse(source);
    let Some(ast) = ast else { return (None, findings) };
    let mut faults = Faults::of(source, TARGETS);
    faults.set_whole(ast.is_whole);
    let target = check(&ast, &mut faults);
    findings.extend(faults.into_findings());
    (target, findings)
}

impl Embedded {
    /// Parses the target; `None` if the target has a fault (a test checks that none has).
    fn read(&self) -> Option<Target> {
        read(&Source::new(self.path, self.text)).0
    }
}

impl Targets {
    /// Returns the faults of the built-in targets; a test checks that there are none.
    pub fn faults() -> Vec<Finding> {
        EMBEDDED.iter().flat_map(|one| read(&Source::new(one.path, one.text)).1).collect()
    }

    /// Adds the target of a text in the target language; `name` identifies the text in findings.
    /// A target with faults is dropped, and the faults are returned.
    pub fn add_text(&mut self, name: &str, text: &str) -> Vec<Finding> {
        let (target, findings) = read(&Source::new(name, text));
        self.own.extend(target.map(Arc::new));
        findings
    }

    /// Adds every `.target` file below `folder`, in path order, like [`Targets::add_text`].
    ///
    /// # Errors
    /// A folder or file cannot be read.
    pub fn add_folder(&mut self, folder: &Path) -> io::Result<Vec<Finding>> {
        let mut findings = Vec::new();
        for entry in WalkDir::new(folder).sort_by_file_name() {
            let path = entry?.into_path();
            if path.is_file() && path.extension().is_some_and(|extension| extension == EXTENSION) {
                findings.extend(self.add_text(&path.to_string_lossy(), &std::fs::read_to_string(&path)?));
            }
        }
        Ok(findings)
    }

    /// Returns all targets, sorted by name.
    pub fn list(&self) -> Vec<Target> {
        let own = self.own.iter().map(|target| Target::clone(target));
        let is_new = |one: &&Embedded| self.own.iter().all(|own| *own.name != *one.name);
        let built_in = EMBEDDED.iter().filter(is_new).filter_map(Embedded::read);
        let mut all: Vec<Target> = own.chain(built_in).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Finds the profile of `ort=1.17`, or of the newest version for `ort`.
    /// A listed `1.17` also stands for `1.17.1`. For a version that the target file does not list, support of
    /// nodes is unknown; the next higher listed version, if any, limits the opset and the IR version.
    ///
    /// # Errors
    /// The target is unknown or has no versions, or the version is not a number; the message names the target
    /// or the version.
    pub fn find(&self, text: &str) -> Result<Arc<Profile>, String> {
        let (name, version) = match text.split_once('=') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        let target = self.named(name).ok_or_else(|| self.unknown(name))?;
        let newest = target.versions.last().ok_or_else(|| format!("target `{name}` has no version"))?;
        let Some(version) = version else { return Ok(newest.clone()) };
        if newest.version.is_empty() {
            return Err(format!("target `{name}` has no versions: use it without `={version}`"));
        }
        let wanted = parts(version);
        if wanted.contains(&u64::MAX) {
            return Err(format!(
                "`{version}` is not a version of {}; expected a number such as {}",
                target.title, newest.version
            ));
        }
        Ok(Arc::new(of_version(&target.versions, version, &wanted)))
    }

    fn named(&self, name: &str) -> Option<Arc<Target>> {
        let is_meant = |target: &&Arc<Target>| {
            *target.name == *name || target.aliases.iter().any(|alias| **alias == *name)
        };
        self.own.iter().find(is_meant).cloned().or_else(|| {
            let one = EMBEDDED.iter().find(|one| one.name == name || one.aliases.contains(&name))?;
            one.read().map(Arc::new)
        })
    }

    fn unknown(&self, name: &str) -> String {
        let built_in =
            EMBEDDED.iter().flat_map(|one| [one.name].into_iter().chain(one.aliases.iter().copied()));
        let names: Vec<&str> = self.own.iter().map(|own| &*own.name).chain(built_in).collect();
        match closest(name, names.iter().copied()) {
            Some(close) => format!("unknown target `{name}`; did you mean `{close}`?"),
            None => format!("unknown target `{name}`; --list-targets lists the known ones"),
        }
    }
}

/// Returns the profile of the newest listed version that equals `version` or is a prefix of it.
/// For an unlisted version, returns a profile without information about nodes; the next higher listed
/// version, if any, limits its opset and IR version.
fn of_version(versions: &[Arc<Profile>], version: &str, wanted: &[u64]) -> Profile {
    let begins = |profile: &&Arc<Profile>| wanted.starts_with(&parts(&profile.version));
    if let Some(same) = versions.iter().rev().find(begins) {
        return Profile { version: version.into(), ..Profile::clone(same) };
    }
    let later = versions.iter().find(|profile| parts(&profile.version).as_slice() > wanted);
    let known = later.or(versions.last()).map(|profile| Profile::clone(profile));
    let bounds = later.map_or((Range::ALL, Range::ALL), |later| (later.opset, later.ir));
    let upto = |range: Range| Range { from: Range::ALL.from, ..range };
    Profile {
        name: known.as_ref().map_or("".into(), |known| known.name.clone()),
        title: known.map_or("".into(), |known| known.title),
        version: version.into(),
        opset: upto(bounds.0),
        ir: upto(bounds.1),
        fixed: None,
        evidence: Vec::new(),
        domains: Vec::new(),
        lines: Default::default(),
        closed: Vec::new(),
    }
}
