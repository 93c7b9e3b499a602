//! What rules see of the place they match in: a plain graph, or an e-graph.

use std::fmt::Debug;
use std::hash::Hash;

use crate::graph::dim::Bounds;
use crate::graph::{Node, Tensor};
use crate::infer::Fact;
use crate::schema::Schema;

use super::datum::Datum;
use super::rule::OpPat;

/// A graph that patterns can be matched in.
///
/// On the plain graph a value has one producer at most. In an e-graph a value is a class of equal
/// values, with one producer for each of its forms.
pub trait Host {
    type Value: Copy + Eq + Ord + Hash + Debug;
    type Node: Copy + Eq + Ord + Hash + Debug;

    /// The nodes that may be of this operator, in a fixed order.
    fn nodes_of(&self, op: &OpPat) -> Vec<Self::Node>;

    /// Whether a node is of this operator, of the epoch that the pattern names.
    fn is(&self, node: Self::Node, op: &OpPat) -> bool;

    /// The nodes that make `value`, each with the index of the output that it is.
    fn producers(&self, value: Self::Value) -> Vec<(Self::Node, usize)>;

    /// The inputs of a node; `None` for one that is left out.
    fn inputs(&self, node: Self::Node) -> Vec<Option<Self::Value>>;

    /// The outputs of a node; `None` for one that is not asked for.
    fn outputs(&self, node: Self::Node) -> Vec<Option<Self::Value>>;

    /// The schema in force for a node, if its operator is known.
    fn schema(&self, node: Self::Node) -> Option<&'static Schema>;

    /// The names of the attributes that a node has.
    fn attr_names(&self, node: Self::Node) -> Vec<&str>;

    /// An attribute that a node has; `None` where it is left out.
    fn attr(&self, node: Self::Node, name: &str) -> Option<Datum>;

    fn fact(&self, value: Self::Value) -> &Fact;

    /// The elements of a value that is constant and small.
    fn constant(&self, value: Self::Value) -> Option<Datum>;

    /// The tensor that a value is which is constant and large.
    fn weight(&self, value: Self::Value) -> Option<&Tensor>;

    /// How many inputs of nodes take it, plus one for each output of the graph that it is.
    fn uses(&self, value: Self::Value) -> usize;

    fn is_output(&self, value: Self::Value) -> bool;

    /// Whether it is an input of the graph without a default.
    fn is_input(&self, value: Self::Value) -> bool;

    /// The node that makes a value, as the file has it; `None` where a value has many forms.
    fn maker(&self, value: Self::Value) -> Option<&Node>;

    /// The version imported for a domain ("" for ai.onnx); `None` where it is not.
    fn opset(&self, domain: &str) -> Option<i64>;

    /// What is known of the sizes that symbols stand for.
    fn bounds(&self) -> &Bounds;

    /// The name of a value, for messages.
    fn name(&self, value: Self::Value) -> String;
}
