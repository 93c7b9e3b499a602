//! Mends of baked sizes (EXP001) are offered only where the size is repaired everywhere it flows.
//!
//! A Reshape that fixes the batch fails loudly. Once it is mended, a later one that lets another axis take the rest, as
//! `{1,-1,5,5}`, would put all samples into one. So the mend of a leading axis goes through the analysis of
//! [`crate::batching`]: where it proves the model for any number of samples, all nodes that fix the size are rewritten
//! together; where it does not, nothing is offered. The mends of other axes are offered where none of the nodes behind
//! them is found to fix the size afterwards.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::context::{LintContext, LintOptions};
use super::suggestions::{Suggestion, raw};
use crate::batching::{Samples, plan};
use crate::diag::Selection;
use crate::diag::rule_ids::BAKED_SHAPE;
use crate::edit::{AnalysisView, Editor, Patch};
use crate::graph::dim::{Dim, Symbol};
use crate::graph::{DeclaredDim, Id as _, Model, NodeId, TypeKind, ValueId};
use crate::infer;
use crate::rules::rule::Rule;

/// The rule that mends a Reshape with a fixed leading axis.
const LEADING: &str = "FIX020";

/// Rounds in which mends bring further baked sizes to light.
const ROUNDS: usize = 8;

/// The batch of a model: a symbol that is the leading axis of inputs, and the size that nodes fix it at.
struct Batch {
    inputs: Vec<(ValueId, usize)>,
    traced: i64,
}

fn is_baked(mend: &Suggestion) -> bool {
    mend.rule.mends.as_deref() == Some(BAKED_SHAPE.code)
}

/// Leaves out, or completes, the mends of sizes that are not repaired everywhere.
pub fn whole<'r>(cx: &LintContext, rules: &[&'r Rule], mends: Vec<Suggestion<'r>>) -> Vec<Suggestion<'r>> {
    let (baked, mut kept): (Vec<Suggestion>, Vec<Suggestion>) = mends.into_iter().partition(is_baked);
    if baked.is_empty() {
        return kept;
    }
    let mut by_symbol: FxHashMap<Symbol, Option<i64>> = FxHashMap::default();
    let mut order = Vec::new();
    for mend in baked.iter().filter(|mend| &*mend.rule.code == LEADING) {
        let Some((symbol, traced)) = leading(cx, mend) else { continue };
        match by_symbol.get_mut(&symbol) {
            Some(known) if *known != traced => *known = None,
            Some(_) => {}
            None => {
                order.push(symbol.clone());
                by_symbol.insert(symbol, traced);
            }
        }
    }
    let mut left = baked;
    for symbol in order {
        let of_symbol = |mend: &Suggestion| mend.patch.replaced.iter().any(|&node| reads(cx, node, &symbol));
        let (own, others): (Vec<Suggestion>, Vec<Suggestion>) = left.into_iter().partition(of_symbol);
        left = others;
        let batch = by_symbol[&symbol].and_then(|traced| batch(cx, &symbol, traced));
        kept.extend(batch.map_or_else(Vec::new, |batch| repaired(cx, own, &batch)));
    }
    if !left.is_empty() && is_whole(cx, rules, &left) {
        kept.extend(left);
    }
    kept
}

/// The symbol that a Reshape fixes, and at what.
fn leading(cx: &LintContext, mend: &Suggestion) -> Option<(Symbol, Option<i64>)> {
    let node = &cx.model.nodes[*mend.patch.replaced.first()?];
    let dim = cx.facts[node.input(0)?].shape()?.dim(0)?;
    let mut symbols = dim.symbols();
    let symbol = symbols.next()?.clone();
    let target = cx.facts[node.input(1)?].as_const()?.as_i64s().ok()?;
    let factor = dim.div_exact(Dim::symbol(symbol.name())).and_then(|factor| factor.as_const());
    let traced = factor.filter(|&factor| factor > 0 && symbols.next().is_none());
    let traced = traced.and_then(|factor| (target.first()? % factor == 0).then(|| target[0] / factor));
    Some((symbol, traced.filter(|&traced| traced > 0)))
}

/// Whether an input of a node has a size that depends on the symbol.
fn reads(cx: &LintContext, node: NodeId, symbol: &Symbol) -> bool {
    let inputs = cx.model.nodes[node].inputs.iter().flatten();
    let mut dims = inputs.flat_map(|&value| cx.facts[value].dims().unwrap_or(&[]).iter().flatten());
    dims.any(|dim| dim.contains(symbol))
}

/// The inputs whose leading axis is the symbol, if it is the size of no other axis of an input.
fn batch(cx: &LintContext, symbol: &Symbol, traced: i64) -> Option<Batch> {
    let mut inputs = Vec::new();
    for port in &cx.model.graphs[cx.model.main].inputs {
        for (axis, dim) in cx.facts[port.value].dims()?.iter().enumerate() {
            match dim {
                Some(dim) if dim.as_symbol() == Some(symbol) && axis == 0 => inputs.push((port.value, axis)),
                Some(dim) if dim.contains(symbol) => return None,
                _ => {}
            }
        }
    }
    (!inputs.is_empty()).then_some(Batch { inputs, traced })
}

