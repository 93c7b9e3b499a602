//! The e-graph of one scope: every value with all the forms in which it is known to be made.
//!
//! One e-graph per graph of the model, inner ones first. A value of the graph is a class; a node with
//! one output is in the class of that output; a node of an operator that may have more is in a class of
//! its own (the *call*), and each output is a projection of it. A node whose outputs are not a function
//! of what the e-graph sees of it (random numbers, unknown operators, bodies) bears a token, so that it
//! is never merged with another that looks like it.

mod analysis;
mod build;
mod enode;
mod host;
mod news;
mod rebuild;
mod rewrite;
mod same;
mod saturate;
mod sizes;
mod tables;

pub use analysis::{Data, Scope, gives_constant, is_computed};
pub use build::{Built, build, is_opaque};
pub use enode::{AttrsId, Call, ConstId, ENode, OpId, canonical};
pub use host::{ClassHost, NodeRef};
pub use rebuild::rebuild;
pub use same::Same;
pub use saturate::{Refused, Report, Saturation, Step};
pub use tables::{OpKey, Tables};

/// The e-graph of a scope.
pub type EGraph<'m> = egg::EGraph<ENode, Scope<'m>>;
