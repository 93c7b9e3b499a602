//! A traced or exported program: nodes, values and blocks in arenas.

use std::sync::Arc;

use super::argument::Argument;
use super::op::Op;
use super::types::Type;
use crate::diag::SourcePlace;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A node of one [`Trace`]; nodes are numbered in the order they run.
    NodeId
);
id!(
    /// A value of one [`Trace`].
    ValueId
);
id!(
    /// A block of one [`Trace`].
    BlockId
);

/// What made a trace, and so what its in-place operators and constants mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A TorchScript graph of PyTorch operators: what `torch.jit.trace` saw.
    TorchScript,
    /// A graph of the tracing exporter, already in ONNX operators.
    OnnxDialect,
    /// A `torch.export` program: symbolic sizes, and in-place operators that the exporter makes
    /// functional before anything is lost.
    Export,
}

/// One graph that PyTorch recorded.
#[derive(Clone, Debug)]
pub struct Trace {
    pub origin: Origin,
    /// What stood before the graph in a log (`Exported graph`); else empty.
    pub title: Arc<str>,
    /// Class of the module that was traced, where recorded.
    pub class: Option<Arc<str>>,
    pub body: BlockId,
    /// What is known of the symbols in shapes.
    pub ranges: Vec<SymbolRange>,
    /// The keys of the outputs, where a `torch.export` program returns a dict.
    pub output_keys: Vec<Arc<str>>,
    /// Whether all of it was recorded: not so for a text that breaks off, or a graph that was printed
    /// while it was being built.
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

/// An operator at work.
#[derive(Clone, Debug)]
pub struct Node {
    pub op: Op,
    pub inputs: Vec<Input>,
    pub outputs: Vec<ValueId>,
    /// `[value=1, name="weight"]`.
    pub attributes: Vec<(Arc<str>, Argument)>,
    /// Bodies of `prim::If`, `prim::Loop` and their like.
    pub blocks: Vec<BlockId>,
    /// The block it stands in.
    pub block: BlockId,
    /// The line that made it, as recorded: for TorchScript the innermost one, be it PyTorch's own.
    pub source: Option<SourcePlace>,
    /// Path of the module that ran it: `/encoder/encoder.layers.0`; empty for the outermost.
    pub scope: Arc<str>,
    /// Where it stands in [`Trace::text`], in bytes; empty for an archive.
    pub span: (usize, usize),
    /// 1-based line of the file that was read; 0 for an archive.
    pub line: u32,
}

/// An argument and, where recorded, its name in the operator's schema.
#[derive(Clone, Debug)]
pub struct Input {
    pub name: Option<Arc<str>>,
    pub argument: Argument,
}

/// Something computed, given, or written as a constant.
#[derive(Clone, Debug)]
pub struct Value {
    /// Without the percent sign.
    pub name: Arc<str>,
    pub ty: Type,
    pub definition: Definition,
    /// The constant it is, or the list of what it was put together from.
    pub literal: Option<Argument>,
    /// Who reads it, in order, nodes of inner blocks included; once for each time it is read.
    pub users: Vec<User>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Output `.1` of a node.
    Node(NodeId, u32),
    /// Input `.1` of a block; of the body, an input of the graph.
    Input(BlockId, u32),
    /// A parameter, buffer or constant that a `torch.export` program lifted into its inputs.
    Lifted,
    /// Read, but never written: the graph is incomplete.
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    Node(NodeId),
    /// It is among the outputs of a block.
    Output(BlockId),
}

/// A sequence of nodes: the body of the graph, or one within a node.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub inputs: Vec<ValueId>,
    pub nodes: Vec<NodeId>,
    pub outputs: Vec<Argument>,
    /// The node it belongs to; `None` for the body.
    pub owner: Option<NodeId>,
}

