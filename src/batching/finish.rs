//! Conversion of outputs to their final layouts, and completion of patches.

use rustc_hash::FxHashMap;

use super::cx::{Cx, It, Scope, at_value};
use super::layout::Layout;
use super::obstacle::{Reason, Result, unsupported};
use crate::edit::{Change, Item, NewId, Patch, PatchNode, PatchOp, Site};
use crate::graph::{Def, NodeId, ValueId, scopes};

/// Converts the outputs of the model to final layouts: shared, or with one block of an axis per sample.
pub(super) fn outputs(cx: &mut Cx) -> Vec<(ValueId, Layout)> {
    let values: Vec<ValueId> = cx.model.graphs[cx.model.main].outputs.iter().map(|port| port.value).collect();
    let mut found = Vec::new();
    for value in values {
        if cx.lost.contains(&value) {
            continue;
        }
        let made = cx.model.producer(value).map(|(node, _)| node);
        cx.scope.node = made;
        match output(cx, value) {
            Ok(layout) => found.push((value, layout)),
            Err(Reason { kind, text }) => cx.obstacles.push(at_value(value, made, kind, text)),
        }
    }
    cx.scope.node = None;
    found
}

/// Converts one output of the model, and returns its layout.
fn output(cx: &mut Cx, value: ValueId) -> Result<Layout> {
    let name = cx.model.values[value].name.clone();
    let dims = cx.dims(value);
    let to = match (cx.layout(value), dims.as_deref()) {
        (Layout::Axis { pre, post, .. }, Some([Some(1), ..])) if pre * post > 1 => Layout::plain(0),
        (Layout::Axis { axis, pre, post }, _) => Layout::Axis { axis, pre: 1, post: pre * post },
        (Layout::Stacked, _) => {
            return unsupported(format!(
                "the output `{name}` has no axis that holds the samples, for example because the batch axis is removed"
            ));
        }
        (Layout::Shared, Some([Some(first), ..])) if *first == cx.samples.traced => {
            let is_made = cx.model.producer(value).is_some();
            if !is_made {
                return Ok(Layout::Shared);
            }
            if *first != 1 {
                return unsupported(format!("the output `{name}` is the same for any number of samples"));
            }
            Layout::plain(0)
        }
        (Layout::Shared, _) => return Ok(Layout::Shared),
    };
    rebind(cx, value, to)?;
    Ok(to)
}

/// Converts an output of the current graph to another layout.
pub(super) fn rebind(cx: &mut Cx, value: ValueId, to: Layout) -> Result<()> {
    if cx.layout(value) == to {
        return Ok(());
    }
    let made = cx.model.producer(value).filter(|&(node, _)| cx.model.nodes[node].graph == cx.scope.graph);
    let name = &cx.model.values[value].name;
    let Some((node, _)) = made else {
        return unsupported(format!("no node of its graph produces the output `{name}`"));
    };
    if is_captured(cx, value) {
        return unsupported(format!("a subgraph reads the output `{name}` in another layout"));
    }
    set_apart(cx, value, node);
    let operand = cx.operand_of(value);
    let item = cx.convert(&operand, to)?;
    cx.scope.items.insert(value, item);
    cx.layouts.insert(value, to);
    Ok(())
}

/// Returns true if a subgraph of the current graph captures a value.
fn is_captured(cx: &Cx, value: ValueId) -> bool {
    let nodes = &cx.model.graphs[cx.scope.graph].nodes;
    nodes.iter().any(|&node| scopes::captures_of_node(cx.model, node).contains(&value))
}

/// Renames a value at its producer and its readers, so that the converted output can take its name.
fn set_apart(cx: &mut Cx, value: ValueId, maker: NodeId) {
    let model = cx.model;
    let is_new = !cx.scope.items.contains_key(&value);
    let item = cx.scope.items.get(&value).copied().unwrap_or_else(|| cx.new_item(value));
    for node in cx.scope.patch.nodes.iter_mut().filter(|_| is_new) {
        for one in node.inputs.iter_mut().chain(&mut node.outputs).flatten() {
            if *one == Item::Old(value) {
                *one = item;
            }
        }
    }
    cx.scope.items.insert(value, item);
    // Nodes that the patch does not have yet still refer to the traced value.
    let nodes = model.graphs[cx.scope.graph].nodes.iter().copied();
    let readers: Vec<NodeId> = nodes
        .filter(|&node| is_new && node == maker || model.nodes[node].inputs.contains(&Some(value)))
        .filter(|node| !cx.scope.emitted.contains(node))
        .collect();
    for node in readers {
        let inputs = cx.inputs(node);
        let outputs = model.nodes[node].outputs.iter();
        let outputs = outputs
            .map(|output| output.map(|one| if one == value { item } else { Item::Old(one) }))
            .collect();
        cx.keep_as(node, inputs, outputs);
    }
}

/// Finishes the patch of a scope: replacements of traced values get the ids and names of those values.
pub(super) fn patch(cx: &Cx, scope: Scope) -> Patch {
    let Scope { mut patch, items, .. } = scope;
    let mut old: FxHashMap<It, ValueId> = FxHashMap::default();
    for (&value, &item) in &items {
        let is_made = matches!(cx.model.values[value].def, Def::Node { .. });
        if let (Item::New(_), true) = (item, is_made) {
            old.insert(item, value);
        }
    }
    let mut numbers: Vec<Option<usize>> = vec![None; patch.values.len()];
    let mut values = Vec::new();
    for (at, value) in patch.values.drain(..).enumerate() {
        if !old.contains_key(&Item::New(NewId(at))) {
            numbers[at] = Some(values.len());
            values.push(value);
        }
    }
    patch.values = values;
    let renamed = |item: &mut It| {
        if let Some(&value) = old.get(item) {
            *item = Item::Old(value);
        } else if let Item::New(NewId(at)) = item
            && let Some(number) = numbers[*at]
        {
            *at = number;
        }
    };
    for node in &mut patch.nodes {
        node.inputs.iter_mut().flatten().for_each(renamed);
        node.outputs.iter_mut().flatten().for_each(renamed);
    }
    patch.constants.iter_mut().for_each(|(item, _)| renamed(item));
    patch.nodes.retain(|node| !matches!(node.form, PatchOp::Kept(kept) if is_same(cx, kept, node)));
    let new = patch.nodes.iter().flat_map(|node| node.origin.last().copied());
    let mut nodes: Vec<NodeId> = patch.replaced.iter().copied().chain(new).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let change = |site| Change::new(cx.samples.by, site, "computes each sample independently");
    patch.changes = nodes.into_iter().map(|node| change(Site::Node(node))).collect();
    if patch.changes.is_empty() {
        patch.changes.push(change(Site::Graph(patch.graph)));
    }
    patch
}

/// Returns true if a kept node has its original inputs and outputs.
fn is_same(cx: &Cx, kept: NodeId, node: &PatchNode) -> bool {
    let before = &cx.model.nodes[kept];
    let same = |old: &[Option<ValueId>], new: &[Option<It>]| {
        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.map(Item::Old) == *new)
    };
    same(&before.inputs, &node.inputs) && same(&before.outputs, &node.outputs)
}
