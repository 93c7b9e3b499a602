//! Loops whose number of iterations depends on data, such as `while order.numel() > 0`.

use tree_sitter::Node;

use crate::diag::{Level, Place, rule_ids};

use super::super::syntax::{Arguments, bare, children, field, one_line, within};
use super::machine::Machine;
use super::tensor::Tensor;
use super::value::Value;

impl<'t> Machine<'t> {
    /// Records a loop over a number of items that depends on data, if its body keeps results.
    ///
    /// `steps` is the condition of a `while` loop, or the iterable of a `for` loop.
    pub fn note_data_loop(&mut self, whole: Node<'t>, steps: Node<'t>) {
        if self.examples.is_empty() || self.quiet > 0 || !self.is_certain() {
            return;
        }
        let is_for = whole.kind() == "for_statement";
        if self.counts_data(steps, is_for) && self.keeps_results(whole) {
            self.data_loops.push((self.file(), whole));
        }
    }

    /// Reports the recorded loops of a model that the tracing exporter exported.
    pub fn report_data_loops(&mut self, loops: Vec<(usize, Node<'t>)>) {
        for (file, node) in loops {
            if self.keeps_scripts(file) {
                continue;
            }
            let source = self.source(file);
            let part = |name| field(node, name).map_or(String::new(), |part| one_line(part, source));
            let head = match node.kind() {
                "while_statement" => format!("while {}", part("condition")),
                _ => format!("for {} in {}", part("left"), part("right")),
            };
            let message =
                format!("`{head}` is unrolled: its iteration count depends on the elements of the example");
            let place = Place::Source(self.place(file, node));
            let finding = rule_ids::UNROLLED_LOOP.at(Level::Warning).finding(message, place);
            let finding = finding
                .note(
                    "the graph has a fixed iteration count: other inputs lose iterations, or get extra ones",
                )
                .help("use an operator for the whole loop, such as `torchvision.ops.nms`, or a mask");
            let finding = self.with_export(finding, file);
            self.tell([finding]);
        }
    }

    /// Returns true if an expression compares or counts a size that depends on data.
    fn counts_data(&mut self, node: Node<'t>, is_iterable: bool) -> bool {
        let node = bare(node);
        match node.kind() {
            "identifier" => is_iterable && self.unbacked_tensor(node).is_some_and(|x| x.unbacked == Some(0)),
            "comparison_operator" => {
                let sides = children(node);
                let is_number = |side: &Node<'t>| side.kind() == "integer";
                let others: Vec<Node<'t>> = sides.iter().copied().filter(|side| !is_number(side)).collect();
                match others[..] {
                    [only] => sides.len() == 2 && self.counts_data(only, false),
                    _ => false,
                }
            }
            "subscript" => {
                let shape = field(node, "value").filter(|shape| shape.kind() == "attribute");
                let is_shape = shape
                    .and_then(|shape| field(shape, "attribute"))
                    .is_some_and(|name| self.text(name) == "shape");
                let axis = field(node, "subscript").and_then(|axis| self.text(axis).parse().ok());
                let tensor = shape.filter(|_| is_shape).and_then(|shape| field(shape, "object"));
                tensor.is_some_and(|tensor| {
                    axis.is_some() && self.unbacked_tensor(tensor).is_some_and(|x| x.unbacked == axis)
                })
            }
            "call" => self.call_counts_data(node, is_iterable),
            _ => false,
        }
    }

    fn call_counts_data(&mut self, call: Node<'t>, is_iterable: bool) -> bool {
        let Some(function) = field(call, "function") else { return false };
        let arguments = Arguments::of(call, self.source(self.file())).positional;
        if function.kind() == "attribute" {
            let name = field(function, "attribute").map_or("", |name| self.text(name));
            let tensor = field(function, "object").and_then(|object| self.unbacked_tensor(object));
            return match (name, arguments.as_slice()) {
                ("numel" | "nelement", []) => tensor.is_some(),
                ("size", [axis]) => {
                    let axis = self.text(*axis).parse().ok();
                    axis.is_some() && tensor.is_some_and(|x| x.unbacked == axis)
                }
                _ => false,
            };
        }
        match (self.text(function), arguments.as_slice()) {
            ("len", [only]) => self.unbacked_tensor(*only).is_some_and(|x| x.unbacked == Some(0)),
            ("range", [only]) => is_iterable && self.counts_data(*only, false),
            ("enumerate", [only]) => is_iterable && self.counts_data(*only, true),
            _ => false,
        }
    }

    /// Returns the tensor that a variable holds, if the size of an axis depends on data.
    fn unbacked_tensor(&mut self, node: Node<'t>) -> Option<Tensor<'t>> {
        if node.kind() != "identifier" {
            return None;
        }
        match self.variable(self.text(node)) {
            Value::Tensor(tensor) if tensor.unbacked.is_some() => Some((*tensor).clone()),
            _ => None,
        }
    }

    /// Returns true if the body of a loop appends to a list or assigns.
    fn keeps_results(&self, whole: Node<'t>) -> bool {
        let body = field(whole, "body").map(within).unwrap_or_default();
        body.into_iter().any(|node| match node.kind() {
            "assignment" | "augmented_assignment" => true,
            "call" => field(node, "function")
                .and_then(|function| field(function, "attribute"))
                .is_some_and(|name| matches!(self.text(name), "append" | "extend")),
            _ => false,
        })
    }
}