/// The mends themselves, if they are all that has to change; else what has to change in their place.
fn repaired<'r>(cx: &LintContext, mends: Vec<Suggestion<'r>>, batch: &Batch) -> Vec<Suggestion<'r>> {
    let model = as_traced(cx.model, batch);
    let facts = infer::infer(&model, infer::Options::default());
    let samples = Samples::new(batch.inputs.clone(), batch.traced);
    let Ok(batched) = plan(&model, &facts, &samples) else { return Vec::new() };
    let changed = |patch: &Patch| -> Vec<NodeId> {
        let new = patch.nodes.iter().flat_map(|node| node.origin.last().copied());
        patch.replaced.iter().copied().chain(new).collect()
    };
    let mended: FxHashSet<NodeId> = mends.iter().flat_map(|mend| changed(&mend.patch)).collect();
    if batched.patches.iter().flat_map(changed).all(|node| mended.contains(&node)) {
        return mends;
    }
    let Some(first) = mends.iter().find(|mend| mend.is_at_place).or(mends.first()) else { return Vec::new() };
    let (rule, finding, is_at_place) = (first.rule, first.finding, first.is_at_place);
    let mend = |patch: Patch| Suggestion { rule, patch, finding, is_at_place };
    batched.patches.into_iter().map(mend).collect()
}

/// The model as it was traced: the batch is a number, and nothing is declared of what is computed.
fn as_traced(model: &Model, batch: &Batch) -> Model {
    let mut model = model.clone();
    let main = model.main;
    for port in &mut model.graphs[main].inputs {
        let kind = port.info.ty.as_mut().map(|ty| &mut ty.kind);
        let Some(TypeKind::Tensor { shape: Some(dims), .. }) = kind else { continue };
        for (axis, dim) in dims.iter_mut().enumerate() {
            if batch.inputs.contains(&(port.value, axis)) {
                dim.dim = DeclaredDim::Value(batch.traced);
            }
        }
    }
    for (_, graph) in model.graphs.iter_mut() {
        graph.value_info.clear();
        for port in &mut graph.outputs {
            if let Some(TypeKind::Tensor { shape, .. }) = port.info.ty.as_mut().map(|ty| &mut ty.kind) {
                *shape = None;
            }
        }
    }
    model
}

/// Whether, once these mends are made, and those that they bring to light, no node behind them fixes a size.
fn is_whole(cx: &LintContext, rules: &[&Rule], mends: &[Suggestion]) -> bool {
    let (behind, known) = (behind(cx.model, mends), cx.model.nodes.len());
    let mut editor = Editor::new(cx.model.clone());
    editor.apply(mends.iter().map(|mend| mend.patch.clone()).collect());
    let options = baked_only();
    for _ in 0..ROUNDS {
        let AnalysisView { model, facts, uses } = editor.analyses();
        let cx = LintContext::new(model, facts, uses, &options);
        let findings = super::detected(&cx);
        let left = findings.iter().flat_map(|finding| &finding.nodes);
        // A node that is new stands for one of those that were mended.
        if !left.into_iter().any(|&node| {
            let node = NodeId::from_index(node as usize);
            behind.contains(&node) || node.index() >= known
        }) {
            return true;
        }
        let more: Vec<Patch> =
            raw(&cx, rules, &findings).into_iter().filter(is_baked).map(|mend| mend.patch).collect();
        if editor.apply(more) == 0 {
            return false;
        }
    }
    false
}

/// Options that detect baked sizes (EXP001) and nothing else.
pub(super) fn baked_only() -> LintOptions {
    let selection = Selection::new(vec![BAKED_SHAPE.code.to_owned()], Vec::new());
    LintOptions { selection, rules: Arc::default(), ..LintOptions::default() }
}

/// The nodes that read, at whatever distance, what mended nodes give.
fn behind(model: &Model, mends: &[Suggestion]) -> FxHashSet<NodeId> {
    let mut found: FxHashSet<NodeId> =
        mends.iter().flat_map(|mend| mend.patch.replaced.iter().copied()).collect();
    let mut made: FxHashSet<ValueId> =
        found.iter().flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied()).collect();
    let uses = crate::graph::uses::Uses::new(model);
    let mut open: Vec<ValueId> = made.iter().copied().collect();
    while let Some(value) = open.pop() {
        for one in uses.of(value) {
            let node = one.node;
            let outer: Vec<NodeId> = model.holders(model.nodes[node].graph).collect();
            for node in std::iter::once(node).chain(outer) {
                if found.insert(node) {
                    let outputs = model.nodes[node].outputs.iter().flatten().copied();
                    open.extend(outputs.filter(|&output| made.insert(output)));
                }
            }
        }
    }
    found
}
