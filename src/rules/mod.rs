//! Rules: data files that say what is wrong with a graph, and what is equal to what.

pub mod arith;
pub mod builtin;
pub mod check;
pub mod datum;
pub mod explain;
pub mod expr;
pub mod func;
pub mod registry;
pub mod rule;
pub mod syntax;
