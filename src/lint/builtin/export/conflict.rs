//! EXP001 where a node fixes a size without a fault of its own, and the size itself is wanted later: a target of
//! `{-1, 7, 64}` may cut a sequence into pieces of 7, but not where the result is added to the sequence.

use super::demand::{Demand, Demands, Kind};
use super::reshape::reshape_target;
use crate::graph::dim::{Answer, Dim};
use crate::graph::{DeclaredDim, Model, Node, NodeId, Owner, Port, TypeKind, ValueId};
use crate::infer::{Fact, Size};

/// Nodes that are looked at for the one that fixed a number.
const MAX_STEPS: usize = 256;

/// A demand that a number be a size, with the node that fixed the number.
pub struct Conflict {
    pub cause: NodeId,
    pub demand: Demand,
    pub met: Met,
}

/// Who wants the size itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// A node that takes both: it fails at other sizes.
    Node(NodeId),
    /// An output that is declared with the size.
    Output(ValueId),
}

/// The conflicts that show at a node.
pub fn at_node(demands: &Demands, id: NodeId) -> Vec<Conflict> {
    let model = demands.cx.model;
    let node = &model.nodes[id];
    // A branch may be taken at the one size only.
    if is_in_body(model, node) {
        return Vec::new();
    }
    let found = demands.of_handed_on(node).into_iter().filter_map(|demand| {
        let (cause, input) = cause(demands, node.input(demand.input)?, &demand.fixed)?;
        Some(Conflict { cause, demand: Demand { input, ..demand }, met: Met::Node(id) })
    });
    found.collect()
}

/// The conflicts that show at the outputs of the model.
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
    let conflict = |(declared, fixed): (&crate::graph::Dimension, &Size)| {
        let DeclaredDim::Param(name) = &declared.dim else { return None };
        let (size, fixed) = (Dim::symbol(name), fixed.clone()?);
        fixed.as_const()?;
        demands.free.lost(&size, &fixed).filter(|free| free.named)?;
        let open = size.equals(&fixed, &cx.facts.bounds) == Answer::Unknown;
        let (cause, input) = cause(demands, port.value, &fixed).filter(|_| open)?;
        let demand = Demand { input, size, fixed, kind: Kind::Declared };
        Some(Conflict { cause, demand, met: Met::Output(port.value) })
    };
    axes.filter_map(conflict).collect()
}

/// The node, and the input of it, that brought a number into the shape of a value. A weight that has the
/// number too may be what it comes from: then there is none.
fn cause(demands: &Demands, value: ValueId, fixed: &Dim) -> Option<(NodeId, usize)> {
    let Demands { cx, reach, .. } = demands;
    let has = |value: &ValueId| cx.facts[*value].dims().is_some_and(|dims| is_among(dims, fixed));
    let mut at = value;
    for _ in 0..MAX_STEPS {
        let (id, _) = cx.model.producer(at)?;
        let node = &cx.model.nodes[id];
        if let Some(input) = fixes(demands, node, fixed) {
            return (!is_in_body(cx.model, node)).then_some((id, input));
        }
        let mut carriers = node.inputs.iter().flatten().copied().filter(has).peekable();
        at = *carriers.peek()?;
        if carriers.any(|carrier| !reach.depends_on_inputs(carrier)) {
            return None;
        }
    }
    None
}

/// The input by which a node gives its result a number in the place of free sizes.
fn fixes(demands: &Demands, node: &Node, fixed: &Dim) -> Option<usize> {
    let Demands { cx, free, .. } = demands;
    let data = cx.input(node, 0)?.dims()?;
    let (input, sizes) = match &*node.op_type {
        "Reshape" => (usize::from(node.input(1).is_some()), reshape_target(cx, node)?),
        "Resize" => (3, cx.input(node, 3).and_then(Fact::as_ints)?),
        _ => return None,
    };
    let is_free = data.iter().flatten().any(|size| free.lost(size, fixed).is_some());
    let is_new = is_among(&sizes, fixed) && !is_among(data, fixed);
    (node.domain().is_empty() && is_free && is_new).then_some(input)
}

fn is_in_body(model: &Model, node: &Node) -> bool {
    matches!(model.graphs[node.graph].owner, Owner::Node(_))
}

fn is_among(sizes: &[Size], dim: &Dim) -> bool {
    sizes.iter().any(|size| size.as_ref() == Some(dim))
}
