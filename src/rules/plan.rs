//! A rewrite for one match, its attributes computed: what is left is to add the nodes.

use std::sync::Arc;

use super::datum::Datum;
use super::eval::Env;
use super::host::Host;
use super::matcher::Match;
use super::rule::{Direction, NewNode, Rewrite};
use crate::schema::{self, Schema};

/// A node to add, with its attributes by name; those that are absent are left out.
#[derive(Debug)]
pub struct PlannedNode<'r> {
    pub node: &'r NewNode,
    pub attrs: Vec<(Arc<str>, Datum)>,
}

/// A rewrite for one match. It no longer needs the host, so that the host may be changed.
#[derive(Debug)]
pub struct Plan<'r, V, N> {
    pub rewrite: &'r Rewrite,
    pub found: Match<V, N>,
    pub nodes: Vec<PlannedNode<'r>>,
}

/// Computes the attributes of the new nodes; `None` where one is undefined, or the rule only reports.
pub fn plan<'r, H: Host>(
    host: &H,
    direction: &'r Direction,
    found: Match<H::Value, H::Node>,
) -> Option<Plan<'r, H::Value, H::Node>> {
    let rewrite = direction.rewrite.as_ref()?;
    let mut nodes = Vec::with_capacity(rewrite.nodes.len());
    for node in &rewrite.nodes {
        let env = Env::new(host, &found);
        let mut attrs = Vec::with_capacity(node.attrs.len());
        for attr in &node.attrs {
            match env.eval(&attr.value)? {
                Datum::Absent => {}
                datum => attrs.push((attr.name.clone(), datum)),
            }
        }
        if let Some(rest) = node.rest.and_then(|rest| found.rest(rest)) {
            attrs.extend(rest.iter().cloned());
        }
        nodes.push(PlannedNode { node, attrs });
    }
    Some(Plan { rewrite, found, nodes })
}

/// The schema that a new node is written in: the newest of the epoch it names, or the one in force at
/// `opset`; where the operator does not exist there, the first that there ever was.
pub fn schema_of(node: &NewNode, opset: Option<i64>) -> Option<&'static Schema> {
    let versions = schema::versions(&node.op.domain, &node.op.name);
    match node.op.epoch {
        Some(epoch) => versions.iter().rfind(|schema| schema.epoch == epoch),
        None => {
            let opset = opset.and_then(|opset| u16::try_from(opset).ok());
            let in_force = opset.and_then(|opset| schema::lookup(&node.op.domain, &node.op.name, opset));
            in_force.or_else(|| versions.first())
        }
    }
}
