//! Findings about Python sources: message, note, help and replacement code.

mod control;
mod indices;
mod kept;
mod rewrite;
mod values;

use std::collections::BTreeSet;
use std::sync::Arc;

use tree_sitter::Node;

use crate::diag::{Finding, Level, Place, RuleId, SourcePlace};
use crate::source::without_comment;

use super::interpreter::{Interpreter, Reached};
use super::value::Origin;

pub use rewrite::{Help, Piece};

pub use control::{
    is_size_branch, is_validation, lesser_size, shape_alias, size_branch, traced_branch, unrolled, view_lost,
};
pub use indices::{
    boolean_mask, index_put_apart, index_put_broadcast, index_put_rank, negative_index, negative_write,
};
pub use values::{
    array_meets_tensor, array_output, copied, dictionary_output, fraction_made_number, from_numpy,
    is_rounded_size, is_size_fraction, item, numpy_function, one_hot, overflow, promotion, python_operator,
    random_numbers, rounded_size, size_made_number, sizes_copied, string_output, tensor_data, to_numpy,
    training,
};

/// A finding without its location.
#[derive(Clone, Debug)]
pub struct Words {
    rule: RuleId,
    level: Level,
    message: String,
    note: &'static str,
    help: Help,
}

impl Words {
    /// Lowers the level to info, for uncertain tensors and for faults reported elsewhere.
    pub fn remark(mut self) -> Self {
        self.level = self.level.min(Level::Info);
        self
    }
}

/// The construct that converts a tensor to a boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    If,
    /// An `if` without `elif` or `else` whose block ends with `raise`.
    Guard,
    While,
    Assert,
    /// `a if c else b`, and the conditions of comprehensions.
    Conditional,
    /// `and`, `or`, `not`, `in`, `bool()`, `max(a, b)`, `a < b < c`.
    Operator,
}

/// Source of the step count of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// `range(x.shape[1])`
    Size,
    /// `range(n)` of a tensor `n`.
    Value,
    /// `range(n.item())`: the conversion to a number is reported separately.
    Taken,
    /// One step for each row of a tensor.
    Rows,
    /// One step for each piece of `x.split(n)`. The number of pieces may be constant.
    Pieces,
}

impl<'t> Interpreter<'t> {
    /// Reports a fault of the code at `node`, once.
    pub fn say(&mut self, node: Node<'t>, words: Words) {
        if self.quiet > 0 {
            return;
        }
        let place = self.place(node);
        let finding = words.rule.at(words.level).finding(words.message, Place::Source(place));
        let Help { text, piece } = words.help;
        let rewrite = piece.map(|piece| piece.in_lines(self.source));
        self.tell(Finding { rewrite, ..finding.note(words.note).help(text) });
    }

    /// Adds a finding, or replaces one of the same rule and place that has a lower level.
    pub fn tell(&mut self, mut finding: Finding) {
        if self.checks > 0 {
            finding.level = finding.level.min(Level::Info);
        }
        if self.quiet > 0 {
            return;
        }
        let place = |of: &Finding| of.source.as_ref().map(|s| (s.file.clone(), s.line, s.column));
        let is_duplicate = |known: &Finding| known.code == finding.code && place(known) == place(&finding);
        let functions: BTreeSet<usize> = self.frames.iter().filter_map(|frame| frame.function).collect();
        let root = self.frames.first().and_then(|frame| frame.function);
        match self.findings.iter().position(is_duplicate) {
            Some(at) => {
                if self.findings[at].level < finding.level {
                    self.findings[at] = finding;
                }
                if let Some(within) = self.within.get_mut(at) {
                    within.functions.extend(functions);
                    within.roots.extend(root);
                }
            }
            None => {
                self.findings.push(finding);
                self.within.push(Reached { functions, roots: root.into_iter().collect() });
            }
        }
    }

    /// Returns the statement being evaluated, or `node` if no function is active.
    pub fn here(&self, node: Node<'t>) -> Node<'t> {
        self.frames.last().map_or(node, |frame| frame.statement)
    }

    /// Returns the source location of a node.
    pub fn place(&self, node: Node<'t>) -> SourcePlace {
        let function = self.frames.last().and_then(|frame| frame.function);
        let function = function.map(|index| self.program.functions[index].name);
        place_of(node, self.source, self.file.clone(), function)
    }
}

/// Returns the source location of a node of the text `source`.
pub fn place_of(node: Node, source: &str, file: Arc<str>, function: Option<&str>) -> SourcePlace {
    let start = node.start_byte();
    let at = rewrite::position(start, node.start_position(), source);
    let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = source[start..].find('\n').map_or(source.len(), |at| start + at);
    let whole = source[line_start..line_end].trim_end();
    let code = without_comment(whole).len();
    let count = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let shown = node.end_byte().min(line_start + code).max(start);
    SourcePlace {
        file,
        line: at.line,
        column: at.column,
        width: count(&source[start..shown]),
        code: Some(whole.into()),
        function: function.map(Arc::from),
        cell: None,
    }
}

/// Returns `varies` if elements of this origin depend on the input, and info otherwise.
///
/// Modules that draw numbers, such as augmentations, are rarely exported.
fn by_origin(origin: Origin, varies: Level) -> Level {
    if origin == Origin::Input { varies } else { Level::Info }
}
