//! Values that determine sizes or indices.
//!
//! A rounding error of a float stays small in sums and products, but a Cast to integers can turn it into another size or
//! another element. Comparisons and selections, such as ArgMax and TopK, are not followed: an error only decides ties.

use rustc_hash::FxHashSet;

use crate::graph::{Def, ElemType, Model, Node, Owner, TypeKind, ValueId, scopes};

/// Inputs that are sizes, indices, factors of sizes, or numbers of iterations.
const PLACES: &[(&str, &[usize])] = &[
    ("AffineGrid", &[1]),
    ("Attention", &[6]),
    ("BlackmanWindow", &[0]),
    ("CenterCropPad", &[1]),
    ("Col2Im", &[1, 2]),
    ("Compress", &[1]),
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
    ("Loop", &[0, 1]),
    ("MaxRoiPool", &[1]),
    ("MaxUnpool", &[1, 2]),
    ("MelWeightMatrix", &[0, 1]),
    ("NegativeLogLikelihoodLoss", &[1]),
    ("NonMaxSuppression", &[2]),
    ("NonZero", &[0]),
    ("OneHot", &[0, 1]),
    ("Pad", &[1, 3]),
    ("RNN", &[4]),
    ("Range", &[0, 1, 2]),
    ("Reshape", &[1]),
    ("Resize", &[1, 2, 3]),
    ("ReverseSequence", &[1]),
    ("RoiAlign", &[2]),
    ("RotaryEmbedding", &[3]),
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
const DECIDING: [&str; 13] = [
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
    "Shape",
    "Size",
    "TopK",
];

/// Operators of other domains whose inputs are data.
///
/// Any input of another operator can be a size or an index.
const DATA: [&str; 9] = [
    "BiasGelu",
    "FastGelu",
    "FusedConv",
    "FusedGemm",
    "FusedMatMul",
    "Gelu",
    "QuickGelu",
    "SkipLayerNormalization",
    "SkipSimplifiedLayerNormalization",
];

/// Returns the values on which sizes or indices depend.
///
/// Values that a node passes to and from its subgraphs are not told apart.
pub fn places(model: &Model) -> FxHashSet<ValueId> {
    let graphs = scopes::nested(model, model.main);
    let nodes = graphs.iter().flat_map(|&graph| &model.graphs[graph].nodes);
    let mut search = Search { model, found: FxHashSet::default(), open: Vec::new() };
    for &id in nodes {
        let node = &model.nodes[id];
        let inputs = node.inputs.iter().enumerate().filter(|(at, _)| is_place(node, *at));
        inputs.filter_map(|(_, input)| *input).for_each(|value| search.add(value));
        if node.is("Loop") {
            let conditions = node.graphs().filter_map(|body| model.graphs[body].outputs.first());
            conditions.for_each(|port| search.add(port.value));
        }
    }
    while let Some(value) = search.open.pop() {
        search.follow(value);
    }
    search.found
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

/// Returns true if an input of a node is a size or an index.
fn is_place(node: &Node, input: usize) -> bool {
    if !node.domain().is_empty() {
        return !DATA.contains(&&*node.op_type);
    }
    let row = PLACES.binary_search_by(|row| row.0.cmp(&node.op_type));
    let is_axes = node.op_type.starts_with("Reduce") && input == 1;
    is_axes || row.is_ok_and(|row| PLACES[row].1.contains(&input))
}

/// Search from values to the values that they are computed from.
struct Search<'m> {
    model: &'m Model,
    found: FxHashSet<ValueId>,
    /// Found values whose producers are not yet followed.
    open: Vec<ValueId>,
}

impl Search<'_> {
    fn add(&mut self, value: ValueId) {
        if self.found.insert(value) {
            self.open.push(value);
        }
    }

    fn follow(&mut self, value: ValueId) {
        let model = self.model;
        match (model.values[value].def, model.graphs[model.values[value].graph].owner) {
            (Def::Node { node, .. }, _) => {
                let node = &model.nodes[node];
                if node.graphs().next().is_some() {
                    self.add_results(node);
                } else if !(node.domain().is_empty() && DECIDING.contains(&&*node.op_type)) {
                    node.inputs.iter().flatten().for_each(|&input| self.add(input));
                }
            }
            (Def::Input(index), Owner::Node(node)) => {
                let node = &model.nodes[node];
                // An iteration counts from zero, whatever the inputs of the node are.
                let counters = if node.is("Loop") { 2 } else { 0 };
                if index >= counters {
                    node.inputs.iter().flatten().for_each(|&input| self.add(input));
                    // A value that one iteration passes to the next one is an output of the subgraph, too.
                    self.add_results(node);
                }
            }
            _ => {}
        }
    }

    /// Adds the outputs of the subgraphs of a node.
    fn add_results(&mut self, node: &Node) {
        for body in node.graphs() {
            let outputs = self.model.graphs[body].outputs.iter();
            outputs.for_each(|port| self.add(port.value));
        }
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
            "f = Floor (x)  c = Cast <to = 9> (f)  y = Compress (w, c)",
            "f = Floor (x)  n = NonZero (f)  c = Cast <to = 1> (n)  y = Add (w, c)",
            "y = acme.Pick (w, x)",
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
