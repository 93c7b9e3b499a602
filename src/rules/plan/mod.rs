//! A rewrite for one match, everything in it computed: what is left is to add the nodes.

pub mod draft;
mod literal;
mod make;
mod patch;
mod run;

use std::sync::Arc;

pub use crate::edit::{Item, NewId};
pub use patch::patch;

use rustc_hash::FxHashSet;

use super::eval::Env;
use super::host::Host;
use super::matcher::{Binding, Match};
use super::rule::{Direction, OpPat, VarId};
use crate::graph::{AttrValue, Attribute, Id as _, Tensor, TensorId};
use crate::infer::eval::Array;
use crate::schema::{self, Schema};

/// A node to add.
#[derive(Debug)]
pub struct PlannedNode<V> {
    pub schema: &'static Schema,
    /// `None`: left out; never the last one.
    pub inputs: Vec<Option<Item<V>>>,
    /// Which outputs it has.
    pub outputs: Vec<bool>,
    /// Their tensors are numbers in [`Plan::tensors`].
    pub attrs: Vec<Attribute>,
}

impl<V> PlannedNode<V> {
    /// Its attributes, with the tensors of the plan as their owner numbers them.
    pub fn attrs_with(&self, tensors: &[TensorId]) -> Vec<Attribute> {
        let owned = |attr: &Attribute| match attr.value {
            AttrValue::Tensor(id) => Attribute::new(&attr.name, AttrValue::Tensor(tensors[id.index()])),
            _ => attr.clone(),
        };
        self.attrs.iter().map(owned).collect()
    }
}

/// A value that a rewrite makes.
#[derive(Clone, Debug)]
pub enum Made {
    Constant(Arc<Array>),
    /// An output of one of [`Plan::nodes`].
    Output {
        node: usize,
        index: usize,
    },
}

/// A rewrite for one match. It no longer needs the host, so that the host may be changed.
#[derive(Debug)]
pub struct Plan<V, N> {
    pub found: Match<V, N>,
    /// Each behind those whose outputs it takes.
    pub nodes: Vec<PlannedNode<V>>,
    pub values: Vec<Made>,
    /// The tensors in attributes of the nodes.
    pub tensors: Vec<Tensor>,
    pub outputs: Vec<Equal<V>>,
}

/// A value of the match, with what is equal to it.
pub type Equal<V> = (V, Item<V>);

/// Why there is no plan for a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unplanned {
    /// Something in the rewrite has no value here, so that the rule does not apply.
    Undefined,
    /// The rewrite asks for what cannot be made: an operator that no opset has, an attribute of a kind that
    /// its schema does not take.
    Malformed(String),
}

/// Computes what the rewrite of `direction` makes of a match.
///
/// # Errors
/// It makes nothing of it; a direction that only reports is undefined.
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
        return Err(Unplanned::Malformed("a body would be that of two nodes".to_owned()));
    }
    match outputs {
        Some(outputs) if !outputs.is_empty() => Ok(Plan { found, nodes, values, tensors, outputs }),
        _ => Err(Unplanned::Undefined),
    }
}

/// A body may be handed on to one node, and no more: its values are made where it is run.
fn shares_a_body<V>(nodes: &[PlannedNode<V>]) -> bool {
    let mut seen = FxHashSet::default();
    let mut bodies = nodes.iter().flat_map(|node| &node.attrs).flat_map(|attr| attr.value.graphs());
    !bodies.all(|body| seen.insert(*body))
}

impl<H: Host> Env<'_, H> {
    /// What is equal to the values that a variable of the pattern stands for; none for one that is absent.
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

/// The schema that a new node is written in: the newest of the epoch it names, or the one in force at
/// `opset`; where the operator does not exist there, the first that there ever was.
fn schema_of(op: &OpPat, opset: Option<i64>) -> Option<&'static Schema> {
    let versions = schema::versions(&op.domain, &op.name);
    match op.epoch {
        Some(epoch) => versions.iter().rfind(|schema| schema.epoch == epoch),
        None => schema::meant_plainly(&op.domain, &op.name, opset),
    }
}
