//! A traced or exported program: nodes, values and blocks in arenas.

use std::sync::Arc;

use super::argument::Argument;
pub use super::id::{BlockId, NodeId, ValueId};
use super::op::Op;
use super::types::Type;
use crate::diag::SourcePlace;

/// Producer of a trace; it determines the meaning of in-place operators and constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A TorchScript graph of PyTorch operators, as recorded by `torch.jit.trace`.
    TorchScript,
    /// A graph of the tracing exporter, already in ONNX operators.
    OnnxDialect,
    /// A `torch.export` program, with symbolic sizes.
    /// The exporter of such programs functionalizes in-place operators without loss.
    Export,
}

/// One graph that PyTorch recorded.
#[derive(Clone, Debug)]
pub struct Trace {
    pub origin: Origin,
    /// Text before the graph in a log (`Exported graph`), or empty.
    pub title: Arc<str>,
    /// Class of the traced module, if recorded.
    pub class: Option<Arc<str>>,
    pub body: BlockId,
    /// Bounds of the symbols in shapes.
    pub ranges: Vec<SymbolRange>,
    /// Keys of the outputs if a `torch.export` program returns a dict.
    pub output_keys: Vec<Arc<str>>,
    /// Whether the whole graph was recorded.
    /// False for text that is truncated or partly unreadable, and for graphs printed during an exception.
    pub complete: bool,
    /// The text that the graph was read from; empty for an archive.
    pub text: Arc<str>,
    pub nodes: Vec<Node>,
    pub values: Vec<Value>,
    pub blocks: Vec<Block>,
}

/// Bounds of a symbolic size, both inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolRange {
    pub symbol: Arc<str>,
    pub min: Option<i64>,
    pub max: Option<i64>,
}

/// One call of an operator.
#[derive(Clone, Debug)]
pub struct Node {
    pub op: Op,
    pub inputs: Vec<Input>,
    pub outputs: Vec<ValueId>,
    /// Attributes in brackets, such as `[value=1, name="weight"]`.
    pub attributes: Vec<(Arc<str>, Argument)>,
    /// Blocks of `prim::If`, `prim::Loop` and similar nodes.
    pub blocks: Vec<BlockId>,
    /// Block that contains the node.
    pub block: BlockId,
    /// Recorded source line; for TorchScript the innermost one, which may be PyTorch's own.
    pub source: Option<SourcePlace>,
    /// Path of the module that ran the node, such as `/encoder/encoder.layers.0`; empty for the outermost.
    pub scope: Arc<str>,
    /// Byte range of the node in [`Trace::text`]; empty for an archive.
    pub span: (usize, usize),
    /// 1-based line of the node in the file; 0 for an archive.
    pub line: u32,
}

/// An argument with its name in the operator's schema, if recorded.
#[derive(Clone, Debug)]
pub struct Input {
    pub name: Option<Arc<str>>,
    pub argument: Argument,
}

/// An input, a computed value, or a constant.
#[derive(Clone, Debug)]
pub struct Value {
    /// Name without the percent sign.
    pub name: Arc<str>,
    pub ty: Type,
    pub definition: Definition,
    /// Literal of a constant, or the members of a constructed list.
    pub literal: Option<Argument>,
    /// Uses of the value: nodes in execution order, including those of inner blocks, then block outputs.
    /// A node appears once for each use.
    pub users: Vec<User>,
}

/// Definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Output `.1` of a node.
    Node(NodeId, u32),
    /// Input `.1` of a block; for the trace's body, an input of the graph.
    Input(BlockId, u32),
    /// A parameter, buffer or constant that a `torch.export` program lifted into an input.
    Lifted,
    /// Used but never defined: the graph is incomplete.
    Missing,
}

/// A use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    Node(NodeId),
    /// An output of a block.
    Output(BlockId),
}

/// A sequence of nodes: the body of the trace, or a block of a node.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub inputs: Vec<ValueId>,
    pub nodes: Vec<NodeId>,
    pub outputs: Vec<Argument>,
    /// The node that owns the block; `None` for the trace's body.
    pub owner: Option<NodeId>,
}

impl Node {
    /// Returns true if the node only checks a condition or types, without outputs or side effects.
    pub fn is_check(&self) -> bool {
        const CHECKS: [&str; 7] = [
            "_assert",
            "sym_constrain",
            "_functional_sym_constrain",
            "_linalg_check_errors",
            "promote_types",
            "result_type",
            "can_cast",
        ];
        let of_checks = |name: &str| CHECKS.iter().any(|check| name.starts_with(check));
        self.outputs.is_empty() && self.op.aten().is_some_and(of_checks)
    }

    /// Returns true if the operator writes its result into the argument `out`.
    pub fn writes_out(&self) -> bool {
        let overload = &*self.op.overload;
        self.op.aten().is_some() && (overload == "out" || overload.ends_with("_out"))
    }

