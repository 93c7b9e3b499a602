//! Linting of Python sources for code in `forward` that exporters reject or export incorrectly.
//!
//! The source is interpreted abstractly, not run. Each `forward` is evaluated on abstract values, such as
//! tensors, sizes of tensors, and Python numbers. The kind of a parameter is guessed from its annotation, its
//! default and its uses. Calls of functions in this file and in other available files are followed. A value
//! of unknown kind is assumed to be no tensor and no size. The module `script` evaluates the statements of a
//! script, including its calls of exporters.

mod aliases;
mod assumptions;
mod attributes;
mod builtins;
mod calls;
pub mod comments;
mod decisions;
mod dtypes;
mod excerpt;
mod expressions;
mod factories;
mod functional;
mod import_context;
mod imports;
mod indexing;
mod interpreter;
mod library;
mod notebook;
mod numpy;
mod operators;
mod parameters;
mod program;
mod report;
mod script;
pub mod search;
mod snippet;
mod statements;
mod syntax;
mod syntax_error;
mod tensors;
#[cfg(test)]
mod tests;
mod torch_names;
mod training;
mod unreached;
mod untaken_branches;
mod value;

use std::ops::RangeInclusive;
use std::sync::Arc;

use tree_sitter::Tree;

use crate::diag::{Finding, Level, Place, SourcePlace, rule_ids};
use crate::source::SourceFiles;

use excerpt::Excerpt;
use import_context::ImportContext;
use interpreter::{Interpreter, Reached};
use library::{Library, Shelf};
use program::{ClassKind, LAMBDA, Program};

pub use report::{is_size_branch, is_size_fraction};
pub use syntax::on_one_line;

/// Lints `forward` methods, other functions that a model may run, and calls of exporters in a file.
///
/// `file` is the path in the findings. Invalid Python is linted as far as it parses, and its first syntax error is
/// reported, except in fragments, doctests and templates. Functions of other files are followed if `sources` contains
/// them.
pub fn lint(text: &str, file: &str, sources: &SourceFiles) -> Vec<Finding> {
    match snippet::layout(text) {
        Some(excerpt) => lint_excerpt(&excerpt, file, sources),
        None => lint_code(text, file, sources),
    }
}

/// Lints the code cells of a Jupyter notebook as one script, or returns `None` for any other text.
pub fn lint_notebook(text: &str, file: &str, sources: &SourceFiles) -> Option<Vec<Finding>> {
    Some(lint_excerpt(&notebook::code(text)?, file, sources))
}

/// Returns the code of a notebook, with each line at its line number in the file.
///
/// Returns `None` if the text is not a notebook.
pub fn notebook_lines(text: &str) -> Option<String> {
    Some(notebook::code(text)?.in_file())
}

fn lint_excerpt(excerpt: &Excerpt, file: &str, sources: &SourceFiles) -> Vec<Finding> {
    let findings = lint_code(&excerpt.text, file, sources);
    findings.into_iter().filter_map(|finding| excerpt.restored(finding, file)).collect()
}

fn lint_code(text: &str, file: &str, sources: &SourceFiles) -> Vec<Finding> {
    let Some(tree) = syntax::parse(text) else { return vec![] };
    let program = Program::of(tree.root_node(), text);
    let mut findings = look(text, &tree, &program, file, &[], sources);
    let outcome = script::lint(text, tree.clone(), &program, file, sources);
    if let Some(way) = outcome.way {
        script::adjust(&mut findings, way);
    }
    script::settle(&mut findings, &outcome, tree.root_node(), text);
    script::merge(&mut findings, outcome.findings);
    if tree.root_node().has_error() {
        findings.extend(syntax_error::syntax_error(text).map(|line| invalid(text, file, line)));
    }
    findings
}

/// Returns the finding for a syntax error.
fn invalid(text: &str, file: &str, line: u32) -> Finding {
    let code = usize::try_from(line).ok().and_then(|line| text.lines().nth(line - 1));
    let place = SourcePlace {
        file: Arc::from(file),
        line,
        column: 0,
        width: 0,
        code: code.map(|code| Arc::from(code.trim())),
        function: None,
        cell: None,
    };
    let mut finding = rule_ids::UNREADABLE_PART
        .at(Level::Error)
        .finding("the Python source has a syntax error", Place::Source(place.clone()))
        .note("code after the error may not be linted")
        .help("correct the line: `python -m py_compile FILE` shows the error");
    finding.source = Some(place);
    finding
}

