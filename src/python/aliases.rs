//! In-place changes of tensors and sizes that are read later under another name.

use tree_sitter::Node;

use super::interpreter::Interpreter;
use super::report;
use super::syntax::{field, line, one_line, text, within};
use super::value::{Identity, Tensor, Value, View};

/// An occurrence of a name in the body of a function.
#[derive(Clone, Copy, Debug)]
struct Mention<'t> {
    name: &'t str,
    /// Byte offset of the read, or of the end of the assignment or loop targets that bind the name.
    at: usize,
    is_read: bool,
    node: Node<'t>,
}

impl<'t> Interpreter<'t> {
    /// Evaluates an augmented assignment such as `x += y`.
    pub fn augmented(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { return };
        let operator = field(node, "operator").map_or("", |operator| text(operator, self.source));
        let operator = operator.trim_end_matches('=');
        if left.kind() == "subscript" {
            self.evaluate(right);
            self.assign_items(left, &Value::Unknown);
            return;
        }
        let before = self.evaluate(left);
        let by = self.evaluate(right);
        let after = match &before {
            Value::Size(size) => {
                self.change_size(*size, left, node);
                before.clone()
            }
            Value::Tensor(tensor) => {
                if tensor.sure {
                    self.write(tensor, &in_place_name(operator), Some(left), node);
                }
                match self.arithmetic(&before, &by, operator, node) {
                    Value::Tensor(result) => Value::Tensor(Tensor {
                        memory: tensor.memory,
                        object: tensor.object,
                        view: tensor.view,
                        ..result
                    }),
                    other => other,
                }
            }
            Value::Items(_) | Value::Each(_) if operator == "+" => match &by {
                Value::Items(items) if items.is_empty() => before.clone(),
                _ if matches!(&before, Value::Items(items) if items.is_empty()) => {
                    Value::Each(Box::new(by.element()))
                }
                _ => Value::Each(Box::new(before.element().join(by.element()))),
            },
            _ => self.arithmetic(&before, &by, operator, node),
        };
        self.assign(left, after);
    }

    /// Reports an in-place change of a size if another name for it, or for its shape, is read later.
    fn change_size(&mut self, size: Identity, left: Node<'t>, node: Node<'t>) {
        let shape = self.shape_of(size);
        let same = |value: &Value| {
            holds(value, &|v| match v {
                Value::Size(other) => *other == size,
                Value::Shape(other) => shape == Some(*other),
                _ => false,
            })
        };
        if let Some((name, read)) = self.read_later(text(left, self.source), node, &same) {
            let words = report::shape_alias(node, name, line(read), self.source);
            self.say(node, words);
        }
    }

    /// Reports a write to a tensor if its memory is read later under another name.
    ///
    /// A write is only reported if the written tensor or the tensor that is read is a view. Two slices are
    /// assumed to be disjoint, as are a slice and an indexed assignment. `object` is the expression that is
    /// written to.
    pub fn write(&mut self, tensor: &Tensor, operator: &str, object: Option<Node<'t>>, node: Node<'t>) {
        // The exporter propagates a write through an unnamed slice or index, such as `y[0].fill_(1)`, to `y`.
        if tensor.view == View::Slice && self.is_of_whole(object) || self.quiet > 0 {
            return;
        }
        let target = object.map_or("", |object| text(object, self.source));
        let lost = |value: &Value| {
            holds(value, &|v| match v {
                Value::Tensor(other) => {
                    let apart = other.view == View::Slice
                        && (tensor.view == View::Slice || operator == "__setitem__");
                    let viewed = tensor.view != View::Whole || other.view != View::Whole;
                    other.memory == tensor.memory && other.object != tensor.object && viewed && !apart
                }
                _ => false,
            })
        };
        if let Some((name, read)) = self.read_later(target, node, &lost) {
            let perhaps = tensor.view == View::Perhaps || self.is_perhaps(name, tensor.memory);
            let operator = if operator == "__setitem__" { "an indexed assignment" } else { operator };
            let words = report::view_lost(&one_line(node, self.source), operator, name, line(read), perhaps);
            self.say(node, words);
        }
    }

    /// Returns true if `object` is an unnamed part of a named tensor that is not itself a view.
    ///
    /// For example, returns true for `y[0]`, but false for `row` after `row = y[0]`. Returns false for the results
    /// of other methods than `select`, such as `y.narrow(1, 0, 2)`: the exporter propagates no write through them.
    fn is_of_whole(&self, object: Option<Node<'t>>) -> bool {
        let Some(mut at) = object.filter(|object| object.kind() != "identifier") else { return false };
        while let Some(inner) =
            field(at, "value").or_else(|| field(at, "object")).or_else(|| field(at, "function"))
        {
            let called = field(at, "function").and_then(|callee| field(callee, "attribute"));
            if at.kind() == "call" && called.is_none_or(|name| text(name, self.source) != "select") {
                return false;
            }
            at = inner;
        }
        at.kind() == "identifier"
            && self.lookup(text(at, self.source)).tensor().is_some_and(|tensor| tensor.view == View::Whole)
    }

    fn is_perhaps(&self, name: &str, memory: Identity) -> bool {
        let value = self.frames.last().and_then(|frame| frame.variables.get(name));
        let tensors = value.map(Value::tensors).unwrap_or_default();
        tensors.iter().any(|tensor| tensor.memory == memory && tensor.view == View::Perhaps)
    }

