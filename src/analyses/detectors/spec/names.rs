//! Missing names and operators, and duplicate node names.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::{BAD_NAME, DUPLICATE_NODE_NAME};
use crate::diag::{Applicability, Finding, Level, Sink};
use crate::edit::{RepeatedName, repeated_node_names};
use crate::graph::{Def, GraphId, NodeId, Owner, ValueId};

/// Detector of SPC031 and SPC032.
pub const DETECTOR: Detector = Detector { rules: &[BAD_NAME, DUPLICATE_NODE_NAME], run };

fn no_operator(cx: &LintContext, node: NodeId) -> Finding {
    let message = format!("node `{}` has no operator", cx.node_name(node));
    cx.at_node(BAD_NAME, node, Part::Op, message).label("`op_type` is empty")
}

fn nameless_value(cx: &LintContext, value: ValueId) -> Finding {
    let kind = match cx.model.values[value].def {
        Def::Input(index) => format!("input {index} of the graph"),
        _ => "an initializer".to_owned(),
    };
    cx.at_value(BAD_NAME, value, format!("{kind} has no name, so no node can use it"))
}

fn nameless_graph(cx: &LintContext, graph: GraphId) -> Finding {
    let message = "the graph has no name, but the specification requires one";
    cx.at_graph(BAD_NAME.at(Level::Hint), graph, "", message)
}

fn duplicate(cx: &LintContext, RepeatedName { first, second, is_refused }: RepeatedName) -> Finding {
    let message = format!("two nodes of one graph are named `{}`", cx.node_name(second));
    let (rule, note) = match is_refused {
        true => (DUPLICATE_NODE_NAME, "ONNX Runtime does not load the model"),
        false => (
            DUPLICATE_NODE_NAME.at(Level::Hint),
            "profiles, quantization tables and messages of runtimes identify nodes by name",
        ),
    };
    cx.at_node(rule, second, Part::Whole, message)
        .related(cx.places.node(first, Part::Whole), "first node")
        .note(note)
        .fix(Applicability::Safe, "renames the node")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, graph) in cx.graphs() {
        let is_nameless = graph.name.as_deref().unwrap_or("").is_empty();
        if is_nameless && !matches!(graph.owner, Owner::Function(_)) {
            sink.push(nameless_graph(cx, id));
        }
        let inputs = graph.inputs.iter().map(|port| port.value);
        let nameless = inputs.chain(graph.initializers.iter().copied());
        let found = nameless.filter(|&value| cx.name(value).is_empty());
        sink.extend(found.map(|value| nameless_value(cx, value)));
    }
    sink.extend(cx.nodes().filter(|(_, node)| node.op_type.is_empty()).map(|(id, _)| no_operator(cx, id)));
    sink.extend(repeated_node_names(cx.model).into_iter().map(|repeated| duplicate(cx, repeated)));
}
