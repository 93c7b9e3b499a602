//! Interface through which rules inspect a plain graph or an e-graph.

use std::fmt::Debug;
use std::hash::Hash;

use crate::graph::dim::Bounds;
use crate::graph::{Node, Tensor};
use crate::infer::Fact;
use crate::schema::Schema;

use super::datum::Datum;
use super::rule::OpPat;

/// Graph in which patterns can be matched.
///
/// In a plain graph, a value has at most one producer. In an e-graph, a value is an e-class, which can have
/// several producers.
pub trait Host {
    type Value: Copy + Eq + Ord + Hash + Debug;
    type Node: Copy + Eq + Ord + Hash + Debug;

    /// Returns the nodes that may have this operator, in a fixed order.
    fn nodes_of(&self, op: &OpPat) -> Vec<Self::Node>;

    /// Returns true if a node has this operator, with the semantics of `op.epoch` if that is given.
    fn is(&self, node: Self::Node, op: &OpPat) -> bool;

    /// Returns the nodes that produce `value`, each with the index of the output.
    fn producers(&self, value: Self::Value) -> Vec<(Self::Node, usize)>;

    /// Returns the inputs of a node; `None` for an omitted input.
    fn inputs(&self, node: Self::Node) -> Vec<Option<Self::Value>>;

    /// Returns the outputs of a node; `None` for an omitted output.
    fn outputs(&self, node: Self::Node) -> Vec<Option<Self::Value>>;

    /// Returns the schema in force for a node, if its operator is known.
    fn schema(&self, node: Self::Node) -> Option<&'static Schema>;

    /// Returns the names of the attributes of a node.
    fn attr_names(&self, node: Self::Node) -> Vec<&str>;

    /// Returns an attribute of a node; `None` if the node omits the attribute.
    fn attr(&self, node: Self::Node, name: &str) -> Option<Datum>;

    /// Returns the inferred facts about a value.
    fn fact(&self, value: Self::Value) -> &Fact;

    /// Returns the elements of a small constant.
    fn constant(&self, value: Self::Value) -> Option<Datum>;

    /// Returns the tensor of a large constant.
    fn weight(&self, value: Self::Value) -> Option<&Tensor>;

    /// Returns the number of uses of a value: as node inputs, and as graph outputs.
    fn uses(&self, value: Self::Value) -> usize;

    /// Returns true if a value is an output of its graph, or of a subgraph that captures it.
    fn is_output(&self, value: Self::Value) -> bool;

    /// Returns true if a value is an input of the graph without a default.
    fn is_input(&self, value: Self::Value) -> bool;

    /// Returns the node that produces a value in the file; always `None` in an e-graph.
    fn maker(&self, value: Self::Value) -> Option<&Node>;

    /// Returns the opset imported for a domain ("" for ai.onnx); `None` if the domain is not imported.
    fn opset(&self, domain: &str) -> Option<i64>;

    /// Returns the known bounds of symbolic dimensions.
    fn bounds(&self) -> &Bounds;

    /// Returns the values whose shapes a rewrite of `node` may use at run time, nearest first.
    /// Returns an empty list if the host does not lower a program: only lowerings read shapes at run time.
    fn sized(&self, _node: Self::Node) -> Vec<Self::Value> {
        Vec::new()
    }

    /// Tells the host that an answer depends on nodes outside of the pattern.
    fn look_further(&self) {}

    /// Returns the name of a value, for messages.
    fn name(&self, value: Self::Value) -> String;
}