impl Node {
    /// Whether it only checks what was traced: it gives nothing, and changes nothing.
    pub fn is_check(&self) -> bool {
        const CHECKS: [&str; 4] =
            ["_assert", "sym_constrain", "_functional_sym_constrain", "_linalg_check_errors"];
        let of_checks = |name: &str| CHECKS.iter().any(|check| name.starts_with(check));
        self.outputs.is_empty() && self.op.aten().is_some_and(of_checks)
    }

    /// Why nothing tells what it changes, where that is so.
    pub fn is_opaque(&self) -> Option<&'static str> {
        let is_out =
            self.op.aten().is_some() && (&*self.op.overload == "out" || self.op.overload.ends_with("_out"));
        let is_foreign =
            self.op.aten().is_none() && self.op.name.ends_with('_') && !self.op.name.ends_with("__");
        match () {
            () if self.outputs.is_empty() => Some("it gives nothing, and what it changes is not known"),
            () if is_out => Some("it writes into an argument"),
            () if is_foreign => Some("its name says that it writes in place, and nothing says where"),
            () => None,
        }
    }
}

impl Trace {
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// All nodes, inner blocks included, in the order they run.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// The inputs of the graph that a caller provides: the module itself and what was lifted left out.
    pub fn inputs(&self) -> impl Iterator<Item = ValueId> {
        let inputs = self.block(self.body).inputs.iter().copied();
        inputs.filter(|&id| {
            !matches!(self.value(id).ty, Type::Class(_)) && self.value(id).definition != Definition::Lifted
        })
    }

    /// The node that computes a value.
    pub fn producer(&self, value: ValueId) -> Option<NodeId> {
        match self.value(value).definition {
            Definition::Node(node, _) => Some(node),
            _ => None,
        }
    }

    /// The argument, and if it is a value that stands for a literal, the literal.
    pub fn see<'a>(&'a self, argument: &'a Argument) -> &'a Argument {
        match argument {
            Argument::Value(value) => self.value(*value).literal.as_ref().unwrap_or(argument),
            literal => literal,
        }
    }

    /// The integer that an argument is, if it is a literal one.
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

    /// The boolean that an argument is; TorchScript prints them as 0 and 1.
    pub fn bool(&self, argument: &Argument) -> Option<bool> {
        self.int(argument).map(|int| int != 0)
    }

    /// The members of a literal list, values among them.
    pub fn list<'a>(&'a self, argument: &'a Argument) -> Option<&'a [Argument]> {
        match self.see(argument) {
            Argument::List(members) => Some(members),
            _ => None,
        }
    }

    /// The value that an argument is, if it is one.
    pub fn as_value(&self, argument: &Argument) -> Option<ValueId> {
        match argument {
            Argument::Value(value) => Some(*value),
            _ => None,
        }
    }

    /// An argument of a node, by its position in the operator's schema or, in a `torch.export` program,
    /// which leaves out defaults, by its name.
    pub fn argument<'a>(&self, node: &'a Node, position: usize, name: &str) -> Option<&'a Argument> {
        let named = node.inputs.iter().find(|input| input.name.as_deref() == Some(name));
        let by_position = || node.inputs.get(position).filter(|input| input.name.is_none());
        named.or_else(by_position).map(|input| &input.argument)
    }

    /// The first argument as a value: `self` of every tensor method.
    pub fn receiver(&self, node: &Node) -> Option<ValueId> {
        self.as_value(&node.inputs.first()?.argument)
    }

    /// Every value that a node reads, those within lists too.
    pub fn values_read(&self, node: &Node) -> Vec<ValueId> {
        let mut values = Vec::new();
        for input in &node.inputs {
            collect_values(&input.argument, &mut values);
        }
        values
    }

    /// Every value that a block returns, those within lists too.
    pub fn values_returned(&self, block: BlockId) -> Vec<ValueId> {
        let mut values = Vec::new();
        for output in &self.block(block).outputs {
            collect_values(output, &mut values);
        }
        values
    }

    /// Fills in who reads what. The readers call it once, when everything else is there.
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
