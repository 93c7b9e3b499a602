//! Plans: fully evaluated rewrites, ready to be added to a graph or an e-graph.

mod inferred;
mod literal;
mod make;
mod patch;
mod run;
mod sizes;

pub use super::draft::{Made, PlannedNode, PlannedOp, Unplanned};
pub use crate::edit::{Item, NewId};
pub use patch::{patch, patch_of_empty};

use rustc_hash::FxHashSet;

use super::bindings::{Binding, Match};
use super::eval::Env;
use super::host::Host;
use super::rule::{Direction, OpPat, VarId};
use crate::graph::Tensor;
use crate::schema::{self, Schema};

/// Evaluated rewrite for one match. A plan does not borrow the host, so that the host can be modified.
#[derive(Debug)]
pub struct Plan<V, N> {
    pub found: Match<V, N>,
    /// Nodes in topological order.
    pub nodes: Vec<PlannedNode<V>>,
    /// Values that the rewrite creates.
    pub values: Vec<Made>,
    /// Tensors in attributes of the nodes.
    pub tensors: Vec<Tensor>,
    /// Replacements of matched values.
    pub outputs: Vec<Equal<V>>,
}

/// Value of the match with its replacement.
pub type Equal<V> = (V, Item<V>);

/// Evaluates the rewrite of `direction` for a match.
///
/// # Errors
/// The direction has no rewrite, or the rewrite is undefined or invalid.
pub fn plan<H: Host>(
    host: &H,
    direction: &Direction,
    found: Match<H::Value, H::Node>,
) -> Result<Plan<H::Value, H::Node>, Unplanned> {
    let rewrite = direction.rewrite.as_ref().ok_or(Unplanned::Undefined)?;
    let mut env = Env::for_rewrite(host, &found, rewrite);
    let mut outputs = Some(Vec::new());
    for (var, _) in &rewrite.outputs {
        let more = env.output(*var);
        outputs = outputs.zip(more).map(|(all, more)| [all, more].concat());
    }
    let (nodes, values, tensors) = env.draft.into_made()?;
    if shares_a_body(&nodes) {
        return Err(Unplanned::Malformed("two nodes would share a subgraph".to_owned()));
    }
    match outputs {
        Some(outputs) if !outputs.is_empty() => Ok(Plan { found, nodes, values, tensors, outputs }),
        _ => Err(Unplanned::Undefined),
    }
}

/// Returns true if two nodes share a subgraph: its values would have two producers.
fn shares_a_body<V>(nodes: &[PlannedNode<V>]) -> bool {
    let mut seen = FxHashSet::default();
    let mut bodies = nodes.iter().flat_map(|node| &node.attrs).flat_map(|attr| attr.value.graphs());
    !bodies.all(|body| seen.insert(*body))
}

impl<H: Host> Env<'_, H> {
    /// Returns the replacements of the values that a pattern variable binds.
    fn output(&mut self, var: VarId) -> Option<Vec<Equal<H::Value>>> {
        let olds = match self.found.value(var)? {
            Binding::Absent => return Some(Vec::new()),
            Binding::One(old) => vec![*old],
            Binding::Many(olds) => olds.to_vec(),
        };
        let slots = self.redefinition(var)?.into_list();
        if slots.len() != olds.len() {
            return None;
        }
        let equal = olds.into_iter().zip(slots);
        equal.map(|(old, slot)| Some((old, self.item(slot, self.host.fact(old).elem())?))).collect()
    }
}

/// Returns the operator of a new node; `None` if a known domain does not define the operator.
fn planned_op(op: &OpPat, opset: Option<i64>) -> Option<PlannedOp> {
    let schema = schema_of(op, opset);
    let is_custom = schema::domain(&op.domain).is_none();
    (schema.is_some() || is_custom).then(|| PlannedOp {
        domain: op.domain.clone(),
        name: op.name.clone(),
        schema,
    })
}

/// Returns the schema for a new node.
/// For `Softmax@13`, returns the newest version with the semantics of version 13. Without `@version`,
/// returns the version in force at `opset`, or the first version if the operator is newer than `opset`.
fn schema_of(op: &OpPat, opset: Option<i64>) -> Option<&'static Schema> {
    let versions = schema::versions(&op.domain, &op.name);
    match op.epoch {
        Some(epoch) => versions.iter().rfind(|schema| schema.epoch == epoch),
        None => schema::meant_plainly(&op.domain, &op.name, opset),
    }
}
