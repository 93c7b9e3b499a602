//! Calls of local functions: number of inputs and outputs, omitted inputs, and kinds of attributes.

use rustc_hash::FxHashMap;

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::{BAD_ATTRIBUTE, MISSING_INPUT, WRONG_ARITY};
use crate::diag::{Finding, Sink, counted};
use crate::graph::{AttrKind, AttrValue, Node, NodeId, ValueId, scopes, trimmed};
use crate::schema::{self, Arity, Schema};

/// Detector of SPC016, SPC017 and SPC019 in calls; `versions` reports them for operators.
pub const DETECTOR: Detector = Detector { rules: &[MISSING_INPUT, WRONG_ARITY, BAD_ATTRIBUTE], run };

/// Maximum number of functions through which an argument is followed.
const MAX_FOLLOWED: usize = 64;

fn surplus(cx: &LintContext, call: NodeId, part: Part, what: &str, (found, most): (usize, usize)) -> Finding {
    let message = format!(
        "the call of `{}` has {}, but the function has {}",
        cx.model.nodes[call].op_name(),
        counted(found, what),
        counted(most, what)
    );
    cx.at_node(WRONG_ARITY, call, part, message).label("not in the signature of the function")
}

fn omitted(cx: &LintContext, call: NodeId, input: ValueId, needs: NodeId) -> Finding {
    let message = format!(
        "the call of `{}` omits `{}`, but `{}` in the function needs this input",
        cx.model.nodes[call].op_name(),
        cx.name(input),
        cx.model.nodes[needs].op_name()
    );
    cx.at_node(MISSING_INPUT, call, Part::Op, message)
        .related(cx.places.node(needs, Part::Op), "needs the input")
        .help(format!("pass a value for `{}`", cx.name(input)))
}

fn unlike(cx: &LintContext, call: NodeId, part: Part, name: &str, kind: AttrKind, of: &Reference) -> Finding {
    let given = if part == Part::Op { "the default" } else { "the value" };
    let message = format!(
        "{given} of `{name}` for the call of `{}` has kind {}, but `{}` of `{}` in the function must have kind {}",
        cx.model.nodes[call].op_name(),
        kind.name(),
        of.attr,
        cx.model.nodes[of.node].op_name(),
        of.kind.name()
    );
    cx.at_node(BAD_ATTRIBUTE, call, part, message)
        .related(cx.places.node(of.node, Part::Attr(of.attr)), "refers to the attribute")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    if cx.model.functions.is_empty() {
        return;
    }
    let mut calls = Calls::new(cx);
    // ONNX Runtime does not check functions without a call.
    let reached = scopes::reached(cx.model, &calls.callees);
    for (id, node) in cx.nodes().filter(|(_, node)| reached.contains(&node.graph)) {
        let Some(&callee) = calls.callees.get(&id) else { continue };
        counts(cx, id, node, callee, sink);
        calls.inputs(id, node, callee, sink);
        calls.attributes(id, node, callee, sink);
    }
}

fn counts(cx: &LintContext, id: NodeId, node: &Node, callee: usize, sink: &mut Sink) {
    let body = &cx.model.graphs[cx.model.functions[callee].body];
    let (inputs, outputs) = (trimmed(&node.inputs).len(), trimmed(&node.outputs).len());
    if inputs > body.inputs.len() {
        let part = Part::Input(body.inputs.len());
        sink.push(surplus(cx, id, part, "input", (inputs, body.inputs.len())));
    }
    if outputs > body.outputs.len() {
        let part = Part::Output(body.outputs.len());
        sink.push(surplus(cx, id, part, "output", (outputs, body.outputs.len())));
    }
}

/// Calls of a model, with the results of searches in functions.
struct Calls<'c, 'm> {
    cx: &'c LintContext<'m>,
    callees: FxHashMap<NodeId, usize>,
    /// A node that needs the input of a function, by function and input.
    needing: FxHashMap<(usize, usize), Option<NodeId>>,
    /// A reference to the attribute of a function, by function and name.
    references: FxHashMap<(usize, &'m str), Option<Reference<'m>>>,
}

impl<'c, 'm> Calls<'c, 'm> {
    fn new(cx: &'c LintContext<'m>) -> Self {
        let callees = scopes::callees(cx.model);
        Calls { cx, callees, needing: FxHashMap::default(), references: FxHashMap::default() }
    }

