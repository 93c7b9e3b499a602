//! State of modules that `forward` changes for its next call, which an exported file does not.

use tree_sitter::Node;

use crate::diag::{Level, Place, rule_ids};

use super::super::syntax::{ancestors, children, everything, field, line, one_line, text, within};
use super::machine::Machine;
use super::state_flow::{Flow, follow, is_attribute, is_data};
use super::value::Value;

/// Maximum number of reads that are followed.
const MAX_READS: usize = 16;

/// Code that may change any attribute of a module, or that copies modules with their state.
const RESETTERS: [&str; 8] =
    ["setattr", "hook", "__dict__", "_buffers", "buffers(", "deepcopy", "functional_call", "__class__"];

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
        for (file, read) in std::mem::take(&mut self.state_reads).into_iter().take(MAX_READS) {
            let Some(write) = self.frozen_write(file, read) else { continue };
            let source = self.source(file);
            let shown = one_line(read, source);
            let place = Place::Source(self.place(file, write));
            let message = format!(
                "`{}` changes `{shown}` for the next call, but the file keeps the value of the export",
                one_line(write, source)
            );
            let mut finding = rule_ids::IN_PLACE_VIEW_LOST.at(Level::Warning).finding(message, place);
            if line(read) != line(write) {
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
        let around = ancestors(read);
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
        if self.may_be_reset(file, class, body, name) {
            return None;
        }
        let own: Vec<Node<'t>> = writes_of(within(body), name, source);
        let own: Vec<Node<'t>> = own.into_iter().filter(has_run).collect();
        let has_certainly_run = |node: Node<'t>| self.coverage.has_certainly_run(file, node);
        let [write] = own[..] else { return None };
        if !has_certainly_run(write) {
            return None;
        }
        let is_before =
            read.start_byte() < write.start_byte() || write.byte_range().contains(&read.start_byte());
        let layers = layers_of(class, source);
        let mut inputs = Flow { layers: layers.clone(), ..Flow::default() };
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
        let mut state = Flow { layers, ..Flow::default() };
        follow(body, &mut state, Some((name, write)), source, &has_certainly_run);
        let returns = within(body)
            .into_iter()
            .filter(|node| node.kind() == "return_statement" && has_certainly_run(*node));
        let mut results = returns.filter_map(|node| children(node).first().copied());
        results.any(|result| state.reaches(result, Some((name, write)), source)).then_some(write)
    }

    /// Returns true if code other than `forward` and the first value in `__init__` may change the state.
    ///
    /// This holds for each other mention of the name, for a base class that is not followed, and for code that may
    /// change any attribute.
    fn may_be_reset(&self, file: usize, class: Node<'t>, body: Node<'t>, name: &str) -> bool {
        let source = self.source(file);
        let bases = field(class, "superclasses").map(children).unwrap_or_default();
        let is_module = |base: &Node| {
            let base = text(*base, source);
            matches!(base.rsplit('.').next(), Some("Module" | "LightningModule"))
        };
        let is_first_value = |node: Node<'t>| {
            let mut around = ancestors(node);
            let function = around.find(|node| node.kind() == "function_definition");
            let of = function.and_then(|function| field(function, "name"));
            of.is_some_and(|of| text(of, source) == "__init__")
                && class.byte_range().contains(&node.start_byte())
        };
        let is_own = |at: usize, node: Node<'t>| {
            at == file && (body.byte_range().contains(&node.start_byte()) || is_first_value(node))
        };
        !bases.iter().all(is_module)
            || bases.is_empty()
            || self.files.iter().enumerate().any(|(at, one)| {
                let source = &*one.text;
                let code = one.code();
                RESETTERS.iter().any(|resetter| code.contains(resetter))
                    || code.contains("load_state_dict") && code.contains(".state_dict(")
                    || everything(one.tree.root_node()).into_iter().any(|node| match node.kind() {
                        "string_content" => text(node, source) == name && !is_own(at, node),
                        "attribute" => {
                            let last = field(node, "attribute").map_or("", |last| text(last, source));
                            let object = field(node, "object").map_or("", |object| text(object, source));
                            last == name && !is_own(at, node)
                                || last == "__init__"
                                    && !object.starts_with("super(")
                                    && !object.ends_with("Module")
                        }
                        "call" => field(node, "function")
                            .is_some_and(|callee| matches!(text(callee, source), "exec" | "eval" | "vars")),
                        _ => false,
                    })
            })
    }
}

/// Returns the attributes of `self` that a class sets to layers of `torch.nn`.
pub fn layers_of<'s>(class: Node, source: &'s str) -> Vec<&'s str> {
    let assignments = everything(class).into_iter().filter(|node| node.kind() == "assignment");
    let layer = |node: Node| {
        let (left, right) = (field(node, "left")?, field(node, "right")?);
        let callee = text(field(right, "function")?, source);
        let is_layer = callee.strip_prefix("torch.").unwrap_or(callee).starts_with("nn.");
        let is_own = field(left, "object").is_some_and(|object| text(object, source) == "self");
        (is_layer && is_own).then(|| field(left, "attribute").map(|name| text(name, source)))?
    };
    assignments.filter_map(layer).collect()
}

/// Returns the statements among `nodes` that write to `self.name`.
pub fn writes_of<'t>(nodes: Vec<Node<'t>>, name: &str, source: &str) -> Vec<Node<'t>> {
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
pub fn written<'t>(write: Node<'t>, source: &str) -> Option<Node<'t>> {
    let inner = children(write).first().copied()?;
    match inner.kind() {
        "call" => in_place(inner, source).and_then(|_| field(inner, "arguments")),
        _ => field(inner, "right"),
    }
}
