//! Lists in which modules keep tensors of earlier calls, such as `self.history.append(x)`.

use tree_sitter::Node;

use crate::diag::{Level, Place, rule_ids};

use super::super::syntax::{ancestors, children, field, one_line, text, within};
use super::heap::Object;
use super::machine::Machine;
use super::trace::{Event, Operator};
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
        if is_stale
            && self.quiet == 0
            && self.grown.remove(&list)
            && self.is_certain()
            && let Some(join) = self.join_of(call)
        {
            self.stale_appends.push((self.file(), call, join));
        }
    }

    /// Reports lists that hold tensors of earlier calls when a model is traced.
    pub fn report_stale_lists(
        &mut self,
        appends: Vec<(usize, Node<'t>, Node<'t>)>,
        operators: &[Operator<'t>],
        trace: &[Event<'t>],
    ) {
        for (file, call, join) in appends {
            let reaches = |operator: &Operator<'t>| self.reaches_output(operator, operators, trace);
            if !operators.iter().filter(|operator| operator.node == join).any(reaches) {
                continue;
            }
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

    /// Returns the call that joins the tensors of a list, in the function around an append.
    ///
    /// The call certainly joins tensors of earlier calls of the function, too.
    fn join_of(&self, append: Node<'t>) -> Option<Node<'t>> {
        // A hook, or a function that runs on each module, may clear the list.
        let texts: Vec<String> =
            self.files.iter().map(|file| file.text.replace("super().__init__()", "")).collect();
        let has = |code: &&str| texts.iter().any(|text| text.contains(*code));
        if self.may_replace_forward() || CLEARING.iter().any(has) {
            return None;
        }
        let source = self.source(self.file());
        let list = field(append, "function").and_then(|function| field(function, "object"))?;
        let name = text(list, source);
        let is_function = |node: &Node<'t>| node.kind() == "function_definition";
        let around: Vec<Node<'t>> = ancestors(append).collect();
        let function = around.iter().position(is_function)?;
        let is_loop = |node: &Node| matches!(node.kind(), "for_statement" | "while_statement");
        let nodes = within(field(around[function], "body")?);
        let is_append =
            |node: &&Node<'t>| node.kind() == "attribute" && text(**node, source).starts_with(name);
        let appends = nodes.iter().filter(is_append).filter(|node| text(**node, source).ends_with(".append"));
        let appends_once = appends.count() == 1 && !around[..function].iter().any(is_loop);
        let is_join = |call: &Node<'t>| {
            let callee = field(*call, "function").map_or("", |function| text(function, source));
            let argument =
                field(*call, "arguments").and_then(|arguments| children(arguments).first().copied());
            let joined = argument.map_or("", |argument| text(argument, source));
            // A slice of at least two tensors has one of an earlier call.
            let last =
                joined.strip_prefix(name).and_then(|slice| slice.strip_prefix("[-")?.strip_suffix(":]"));
            let is_longer = last.and_then(|count| count.parse().ok()).is_some_and(|count: u32| count > 1);
            matches!(callee, "torch.stack" | "torch.cat" | "torch.concat")
                && (joined == name || is_longer && appends_once)
        };
        (list.kind() == "attribute")
            .then(|| nodes.into_iter().find(|node| node.kind() == "call" && is_join(node)))?
    }
}

/// Code that may clear a list of a module elsewhere.
const CLEARING: [&str; 6] = [".apply(", ".modules()", ".children()", "__dict__", ".__init__()", "del self."];
