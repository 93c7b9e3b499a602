//! Reads `.pt2` archives: programs saved by `torch.export.save`.
//!
//! An archive is a zip file. The converter reads all tensors; the linter copies only small ones into memory (see
//! [`Copies`]). Sample inputs are ignored. Pickles are never executed.

mod archive;
mod expression;
mod lower;
mod meta;
mod schema;
mod weights;

use bytes::Bytes;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diag::rule_ids;
use crate::diag::{Finding, Level, Place};
use crate::graph::Tensor;
use crate::torch::{Trace, ValueId};

/// Reads the program of an archive.
///
/// The trace is `None` if it cannot be read; a finding gives the reason.
pub fn read(bytes: &[u8]) -> (Option<Trace>, Vec<Finding>) {
    match archive::program_json(bytes).and_then(|json| parse(&json)) {
        Ok(trace) => (Some(trace), Vec::new()),
        Err(reason) => (None, vec![unreadable(&reason)]),
    }
}

/// Exported program with its tensors.
#[derive(Debug)]
pub struct Exported {
    /// Graph of the program.
    pub trace: Trace,
    /// Parameters, buffers and constants, by the name of the graph input they were lifted to.
    pub weights: FxHashMap<String, Tensor>,
    /// Names of the inputs that hold parameters and buffers, which persist between runs.
    pub state: FxHashSet<String>,
    /// Mutations of inputs that functionalization turned into extra outputs.
    pub updates: Vec<Update>,
}

/// Mutation of an input at the end of a program.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// Mutated input.
    pub input: ValueId,
    /// Final value of the input.
    pub value: ValueId,
}

/// Treatment of tensors that cannot be slices of the file: deflated or not contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// The tensors are copied into memory.
    Made,
    /// Only small tensors are copied.
    ///
    /// Larger tensors become external tensors, which suffices for types and shapes. Exception: in archives of
    /// PyTorch up to 2.6, tensors of any size are copied.
    LeftOut,
}

/// Reads the program of an archive with its tensors.
///
/// Uncompressed contiguous tensors are slices of the file.
pub fn exported(bytes: &Bytes, copies: Copies) -> (Option<Exported>, Vec<Finding>) {
    match archive::program_json(bytes).and_then(|json| parse_with_tensors(&json, bytes, copies)) {
        Ok(exported) => (Some(exported), Vec::new()),
        Err(reason) => (None, vec![unreadable(&reason)]),
    }
}

fn parse_with_tensors(json: &[u8], bytes: &Bytes, copies: Copies) -> Result<Exported, String> {
    let program: schema::Program =
        serde_json::from_slice(json).map_err(|error| format!("the program cannot be parsed: {error}"))?;
    let major = program.schema_version.major;
    if major > schema::NEWEST_MAJOR {
        let newest = schema::NEWEST_MAJOR;
        return Err(format!(
            "the program has schema version {major}; the newest supported version is {newest}"
        ));
    }
    let signature = &program.graph_module.signature;
    let weights = weights::Weights::of(bytes, copies)?.lifted(signature)?;
    let state = lower::state(signature);
    let (trace, updates) = lower::lower(&program)?;
    Ok(Exported { trace, weights, state, updates })
}

fn parse(json: &[u8]) -> Result<Trace, String> {
    let program =
        serde_json::from_slice(json).map_err(|error| format!("the program cannot be parsed: {error}"))?;
    Ok(lower::lower(&program)?.0)
}

fn unreadable(reason: &str) -> Finding {
    let message = format!("the `torch.export` archive cannot be read: {reason}");
    rule_ids::UNREADABLE_PART
        .at(Level::Error)
        .finding(message, Place::File)
        .note("`torch.export.save(program, path)` writes such archives")
}

#[cfg(test)]
mod tests;
