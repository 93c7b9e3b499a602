//! Graphs recorded by PyTorch (TorchScript and `torch.export`) in one data structure, and their linter.
//!
//! `read::torchscript` and `read::pt2` create a [`Trace`]; [`lint()`] reports its problems.

pub mod argument;
mod call_site;
mod context;
mod detect;
pub mod id;
mod lint;
pub mod op;
pub mod promotion;
mod support;
pub mod trace;
pub mod types;
mod view;

pub use argument::{Argument, TensorLiteral};
pub use lint::lint;
pub use op::Op;
pub use trace::{
    Block, BlockId, Definition, Input, Node, NodeId, Origin, SymbolRange, Trace, User, Value, ValueId,
};
pub use types::{Size, TensorType, Type};
