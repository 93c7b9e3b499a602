//! Diagnostics: findings, their locations, the sink that collects them, and renderers.

pub mod applicability;
mod counted;
pub mod finding;
pub mod picture;
pub mod place;
mod reason;
pub mod render;
pub mod rewrite;
pub mod rule;
pub(crate) mod rule_ids;
pub mod selection;
pub mod sink;

pub use applicability::Applicability;
pub use counted::counted;
pub use finding::{Finding, Fix, Level};
pub use place::{Cell, GraphPlace, Place, SourcePlace, TextPlace};
pub use reason::reason;
pub(crate) use reason::{unreadable, unwritable};
pub use rewrite::{Position, Rewrite};
pub use rule::RuleId;
pub use selection::Selection;
pub use sink::Sink;
