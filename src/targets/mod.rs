//! Targets: runtimes and devices, as data files in `targets/` say what they take.
//!
//! A [`Profile`] is one version of one target. It answers yes, no or unknown for a node, in a plain graph or an
//! e-graph alike, and says how it knows.

mod answer;
#[doc(hidden)]
pub mod ast;
mod check;
mod judge;
mod profile;
mod registry;
#[doc(hidden)]
pub mod syntax;

pub use answer::{Answer, Asked, Refusal};
pub use check::Target;
pub use judge::{Judged, free_inputs, judge};
pub use profile::{Evidence, Known, Profile, Range};
pub use registry::{EXTENSION, Targets};
