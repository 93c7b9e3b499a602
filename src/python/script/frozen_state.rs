//! State of modules that `forward` changes for its next call: an exported file keeps the state of the export.

use tree_sitter::Node;

use crate::diag::{Level, Place, rule_ids};

use super::super::syntax::{children, everything, field, one_line, text, within};
use super::machine::Machine;
use super::value::Value;

/// Attributes and methods of a tensor that do not depend on its elements.
const METADATA: [&str; 14] = [
    "shape",
    "dtype",
    "device",
    "size",
    "dim",
    "ndim",
    "numel",
    "nelement",
    "is_cuda",
    "requires_grad",
    "new_zeros",
    "new_ones",
    "new_empty",
    "new_full",
];

/// Methods whose arguments give only a dtype, a device or a shape.
const CONVERSIONS: [&str; 7] = ["to", "type_as", "expand_as", "view_as", "reshape_as", "type", "cuda"];

/// Names and state whose elements a function knows.
#[derive(Default)]
struct Flow<'s> {
    names: Vec<&'s str>,
    /// Whether later reads of the attribute depend on its value at the start of the call.
    has_state: bool,
}

impl<'t> Machine<'t> {
    /// Records that an exported model reads an attribute of `self` that holds tensors.
    pub fn note_state_read(&mut self, value: &Value<'t>, node: Node<'t>) {
        let holds_tensors = match value {
            Value::Tensor(_) => true,
            Value::Tuple(items) => {
                !items.is_empty() && items.iter().all(|item| matches!(item, Value::Tensor(_)))
            }
            _ => false,
        };
        let place = (self.file(), node);
        if self.coverage.is_active
            && self.quiet == 0
            && self.doubt <= self.model_start.0
            && place.0 == 0
            && holds_tensors
            && field(node, "object").is_some_and(|object| self.text(object) == "self")
            && !self.state_reads.contains(&place)
        {
            self.state_reads.push(place);
        }
    }

    /// Reports attributes that a traced model reads and then replaces by a value computed from its inputs.
    pub fn report_frozen_state(&mut self) {
        for (file, read) in std::mem::take(&mut self.state_reads) {
            let Some(write) = self.frozen_write(file, read) else { continue };
            let source = self.source(file);
            let shown = one_line(read, source);
            let place = Place::Source(self.place(file, write));
            let message = format!(
                "`{}` changes `{shown}` for the next call, but the file keeps the value of the export",
                one_line(write, source)
            );
            let mut finding = rule_ids::IN_PLACE_VIEW_LOST.at(Level::Warning).finding(message, place);
            if super::super::syntax::line(read) != super::super::syntax::line(write) {
                finding = finding.related(Place::Source(self.place(file, read)), "read here");
            }
            self.tell([finding
                .note("a traced graph has no state: each run starts with the value of the export")
                .help("pass the state as an input, and return the new state as an output")]);
        }
    }

    /// Returns the statement that replaces the state that `read` reads.
    fn frozen_write(&self, file: usize, read: Node<'t>) -> Option<Node<'t>> {
        let source = self.source(file);
        let around = std::iter::successors(read.parent(), Node::parent);
        let function =
            around.into_iter().find(|node| matches!(node.kind(), "function_definition" | "lambda"))?;
        let name = text(field(read, "attribute")?, source);
        let class = function.parent()?.parent().filter(|class| class.kind() == "class_definition")?;
        if field(function, "name").map(|name| text(name, source)) != Some("forward")
            || self.is_patched(name)
            || !is_data(read, source)
        {
            return None;
        }
        let body = field(function, "body")?;
        let has_run = |node: &Node<'t>| self.coverage.has_run(file, *node);
        let writes: Vec<Node<'t>> = writes_of(everything(class), name, source);
        let is_own = |node: &Node<'t>| body.byte_range().contains(&node.start_byte());
        let (own, others): (Vec<Node<'t>>, Vec<Node<'t>>) = writes.into_iter().partition(is_own);
        if others.iter().any(has_run) || others.iter().any(|write| self.is_reset(file, class, *write)) {
            return None;
        }
        let own: Vec<Node<'t>> = own.into_iter().filter(has_run).collect();
        let has_certainly_run = |node: Node<'t>| self.coverage.has_certainly_run(file, node);
        let [write] = own[..] else { return None };
        if !has_certainly_run(write) {
            return None;
        }
        let is_before =
            read.start_byte() < write.start_byte() || write.byte_range().contains(&read.start_byte());
        let mut inputs = Flow::default();
        let parameters = field(function, "parameters").map(children).unwrap_or_default();
        inputs.names.extend(parameters.into_iter().skip(1).map(|one| {
            let inner = field(one, "name")
                .or_else(|| (one.kind() != "identifier").then(|| children(one).first().copied())?);
            text(inner.unwrap_or(one), source)
        }));
        follow(body, &mut inputs, None, source, &has_certainly_run);
        let new = written(write, source);
        if !is_before || !new.is_some_and(|new| inputs.reaches(new, None, source)) {
            return None;
        }
        let mut state = Flow::default();
        follow(body, &mut state, Some((name, write)), source, &has_certainly_run);
        let returns = within(body)
            .into_iter()
            .filter(|node| node.kind() == "return_statement" && has_certainly_run(*node));
        let mut results = returns.filter_map(|node| children(node).first().copied());
        results.any(|result| state.reaches(result, Some((name, write)), source)).then_some(write)
    }

    /// Returns true if a method with a write to the state, such as `reset`, is called outside of the class.
    fn is_reset(&self, file: usize, class: Node<'t>, write: Node<'t>) -> bool {
        let source = self.source(file);
        let around = std::iter::successors(write.parent(), Node::parent);
        let method = around.into_iter().find(|node| node.kind() == "function_definition");
        let Some(name) = method.and_then(|method| field(method, "name")) else { return true };
        let name = text(name, source);
        let call = format!(".{name}(");
        name != "__init__"
            && self.files.iter().enumerate().any(|(at, one)| {
                let outside: &[std::ops::Range<usize>] =
                    &[0..class.start_byte(), class.end_byte()..one.text.len()];
                match at == file {
                    true => outside.iter().any(|part| one.text[part.clone()].contains(&call)),
                    false => one.text.contains(&call),
                }
            })
    }
}

impl Flow<'_> {
    /// Returns true if the elements of an expression may depend on the known names, or on the state.
    ///
    /// `state` is the attribute and the statement that replaces it.
    fn reaches(&self, node: Node, state: Option<(&str, Node)>, source: &str) -> bool {
        within(node).into_iter().any(|one| match one.kind() {
            "identifier" => {
                let is_name = one.parent().is_none_or(|parent| match parent.kind() {
                    "attribute" => field(parent, "object") == Some(one),
                    "keyword_argument" => field(parent, "value") == Some(one),
                    _ => true,
                });
                is_name && self.names.contains(&text(one, source)) && is_data(one, source)
            }
            "attribute" => state.is_some_and(|(name, write)| {
                is_attribute(one, name, source)
                    && is_data(one, source)
                    && (one.start_byte() < write.end_byte() || self.has_state)
            }),
            _ => false,
        })
    }
}

