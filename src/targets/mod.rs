//! Targets: runtimes and devices, with their capabilities defined in data files in `targets/`.
//!
//! A [`Profile`] is one version of one target. The profile determines whether a node of a plain graph or an
//! e-graph is supported (yes, no or unknown), with the evidence.

mod answer;
#[doc(hidden)]
pub mod ast;
mod check;
mod judge;
mod profile;
mod registry;
#[doc(hidden)]
pub mod syntax;

pub use answer::{Answer, Query, Refusal};
pub use check::Target;
pub use judge::{Judged, free_inputs, judge};
pub use profile::{Evidence, EvidenceKind, Profile, Range};
pub use registry::{EXTENSION, Targets};
