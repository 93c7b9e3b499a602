//! `--upgrade-rules DIR`: upgrades rule files to the current version of the rule language.

use std::path::PathBuf;

use crate::cli::{Failure, Status, output};
use crate::diag::counted;
use crate::diag::reason;
use crate::diag::render::{self, Look};
use crate::graph::syntax::Source;
use crate::rules::registry::rule_files;
use crate::rules::syntax::upgrade;
use crate::write::file::replace;

/// Upgrades every rule file below the folders, and reports how many words were replaced.
/// If any file has errors, they are reported and no file is written.
pub fn upgrade_rules(folders: &[PathBuf], look: Look) -> Result<Status, Failure> {
    let (mut upgraded, mut findings, mut current) = (Vec::new(), Vec::new(), 0);
    for folder in folders {
        let unreadable = |error| Failure::new(format!("{}: {}", folder.display(), reason(&error)));
        for (path, text) in rule_files(folder).map_err(unreadable)? {
            match upgrade(&Source::new(&path.to_string_lossy(), &text)) {
                Ok(Some(upgrade)) => upgraded.push((path, upgrade)),
                Ok(None) => current += 1,
                Err(faults) => findings.extend(faults),
            }
        }
    }
    if !findings.is_empty() {
        let end = "No file was upgraded: correct these errors first.\n";
        output::print(&format!("{}{end}", render::findings(&findings, look)))?;
        return Ok(Status::Found);
    }
    for (path, upgrade) in &upgraded {
        replace(path, |out| out.write_all(upgrade.text.as_bytes()))
            .map_err(|error| Failure::unwritable(path, &error))?;
    }
    let words: usize = upgraded.iter().map(|(_, upgrade)| upgrade.words).sum();
    let (files, words) = (counted(upgraded.len(), "file"), counted(words, "word"));
    output::print(&format!("Upgraded {files} ({words} replaced); {current} already up to date.\n"))?;
    Ok(Status::Clean)
}
