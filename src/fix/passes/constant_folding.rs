//! Constant folding outside the e-graph: large tensors, sequences, and nodes with subgraphs.
//!
//! Folded values that remaining nodes read, or that are outputs, become constants; their producers are removed.
//! Small tensors are left to the e-graph: inference computes their elements, and extraction compares costs.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diag::rule_ids::CONSTANT_RESULT;
use crate::edit::{AnalysisView, Change, Editor, Item, Patch, Site};
use crate::fix::options::Options;
use crate::fix::pass::{Need, Pass};
use crate::graph::uses::Uses;
use crate::graph::{ElemType, Model, NodeId, Tensor, ValueId, order, scopes};
use crate::infer::eval::Array;
use crate::infer::execute::{Executor, Folded, Limits};
use crate::infer::{self, Facts};

/// Work limit in operations for each byte of the constant size limit.
/// Folded expressions mostly reshape, concatenate and scale; matrix products are rare.
const WORK_PER_BYTE: usize = 256;
/// Additional operations for each byte of weights: a weight may be scaled and moved a few times.
const WORK_PER_WEIGHT: usize = 4;

/// The pass.
pub const PASS: Pass = Pass {
    id: "constant-folding",
    summary: "Replaces nodes by constants if all their inputs are constant.",
    codes: &[CONSTANT_RESULT],
    phases: &[],
    need: Need::Optional,
    is_enabled: |cx| cx.options.optimize && cx.options.fold_limit > 0,
    run: |editor, cx| Ok(fold(editor, Folding::of(&cx.options))),
};

/// Options of constant folding.
#[derive(Clone, Copy, Debug)]
struct Folding {
    /// Maximum size in bytes of a constant, unless the weights that it frees are larger.
    limit: usize,
    /// Whether QuantizeLinear and DequantizeLinear of constants are folded.
    quantization: bool,
}

impl Folding {
    fn of(options: &Options) -> Self {
        Folding { limit: options.fold_limit, quantization: options.fold_qdq }
    }
}

/// Replaces main-graph nodes that have only constant inputs by their results.
/// Returns true if a node was replaced.
fn fold(editor: &mut Editor, folding: Folding) -> bool {
    let limit = folding.limit;
    let model = editor.model();
    let Ok(order) = order::sorted(model, model.main) else { return false };
    let computed = compute(model, &order, folding);
    if computed.nodes.is_empty() {
        return false;
    }
    let AnalysisView { model, facts, .. } = editor.analyses();
    let found = choose(model, &order, &computed, facts, limit);
    if found.constants.is_empty() {
        return false;
    }
    // Free memory early: the patch contains only a few of the computed values.
    drop(computed);
    let patch = patch(model, found);
    editor.apply(vec![patch]) > 0
}

/// Returns the patch that replaces nodes by constants.
fn patch(model: &Model, found: Found) -> Patch {
    let mut patch = Patch::new(model.main);
    patch.replaced =
        model.graphs[model.main].nodes.iter().copied().filter(|node| found.gone.contains(node)).collect();
    let change = |&node: &NodeId| Change::new(CONSTANT_RESULT, Site::Node(node), "constant-folded");
    patch.changes = patch.replaced.iter().map(change).collect();
    // Convert one at a time, so that large constants exist twice only briefly.
    let constants = found.constants.into_iter();
    patch.constants = constants.map(|(value, folded)| (Item::Old(value), folded.into_tensor())).collect();
    patch
}

/// Results of evaluating the constant nodes.
#[derive(Default)]
struct Computed {
    nodes: FxHashSet<NodeId>,
    tensors: FxHashMap<ValueId, Folded>,
    /// Results of casts to a wider type, and values computed from them.
    widened: FxHashSet<ValueId>,
    /// Bytes of the initializers that become unused if the value becomes a constant, by value.
    freed: FxHashMap<ValueId, usize>,
}

