//! EXP001 at a node that makes a size static, if a later node requires the dynamic size.
//!
//! A Reshape to `{-1, 7, 64}` may be meant to split a sequence into chunks of 7, unless a later node adds the result
//! to the sequence.

use super::demand::{Demand, Demands, Kind};
use super::reshape::reshape_target;
use crate::graph::dim::{Answer, Dim, numel};
use crate::graph::{DeclaredDim, Dimension, Model, Node, NodeId, Owner, Port, TypeKind, ValueId};
use crate::infer::{Fact, Size};

/// Maximum number of nodes to search for the node that made a size static.
const MAX_STEPS: usize = 256;

/// Size constraint, with the node that made the size static.
pub struct Conflict {
    /// Node that made the size static.
    pub cause: NodeId,
    /// Size constraint, at an input of `cause`.
    pub demand: Demand,
    /// Node that fails at sizes other than the traced one; `None` if a declared output shows the conflict.
    pub met: Option<NodeId>,
}

/// Returns the conflicts at the inputs of a node.
pub fn at_node(demands: &Demands, id: NodeId) -> Vec<Conflict> {
    let model = demands.cx.model;
    let node = &model.nodes[id];
    // A node in a subgraph may be guarded by a condition on the size.
    if is_in_body(model, node) {
        return Vec::new();
    }
    let found = demands.of_handed_on(node).into_iter().filter_map(|demand| {
        let (cause, input) = cause(demands, node.input(demand.input)?, &demand.fixed, &|node| {
            fixes(demands, node, &demand.fixed)
        })?;
        Some(Conflict { cause, demand: Demand { input, ..demand }, met: Some(id) })
    });
    found.chain(at_weight(demands, id, node)).collect()
}

/// Returns the conflict at a product with a weight, if a Reshape folds the batch into the features.
///
/// Example: `{2,-1}` reshapes `[batch,3,4]` to `[2,6*batch]`, and a weight of 12 rows fits one batch size only.
fn at_weight(demands: &Demands, id: NodeId, node: &Node) -> Option<Conflict> {
    let Demands { cx, free, reach } = demands;
    let weight = node.input(1).filter(|&weight| !reach.depends_on_inputs(weight))?;
    let is_set = |attr: &str| node.attr(attr).and_then(|attr| attr.as_int()).unwrap_or(0) != 0;
    let (data, rows) = match (&*node.op_type, cx.facts[weight].dims()?) {
        ("MatMul", [.., rows, _]) => (node.input(0)?, rows),
        ("Gemm", [rows, columns]) if !is_set("transA") => {
            (node.input(0)?, if is_set("transB") { columns } else { rows })
        }
        _ => return None,
    };
    let (length, rows) = (cx.facts[data].dims()?.last()?.clone()?, rows.clone()?);
    let is_open = length.equals(&rows, &cx.facts.bounds) == Answer::Unknown;
    free.lost(&length, &rows).filter(|_| is_open && node.domain().is_empty())?;
    let (cause, demand) = cause(demands, data, &length, &|node| {
        let demand = (&*node.op_type == "Reshape").then(|| demands.reshape(node)).flatten()?;
        matches!(demand.kind, Kind::Moves | Kind::Divides | Kind::Mixes { .. }).then_some(demand)
    })?;
    Some(Conflict { cause, demand: Demand { kind: Kind::Equal, ..demand }, met: Some(id) })
}

/// Returns the conflicts at the outputs of the model.
pub fn at_outputs(demands: &Demands) -> Vec<Conflict> {
    let model = demands.cx.model;
    model.graphs[model.main].outputs.iter().flat_map(|port| at_output(demands, port)).collect()
}

fn at_output(demands: &Demands, port: &Port) -> Vec<Conflict> {
    let cx = demands.cx;
    let declared = port.info.ty.as_ref().and_then(|ty| match &ty.kind {
        TypeKind::Tensor { shape, .. } => shape.as_ref(),
        _ => None,
    });
    let known = cx.facts[port.value].dims().unwrap_or_default();
    let declared = declared.filter(|declared| declared.len() == known.len());
    let axes = declared.into_iter().flatten().zip(known);
    let conflict = |(declared, is): (&Dimension, &Size)| {
        let DeclaredDim::Param(name) = &declared.dim else { return None };
        let (size, is) = (Dim::symbol(name), is.clone()?);
        let demand = |node: &Node| match is.as_const() {
            Some(_) => {
                demands.free.lost(&size, &is).filter(|free| free.named)?;
                let input = fixes(demands, node, &is)?;
                Some(Demand {
                    input,
                    size: size.clone(),
                    fixed: is.clone(),
                    kind: Kind::Declared(port.value),
                })
            }
            None => leads(demands, node, &size, &is),
        };
        if size.equals(&is, &cx.facts.bounds) != Answer::Unknown {
            return None;
        }
        let (cause, demand) = cause(demands, port.value, &is, &demand)?;
        Some(Conflict { cause, demand, met: None })
    };
    axes.filter_map(conflict).collect()
}

