//! What PyTorch itself recorded of a model: TorchScript graphs and `torch.export` programs, in one
//! structure, and the faults that can be seen there.
//!
//! `read::torchscript` and `read::pt2` make a [`Trace`]; [`lint()`] says what is wrong with it.

pub mod argument;
mod call_site;
mod context;
mod detect;
mod lint;
pub mod op;
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
