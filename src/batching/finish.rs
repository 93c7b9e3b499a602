//! Settles the outputs of a graph, and gives its patch the names of the traced graph.

use rustc_hash::FxHashMap;

use super::cx::{Cx, It, Scope, at_value};
use super::layout::Layout;
use super::obstacle::{Result, Why, unsupported};
use crate::edit::{Change, Item, NewId, Patch, Site};
use crate::graph::{Def, NodeId, ValueId, scopes};

/// Brings the outputs of the model to the layouts that a caller expects: the results of all samples, one after another.
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
            Err(Why { kind, text }) => cx.obstacles.push(at_value(value, made, kind, text)),
        }
    }
    cx.scope.node = None;
    found
}

fn output(cx: &mut Cx, value: ValueId) -> Result<Layout> {
    let name = cx.model.values[value].name.clone();
    let dims = cx.dims(value);
    let to = match (cx.layout(value), dims.as_deref()) {
        (Layout::Axis { axis, pre, post }, _) => Layout::Axis { axis, pre: 1, post: pre * post },
        (Layout::Stacked, Some([Some(first), ..])) => Layout::Axis { axis: 0, pre: 1, post: *first },
        (Layout::Stacked, Some([])) => {
            return unsupported(format!(
                "the output `{name}` is a scalar for each sample: it has no axis to hold them"
            ));
        }
        (Layout::Stacked, _) => {
            return unsupported(format!("the output `{name}` has no axis of known size to hold the samples"));
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

/// Gives an output of the current graph another layout.
pub(super) fn rebind(cx: &mut Cx, value: ValueId, to: Layout) -> Result<()> {
    if cx.layout(value) == to {
        return Ok(());
    }
    let made = cx.model.producer(value).filter(|&(node, _)| cx.model.nodes[node].graph == cx.scope.graph);
    let name = &cx.model.values[value].name;
    let Some((node, _)) = made else {
        return unsupported(format!("the output `{name}` is an input or a constant"));
    };
    if is_captured(cx, value) {
        return unsupported(format!("the output `{name}` is read by a subgraph, too, in another layout"));
    }
    if !cx.scope.items.contains_key(&value) {
        set_apart(cx, value, node);
    }
    let operand = cx.operand_of(value);
    let item = cx.convert(&operand, to)?;
    cx.scope.items.insert(value, item);
    cx.layouts.insert(value, to);
    Ok(())
}

/// Whether a body inside of the graph reads a value.
fn is_captured(cx: &Cx, value: ValueId) -> bool {
    let nodes = &cx.model.graphs[cx.scope.graph].nodes;
    nodes.iter().any(|&node| scopes::captures_of_node(cx.model, node).contains(&value))
}

/// Gives what a node makes, and what reads it, another name, so that the name is free for what is made of it.
fn set_apart(cx: &mut Cx, value: ValueId, maker: NodeId) {
    let item = cx.new_item(value);
    for node in &mut cx.scope.patch.nodes {
        for one in node.inputs.iter_mut().chain(&mut node.outputs).flatten() {
            if *one == Item::Old(value) {
                *one = item;
            }
        }
    }
    cx.scope.items.insert(value, item);
    let model = cx.model;
    let readers = model.graphs[cx.scope.graph].nodes.iter().copied();
    let readers: Vec<NodeId> = readers
        .filter(|&node| node == maker || model.nodes[node].inputs.contains(&Some(value)))
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

/// The patch of a scope: what stands for a value of the traced graph takes its name.
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
    let by = cx.samples.by;
    let changed = patch.nodes.iter().flat_map(|node| node.origin.last().copied());
    let replaced = patch.replaced.iter().copied();
    let mut nodes: Vec<NodeId> =
        replaced.clone().chain(changed.filter(|node| !patch.replaced.contains(node))).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.retain(|node| patch.replaced.contains(node) || !is_as_it_was(cx, &patch, *node));
    patch.nodes.retain(|node| !matches!(node.form, crate::edit::Form::Kept(kept) if is_same(cx, kept, node)));
    let site = nodes.first().map_or(Site::Graph(patch.graph), |&node| Site::Node(node));
    patch.changes = match nodes.is_empty() {
        true => vec![Change::new(by, site, "computes each sample by itself")],
        false => {
            let change = |node: NodeId| Change::new(by, Site::Node(node), "computes each sample by itself");
            nodes.into_iter().map(change).collect()
        }
    };
    patch
}

/// Whether a node that stays reads and gives the same as before.
fn is_same(cx: &Cx, kept: NodeId, node: &crate::edit::PatchNode) -> bool {
    let before = &cx.model.nodes[kept];
    let same = |old: &[Option<ValueId>], new: &[Option<It>]| {
        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.map(Item::Old) == *new)
    };
    same(&before.inputs, &node.inputs) && same(&before.outputs, &node.outputs)
}

fn is_as_it_was(cx: &Cx, patch: &Patch, id: NodeId) -> bool {
    let of = |node: &&crate::edit::PatchNode| node.origin.last() == Some(&id);
    patch
        .nodes
        .iter()
        .filter(of)
        .all(|node| matches!(node.form, crate::edit::Form::Kept(kept) if is_same(cx, kept, node)))
}
