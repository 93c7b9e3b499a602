//! Flow of results to the outputs of an exported model, along the statements that the model executed.

use std::cell::Cell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::super::syntax::{children, field, text, within};
use super::flow_names::{is_join, is_reader, is_tensor_method};
use super::machine::Machine;
use super::trace::{Event, Operator};
use super::value::Function;
use super::variable_uses::{Write, is_read, is_view, writes_to};

/// Maximum number of recorded events.
const MAX_EVENTS: usize = 20_000;

/// Maximum number of events and expressions that one search visits.
const FUEL: u32 = 40_000;

/// Part of a tuple, list or dictionary that holds a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The value itself.
    Whole,
    /// Item of a tuple.
    Item(usize),
    /// Some item of a list.
    Some,
    /// Value of a dictionary.
    Entry,
}

impl<'t> Machine<'t> {
    /// Records a statement that a model executes.
    pub fn trace_statement(&mut self, node: Node<'t>) {
        if !self.examples.is_empty() && self.trace.len() < MAX_EVENTS {
            let (frame, is_certain) = (self.frame_id(), self.is_certain());
            self.trace.push(Event::Statement { frame, node, is_certain });
        }
    }

    /// Records the call of a function that a model executes, in the frame of the function.
    pub fn trace_call(&mut self, function: &Rc<Function<'t>>, caller: u32, node: Node<'t>) {
        if !self.examples.is_empty() && self.trace.len() < MAX_EVENTS {
            let frame = self.frame_id();
            self.trace.push(Event::Call { frame, function: function.clone(), caller, node });
        }
    }

    /// Returns the identity of the current frame.
    pub fn frame_id(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.id)
    }

    /// Returns a record of an operator that the current frame executes.
    pub fn operator_here(&self, name: &str, node: Node<'t>, varies: bool) -> Operator<'t> {
        let (file, frame, step) = (self.file(), self.frame_id(), self.trace.len());
        Operator { name: name.to_owned(), file, node, varies, frame, step }
    }

    /// Returns true if an output of a model certainly depends on the result of an operator.
    ///
    /// `outer` is the frame that exports the model.
    pub fn reaches_output(
        &self,
        operator: &Operator<'t>,
        operators: &[Operator<'t>],
        trace: &[Event<'t>],
    ) -> bool {
        if trace.len() >= MAX_EVENTS {
            return false;
        }
        let outer = self.frame_id();
        let entered = trace.iter().enumerate().filter_map(|(at, event)| match event {
            Event::Call { frame, .. } => Some((*frame, at)),
            Event::Statement { .. } => None,
        });
        let entered = entered.collect();
        let search = Search { machine: self, operators, trace, entered, outer, fuel: Cell::new(FUEL) };
        // A later layer of a container may drop the result of an earlier one.
        search.calls(operator.frame, operator.step, operator.node).is_empty()
            && search.climb(operator.frame, operator.step, operator.node, Part::Whole, None)
    }
}

struct Search<'a, 't> {
    machine: &'a Machine<'t>,
    operators: &'a [Operator<'t>],
    trace: &'a [Event<'t>],
    /// Event of the call that entered a frame.
    entered: FxHashMap<u32, usize>,
    outer: u32,
    fuel: Cell<u32>,
}