/// Evaluates the constant nodes of the main graph, within the limits.
fn compute(model: &Model, order: &[NodeId], Folding { limit, quantization }: Folding) -> Computed {
    let weights =
        model.graphs[model.main].initializers.iter().filter_map(|&value| bytes_in_file(model, value));
    let (largest, all) =
        weights.fold((0, 0_usize), |(most, all), len| (len.max(most), all.saturating_add(len)));
    let work = limit.saturating_mul(WORK_PER_BYTE).saturating_add(all.saturating_mul(WORK_PER_WEIGHT));
    let mut executor = Executor::strict(model, Limits { bytes: limit, work });
    executor.fold_quantization(quantization);
    let mut computed = Computed::default();
    let uses = Uses::new(model);
    for &id in order {
        let node = &model.nodes[id];
        // Arithmetic on weights may produce a tensor as large as the largest weight.
        let is_folding = infer::is_weight_arithmetic(node.domain(), &node.op_type);
        executor.allow(if is_folding { limit.max(largest) } else { limit });
        if !executor.is_ready(id) || executor.run(id).is_err() || model.nodes[id].is("Constant") {
            continue;
        }
        computed.nodes.insert(id);
        let inherits = node.inputs.iter().flatten().any(|input| computed.widened.contains(input));
        let elem = |value: ValueId| match executor.tensor(value) {
            Some(folded) => folded.elem(),
            None => model.constant(value).and_then(Tensor::elem),
        };
        let bits = |value: ValueId| elem(value).and_then(ElemType::bits);
        let is_wider = node.input(0).and_then(bits) < node.output(0).and_then(bits);
        let is_cast = node.domain().is_empty() && matches!(&*node.op_type, "Cast" | "CastLike");
        let freed = node.inputs.iter().flatten().filter(|&&input| uses.count(input) == 1);
        let freed = freed.map(|&input| match computed.freed.get(&input) {
            Some(&freed) => freed,
            None => bytes_in_file(model, input).unwrap_or(0),
        });
        let freed: usize = freed.sum();
        computed.freed.extend(node.outputs.iter().flatten().map(|&output| (output, freed)));
        let widens = inherits || (is_cast && is_wider);
        for &output in node.outputs.iter().flatten() {
            if let Some(folded) = executor.tensor(output) {
                computed.tensors.insert(output, folded);
            }
            if widens {
                computed.widened.insert(output);
            }
        }
    }
    computed
}

/// Returns the size in bytes of a constant tensor of the model.
fn bytes_in_file(model: &Model, value: ValueId) -> Option<usize> {
    model.constant(value)?.byte_len()
}

/// Nodes to remove, and the constants that replace them.
struct Found {
    gone: FxHashSet<NodeId>,
    /// Constants in the order of the nodes that produced the values.
    constants: Vec<(ValueId, Folded)>,
}

/// Strictest use of a value, which determines whether a folded value must be stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Demand {
    /// The value is used only by nodes that the e-graph can fold.
    Passing,
    /// The value is used by a node that is kept.
    Node,
    /// The value is an output of the graph.
    Output,
}

/// Selects the nodes to remove, visiting users before producers.
fn choose(model: &Model, order: &[NodeId], computed: &Computed, facts: &Facts, limit: usize) -> Found {
    let mut needs: FxHashMap<ValueId, Demand> = FxHashMap::default();
    for port in &model.graphs[model.main].outputs {
        needs.insert(port.value, Demand::Output);
    }
    let mut found = Found { gone: FxHashSet::default(), constants: Vec::new() };
    for &id in order.iter().rev() {
        match replaced(model, id, computed, facts, &needs, limit) {
            Ok(made) => {
                found.gone.insert(id);
                found.constants.extend(made);
            }
            Err(need) => {
                let read = model.nodes[id].inputs.iter().flatten().copied();
                for value in read.chain(scopes::captures_of_node(model, id)) {
                    let known = needs.entry(value).or_insert(need);
                    *known = need.max(*known);
                }
            }
        }
    }
    found.constants.reverse();
    found
}

