//! Values that determine sizes or indices.
//!
//! A rounding error of a float stays small in sums and products, but a Cast to integers can turn it into another size or
//! another element. Comparisons and selections, such as ArgMax and TopK, are not followed: an error only decides ties.

use rustc_hash::FxHashSet;

use crate::graph::{ElemType, GraphId, Model, Node, NodeId, TypeKind, ValueId, order};

/// Inputs that are sizes, indices, factors of sizes, or numbers of iterations.
const PLACES: &[(&str, &[usize])] = &[
    ("AffineGrid", &[1]),
    ("Attention", &[6]),
    ("BlackmanWindow", &[0]),
    ("CenterCropPad", &[1]),
    ("Col2Im", &[1, 2]),
    ("ConstantOfShape", &[0]),
    ("CumSum", &[1]),
    ("DFT", &[1, 2]),
    ("Expand", &[1]),
    ("GRU", &[4]),
    ("Gather", &[1]),
    ("GatherElements", &[1]),
    ("GatherND", &[1]),
    ("HammingWindow", &[0]),
    ("HannWindow", &[0]),
    ("LSTM", &[4]),
    ("Loop", &[0]),
    ("MaxRoiPool", &[1]),
    ("MaxUnpool", &[1, 2]),
    ("MelWeightMatrix", &[0, 1]),
    ("NegativeLogLikelihoodLoss", &[1]),
    ("NonMaxSuppression", &[2]),
    ("OneHot", &[0, 1]),
    ("Pad", &[1, 3]),
    ("RNN", &[4]),
    ("Range", &[0, 1, 2]),
    ("Reshape", &[1]),
    ("Resize", &[1, 2, 3]),
    ("ReverseSequence", &[1]),
    ("RoiAlign", &[2]),
    ("STFT", &[1, 3]),
    ("Scatter", &[1]),
    ("ScatterElements", &[1]),
    ("ScatterND", &[1]),
    ("SequenceAt", &[1]),
    ("SequenceErase", &[1]),
    ("SequenceInsert", &[2]),
    ("Slice", &[1, 2, 3, 4]),
    ("SoftmaxCrossEntropyLoss", &[1]),
    ("Split", &[1]),
    ("SplitToSequence", &[1]),
    ("Squeeze", &[1]),
    ("TensorScatter", &[2]),
    ("Tile", &[1]),
    ("TopK", &[1]),
    ("Trilu", &[1]),
    ("Unsqueeze", &[1]),
    ("Upsample", &[1]),
];

/// Operators whose first output does not follow a small change of their inputs.
const DECIDING: [&str; 14] = [
    "ArgMax",
    "ArgMin",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "IsInf",
    "IsNaN",
    "Less",
    "LessOrEqual",
    "NonMaxSuppression",
    "NonZero",
    "Shape",
    "Size",
    "TopK",
];

/// Returns the values on which sizes or indices depend.
pub fn places(model: &Model) -> FxHashSet<ValueId> {
    let mut found = FxHashSet::default();
    follow(model, model.main, &mut found);
    found
}

/// Returns true if a model computes sizes or indices from the elements of a floating-point input.
pub fn depend_on_floats(model: &Model) -> bool {
    let places = places(model);
    let is_float = |elem: &ElemType| elem.is_float();
    model.graphs[model.main].inputs.iter().any(|port| {
        let elem = match port.info.ty.as_ref().map(|ty| &ty.kind) {
            Some(TypeKind::Tensor { elem, .. }) => elem.and_then(ElemType::from_number),
            _ => None,
        };
        elem.as_ref().is_none_or(is_float) && places.contains(&port.value)
    })
}

/// Adds the values of a graph on which sizes or indices depend, users before producers.
fn follow(model: &Model, graph: GraphId, found: &mut FxHashSet<ValueId>) {
    for id in order::sorted_or_file(model, graph).into_iter().rev() {
        let node = &model.nodes[id];
        let is_place = |input: usize| {
            let row = PLACES.binary_search_by(|row| row.0.cmp(&node.op_type));
            let is_axes = node.op_type.starts_with("Reduce") && input == 1;
            node.domain().is_empty() && (is_axes || row.is_ok_and(|row| PLACES[row].1.contains(&input)))
        };
        let inputs = node.inputs.iter().enumerate();
        found.extend(inputs.filter(|(at, _)| is_place(*at)).filter_map(|(_, input)| *input));
        if node.graphs().next().is_some() {
            follow_bodies(model, id, found);
        } else if !is_deciding(node) && is_found(found, &node.outputs) {
            found.extend(node.inputs.iter().flatten());
        }
    }
}

