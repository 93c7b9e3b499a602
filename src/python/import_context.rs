//! Definitions in imported files, and the results of calls into these files.

use std::sync::Arc;

use crate::diag::Finding;
use crate::source::SourceFiles;

use super::library::Volumes;
use super::value::Value;

/// Location of a function or class of another file.
#[derive(Clone, Debug)]
pub struct Definition {
    pub file: Arc<str>,
    pub text: Arc<str>,
    /// Name of the function or class in `file`.
    pub name: String,
}

/// Access of an interpreter to other files.
#[derive(Clone, Copy, Debug)]
pub struct ImportContext<'s> {
    /// Texts of the available files.
    pub sources: &'s SourceFiles,
    /// Access to the parsed files.
    pub library: &'s dyn Volumes,
    /// Number of imports from the linted file to this one; 0 for the linted file.
    pub depth: u32,
    /// Whether faults are reported at their own line instead of at the call that leads to them.
    pub in_place: bool,
}

/// Result of a call into another file.
#[derive(Clone, Debug)]
pub struct Visit {
    pub value: Value,
    pub findings: Vec<Finding>,
}
