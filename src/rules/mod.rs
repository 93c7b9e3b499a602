//! Rules: data files that say what is wrong with a graph, and what is equal to what.

pub mod arith;
mod attr;
pub mod builtin;
pub mod check;
mod compare;
pub mod datum;
mod embedded;
pub mod eval;
pub mod explain;
pub mod expr;
pub mod func;
pub mod host;
pub mod matcher;
pub mod message;
#[allow(dead_code)] // Most of it serves `build.rs`, which includes it.
mod outline;
pub mod plain;
pub mod plan;
pub mod registry;
pub mod rule;
pub mod syntax;