/// Lints only the functions that a graph came from, which contain one of `lines` (1-based).
///
/// The graph was exported, so its Python operators are not reported.
pub fn lint_functions(text: &str, file: &str, lines: &[u32], sources: &SourceFiles) -> Vec<Finding> {
    if lines.is_empty() {
        return vec![];
    }
    let Some(tree) = syntax::parse(text) else { return vec![] };
    look(text, &tree, &Program::of(tree.root_node(), text), file, lines, sources)
}

fn look<'a>(
    text: &'a str,
    tree: &'a Tree,
    program: &'a Program<'a>,
    file: &str,
    lines: &[u32],
    sources: &SourceFiles,
) -> Vec<Finding> {
    let shelf = Shelf::default();
    let library = Library::new(&shelf);
    let root = tree.root_node();
    let mut interpreter = Interpreter::new(text, Arc::from(file), program, root);
    interpreter.abroad =
        Some(ImportContext { sources, library: &library, depth: 0, in_place: !lines.is_empty() });
    let wanted = functions_at(program, lines);
    let is_wanted = |function: usize| wanted.contains(&function);
    // The functions to lint run first, because results of calls are cached, so that a finding in a callee is
    // attributed only to its first caller.
    let modules = (0..program.classes.len()).filter(|class| {
        // Models compute a loss only in training.
        let is_loss = lines.is_empty() && program.classes[*class].name.ends_with("Loss");
        program.classes[*class].kind == ClassKind::Module && !is_loss
    });
    let mut forwards: Vec<(usize, usize)> =
        modules.filter_map(|class| Some((program.method(class, "forward")?, class))).collect();
    forwards.sort_by_key(|(forward, _)| !is_wanted(*forward));
    for (forward, class) in forwards.into_iter().filter(|(forward, _)| !program.is_scripted(*forward)) {
        if !interpreter.replaces_forward(class) {
            interpreter.run_method(forward, class);
        }
    }
    let mut siblings = vec![];
    for index in wanted.iter().copied() {
        if !interpreter.reached[index] && !program.is_scripted(index) {
            interpreter.run_root(index);
        }
        siblings.extend(interpreter.remark_on_siblings(index));
    }
    if lines.is_empty() {
        interpreter.remark_on_rest();
    }
    let mut findings = interpreter.findings;
    if !lines.is_empty() {
        // A finding does not concern this graph if only modules outside of the graph call the faulty code.
        let is_root = |function: usize| is_wanted(function) || siblings.contains(&function);
        let knows_root = wanted.iter().any(|index| program.functions[*index].name == "forward");
        let is_meant = |reached: &Reached| {
            (!knows_root || reached.roots.iter().any(|root| is_root(*root)))
                && reached.functions.iter().any(|one| is_root(*one))
        };
        let mut meant = interpreter.within.iter().map(is_meant);
        findings.retain(|finding| meant.next().unwrap_or(false) && &*finding.rule != "python-op");
        let is_here = |source: &&SourcePlace| *source.file == *file;
        let passed_by = |source: &SourcePlace| untaken_branches::is_passed_by(root, source.line, lines);
        findings.retain(|finding| !finding.source.as_ref().filter(is_here).is_some_and(passed_by));
    }
    findings.sort_by_key(|finding| finding.source.as_ref().map(|source| (source.line, source.column)));
    findings
}

/// Returns the innermost functions that contain `lines`; for most lambdas, their enclosing function.
fn functions_at(program: &Program, lines: &[u32]) -> Vec<usize> {
    let spans: Vec<RangeInclusive<u32>> =
        program.functions.iter().map(|function| syntax::lines(function.node)).collect();
    let mut found: Vec<usize> = Vec::new();
    for line in lines {
        let holding = (0..spans.len()).filter(|index| spans[*index].contains(line));
        let innermost = holding.max_by_key(|index| *spans[*index].start());
        // A lambda is run by its enclosing function, unless `__init__` stores it.
        let outer =
            |index: usize| program.functions[index].outer.filter(|_| program.functions[index].name == LAMBDA);
        let caller = |index| outer(index).filter(|outer| program.functions[*outer].name != "__init__");
        if let Some(index) = innermost.map(|index| caller(index).unwrap_or(index))
            && !found.contains(&index)
        {
            found.push(index);
        }
    }
    found.sort_unstable();
    found
}
