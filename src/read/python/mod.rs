//! Python sources: what in a model's `forward` does not survive its export.
//!
//! The source is not run. Each `forward` is looked into with what is known of its values: which are
//! tensors (annotated so, results of torch, or used as only tensors are), which are sizes of tensors,
//! which are plain Python. Functions of the same file are followed. Where a value's kind is not known,
//! nothing is said.

mod aliases;
mod attributes;
mod builtins;
mod calls;
mod decisions;
mod dtypes;
mod expressions;
mod factories;
mod functional;
mod indexing;
mod interpreter;
mod known;
mod numpy;
mod operators;
mod parameters;
mod program;
mod report;
pub mod search;
mod statements;
mod syntax;
mod tensors;
#[cfg(test)]
mod tests;
mod training;
mod value;

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::diag::Finding;

use interpreter::Interpreter;
use program::{ClassKind, Program};

/// Lints the `forward` methods of a file's modules, and what they call in the file. `file` is what the
/// places of the findings name. Faulty Python is read as far as it goes.
pub fn lint(text: &str, file: &str) -> Vec<Finding> {
    look(text, file, &[])
}

/// Lints only the functions that a graph came from: those in which one of `lines` (1-based) stands.
///
/// That a graph was exported says that its operators could be; so nothing is said of Python operators.
pub fn lint_functions(text: &str, file: &str, lines: &[u32]) -> Vec<Finding> {
    if lines.is_empty() {
        return vec![];
    }
    look(text, file, lines)
}

fn look(text: &str, file: &str, lines: &[u32]) -> Vec<Finding> {
    let Some(tree) = syntax::parse(text) else { return vec![] };
    let root = tree.root_node();
    let program = Program::of(root, text);
    let mut interpreter = Interpreter::new(text, Arc::from(file), &program, root);
    for class in (0..program.classes.len()).filter(|class| program.classes[*class].kind == ClassKind::Module) {
        if let Some(forward) = program.method(class, "forward") {
            interpreter.run_method(forward, class);
        }
    }
    let wanted = functions_at(&program, lines);
    for index in wanted.iter().map(|(index, _)| *index) {
        if !interpreter.reached[index] && !program.is_scripted(index) {
            interpreter.run_root(index);
        }
    }
    if lines.is_empty() {
        interpreter.remark_on_rest();
    }
    let mut findings = interpreter.findings;
    if !lines.is_empty() {
        let within = |line| wanted.iter().any(|(_, range)| range.contains(&line));
        findings.retain(|finding| &*finding.rule != "python-op");
        findings.retain(|finding| finding.source.as_ref().is_some_and(|source| within(source.line)));
    }
    findings.sort_by_key(|finding| finding.source.as_ref().map(|source| (source.line, source.column)));
    findings
}

/// The innermost functions in which `lines` stand, with their own lines.
fn functions_at(program: &Program, lines: &[u32]) -> Vec<(usize, RangeInclusive<u32>)> {
    let spans: Vec<RangeInclusive<u32>> =
        program.functions.iter().map(|function| syntax::lines(function.node)).collect();
    let mut found: Vec<usize> = Vec::new();
    for line in lines {
        let holding = (0..spans.len()).filter(|index| spans[*index].contains(line));
        if let Some(index) = holding.max_by_key(|index| *spans[*index].start())
            && !found.contains(&index)
        {
            found.push(index);
        }
    }
    found.sort_unstable();
    found.into_iter().map(|index| (index, spans[index].clone())).collect()
}
