//! Fixes of baked sizes (EXP001), offered only if they repair the whole data flow.
//!
//! A Reshape to a constant batch size fails with an error at other batch sizes. If only the first Reshape to the
//! batch size is repaired, a later one such as `{1,-1,5,5}` can silently merge all samples into one. A fix of the
//! leading axis is offered only if [`crate::batching`] proves that the model works for any batch size; the
//! fix rewrites all nodes that hard-code the batch size. A fix of an axis that is not the leading one, or of
//! a size that a non-leading axis of an input also has, is offered if no downstream node hard-codes the size
//! after the fix.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::context::{LintContext, LintOptions};
use super::rule_fixes::{Suggestion, raw};
use crate::batching::{Samples, plan};
use crate::diag::Selection;
use crate::diag::rule_ids::BAKED_SHAPE;
use crate::edit::{AnalysisView, Editor, Patch};
use crate::graph::dim::{Dim, Symbol};
use crate::graph::{DeclaredDim, Id as _, Model, NodeId, TypeKind, ValueId};
use crate::infer;
use crate::rules::rule::Rule;

/// Rule that repairs a Reshape with a static leading axis.
const LEADING: &str = "FIX020";

/// Maximum number of rounds of fixes; a fix can expose further baked sizes.
const ROUNDS: usize = 8;

/// Batch of a model: the inputs with a leading batch axis, and the batch size that nodes hard-code.
struct Batch {
    inputs: Vec<(ValueId, usize)>,
    traced: i64,
}

fn is_baked(mend: &Suggestion) -> bool {
    mend.rule.fixes.as_deref() == Some(BAKED_SHAPE.code)
}

/// Drops or completes fixes of baked sizes that do not repair the whole data flow.
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
        let traced = by_symbol[&symbol];
        match traced.and_then(|traced| batch(cx, &symbol, traced)) {
            Some(batch) => kept.extend(repaired(cx, own, &batch)),
            None if traced.is_some() && is_on_later_axis(cx, &symbol) => left.extend(own),
            None => {}
        }
    }
    if !left.is_empty() && is_whole(cx, rules, &left) {
        kept.extend(left);
    }
    kept
}

/// Returns the symbol that a Reshape hard-codes, and its traced size, if known.
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

/// Whether a dimension of a node input depends on the symbol.
fn reads(cx: &LintContext, node: NodeId, symbol: &Symbol) -> bool {
    let inputs = cx.model.nodes[node].inputs.iter().flatten();
    let mut dims = inputs.flat_map(|&value| cx.facts[value].dims().unwrap_or(&[]).iter().flatten());
    dims.any(|dim| dim.contains(symbol))
}

/// Whether the symbol is the size of a non-leading input axis, such as a sequence length.
///
/// Example: the mask of an attention has the shape `[length, length]`.
fn is_on_later_axis(cx: &LintContext, symbol: &Symbol) -> bool {
    let ports = cx.model.graphs[cx.model.main].inputs.iter();
    let mut dims = ports.flat_map(|port| cx.facts[port.value].dims().unwrap_or_default().iter().skip(1));
    dims.any(|dim| dim.as_ref().and_then(Dim::as_symbol) == Some(symbol))
}

/// Returns the batch with the inputs whose leading axis is the symbol.
///
/// Returns `None` unless the symbol is known to occur as a leading axis only.
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

/// Returns `mends` if batching requires no other changes, or else the patches of batching.
///
/// Returns an empty vector if batching fails.
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

/// Returns the model as traced: with a static batch, and without declared shapes of computed values.
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

/// Whether no downstream node hard-codes a size after `mends` and all follow-up fixes are applied.
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
        // A new node is checked, too, because it replaces a node of the data flow.
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

/// Returns options that only detect baked sizes (EXP001).
pub(super) fn baked_only() -> LintOptions {
    let selection = Selection::new(vec![BAKED_SHAPE.code.to_owned()], Vec::new());
    LintOptions { selection, rules: Arc::default(), ..LintOptions::default() }
}

/// Returns the replaced nodes of `mends`, and all their downstream nodes.
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