    fn inputs(&mut self, id: NodeId, node: &Node, callee: usize, sink: &mut Sink) {
        let cx = self.cx;
        let body = cx.model.functions[callee].body;
        for (index, port) in cx.model.graphs[body].inputs.iter().enumerate() {
            if node.input(index).is_none()
                && let Some(needs) = self.needing(callee, index, 0)
            {
                sink.push(omitted(cx, id, port.value, needs));
            }
        }
    }

    /// Returns an operator node that requires an input of a function.
    ///
    /// The node is in the function, or in a function that it calls with the input. Subgraphs are skipped,
    /// because an `If` may use the input only in calls that pass it.
    fn needing(&mut self, function: usize, input: usize, depth: usize) -> Option<NodeId> {
        if let Some(&known) = self.needing.get(&(function, input)) {
            return known;
        }
        if depth >= MAX_FOLLOWED {
            return None;
        }
        // In a call cycle, the input counts as not required.
        self.needing.insert((function, input), None);
        let cx = self.cx;
        let body = &cx.model.graphs[cx.model.functions[function].body];
        let value = body.inputs.get(input)?.value;
        let found = body.nodes.iter().find_map(|&id| {
            let node = &cx.model.nodes[id];
            let mut uses = (0..node.inputs.len()).filter(|&index| node.input(index) == Some(value));
            match self.callees.get(&id).copied() {
                Some(callee) => uses.find_map(|index| self.needing(callee, index, depth + 1)),
                None => uses.any(|index| is_required(schema_of(cx, node), index)).then_some(id),
            }
        });
        self.needing.insert((function, input), found);
        found
    }

    fn attributes(&mut self, id: NodeId, node: &'m Node, callee: usize, sink: &mut Sink) {
        let cx = self.cx;
        for attr in &node.attrs {
            // The kind of a reference is only declared, and ONNX Runtime ignores the declaration.
            let is_reference = matches!(attr.value, AttrValue::Ref { .. });
            if let Some(kind) = attr.value.kind().filter(|_| !is_reference)
                && let Some(of) = self.reference(callee, &attr.name, 0)
                && of.kind != kind
            {
                sink.push(unlike(cx, id, Part::Attr(&attr.name), &attr.name, kind, &of));
            }
        }
        for attr in &cx.model.functions[callee].attribute_defaults {
            if node.attr(&attr.name).is_none()
                && let Some(kind) = attr.value.kind()
                && let Some(of) = self.reference(callee, &attr.name, 0)
                && of.kind != kind
            {
                sink.push(unlike(cx, id, Part::Op, &attr.name, kind, &of));
            }
        }
    }

    /// Returns the first operator attribute that refers to an attribute of a function.
    ///
    /// The operator is in the function, or in a function that it calls with the attribute.
    fn reference(&mut self, function: usize, name: &'m str, depth: usize) -> Option<Reference<'m>> {
        if let Some(&known) = self.references.get(&(function, name)) {
            return known;
        }
        if depth >= MAX_FOLLOWED {
            return None;
        }
        self.references.insert((function, name), None);
        let cx = self.cx;
        let graphs = scopes::nested(cx.model, cx.model.functions[function].body).into_iter();
        let mut nodes = graphs.flat_map(|graph| &cx.model.graphs[graph].nodes);
        let found = nodes.find_map(|&id| {
            let node = &cx.model.nodes[id];
            let refers =
                |value: &AttrValue| matches!(value, AttrValue::Ref { name: of, .. } if **of == *name);
            node.attrs.iter().filter(|attr| refers(&attr.value)).find_map(|attr| {
                if let Some(callee) = self.callees.get(&id).copied() {
                    return self.reference(callee, &attr.name, depth + 1);
                }
                let kind = schema_of(cx, node)?.attr(&attr.name)?.kind;
                Some(Reference { node: id, attr: &attr.name, kind })
            })
        });
        self.references.insert((function, name), found);
        found
    }
}

fn schema_of(cx: &LintContext, node: &Node) -> Option<&'static Schema> {
    schema::lookup(node.domain(), &node.op_type, u16::try_from(cx.opset(node)).ok()?)
}

/// Returns true if the operator requires this input.
///
/// The schemas of ONNX Runtime's own operators mark some optional inputs as required.
fn is_required(schema: Option<&'static Schema>, index: usize) -> bool {
    let formal = schema.filter(|schema| !schema.vendor).and_then(|schema| schema.input(index));
    formal.is_some_and(|formal| formal.option != Arity::Optional)
}

/// Attribute of an operator that refers to an attribute of the function.
#[derive(Clone, Copy)]
struct Reference<'a> {
    node: NodeId,
    attr: &'a str,
    /// Kind that the operator requires.
    kind: AttrKind,
}
