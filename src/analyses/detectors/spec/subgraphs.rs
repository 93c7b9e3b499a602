//! Subgraphs with a wrong number of inputs or outputs, or with outputs that an outer graph defines.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::analyses::repairs::{OutputRepair, outer_outputs};
use crate::diag::counted;
use crate::diag::rule_ids::BODY_SIGNATURE;
use crate::diag::{Applicability, Finding, Sink};
use crate::graph::{AttrValue, GraphId, Node, NodeId};

/// Detector of SPC033.
pub const DETECTOR: Detector = Detector { rules: &[BODY_SIGNATURE], run };

/// Required number of inputs or outputs of a subgraph.
#[derive(Clone, Copy)]
struct Wanted {
    count: usize,
    /// Whether a larger number is allowed, because the node can omit trailing outputs.
    or_more: bool,
}

impl Wanted {
    fn exactly(count: usize) -> Self {
        Wanted { count, or_more: false }
    }

    fn is_met(self, found: usize) -> bool {
        found == self.count || self.or_more && found > self.count
    }
}

fn wrong_count(
    cx: &LintContext,
    node: NodeId,
    attr: &str,
    what: &str,
    wanted: Wanted,
    found: usize,
    why: &str,
) -> Finding {
    let more = if wanted.or_more { "at least " } else { "" };
    let message = format!(
        "`{attr}` of `{}` has {}, but needs {more}{}",
        cx.node_name(node),
        counted(found, what),
        counted(wanted.count, what)
    );
    cx.at_node(BODY_SIGNATURE, node, Part::Attr(attr), message).label(why)
}

/// Creates the finding of a subgraph output that is a value of an outer graph.
fn outer_output(cx: &LintContext, node: NodeId, repair: OutputRepair) -> Finding {
    let value = cx.model.graphs[repair.graph].outputs[repair.output].value;
    let attrs = &cx.model.nodes[node].attrs;
    let attr = attrs.iter().find(|attr| attr.value.graphs().contains(&repair.graph));
    let attr = attr.map_or("", |attr| &*attr.name);
    let message = format!(
        "`{attr}` of `{}` returns `{}`, which an outer graph defines",
        cx.node_name(node),
        cx.name(value)
    );
    cx.at_node(BODY_SIGNATURE, node, Part::Attr(attr), message)
        .label("the output is not a value of this graph")
        .related(cx.places.value(value), "defined here")
        .note("ONNX Runtime rejects it: a subgraph must define its outputs")
        .help("copy the value in the subgraph with an Identity")
        .fix(Applicability::Safe, "inserts an Identity")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    sink.extend(outer_outputs(cx.model).into_iter().map(|(node, repair)| outer_output(cx, node, repair)));
    for (id, node) in cx.nodes().filter(|(_, node)| node.domain().is_empty()) {
        for attr in &node.attrs {
            let AttrValue::Graph(body) = attr.value else { continue };
            let signature = match (&*node.op_type, &*attr.name) {
                ("If", "then_branch" | "else_branch") => Some(branch(node)),
                ("Loop", "body") => Some(loop_body(node)),
                ("Scan", "body") => scan_body(cx, node, body),
                ("SequenceMap", "body") => Some(map_body(node)),
                _ => None,
            };
            if let Some(signature) = signature {
                sink.extend(signature.check(cx, id, &attr.name, body));
            }
        }
    }
}

/// Required numbers of inputs and outputs of a subgraph, each with its reason.
struct Signature {
    inputs: Wanted,
    why_inputs: &'static str,
    outputs: Wanted,
    why_outputs: &'static str,
}

impl Signature {
    fn check(&self, cx: &LintContext, node: NodeId, attr: &str, body: GraphId) -> Vec<Finding> {
        let graph = &cx.model.graphs[body];
        let sides = [
            ("input", self.inputs, graph.inputs.len(), self.why_inputs),
            ("output", self.outputs, graph.outputs.len(), self.why_outputs),
        ];
        let wrong = sides.into_iter().filter(|(_, wanted, found, _)| !wanted.is_met(*found));
        wrong
            .map(|(what, wanted, found, why)| wrong_count(cx, node, attr, what, wanted, found, why))
            .collect()
    }
}

fn branch(node: &Node) -> Signature {
    Signature {
        inputs: Wanted::exactly(0),
        why_inputs: "a branch has no inputs: it captures values of the outer graph",
        outputs: Wanted::exactly(node.outputs.len()),
        why_outputs: "a branch needs one output for each output of the `If`",
    }
}

/// Returns the signature of a Loop body.
///
/// The first two inputs of the body are the iteration number and the condition.
fn loop_body(node: &Node) -> Signature {
    let carried = node.inputs.len().saturating_sub(2);
    Signature {
        inputs: Wanted::exactly(carried + 2),
        why_inputs: "the iteration number, the condition, and one input for each carried value",
        outputs: Wanted { count: node.outputs.len().max(carried) + 1, or_more: node.outputs.len() < carried },
        why_outputs: "the condition, one output for each carried value, and one for each scan output",
    }
}

/// Returns the signature of a Scan body; `None` without a valid `num_scan_inputs`.
///
/// At opset 8, the first input of a `Scan` has the sequence lengths, which the body does not receive.
fn scan_body(cx: &LintContext, node: &Node, body: GraphId) -> Option<Signature> {
    let lengths = usize::from(cx.model.opset(body, "")? < 9);
    let scanned = usize::try_from(node.attr("num_scan_inputs")?.as_int()?).ok()?;
    let received = node.inputs.len().checked_sub(lengths)?;
    (scanned <= received).then(|| Signature {
        inputs: Wanted::exactly(received),
        why_inputs: "the body needs one input for each state and scanned input of the `Scan`",
        outputs: Wanted::exactly(node.outputs.len()),
        why_outputs: "the body needs one output for each output of the `Scan`",
    })
}

fn map_body(node: &Node) -> Signature {
    Signature {
        inputs: Wanted::exactly(node.inputs.len()),
        why_inputs: "the body needs one input for each input of the `SequenceMap`",
        outputs: Wanted::exactly(node.outputs.len()),
        why_outputs: "the body needs one output for each output of the `SequenceMap`",
    }
}