/// Follows the elements of known names, or of the state, through the assignments of a function.
///
/// `has_run` selects the statements that run.
fn follow<'s, 't>(
    body: Node<'t>,
    flow: &mut Flow<'s>,
    state: Option<(&str, Node)>,
    source: &'s str,
    has_run: &dyn Fn(Node<'t>) -> bool,
) {
    // A second pass follows values into the next iteration of a loop.
    for _ in 0..2 {
        let is_run = |node: &Node<'t>| {
            let around = std::iter::successors(Some(*node), Node::parent);
            around.into_iter().find(|one| one.kind().ends_with("_statement")).is_some_and(has_run)
        };
        for node in within(body).into_iter().filter(is_run) {
            let (targets, value) = match node.kind() {
                "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => {
                    (field(node, "left"), field(node, "right"))
                }
                "call" => {
                    // `items.append(x)` and `x.add_(y)` change their object.
                    let object = field(node, "function").and_then(|callee| field(callee, "object"));
                    (object.filter(|object| object.kind() == "identifier"), field(node, "arguments"))
                }
                _ => continue,
            };
            let (Some(targets), Some(value)) = (targets, value) else { continue };
            if !flow.reaches(value, state, source) {
                continue;
            }
            for target in within(targets) {
                let is_part = target.parent().is_some_and(|parent| parent.kind() == "attribute");
                if target.kind() == "identifier" && !is_part {
                    let name = text(target, source);
                    if !flow.names.contains(&name) {
                        flow.names.push(name);
                    }
                }
            }
            flow.has_state |= state.is_some_and(|(_, write)| write.byte_range().contains(&node.start_byte()));
        }
    }
}

/// Returns true for `self.name`.
fn is_attribute(node: Node, name: &str, source: &str) -> bool {
    node.kind() == "attribute"
        && field(node, "attribute").is_some_and(|last| text(last, source) == name)
        && field(node, "object").is_some_and(|object| text(object, source) == "self")
}

/// Returns the statements among `nodes` that write to `self.name`.
fn writes_of<'t>(nodes: Vec<Node<'t>>, name: &str, source: &str) -> Vec<Node<'t>> {
    let is_write = |node: &Node<'t>| {
        let inner = children(*node).first().copied().filter(|_| node.kind() == "expression_statement");
        inner.is_some_and(|inner| match inner.kind() {
            "assignment" | "augmented_assignment" => field(inner, "left")
                .is_some_and(|left| within(left).into_iter().any(|one| is_attribute(one, name, source))),
            "call" => in_place(inner, source).is_some_and(|object| is_attribute(object, name, source)),
            _ => false,
        })
    };
    nodes.into_iter().filter(is_write).collect()
}

/// Returns the object of an in-place method, such as `x` in `x.copy_(y)`.
fn in_place<'t>(call: Node<'t>, source: &str) -> Option<Node<'t>> {
    let callee = field(call, "function")?;
    let name = text(field(callee, "attribute")?, source);
    if name.ends_with('_') && !name.ends_with("__") { field(callee, "object") } else { None }
}

/// Returns the expression that a write stores.
fn written<'t>(write: Node<'t>, source: &str) -> Option<Node<'t>> {
    let inner = children(write).first().copied()?;
    match inner.kind() {
        "call" => in_place(inner, source).and_then(|_| field(inner, "arguments")),
        _ => field(inner, "right"),
    }
}

/// Returns true if the use of a tensor depends on its elements, and not only on its shape, dtype or device.
fn is_data(node: Node, source: &str) -> bool {
    let Some(parent) = node.parent() else { return true };
    match parent.kind() {
        "attribute" => {
            field(parent, "object") != Some(node)
                || field(parent, "attribute").is_none_or(|name| !METADATA.contains(&text(name, source)))
        }
        "comparison_operator" => !children(parent).iter().any(|one| one.kind() == "none"),
        "argument_list" => {
            let callee = parent.parent().and_then(|call| field(call, "function"));
            let callee = callee.map_or("", |callee| text(callee, source));
            let last = callee.rsplit('.').next().unwrap_or(callee);
            !(last.ends_with("_like")
                || matches!(callee, "len" | "isinstance" | "print" | "type" | "id")
                || callee.contains('.') && CONVERSIONS.contains(&last))
        }
        _ => true,
    }
}
