//! Abstract execution of a script and the local files that it imports.
//!
//! Values are exact as far as the source determines them, and unknown otherwise. Nothing is executed. A fault is
//! reported only if the statement certainly raises when it runs.

pub mod files;
pub mod heap;
pub mod machine;
pub mod tensor;
pub mod value;

mod argparse;
mod arithmetic;
mod attributes;
mod binding;
mod builtins;
mod calls;
mod classes;
mod comprehensions;
mod container_methods;
mod containers;
mod exceptions;
mod export;
mod expressions;
mod faults;
mod imports;
mod library;
mod loops;
mod methods;
mod module_methods;
mod modules;
mod names;
mod other_sizes;
mod paths;
mod statements;
mod strings;
mod torch;
mod unreached;
mod unsupported;

use crate::diag::Finding;
use crate::source::SourceFiles;

use machine::Machine;

/// Runs a script and returns its findings.
pub fn lint(script: &str, path: &str, sources: &SourceFiles) -> Vec<Finding> {
    let files = files::files(script, path, sources);
    if files.is_empty() {
        return vec![];
    }
    let mut machine = Machine::new(&files);
    machine.run();
    machine.check_names();
    machine.findings
}

/// Adds the findings of a run to those of other analyses.
///
/// Of two findings of a rule at one line, the one of the higher level stays.
pub fn merge(findings: &mut Vec<Finding>, found: Vec<Finding>) {
    for finding in found {
        let line = |of: &Finding| of.source.as_ref().map(|source| (source.file.clone(), source.line));
        let is_same = |known: &Finding| known.code == finding.code && line(known) == line(&finding);
        match findings.iter().position(is_same) {
            Some(at) if findings[at].level >= finding.level => {}
            Some(at) => findings[at] = finding,
            None => findings.push(finding),
        }
    }
}