    /// Returns a name whose value matches `of` and that is read after `node`, and the node of the read.
    ///
    /// The innermost frame is searched first, except for the name `target`, then the frames of the callers.
    /// Within a frame, names are tried in alphabetical order.
    fn read_later(
        &self,
        target: &str,
        node: Node<'t>,
        of: &dyn Fn(&Value) -> bool,
    ) -> Option<(&'t str, Node<'t>)> {
        let innermost = self.frames.len().checked_sub(1)?;
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            let mut names: Vec<&'t str> =
                frame.variables.iter().filter(|(_, value)| of(value)).map(|(name, _)| *name).collect();
            names.sort_unstable();
            let at = if depth == innermost { Some(node) } else { None };
            let mentions = mentions(frame.body, self.source);
            for name in names.into_iter().filter(|name| depth != innermost || *name != target) {
                if let Some(read) = read_after(&mentions, name, at, frame.statement) {
                    return Some((name, read));
                }
            }
        }
        None
    }
}

/// Returns the in-place method of an operator (`add_` for `+`), or `the assignment` for others.
fn in_place_name(operator: &str) -> String {
    let name = match operator {
        "+" => "add_",
        "-" => "sub_",
        "*" => "mul_",
        "/" => "div_",
        "//" => "floor_divide_",
        "**" => "pow_",
        "%" => "remainder_",
        "&" => "bitwise_and_",
        "|" => "bitwise_or_",
        _ => "the assignment",
    };
    name.to_owned()
}

/// Returns true if `of` holds for a value, or, if the value is a list, for one of its items.
fn holds(value: &Value, of: &dyn Fn(&Value) -> bool) -> bool {
    match value {
        Value::Items(items) => items.iter().any(|item| holds(item, of)),
        Value::Each(each) => holds(each, of),
        other => of(other),
    }
}

/// Returns the reads and assignments of names in a function body, sorted by [`Mention::at`].
///
/// Omits reads such as `x` in `x.shape`.
fn mentions<'t>(body: Node<'t>, source: &'t str) -> Vec<Mention<'t>> {
    let mut found: Vec<Mention> = Vec::new();
    for node in within(body).into_iter().filter(|node| node.kind() == "identifier") {
        let Some(parent) = node.parent() else { continue };
        let is = |name| field(parent, name).is_some_and(|child| child == node);
        let is_label = parent.kind() == "attribute" && is("attribute")
            || parent.kind() == "keyword_argument" && is("name");
        // These attributes do not depend on the elements of a tensor.
        let attribute = field(parent, "attribute").filter(|_| parent.kind() == "attribute");
        let is_property =
            attribute.is_some_and(|name| matches!(text(name, source), "device" | "dtype" | "ndim" | "shape"));
        if is_label || is_property {
            continue;
        }
        let assignment = assigned_by(node);
        let at = assignment.map_or(node.start_byte(), |assignment| assignment.end_byte());
        found.push(Mention { name: text(node, source), at, is_read: assignment.is_none(), node });
    }
    found.sort_by_key(|mention| mention.at);
    found
}

/// Returns the node that binds this occurrence of a name.
///
/// The node is an assignment, or the targets of a `for` loop. Returns `None` for any other occurrence.
fn assigned_by(name: Node) -> Option<Node> {
    let mut at = name;
    while let Some(parent) = at.parent() {
        match parent.kind() {
            "pattern_list" | "tuple_pattern" | "list_pattern" => at = parent,
            "assignment" | "for_statement" => {
                return field(parent, "left")
                    .filter(|left| *left == at)
                    .map(|left| if parent.kind() == "assignment" { parent } else { left });
            }
            _ => return None,
        }
    }
    None
}

/// Returns the first read of `name` after `node`, unless the name is rebound before that read.
///
/// If the change happens in a callee, `node` is `None`, and the read must follow `statement`, which contains
/// the call.
fn read_after<'t>(
    mentions: &[Mention<'t>],
    name: &str,
    node: Option<Node<'t>>,
    statement: Node<'t>,
) -> Option<Node<'t>> {
    let end = node.unwrap_or(statement).end_byte();
    let own = |mention: &&Mention<'t>| mention.name == name;
    let next = mentions.iter().filter(own).find(|mention| mention.at >= end);
    if let Some(next) = next {
        return next.is_read.then_some(next.node);
    }
    // A loop body runs again, so earlier lines of the loop also follow.
    let around = enclosing_loop(statement)?;
    let again = mentions.iter().filter(own).find(|mention| around.byte_range().contains(&mention.at));
    // A read in the writing statement does not count: it precedes the write, and usually reads other elements
    // in the next iteration of the loop.
    let is_own = |mention: &Mention| node.is_some_and(|node| node.byte_range().contains(&mention.at));
    again
        .filter(|mention| mention.is_read && mention.at < end && !is_own(mention))
        .map(|mention| mention.node)
}

fn enclosing_loop(statement: Node) -> Option<Node> {
    let mut at = statement;
    while let Some(parent) = at.parent() {
        match parent.kind() {
            "for_statement" | "while_statement" => return Some(parent),
            "function_definition" | "module" => return None,
            _ => at = parent,
        }
    }
    None
}
