//! Draws random graphs.

use std::sync::LazyLock;

use onnx_lint::graph::{DeclaredDim, Port, ValueId, ValueInfo};
use onnx_lint::infer::eval::Val;
use onnx_lint::schema::{self, Schema};
use rustc_hash::FxHashSet;

use crate::bodies;
use crate::case::Case;
use crate::draft::{Draft, tensor_type};
use crate::node;
use crate::random::Random;

/// Opsets of drawn models and of conversions.
pub const OPSETS: std::ops::RangeInclusive<i64> = 7..=28;

static ML: LazyLock<Vec<&'static str>> = LazyLock::new(|| schema::ops("ai.onnx.ml").collect());
static ONNX: LazyLock<Vec<&'static str>> = LazyLock::new(|| schema::ops("").collect());

/// Draws an operator that exists in the opset of a draft.
fn operator(draft: &mut Draft) -> Option<&'static Schema> {
    let (domain, ops) = if draft.random.once_in(30) { ("ai.onnx.ml", &ML) } else { ("", &ONNX) };
    let opset = match domain {
        "" => draft.opset,
        _ => schema::release(draft.opset)?.ml,
    };
    let op = draft.random.pick(ops)?;
    schema::lookup(domain, op, opset).filter(|schema| !schema.deprecated)
}

/// Adds up to this many nodes; returns their number.
pub fn grow(draft: &mut Draft, nodes: usize) -> usize {
    let mut made = 0;
    for _ in 0..nodes * 3 {
        if made == nodes {
            break;
        }
        if draft.scopes.len() < 3 && draft.random.once_in(16) {
            made += usize::from(bodies::draw(draft).is_some());
        } else if let Some(schema) = operator(draft) {
            made += usize::from(node::draw(draft, schema) == node::Drawn::Made);
        }
    }
    made
}

/// Draws a random graph.
pub fn draw(mut random: Random) -> Case {
    let opset = random.between(*OPSETS.start(), *OPSETS.end()) as u16;
    let mut draft = Draft::new(opset, random);
    let nodes = 1 + draft.random.below(7);
    grow(&mut draft, nodes);
    finish(draft)
}

/// Adds the graph outputs: the unused outputs of nodes, and sometimes a random visible value.
pub fn finish(mut draft: Draft) -> Case {
    let model = &draft.case.model;
    let used: FxHashSet<ValueId> =
        model.nodes.iter().flat_map(|(_, node)| node.inputs.iter().flatten().copied()).collect();
    let visible = draft.visible();
    let mut outputs: Vec<ValueId> = visible
        .iter()
        .copied()
        .filter(|value| {
            model.producer(*value).is_some() && !used.contains(value) && is_output(&draft, *value)
        })
        .collect();
    let others: Vec<ValueId> = visible.into_iter().filter(|value| is_output(&draft, *value)).collect();
    if (outputs.is_empty() || draft.random.once_in(4))
        && let Some(&value) = draft.random.pick(&others)
    {
        outputs.push(value);
    }
    // A repeated output is valid, but many tools mishandle it: keep repetitions in one of 30 graphs.
    let is_twice = draft.random.once_in(30);
    let mut seen = FxHashSet::default();
    outputs.retain(|value| seen.insert(*value) || is_twice);
    for value in outputs {
        let info = declared(&mut draft, value);
        let main = draft.case.model.main;
        draft.case.model.graphs[main].outputs.push(Port { value, info });
    }
    draft.case
}

fn is_output(draft: &Draft, value: ValueId) -> bool {
    matches!(draft.values.get(&value), Some(Val::Tensor(_)))
}

/// Returns the declaration of an output: its type, and mostly its rank.
fn declared(draft: &mut Draft, value: ValueId) -> ValueInfo {
    let Some(Val::Tensor(array)) = draft.values.get(&value) else { return ValueInfo::default() };
    let dims = (!draft.random.once_in(8)).then(|| vec![DeclaredDim::Absent; array.rank()]);
    ValueInfo { ty: Some(tensor_type(array.elem(), dims)), ..ValueInfo::default() }
}
