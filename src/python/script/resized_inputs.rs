//! In-place methods that change the shape of a tensor, and that an exporter does not support.

use crate::diag::{Level, Place, rule_ids};

use super::super::syntax::{children, everything, field, text};
use super::calls::Args;
use super::export_call::{is_dynamo, is_tracing};
use super::machine::Machine;
use super::tensor::Tensor;

impl<'t> Machine<'t> {
    /// Reports an in-place method that changes the shape of an input, or that resizes a tensor.
    ///
    /// `name` is the name of the method without its underscore.
    pub fn check_shape_change(&mut self, x: &Tensor<'t>, name: &str, args: &Args<'t>) {
        let is_running = self.coverage.is_active && self.quiet == 0 && self.is_certain();
        let Some(call) = self.exports.last().filter(|_| is_running && x.varies).cloned() else { return };
        let reshapes = matches!(name, "unsqueeze" | "transpose" | "swapaxes" | "swapdims" | "t");
        let (message, note, help) = if reshapes && self.is_parameter(args) && is_dynamo(self, &call) {
            (
                "changes the shape of an input",
                "torch.export supports no input whose shape changes, and raises",
                format!("use `{name}` without the underscore, which returns a new tensor"),
            )
        } else if name == "resize" && is_tracing(self, &call) {
            (
                "is no part of the exported graph",
                "the tracing exporter makes a constant of the resized tensor",
                "use `reshape`".to_owned(),
            )
        } else {
            return;
        };
        let message = format!("`{name}_` {message}");
        let place = Place::Source(self.place(self.file(), args.node));
        let finding = rule_ids::IN_PLACE_SHAPE_ALIAS.at(Level::Error).finding(message, place);
        let finding = self.with_export(finding.note(note).help(help), self.file());
        self.tell([finding]);
    }

    /// Returns true if a call is a method of an unchanged parameter of the exported `forward`.
    fn is_parameter(&self, args: &Args<'t>) -> bool {
        let depth = self.frames.len().checked_sub(1);
        let Some(function) = self.frames.last().and_then(|frame| frame.function.clone()) else {
            return false;
        };
        let source = self.source(function.file);
        let object = field(args.node, "function").and_then(|callee| field(callee, "object"));
        let Some(name) = object.filter(|object| object.kind() == "identifier").map(|name| text(name, source))
        else {
            return false;
        };
        let parameters = field(function.node, "parameters").map(children).unwrap_or_default();
        let is_named = |node: &tree_sitter::Node<'t>| text(*node, source) == name;
        let is_own = parameters
            .iter()
            .any(|parameter| is_named(parameter) || children(*parameter).first().is_some_and(is_named));
        let is_assigned =
            field(function.node, "body").map(everything).unwrap_or_default().into_iter().any(|node| {
                let left = field(node, "left").filter(|_| node.kind().ends_with("assignment"));
                let is_before = node.end_byte() <= args.node.start_byte();
                is_before && left.is_some_and(|left| everything(left).iter().any(is_named))
            });
        depth == Some(self.model_start.1) && is_own && !is_assigned
    }
}