impl<'t> Search<'_, 't> {
    /// Counts `cost` units of work. Returns false if the budget is exhausted.
    fn burn(&self, cost: usize) -> bool {
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(u32::try_from(cost).unwrap_or(u32::MAX)));
        left > 0
    }

    /// Returns the function of a frame, the frame of its caller, and the call.
    fn call_of(&self, frame: u32) -> Option<(&Rc<Function<'t>>, u32, Node<'t>)> {
        match self.trace.get(*self.entered.get(&frame)?)? {
            Event::Call { function, caller, node, .. } => Some((function, *caller, *node)),
            Event::Statement { .. } => None,
        }
    }

    fn source(&self, frame: u32) -> Option<&'t str> {
        self.call_of(frame).map(|(function, ..)| self.machine.source(function.file))
    }

    /// Returns the events from `step` to the next statement of a frame.
    fn until_statement(&self, frame: u32, step: usize) -> &[Event<'t>] {
        let events = self.trace.get(step..).unwrap_or_default();
        let is_next = |event: &Event| matches!(event, Event::Statement { frame: of, .. } if *of == frame);
        let end = events.iter().position(is_next).unwrap_or(events.len());
        self.burn(end / 4);
        &events[..end]
    }

    /// Returns the calls of functions of the script by one expression, from `step` on.
    fn calls(&self, frame: u32, step: usize, call: Node<'t>) -> Vec<(u32, &Rc<Function<'t>>)> {
        let events = self.until_statement(frame, step).iter();
        let entered = events.filter_map(|event| match event {
            Event::Call { frame: entered, function, caller, node } if (*caller, *node) == (frame, call) => {
                Some((*entered, function))
            }
            _ => None,
        });
        entered.collect()
    }

    /// Returns true if an output depends on an expression that is evaluated before event `step`.
    ///
    /// `read` is the name of the variable that is read, or `None` for a call that has certainly run.
    fn climb(&self, frame: u32, step: usize, node: Node<'t>, part: Part, read: Option<&str>) -> bool {
        let (mut node, mut part) = (node, part);
        if frame == self.outer {
            // A later layer of a container may drop the result.
            return self.calls(frame, step, node).is_empty();
        }
        let Some(source) = self.source(frame) else { return false };
        while let Some(outer) = node.parent() {
            if !self.burn(1) {
                return false;
            }
            let is_field = |name: &str| field(outer, name) == Some(node);
            match outer.kind() {
                "parenthesized_expression" => {}
                "unary_operator" | "binary_operator" if part == Part::Whole => {}
                "comparison_operator" if part == Part::Whole => {
                    let mut cursor = outer.walk();
                    if outer
                        .children(&mut cursor)
                        .any(|token| token.kind().contains(['i', 'n']) && !token.is_named())
                    {
                        return false;
                    }
                }
                "subscript" => match part {
                    Part::Whole => {}
                    Part::Item(at) if is_field("value") => {
                        let index = field(outer, "subscript").map_or("", |index| text(index, source));
                        if index.parse() != Ok(at) {
                            return false;
                        }
                        part = Part::Whole;
                    }
                    _ => return false,
                },
                "attribute" if part == Part::Whole && is_field("object") => {
                    let name = field(outer, "attribute").map_or("", |name| text(name, source));
                    let call = outer.parent().filter(|call| field(*call, "function") == Some(outer));
                    match call {
                        Some(call) if is_tensor_method(name) => {
                            node = call;
                            continue;
                        }
                        None if matches!(name, "T" | "mT" | "real" | "imag" | "values" | "indices") => {}
                        _ => return false,
                    }
                }
                "keyword_argument" if is_field("value") => {}
                "argument_list" => {
                    let Some(call) = outer.parent().filter(|call| call.kind() == "call") else {
                        return false;
                    };
                    if !self.passes(frame, step, call, node, part) {
                        return false;
                    }
                    (node, part) = (call, Part::Whole);
                    continue;
                }
                "list" if part == Part::Whole => part = Part::Some,
                "list_comprehension" if part == Part::Whole && read.is_none() && is_field("body") => {
                    part = Part::Some;
                }
                "tuple" | "expression_list" if part == Part::Whole => {
                    let at = children(outer).iter().position(|item| *item == node);
                    part = Part::Item(at.unwrap_or(0));
                }
                "conditional_expression" => {
                    // The branches are the first and the last of three children.
                    let parts = children(outer);
                    let reads = |branch: &Node<'t>| read.is_none_or(|name| is_view(*branch, name, source));
                    if parts.get(1) == Some(&node)
                        || ![0, 2].iter().all(|at| parts.get(*at).is_some_and(reads))
                    {
                        return false;
                    }
                }
                "pair" if is_field("value") => part = Part::Entry,
                "dictionary" => {}
                "return_statement" => {
                    let Some((_, caller, call)) = self.call_of(frame) else { return false };
                    return (caller == self.outer || part != Part::Entry)
                        && self.calls(caller, step, call).is_empty()
                        && self.climb(caller, step, call, part, None);
                }
                "assignment" if is_field("right") => {
                    let Some(left) = field(outer, "left") else { return false };
                    return self.assigned(frame, step, left, part, source);
                }
                "augmented_assignment" if is_field("right") && part == Part::Whole => {
                    let left = field(outer, "left").filter(|left| left.kind() == "identifier");
                    return left.is_some_and(|left| self.named(frame, step, text(left, source), part));
                }
                _ => return false,
            }
            node = outer;
        }
        false
    }

    /// Returns true if an output depends on a value that is assigned to `left`.
    fn assigned(&self, frame: u32, step: usize, left: Node<'t>, part: Part, source: &'t str) -> bool {
        if left.kind() == "identifier" {
            return self.named(frame, step, text(left, source), part);
        }
        if !matches!(left.kind(), "pattern_list" | "tuple_pattern" | "list_pattern") {
            return false;
        }
        let targets = children(left);
        if targets.iter().any(|target| target.kind() != "identifier") {
            return false;
        }
        let reaches = |target: &Node<'t>| self.named(frame, step, text(*target, source), Part::Whole);
        match part {
            Part::Item(at) => targets.get(at).is_some_and(reaches),
            Part::Whole => targets.iter().any(reaches),
            _ => false,
        }
    }

    /// Returns true if the result of a call certainly depends on an argument.
    fn passes(&self, frame: u32, step: usize, call: Node<'t>, argument: Node<'t>, part: Part) -> bool {
        let entered = self.calls(frame, step, call);
        if let [(inner, function)] = entered[..] {
            // The search continues at the `return` of the function, which leads to the caller.
            return part == Part::Whole && self.depends_on_argument(inner, function, call, argument);
        }
        let mut recorded = self.operators.iter().filter(|one| one.node == call && one.frame == frame);
        let is_known =
            recorded.any(|one| is_reader(&one.name) && (part == Part::Whole || is_join(&one.name)));
        entered.is_empty() && is_known && part != Part::Entry
    }

    /// Returns true if the result of a function of the script certainly depends on an argument.
    fn depends_on_argument(
        &self,
        inner: u32,
        function: &Rc<Function<'t>>,
        call: Node<'t>,
        argument: Node<'t>,
    ) -> bool {
        let Some(given) = field(call, "arguments").map(children) else { return false };
        if given.iter().any(|one| matches!(one.kind(), "list_splat" | "dictionary_splat")) {
            return false;
        }
        let source = self.machine.source(function.file);
        let parameters = field(function.node, "parameters").map(children).unwrap_or_default();
        let name_of = |parameter: &Node<'t>| match parameter.kind() {
            "identifier" => Some(text(*parameter, source)),
            "typed_parameter" => {
                let inner = children(*parameter).first().copied()?;
                (inner.kind() == "identifier").then(|| text(inner, source))
            }
            "default_parameter" | "typed_default_parameter" => {
                field(*parameter, "name").map(|name| text(name, source))
            }
            _ => None,
        };
        let names: Vec<Option<&str>> = parameters.iter().map(name_of).collect();
        let name = match argument.kind() {
            "keyword_argument" => {
                let file = self.call_of(inner).and_then(|(_, caller, _)| self.source(caller));
                field(argument, "name").zip(file).map(|(name, source)| text(name, source))
            }
            _ => {
                let at = given.iter().position(|one| *one == argument).unwrap_or(0);
                let skipped = usize::from(names.first() == Some(&Some("self")));
                names.get(at + skipped).copied().flatten()
            }
        };
        let is_parameter = |name: &&str| *name != "self" && names.contains(&Some(*name));
        let start = self.entered.get(&inner).copied();
        let (Some(name), Some(start)) = (name.filter(is_parameter), start) else { return false };
        self.named(inner, start + 1, name, Part::Whole)
    }

    /// Returns true if an output depends on the value that a variable has before event `step`.
    fn named(&self, frame: u32, step: usize, name: &str, part: Part) -> bool {
        let Some(source) = self.source(frame) else { return false };
        for (at, event) in self.trace.iter().enumerate().skip(step) {
            if !self.burn(1) {
                return false;
            }
            let Event::Statement { frame: of, node, is_certain } = event else { continue };
            if *of != frame {
                continue;
            }
            let is_block = matches!(
                node.kind(),
                "if_statement"
                    | "for_statement"
                    | "while_statement"
                    | "with_statement"
                    | "try_statement"
                    | "match_statement"
            );
            let writes = writes_to(*node, name, source, is_block);
            if !is_certain {
                if writes != Write::None {
                    return false;
                }
                continue;
            }
            if writes == Write::Other {
                return false;
            }
            if !is_block && !matches!(node.kind(), "function_definition" | "class_definition") {
                let reads = within(*node).into_iter().filter(|read| is_read(*read, name, source));
                if reads.into_iter().any(|read| self.climb(frame, at + 1, read, part, Some(name))) {
                    return true;
                }
            }
            if writes == Write::Assigned {
                return false;
            }
        }
        false
    }
}
