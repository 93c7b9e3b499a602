//! Lists in which modules keep tensors of earlier calls, such as `self.history.append(x)`.

use tree_sitter::Node;

use crate::diag::{Level, Place, rule_ids};

use super::super::syntax::{children, field, one_line, text, within};
use super::heap::Object;
use super::machine::Machine;
use super::value::{Ref, Value};

impl<'t> Machine<'t> {
    /// Records an append of `forward` to a list, and one to a list that an earlier call filled.
    pub fn note_append(&mut self, list: Ref, call: Node<'t>) {
        let is_forward = |function: &super::value::Function| function.name == "forward";
        if !self.frames.iter().any(|frame| frame.function.as_deref().is_some_and(is_forward)) {
            return;
        }
        if self.examples.is_empty() {
            if self.is_unconditional() {
                self.grown.insert(list);
            }
            return;
        }
        let is_stale = match self.heap.get(list) {
            Object::List(list) => {
                !list.open
                    && !list.items.is_empty()
                    && list.items.iter().all(|item| matches!(item, Value::Tensor(_)))
            }
            _ => false,
        };
        let place = (self.file(), call);
        if is_stale
            && self.quiet == 0
            && self.grown.remove(&list)
            && self.is_certain()
            && self.joins_list(call)
        {
            self.stale_appends.push(place);
        }
    }

    /// Reports lists that hold tensors of earlier calls when a model is traced.
    pub fn report_stale_lists(&mut self, appends: Vec<(usize, Node<'t>)>) {
        for (file, call) in appends {
            let shown = one_line(call, self.source(file));
            let message = format!("`{shown}` adds to tensors of an earlier call, which become constants");
            let place = Place::Source(self.place(file, call));
            let finding = rule_ids::IN_PLACE_VIEW_LOST.at(Level::Warning).finding(message, place);
            let finding = finding
                .note("a traced graph has no state: each run starts with the tensors of the export")
                .help("pass the earlier tensors as an input, and return the new ones as an output");
            let finding = self.with_export(finding, file);
            self.tell([finding]);
        }
    }

    /// Returns true if the function around an append to an attribute joins the tensors of the list.
    fn joins_list(&self, append: Node<'t>) -> bool {
        let source = self.source(self.file());
        let list = field(append, "function").and_then(|function| field(function, "object"));
        let Some(list) = list.filter(|list| list.kind() == "attribute") else { return false };
        let name = text(list, source);
        let mut around = std::iter::successors(append.parent(), Node::parent);
        let body =
            around.find(|node| node.kind() == "function_definition").and_then(|one| field(one, "body"));
        let nodes = body.map(within).unwrap_or_default();
        nodes.into_iter().filter(|node| node.kind() == "call").any(|call| {
            let callee = field(call, "function").map_or("", |function| text(function, source));
            let argument =
                field(call, "arguments").and_then(|arguments| children(arguments).first().copied());
            let argument = argument.map(|argument| match argument.kind() {
                "subscript" => field(argument, "value").unwrap_or(argument),
                _ => argument,
            });
            matches!(callee, "torch.stack" | "torch.cat" | "torch.concat" | "sum")
                && argument.is_some_and(|argument| text(argument, source) == name)
        })
    }
}
