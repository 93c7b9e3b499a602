//! E-graph of one graph: every value with the equivalent computations found so far.
//!
//! Each graph of the model has its own e-graph; subgraphs are optimized first. A value is an e-class. A node
//! of a single-output operator is in the class of its output. A node of any other operator is in a
//! class of its own (the *call*), and each output is a projection of it. A node with outputs that are
//! not a function of its e-graph representation (random numbers, unknown operators, subgraphs) has a
//! token, so that it is never merged with an identical one.

mod analysis;
mod build;
mod contents;
mod dirty;
mod enode;
mod equivalence;
mod host;
mod rebuild;
mod rewrite;
mod saturate;
mod search;
mod sizes;
mod surroundings;
mod tables;

pub use analysis::{Data, Scope, gives_constant, is_computed, violations_at};
pub use build::{Built, build, is_opaque};
pub use contents::Contents;
pub use enode::{AttrsId, Call, ConstId, ENode, OpId, canonical};
pub use equivalence::EquivalenceChecker;
pub use host::{ClassHost, NodeRef};
pub use rebuild::rebuild;
pub use saturate::{Refused, Report, Saturation, Step};
pub use tables::{OpKey, Tables};

/// E-graph of a scope.
pub type EGraph<'m> = egg::EGraph<ENode, Scope<'m>>;