/// Returns the constants that replace a node.
///
/// # Errors
/// The node must be kept; the error is the kind of use ([`Demand`]) that the node makes of its inputs.
fn replaced(
    model: &Model,
    id: NodeId,
    computed: &Computed,
    facts: &Facts,
    needs: &FxHashMap<ValueId, Demand>,
    limit: usize,
) -> Result<Vec<(ValueId, Folded)>, Demand> {
    // Keep each `Identity`, which computes nothing; other passes remove it where possible.
    if !computed.nodes.contains(&id) || model.nodes[id].is("Identity") {
        return Err(Demand::Node);
    }
    let needed = model.nodes[id].outputs.iter().flatten();
    let needed: Vec<(ValueId, Demand)> =
        needed.filter_map(|&output| Some((output, *needs.get(&output)?))).collect();
    let passes = |&(output, need): &(ValueId, Demand)| {
        need == Demand::Passing || facts[output].as_const().is_some_and(|array| !is_text(array))
    };
    if !needed.is_empty() && needed.iter().all(passes) {
        return Err(Demand::Passing);
    }
    let constant = |(output, need)| Ok((output, computed.constant(output, need, limit).ok_or(Demand::Node)?));
    needed.into_iter().map(constant).collect()
}

/// Returns true for strings, which the e-graph does not fold.
fn is_text(array: &Array) -> bool {
    array.as_strings().is_ok()
}

impl Computed {
    /// Returns the constant that may replace a value, or `None` if there is none.
    /// A constant that is too large is not returned. A constant that widens weights stored in a narrow type
    /// is returned only for a graph output.
    fn constant(&self, value: ValueId, need: Demand, limit: usize) -> Option<Folded> {
        let freed = self.freed.get(&value).copied().unwrap_or(0);
        let small = |folded: &&Folded| folded.bytes() <= limit.max(freed);
        let undoes = need != Demand::Output && self.widened.contains(&value);
        self.tensors.get(&value).filter(small).filter(|_| !undoes).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// Folds a graph; checks the operators that remain and the number of new constants.
    #[track_caller]
    fn check(graph: &str, left: &[&str], constants: usize) {
        let (model, findings) =
            read::text::read(&format!("<ir_version: 10, opset_import: [\"\" : 21]> {graph}"));
        assert!(findings.is_empty(), "{findings:?}");
        let mut editor = Editor::new(model.expect("a model"));
        let before = editor.model().graphs[editor.model().main].initializers.len();
        fold(&mut editor, Folding::of(&Options::default()));
        let model = editor.model();
        let main = &model.graphs[model.main];
        let ops: Vec<&str> = main.nodes.iter().map(|&node| &*model.nodes[node].op_type).collect();
        assert_eq!((ops.as_slice(), main.initializers.len() - before), (left, constants));
    }

    const LARGE: &str = "s = Constant <value_ints = [64, 64]> () l = ConstantOfShape (s)";

    #[test]
    fn large_tensors_become_constants_where_they_are_read() {
        let graph = |rest: &str| format!("g (float[64, 64] x) => (float[64, 64] y) {{ {LARGE} {rest} }}");
        check(&graph("t = Transpose (l) y = Add (x, t)"), &["Add"], 1);
        // Small tensors are left to the e-graph.
        check(
            &graph("n = Size (l) f = Cast <to = 1> (n) y = Add (x, f)"),
            &["Constant", "ConstantOfShape", "Size", "Cast", "Add"],
            0,
        );
    }

    #[test]
    fn narrow_weights_are_not_folded_into_wider_ones() {
        let quantized =
            "q = Cast <to = 3> (l) c = Constant <value_float = 0.5> () w = DequantizeLinear (q, c)";
        let graph =
            |rest: &str| format!("g (float[64, 64] x) => (float[64, 64] y) {{ {LARGE} {quantized} {rest} }}");
        check(&graph("y = Add (x, w)"), &["Constant", "DequantizeLinear", "Add"], 1);
    }

    #[test]
    fn branches_and_sequences_are_folded() {
        check(
            "g (float[n] x) => (float[n] y) {
                c = Constant <value = bool { 1 }> ()
                s = Constant <value_ints = [2000]> ()
                l = ConstantOfShape (s)
                q = SequenceConstruct (l, l)
                b = If (c) <then_branch = t () => (float[k] p) { p = ConcatFromSequence <axis = 0> (q) },
                            else_branch = e () => (float[k] r) { r = Identity (l) }>
                y = Concat <axis = 0> (x, b)
            }",
            &["Concat"],
            1,
        );
    }
}
