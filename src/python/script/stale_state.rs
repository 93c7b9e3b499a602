//! Tensors that a model keeps from a call before its export.

use tree_sitter::Node;

use crate::diag::{Level, Place, rule_ids};

use super::super::syntax::{ancestors, children, everything, field, one_line, text, within};
use super::frozen_state::{writes_of, written};
use super::machine::Machine;
use super::tensor::{Role, Tensor};
use super::value::Value;

impl<'t> Machine<'t> {
    /// Returns true if a call of a model before the export created the memory of a tensor.
    fn is_stale(&self, tensor: &Tensor<'t>) -> bool {
        // Memories are numbered in the order of their creation, so the ranges are sorted.
        let at = self.earlier.partition_point(|(_, end)| *end <= tensor.memory);
        tensor.role == Role::Plain && self.earlier.get(at).is_some_and(|(start, _)| *start <= tensor.memory)
    }

    /// Records a read of a tensor that an earlier call of the model created.
    pub fn note_stale(&mut self, value: &Value<'t>, node: Node<'t>) {
        let Some(tensor) = value.tensor().filter(|tensor| self.is_stale(tensor)) else { return };
        let file = self.file();
        let is_own = field(node, "object").is_some_and(|object| self.text(object) == "self");
        let is_read = self.coverage.is_active && self.quiet == 0 && self.is_certain() && file == 0;
        let is_compared = node.parent().is_some_and(|parent| parent.kind() == "comparison_operator");
        if is_read && is_own && !is_compared && !self.is_changed(tensor) {
            self.report_stale(node);
        }
        if let Some(record) = &mut self.record {
            record.stale.push((file, node));
        }
    }

    /// Reports a read of state that an earlier call computed from its inputs.
    fn report_stale(&mut self, read: Node<'t>) {
        let source = self.source(0);
        let mut around = ancestors(read);
        let Some(function) = around.find(|node| node.kind() == "function_definition") else { return };
        let (Some(name), Some(body)) = (field(read, "attribute"), field(function, "body")) else { return };
        let writes = writes_of(within(body), text(name, source), source);
        let [write] = writes[..] else { return };
        let parameters = field(function, "parameters").map(children).unwrap_or_default();
        // The name is the whole parameter, or its first part: `x: Tensor`, `x=None`.
        let name_of = |parameter: &Node<'t>| children(*parameter).first().copied().unwrap_or(*parameter);
        let names: Vec<&str> =
            parameters.iter().skip(1).map(|parameter| text(name_of(parameter), source)).collect();
        let Some(value) = written(write, source) else { return };
        let is_data = |node: &Node<'t>| {
            let method = node.parent().and_then(|parent| field(parent, "attribute"));
            let method = method.map_or("", |method| text(method, source));
            node.kind() == "identifier"
                && names.contains(&text(*node, source))
                && matches!(
                    method,
                    "mean" | "std" | "var" | "amax" | "amin" | "sum" | "detach" | "clone" | "norm"
                )
        };
        if !everything(value).iter().any(is_data) {
            return;
        }
        let message = format!("`{}` keeps the value of a call before the export", one_line(read, source));
        let place = Place::Source(self.place(0, read));
        self.tell([rule_ids::ITEM_BAKED
            .at(Level::Info)
            .finding(message, place)
            .related(Place::Source(self.place(0, write)), "computed here")
            .note("the call computed the value from its input, and the file has it as a constant")
            .help("pass the value as an input, or register it as a buffer that training sets")]);
    }
}