/// Returns the node that introduced `size` into a shape, and the result of `made_by` for this node.
///
/// The search ends where a weight also has the size, because the size may come from the weight.
fn cause<T>(
    demands: &Demands,
    value: ValueId,
    size: &Dim,
    made_by: &dyn Fn(&Node) -> Option<T>,
) -> Option<(NodeId, T)> {
    let Demands { cx, reach, .. } = demands;
    let has = |value: &ValueId| cx.facts[*value].dims().is_some_and(|dims| is_among(dims, size));
    let mut at = value;
    for _ in 0..MAX_STEPS {
        let (id, _) = cx.model.producer(at)?;
        let node = &cx.model.nodes[id];
        if let Some(made) = made_by(node) {
            return (!is_in_body(cx.model, node)).then_some((id, made));
        }
        let mut carriers = node.inputs.iter().flatten().copied().filter(has).peekable();
        at = *carriers.peek()?;
        if carriers.any(|carrier| !reach.depends_on_inputs(carrier)) {
            return None;
        }
    }
    None
}

/// Returns the index of the input that makes a node replace a dynamic size by the constant `fixed`.
fn fixes(demands: &Demands, node: &Node, fixed: &Dim) -> Option<usize> {
    let Demands { cx, free, .. } = demands;
    let data = cx.input(node, 0)?.dims()?;
    let (input, sizes) = match &*node.op_type {
        "Reshape" => (usize::from(node.input(1).is_some()), reshape_target(cx, node)?),
        "Resize" => (3, cx.input(node, 3).and_then(Fact::as_ints)?),
        "Expand" => (1, cx.input(node, 1).and_then(Fact::as_ints)?),
        "Tile" if cx.input(node, 1).is_some_and(Fact::is_const) => {
            (1, node.output(0).and_then(|value| cx.facts[value].dims())?.to_vec())
        }
        _ => return carried(demands, node, fixed),
    };
    // Expand and Tile extend axes of size 1, not dynamic ones.
    if matches!(&*node.op_type, "Expand" | "Tile") {
        let is_new = is_among(&sizes, fixed) && !is_among(data, fixed);
        return (node.domain().is_empty() && is_new).then_some(input);
    }
    let is_free = data.iter().flatten().any(|size| free.lost(size, fixed).is_some());
    let is_new = is_among(&sizes, fixed) && !is_among(data, fixed);
    (node.domain().is_empty() && is_free && is_new).then_some(input)
}

/// Returns the index of the constant operand that gives the result of a node its static size.
///
/// The operand is, for example, a coordinate grid that is scaled, or a table that is written to. A constant with at
/// most one axis longer than 1 is not returned, because it is usually a parameter with one value per feature.
fn carried(demands: &Demands, node: &Node, fixed: &Dim) -> Option<usize> {
    let Demands { cx, reach, .. } = demands;
    let has = |value: ValueId| cx.facts[value].dims().is_some_and(|dims| is_among(dims, fixed));
    let is_grid = |value: ValueId| {
        let along = |dims: &[Size]| dims.iter().filter(|size| **size != Some(Dim::known(1))).count();
        cx.facts[value].dims().is_some_and(|dims| along(dims) > 1)
    };
    if matches!(&*node.op_type, "ScatterND" | "ScatterElements") && node.domain().is_empty() {
        let table = node.input(0).filter(|&table| !reach.depends_on_inputs(table))?;
        return (has(table) && is_grid(table)).then_some(0);
    }
    let [Some(a), Some(b)] = node.inputs[..] else { return None };
    if !matches!(&*node.op_type, "Add" | "Sub" | "Mul" | "Div") || !node.domain().is_empty() {
        return None;
    }
    let (input, constant, other) = if reach.depends_on_inputs(a) { (1, b, a) } else { (0, a, b) };
    let is_cause = !reach.depends_on_inputs(constant) && has(constant) && !has(other) && is_grid(constant);
    (is_cause && reach.depends_on_inputs(other)).then_some(input)
}

/// Returns the size constraint of a Reshape with -1 for `batch`, whose result has `rows` rows.
///
/// The product of the axes after the batch must equal the product of the constants in the target. A Reshape
/// of one dynamic axis to `{-1, 16}` splits it into chunks, and any number of rows is intended.
fn leads(demands: &Demands, node: &Node, batch: &Dim, rows: &Dim) -> Option<Demand> {
    let (target, data) = (reshape_target(demands.cx, node)?, demands.cx.input(node, 0)?.dims()?);
    let (first, behind) = target.split_first()?;
    let (leading, axes) = data.split_first().filter(|(_, axes)| axes.len() > 1)?;
    let result = node.output(0).and_then(|value| demands.cx.facts[value].dims())?;
    let makes_rows = result.first() == Some(&Some(rows.clone()));
    let is_reshape = node.is("Reshape");
    let is_led = first.as_ref().and_then(Dim::as_const) == Some(-1) && leading.as_ref() == Some(batch);
    let product = |sizes: &[Size]| numel(&sizes.iter().cloned().collect::<Option<Vec<Dim>>>()?);
    let (size, fixed) = (product(axes)?, product(behind)?);
    fixed.as_const()?;
    let is_named = demands.free.lost(&size, &fixed).is_some() && demands.free.lost(batch, &fixed)?.named;
    (is_reshape && makes_rows && is_led && is_named).then_some(Demand {
        input: 1,
        size,
        fixed,
        kind: Kind::Leads,
    })
}

fn is_in_body(model: &Model, node: &Node) -> bool {
    matches!(model.graphs[node.graph].owner, Owner::Node(_))
}

fn is_among(sizes: &[Size], dim: &Dim) -> bool {
    sizes.iter().any(|size| size.as_ref() == Some(dim))
}