    /// Returns the reason why the node's side effects are unknown, if they are.
    pub fn is_opaque(&self) -> Option<&'static str> {
        // The module `operator` has functions such as `and_`, which write nothing.
        let is_own = self.op.aten().is_some() || &*self.op.namespace == "_operator";
        let is_foreign = !is_own && self.op.name.ends_with('_') && !self.op.name.ends_with("__");
        match () {
            () if self.outputs.is_empty() => Some("it has no outputs, and its side effects are unknown"),
            () if self.writes_out() => Some("it writes into an argument"),
            () if is_foreign => Some("its name marks it as in-place, but the tensor it writes to is unknown"),
            () => None,
        }
    }
}

impl Trace {
    /// Returns a complete trace without nodes.
    pub fn new(origin: Origin) -> Self {
        Trace {
            origin,
            title: Arc::from(""),
            class: None,
            body: BlockId(0),
            ranges: Vec::new(),
            output_keys: Vec::new(),
            complete: true,
            text: Arc::from(""),
            nodes: Vec::new(),
            values: Vec::new(),
            blocks: vec![Block::default()],
        }
    }

    /// Returns a node by its id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Returns a value by its id.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// Returns a block by its id.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// Returns all nodes in execution order, including those of inner blocks.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// Returns the graph inputs provided by the caller, without the module itself and lifted inputs.
    pub fn inputs(&self) -> impl Iterator<Item = ValueId> {
        let inputs = self.block(self.body).inputs.iter().copied();
        inputs.filter(|&id| {
            !matches!(self.value(id).ty, Type::Class(_)) && self.value(id).definition != Definition::Lifted
        })
    }

    /// Returns the node that computes a value.
    pub fn producer(&self, value: ValueId) -> Option<NodeId> {
        match self.value(value).definition {
            Definition::Node(node, _) => Some(node),
            _ => None,
        }
    }

    /// Returns the literal of the value that `argument` refers to, if any; otherwise `argument` itself.
    pub fn see<'a>(&'a self, argument: &'a Argument) -> &'a Argument {
        match argument {
            Argument::Value(value) => self.value(*value).literal.as_ref().unwrap_or(argument),
            literal => literal,
        }
    }

    /// Returns the integer of a literal argument.
    pub fn int(&self, argument: &Argument) -> Option<i64> {
        match self.see(argument) {
            Argument::Int(int) => Some(*int),
            Argument::Bool(bool) => Some(i64::from(*bool)),
            Argument::Tensor(tensor) => match tensor.elements.as_deref() {
                Some([one]) if one.fract() == 0.0 && one.abs() < 1e18 => Some(*one as i64),
                Some([one]) if *one >= 9e18 => Some(i64::MAX),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the boolean of a literal argument; TorchScript prints booleans as 0 and 1.
    pub fn bool(&self, argument: &Argument) -> Option<bool> {
        self.int(argument).map(|int| int != 0)
    }

    /// Returns the members of a literal list, which may be values.
    pub fn list<'a>(&'a self, argument: &'a Argument) -> Option<&'a [Argument]> {
        match self.see(argument) {
            Argument::List(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the value that an argument refers to, if any.
    pub fn as_value(&self, argument: &Argument) -> Option<ValueId> {
        match argument {
            Argument::Value(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns an argument of a node by name or, if names were not recorded, by schema position.
    ///
    /// A `torch.export` program records names and omits defaults.
    pub fn argument<'a>(&self, node: &'a Node, position: usize, name: &str) -> Option<&'a Argument> {
        let named = node.inputs.iter().find(|input| input.name.as_deref() == Some(name));
        let by_position = || node.inputs.get(position).filter(|input| input.name.is_none());
        named.or_else(by_position).map(|input| &input.argument)
    }

    /// Returns the first argument if it is a value: `self` of every tensor method.
    pub fn receiver(&self, node: &Node) -> Option<ValueId> {
        self.as_value(&node.inputs.first()?.argument)
    }

    /// Returns all values that a node reads, including members of lists.
    pub fn values_read(&self, node: &Node) -> Vec<ValueId> {
        let mut values = Vec::new();
        for input in &node.inputs {
            collect_values(&input.argument, &mut values);
        }
        values
    }

    /// Returns all values that a block returns, including members of lists.
    pub fn values_returned(&self, block: BlockId) -> Vec<ValueId> {
        let mut values = Vec::new();
        for output in &self.block(block).outputs {
            collect_values(output, &mut values);
        }
        values
    }

    /// Fills in the users of all values. Parsers call this method once, after all other fields are set.
    pub fn link_users(&mut self) {
        for index in 0..self.nodes.len() {
            for value in self.values_read(&self.nodes[index]) {
                self.values[value.index()].users.push(User::Node(NodeId(index as u32)));
            }
        }
        for index in 0..self.blocks.len() {
            let block = BlockId(index as u32);
            for value in self.values_returned(block) {
                self.values[value.index()].users.push(User::Output(block));
            }
        }
    }
}

fn collect_values(argument: &Argument, into: &mut Vec<ValueId>) {
    match argument {
        Argument::Value(value) => into.push(*value),
        Argument::List(members) => members.iter().for_each(|member| collect_values(member, into)),
        _ => {}
    }
}
