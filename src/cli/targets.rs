//! Target profiles of `--target`, `--targets` and `--list-targets`.

use std::io::stderr;
use std::path::PathBuf;
use std::sync::Arc;

use super::Failure;
use super::catalog::has_files;
use super::config::Config;
use super::output::{self, When};
use crate::diag::counted;
use crate::diag::{Level, reason, render};
use crate::targets::{EXTENSION, EvidenceKind, Profile, Targets};

/// Returns the folders of `--targets` and of the configuration.
pub fn folders(arguments: &[PathBuf], config: &Config) -> Vec<PathBuf> {
    arguments.iter().cloned().chain(config.targets.iter().map(|folder| config.resolve(folder))).collect()
}

/// Loads the built-in targets and those in `folders`.
///
/// # Errors
/// A folder cannot be read or has no target file, or a target has an error, which is printed to standard error.
pub fn load(folders: &[PathBuf], color: When) -> Result<Targets, Failure> {
    let mut targets = Targets::default();
    for folder in folders {
        if !has_files(folder, EXTENSION) {
            return Err(Failure::at(folder, format!("--targets: the folder has no .{EXTENSION} file")));
        }
        let failure = |error| Failure::at(folder, format!("--targets: {}", reason(&error)));
        let faults = targets.add_folder(folder).map_err(failure)?;
        let errors = faults.iter().filter(|fault| fault.level == Level::Error).count();
        if errors > 0 {
            output::warn(&render::findings(&faults, output::look(&stderr(), color)));
            return Err(Failure::new(format!("the targets have {}", counted(errors, "fault"))));
        }
    }
    Ok(targets)
}

/// Resolves target names with optional versions.
///
/// In messages, `origin` names the option or setting that lists the words, such as `--target`.
pub fn find(targets: &Targets, words: &[String], origin: &str) -> Result<Vec<Arc<Profile>>, Failure> {
    let found = words.iter().map(|word| targets.find(word.trim()));
    found.map(|found| found.map_err(|why| Failure::new(format!("{origin}: {why}")))).collect()
}

/// Returns a line for each version of each target.
pub fn list(targets: &Targets) -> String {
    let all = targets.list();
    let width = all.iter().map(|target| target.name.len()).max().unwrap_or(0);
    let mut lines = String::new();
    for target in &all {
        for profile in target.versions.iter().rev() {
            let known = EvidenceKind::ALL
                .into_iter()
                .filter(|&kind| profile.evidence.iter().any(|one| one.kind == kind));
            let known: Vec<&str> = known.map(EvidenceKind::name).collect();
            let what = if profile.knows_nodes() { "nodes" } else { "versions only" };
            let (name, version) = (&target.name, &profile.version);
            lines += &format!(
                "{name:width$}  {version:6}  {what:13}  {:20}  {}\n",
                known.join(", "),
                target.title
            );
        }
    }
    lines
}
