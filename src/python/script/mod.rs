//! Abstract execution of a script and the local files that it imports.
//!
//! Values are exact as far as the source determines them, and unknown otherwise. Nothing is executed. An
//! exception is reported only if the statement certainly raises when it runs.

pub mod files;
mod fill;
pub mod heap;
pub mod machine;
pub mod tensor;
pub mod value;

mod argparse;
mod arithmetic;
mod attribute_dicts;
mod attributes;
mod baked_sizes;
mod binding;
mod builtins;
mod calls;
mod classes;
mod commands;
mod comprehensions;
mod configs;
mod constant_sizes;
mod constructors;
mod container_methods;
mod containers;
mod coverage;
mod data_loops;
mod definitions;
mod deviation;
mod drawn_numbers;
mod enumerations;
mod exceptions;
mod export;
mod export_call;
mod exporting;
mod expressions;
mod faults;
mod file_paths;
mod fixed_loops;
mod flow;
mod flow_names;
mod formats;
mod frame;
mod frozen_state;
mod generator_loops;
mod generators;
mod grown_lists;
mod imports;
mod iterations;
mod iterators;
mod library;
mod loops;
mod methods;
mod model_file;
mod module_methods;
mod modules;
mod names;
mod natural_numbers;
mod other_sizes;
mod paths;
mod pinned;
mod ranges;
mod reach;
mod record;
mod release;
mod resized_inputs;
mod resizing;
mod saved_objects;
mod session;
mod size_origins;
mod stale_state;
mod state_dict;
mod state_flow;
mod statements;
mod strides;
mod strings;
mod torch;
mod trace;
mod undeclared_axes;
mod unpacking;
mod unreached;
mod unsupported;
mod variable_uses;
mod words;
mod written_files;
mod yaml;
mod yields;

use tree_sitter::{Node, Tree};

use crate::diag::{Finding, Level, RuleId, rule_ids};
use crate::source::SourceFiles;

use super::program::Program;
use super::report::{is_rounded_size, is_size_branch, is_validation};

use machine::Machine;

use coverage::Coverage;
use export_call::way;

pub use export_call::{Way, adjust};

/// Result of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    pub findings: Vec<Finding>,
    /// Lines of loops in exported models whose number of iterations depends on no dynamic axis.
    steady: Vec<u32>,
    /// Such loops in other files: name of the file and line, as findings mention them.
    steady_elsewhere: Vec<String>,
    /// Way in which the script exports its models.
    pub way: Option<Way>,
    coverage: Coverage,
}

/// Runs a file, if it is a script, and reports names that PyTorch does not have.
pub fn lint(script: &str, tree: Tree, program: &Program, path: &str, sources: &SourceFiles) -> Outcome {
    let is_script = is_script(script);
    let files = files::files(script, tree, path, is_script.then_some(sources));
    let mut machine = Machine::new(&files);
    if is_script {
        machine.run();
    }
    machine.check_names(program);
    let way = way(&mut machine);
    let steady = || machine.steady.iter().filter(|place| !machine.varying.contains(place));
    let steady_elsewhere = steady()
        .filter(|(file, _)| *file != 0)
        .map(|(file, line)| {
            let path: &str = &machine.files[*file].path;
            format!("{}:{line}: ", path.rsplit('/').next().unwrap_or(path))
        })
        .collect();
    let steady = steady().filter(|(file, _)| *file == 0).map(|(_, line)| *line).collect();
    machine.coverage.is_partial |= machine.exhausted || machine.skips_exports();
    Outcome { findings: machine.findings, steady, steady_elsewhere, way, coverage: machine.coverage }
}

/// Lowers findings that do not concern the exported models to info.
///
/// These are findings about statements that no export runs, and about unrolled loops whose number of iterations is the
/// same for all exported inputs.
pub fn settle(findings: &mut [Finding], outcome: &Outcome, root: Node, text: &str) {
    raise_reads(findings, outcome);
    let lines: Vec<&str> = text.lines().collect();
    for finding in findings.iter_mut().filter(|finding| is_rounded_size(finding)) {
        let line = finding.source.as_ref().map_or(0, |source| source.line);
        if outcome.way == Some(Way::Tracing) && outcome.coverage.certainly_runs(root, line, &lines) {
            finding.level = Level::Error;
        }
    }
    for finding in findings.iter_mut().filter(|finding| finding.level > Level::Info) {
        let line = finding.source.as_ref().map_or(0, |source| source.line);
        if outcome.coverage.passes_by(root, line, &lines) {
            finding.level = Level::Info;
        }
    }
    for finding in findings.iter_mut().filter(|one| *one.code == *rule_ids::FLOAT64_PROMOTION.code) {
        let line = finding.source.as_ref().map_or(0, |source| source.line);
        if outcome.coverage.is_narrow(line) {
            finding.level = finding.level.min(Level::Info);
        }
    }
    let by_size = |finding: &Finding| {
        let help = finding.help.as_deref().unwrap_or("");
        ["a size of the input", "the number of rows", "the number of pieces"]
            .iter()
            .any(|what| help.contains(what))
    };
    for finding in findings.iter_mut().filter(|finding| *finding.code == *rule_ids::UNROLLED_LOOP.code) {
        let line = finding.source.as_ref().map_or(0, |source| source.line);
        // The message of a finding about a called function begins with the call and the place.
        let is_elsewhere = finding.message.starts_with("in `");
        let is_steady = match is_elsewhere {
            true => outcome.steady_elsewhere.iter().any(|place| finding.message.contains(place.as_str())),
            false => outcome.steady.contains(&line),
        };
        if is_steady && by_size(finding) {
            finding.level = finding.level.min(Level::Info);
        }
    }
}

/// Raises findings about branches and numbers to warnings, if an export ran their line on an input.
///
/// Without the export, the kinds of the parameters of `forward` are guesses.
fn raise_reads(findings: &mut [Finding], outcome: &Outcome) {
    let is_read = |finding: &&mut Finding| {
        let is = |rule: &RuleId| *finding.code == *rule.code;
        finding.level == Level::Info
            && (is(&rule_ids::TRACED_BRANCH) && !is_size_branch(finding) && !is_validation(finding)
                || is(&rule_ids::ITEM_BAKED))
    };
    for finding in findings.iter_mut().filter(is_read) {
        let line = finding.source.as_ref().map_or(0, |source| source.line);
        if outcome.way == Some(Way::Tracing) && outcome.coverage.reads_input(line) {
            finding.level = Level::Warning;
        }
    }
}

/// Returns false for a file with relative imports that calls no exporter.
///
/// A file with relative imports is a module of a package, and does not run by itself.
fn is_script(text: &str) -> bool {
    let is_relative = |line: &str| line.starts_with("from .") || line.starts_with("    from .");
    !text.lines().any(is_relative)
        || ["export(", "to_onnx(", "jit.trace("].iter().any(|call| text.contains(call))
}

/// Adds the findings of a run to those of other analyses.
///
/// If a rule has two findings at one line, the finding with the higher level stays.
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