fn is_found(found: &FxHashSet<ValueId>, values: &[Option<ValueId>]) -> bool {
    values.iter().flatten().any(|value| found.contains(value))
}

fn is_deciding(node: &Node) -> bool {
    node.domain().is_empty() && DECIDING.contains(&&*node.op_type)
}

/// Follows the subgraphs of a node. Values that the node passes to a subgraph are not told apart.
fn follow_bodies(model: &Model, node: NodeId, found: &mut FxHashSet<ValueId>) {
    let node = &model.nodes[node];
    let bodies: Vec<GraphId> = node.graphs().collect();
    // An iteration counts from zero, whatever the inputs of the node are.
    let counters = if node.is("Loop") { 2 } else { 0 };
    let passed = |found: &FxHashSet<ValueId>| {
        bodies.iter().any(|&body| {
            let passed = model.graphs[body].inputs.iter().skip(counters);
            passed.into_iter().any(|port| found.contains(&port.value))
        })
    };
    let mut is_followed = is_found(found, &node.outputs);
    loop {
        if is_followed {
            for &body in &bodies {
                found.extend(model.graphs[body].outputs.iter().map(|port| port.value));
            }
        }
        bodies.iter().for_each(|&body| follow(model, body, found));
        // A value that one iteration passes to the next one is an output of the subgraph, too.
        let is_passed = passed(found);
        if is_passed {
            found.extend(node.inputs.iter().flatten());
        }
        if is_followed || !is_passed {
            break;
        }
        is_followed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    fn model(graph: &str) -> Model {
        let text = format!("<ir_version: 8, opset_import: [\"\" : 17]> {graph}");
        read::text::read(&text).0.expect("a model")
    }

    #[test]
    fn operators_are_sorted() {
        assert!(PLACES.is_sorted_by_key(|row| row.0));
    }

    #[test]
    fn casts_of_floats_to_sizes_and_indices_are_found() {
        for nodes in [
            "c = Cast <to = 7> (x)  y = Gather (w, c)",
            "s = Mul (x, x)  c = Cast <to = 7> (s)  k = Concat <axis = 0> (c, c)  y = Expand (w, k)",
            "f = Floor (x)  y = Resize (w, \"\", f)",
        ] {
            let model = model(&format!("g (float[1] x, float[4] w) => (float[N] y) {{ {nodes} }}"));
            assert!(depend_on_floats(&model), "{nodes}");
        }
    }

    #[test]
    fn sizes_of_floats_and_selections_are_not_found() {
        for nodes in [
            "s = Shape (x)  y = Expand (w, s)",
            "c = ArgMax <axis = 0> (x)  y = Gather (w, c)",
            "c = Cast <to = 7> (x)  d = Cast <to = 1> (c)  y = Add (w, d)",
        ] {
            let model = model(&format!("g (float[1] x, float[4] w) => (float[N] y) {{ {nodes} }}"));
            assert!(!depend_on_floats(&model), "{nodes}");
        }
    }

    #[test]
    fn values_that_a_loop_passes_on_are_found() {
        let body = |last: &str| {
            format!(
                "g (float[1] x, int64 n, bool c, float[4] w) => (float[N] y) {{
                    y, z = Loop (n, c, w, x) <body = b (int64 i, bool go, float[4] v, float[1] k) => (bool on, float[4] u, float[1] m) {{
                        on = Identity (go)  m = Add (k, k)  {last} }}> }}"
            )
        };
        let by_index = body("j = Cast <to = 7> (k)  p = Gather (v, j)  u = Add (v, p)");
        assert!(depend_on_floats(&model(&by_index)));
        assert!(!depend_on_floats(&model(&body("u = Add (v, k)"))));
    }
}
