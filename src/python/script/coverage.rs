//! Statements that exported models execute.

use rustc_hash::FxHashSet;
use tree_sitter::{Node, Point};

use super::super::syntax::line;

/// Statements and functions that the exports of a script execute, by file and start in bytes.
#[derive(Debug, Default)]
pub struct Coverage {
    /// Whether an exported model is running.
    pub is_active: bool,
    /// Whether an export ran, and its model was followed to the end.
    pub is_complete: bool,
    /// Whether an export was not followed to the end, or may run other code with other arguments.
    pub is_partial: bool,
    statements: FxHashSet<(usize, usize)>,
    /// Statements that run under no unknown condition.
    certain: FxHashSet<(usize, usize)>,
    functions: FxHashSet<(usize, usize)>,
    /// Memories of the examples.
    pub inputs: FxHashSet<u32>,
    /// Lines with element-wise operators: `narrow` if no result can be float64, `wide` otherwise.
    narrow: FxHashSet<u32>,
    wide: FxHashSet<u32>,
    /// Lines of the script with comparisons and conversions of examples that exported models execute.
    reads: FxHashSet<u32>,
}

impl Coverage {
    /// Records a statement that runs. `is_certain` is false under an unknown condition.
    pub fn run(&mut self, file: usize, statement: Node, is_certain: bool) {
        if self.is_active {
            self.statements.insert((file, statement.start_byte()));
            if is_certain {
                self.certain.insert((file, statement.start_byte()));
            }
        }
    }

    /// Returns true if an export certainly ran a statement.
    pub fn has_certainly_run(&self, file: usize, statement: Node) -> bool {
        self.certain.contains(&(file, statement.start_byte()))
    }

    /// Returns true if an export ran a statement, or may have run it.
    pub fn has_run(&self, file: usize, statement: Node) -> bool {
        self.statements.contains(&(file, statement.start_byte()))
    }

    /// Records a function that runs.
    pub fn enter(&mut self, file: usize, function: Node) {
        if self.is_active {
            self.functions.insert((file, function.start_byte()));
        }
    }

    /// Records a comparison of a tensor, or a conversion of a tensor to a Python number.
    ///
    /// Tensors that are no examples, such as parameters of the model, are the same for all inputs.
    pub fn read(&mut self, file: usize, node: Node, memory: u32) {
        if self.is_active && file == 0 && self.inputs.contains(&memory) {
            self.reads.insert(line(node));
        }
    }

    /// Records the result of an element-wise operator.
    ///
    /// `is_narrow` is true for a known dtype other than float64.
    pub fn compute(&mut self, file: usize, node: Node, is_narrow: bool) {
        if self.is_active && file == 0 {
            let lines = if is_narrow { &mut self.narrow } else { &mut self.wide };
            lines.insert(line(node));
        }
    }

    /// Returns true if no element-wise operator that exports run at a line may return float64.
    pub fn is_narrow(&self, line: u32) -> bool {
        !self.is_partial && self.narrow.contains(&line) && !self.wide.contains(&line)
    }

    /// Returns true if exports compare or convert an input at a line of the script.
    pub fn reads_input(&self, line: u32) -> bool {
        self.reads.contains(&line)
    }

    /// Records the end of an export.
    pub fn finish(&mut self, is_followed: bool) {
        self.is_complete |= is_followed;
        self.is_partial |= !is_followed;
    }

    /// Returns true if an export certainly ran the statement at a line.
    pub fn certainly_runs(&self, root: Node, line: u32, lines: &[&str]) -> bool {
        let row = line.saturating_sub(1) as usize;
        let Some(code) = lines.get(row) else { return false };
        let at = Point { row, column: code.len() - code.trim_start().len() };
        let mut around = std::iter::successors(root.named_descendant_for_point_range(at, at), Node::parent);
        let statement = around.find(|node| node.kind().ends_with("_statement"));
        statement.is_some_and(|statement| self.has_certainly_run(0, statement))
    }

    /// Returns true if exports run the function around a line, but never the statement in it.
    ///
    /// `line` is 1-based, and `lines` are all lines of the script. Returns false if [`Coverage::is_partial`] is true.
    pub fn passes_by(&self, root: Node, line: u32, lines: &[&str]) -> bool {
        if !self.is_complete || self.is_partial {
            return false;
        }
        let row = line.saturating_sub(1) as usize;
        let Some(code) = lines.get(row) else { return false };
        let at = Point { row, column: code.len() - code.trim_start().len() };
        let mut node = root.named_descendant_for_point_range(at, at);
        let mut statement = None;
        while let Some(inner) = node {
            if inner.kind() == "function_definition" {
                let has_run =
                    |node: Node, known: &FxHashSet<(usize, usize)>| known.contains(&(0, node.start_byte()));
                return has_run(inner, &self.functions)
                    && statement.is_some_and(|statement| !has_run(statement, &self.statements));
            }
            if statement.is_none() && inner.kind().ends_with("_statement") {
                statement = Some(inner);
            }
            node = inner.parent();
        }
        false
    }
}
