//! In-place methods that change the shape of a tensor, and that an exporter does not support.

use tree_sitter::Node;

use crate::diag::{Level, Place, rule_ids};

use super::super::syntax::{ancestors, children, everything, field, text, with_ancestors};
use super::calls::Args;
use super::export_call::{is_dynamo, is_tracing};
use super::exporting::ExportCall;
use super::machine::Machine;
use super::tensor::Tensor;
use super::value::Value;

impl<'t> Machine<'t> {
    /// Reports an in-place method that changes the shape of an input, or that resizes a tensor.
    ///
    /// `name` is the name of the method without its underscore.
    pub fn check_shape_change(&mut self, x: &Tensor<'t>, name: &str, args: &Args<'t>) {
        let is_running = self.coverage.is_active && self.quiet == 0 && self.is_certain();
        let Some(call) = self.exports.last().filter(|_| is_running && x.varies).cloned() else { return };
        let reshapes = matches!(name, "unsqueeze" | "transpose" | "swapaxes" | "swapdims" | "t");
        let is_lasting = reshapes
            && is_dynamo(self, &call)
            && changes_shape(x, name, args)
            && self.is_example(x, &call, args)
            && !self.may_be_restored(name, args);
        let (message, note, help) = if is_lasting {
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

    /// Returns true if a call is a method of an example, under the name that `forward` gives it.
    ///
    /// The name has no other meaning in `forward`, so that the tensor is no view and no copy of the example.
    fn is_example(&self, x: &Tensor<'t>, call: &ExportCall<'t>, args: &Args<'t>) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let Some(function) = frame.function.clone() else { return false };
        let model = call.argument(0, "model").or_else(|| call.named("mod")).map(|one| &one.value);
        let is_own = frame.this.is_some() && frame.this.as_ref() == call.receiver.as_ref().or(model);
        let source = self.source(function.file);
        let object = field(args.node, "function").and_then(|callee| field(callee, "object"));
        let Some(name) = object.filter(|object| object.kind() == "identifier").map(|name| text(name, source))
        else {
            return false;
        };
        let parameters = field(function.node, "parameters").map(children).unwrap_or_default();
        let is_named = |node: &Node<'t>| text(*node, source) == name;
        let is_parameter = parameters
            .iter()
            .any(|parameter| is_named(parameter) || children(*parameter).first().is_some_and(is_named));
        let body = field(function.node, "body").map(everything).unwrap_or_default();
        self.frames.len().checked_sub(1) == Some(self.model_start.1)
            && self.coverage.inputs.contains(&x.memory)
            && is_own
            && is_parameter
            && !self.mentions(&["forward_pre_hook"])
            && !body.into_iter().any(|node| bound(node).iter().any(is_named))
    }

    /// Returns true if the script may give a tensor its former shape after the method `name`.
    fn may_be_restored(&self, name: &str, args: &Args<'t>) -> bool {
        // A removed axis undoes only `unsqueeze_`.
        let permutes = name != "unsqueeze";
        let restores = |method: &str| {
            matches!(method, "squeeze_" | "resize_" | "resize_as_" | "set_" | "as_strided_" | "set_data")
                || permutes && matches!(method, "t_" | "transpose_" | "swapaxes_" | "swapdims_")
        };
        let source = self.source(self.file());
        let root = with_ancestors(args.node).last().unwrap_or(args.node);
        everything(root).into_iter().any(|node| {
            let is_method = node.kind() == "attribute"
                && field(args.node, "function") != Some(node)
                && field(node, "attribute").is_some_and(|method| restores(text(method, source)));
            let left = field(node, "left").filter(|_| node.kind() == "assignment");
            let is_data = left.is_some_and(|left| text(left, source).ends_with(".data"));
            let is_in_function =
                || ancestors(node).any(|outer| matches!(outer.kind(), "function_definition" | "lambda"));
            (is_method || is_data) && is_in_function()
        })
    }
}

/// Returns the nodes with the names that a node binds.
fn bound(node: Node) -> Vec<Node> {
    let part = match node.kind() {
        "named_expression" | "function_definition" | "class_definition" => field(node, "name"),
        "as_pattern" => field(node, "alias"),
        "case_pattern"
        | "global_statement"
        | "nonlocal_statement"
        | "delete_statement"
        | "lambda_parameters"
        | "import_statement"
        | "import_from_statement" => Some(node),
        "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => field(node, "left"),
        _ => None,
    };
    part.map(everything).unwrap_or_default()
}

/// Returns true if a permutation of two axes certainly changes the shape of a tensor; others always do.
fn changes_shape(x: &Tensor, name: &str, args: &Args) -> bool {
    if name == "unsqueeze" {
        return true;
    }
    let axes = match name {
        "t" => (x.rank() == Some(2)).then_some((0, 1)),
        _ => {
            let axis = |at: usize| args.get(at, if at == 0 { "dim0" } else { "dim1" }).and_then(Value::int);
            axis(0).zip(axis(1))
        }
    };
    let sizes = axes.and_then(|(a, b)| x.dim(a).zip(x.dim(b)));
    sizes.is_some_and(|(a, b)| a != b)
}
