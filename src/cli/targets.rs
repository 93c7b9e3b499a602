//! `--target`, `--targets` and `--list-targets`.

use std::io::stderr;
use std::path::PathBuf;
use std::sync::Arc;

use super::Failure;
use super::catalogue::has_files;
use super::lint::config::Config;
use super::output::{self, Colour};
use crate::diag::{Level, reason, render};
use crate::graph::syntax::suggest::counted;
use crate::targets::{EXTENSION, Known, Profile, Targets};

/// The folders of targets that are brought along.
pub fn folders(arguments: &[PathBuf], config: &Config) -> Vec<PathBuf> {
    arguments.iter().cloned().chain(config.targets.iter().map(|folder| config.resolve(folder))).collect()
}

/// The targets that are built in, and those in `folders`. Faults of those are said on standard error.
pub fn load(folders: &[PathBuf]) -> Result<Targets, Failure> {
    let mut targets = Targets::default();
    for folder in folders {
        if !has_files(folder, EXTENSION) {
            return Err(Failure::at(folder, format!("--targets: there is no .{EXTENSION} file in it")));
        }
        let failure = |error| Failure::at(folder, format!("--targets: {}", reason(&error)));
        let faults = targets.add_folder(folder).map_err(failure)?;
        let errors = faults.iter().filter(|fault| fault.level == Level::Error).count();
        if errors > 0 {
            eprint!("{}", render::findings(&faults, output::look(&stderr(), Colour::Auto)));
            return Err(Failure::new(format!("the targets have {}", counted(errors, "fault"))));
        }
    }
    Ok(targets)
}

/// What some words mean, each a name with or without a version; `origin` says where they stand.
pub fn find(targets: &Targets, words: &[String], origin: &str) -> Result<Vec<Arc<Profile>>, Failure> {
    let found = words.iter().map(|word| targets.find(word.trim()));
    found.map(|found| found.map_err(|why| Failure::new(format!("{origin}: {why}")))).collect()
}

/// A line for each version of each target.
pub fn list(targets: &Targets) -> String {
    let all = targets.list();
    let width = all.iter().map(|target| target.name.len()).max().unwrap_or(0);
    let mut lines = String::new();
    for target in &all {
        for profile in target.versions.iter().rev() {
            let known =
                Known::ALL.into_iter().filter(|&known| profile.evidence.iter().any(|one| one.known == known));
            let known: Vec<&str> = known.map(Known::name).collect();
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
