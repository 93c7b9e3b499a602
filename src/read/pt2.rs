//! `.pt2` archives: programs saved by `torch.export.save`.
//!
//! An archive is a zip file. To lint, only the program's JSON is read; to convert, the tensors too. Sample inputs are left
//! alone, and nothing that may hold a pickle is ever opened.

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

/// The program of an archive; findings say why there is none, or what of it could not be read.
pub fn read(bytes: &[u8]) -> (Option<Trace>, Vec<Finding>) {
    match archive::program_json(bytes).and_then(|json| parse(&json)) {
        Ok(trace) => (Some(trace), Vec::new()),
        Err(reason) => (None, vec![unreadable(&reason)]),
    }
}

/// A program with all that it takes to run it.
#[derive(Debug)]
pub struct Exported {
    /// What was traced.
    pub trace: Trace,
    /// Parameters, buffers and constants, by the names of the inputs that they were lifted into.
    pub weights: FxHashMap<String, Tensor>,
    /// The names of those that outlive a run: buffers and parameters.
    pub state: FxHashSet<String>,
    /// What a program that was made functional would write into its inputs in the end.
    pub updates: Vec<Update>,
}

/// A value that is written into an input.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// The input.
    pub input: ValueId,
    /// What it is in the end.
    pub value: ValueId,
}

/// What becomes of tensors that cannot be slices of the file: they are deflated, or their elements do not lie in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// They are copied.
    Made,
    /// Only small ones are. Others are said to be elsewhere: enough for who asks for types and shapes.
    LeftOut,
}

/// The program of an archive with its tensors, which stay slices of the file where they are stored as they are.
pub fn exported(bytes: &Bytes, copies: Copies) -> (Option<Exported>, Vec<Finding>) {
    match archive::program_json(bytes).and_then(|json| parse_with_tensors(&json, bytes, copies)) {
        Ok(exported) => (Some(exported), Vec::new()),
        Err(reason) => (None, vec![unreadable(&reason)]),
    }
}

fn parse_with_tensors(json: &[u8], bytes: &Bytes, copies: Copies) -> Result<Exported, String> {
    let program: schema::Program =
        serde_json::from_slice(json).map_err(|error| format!("its program is no valid JSON: {error}"))?;
    let major = program.schema_version.major;
    if major > schema::NEWEST_MAJOR {
        let newest = schema::NEWEST_MAJOR;
        return Err(format!(
            "its program is of version {major} of PyTorch's schema, and {newest} is the newest known"
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
        serde_json::from_slice(json).map_err(|error| format!("its program is no valid JSON: {error}"))?;
    Ok(lower::lower(&program)?.0)
}

fn unreadable(reason: &str) -> Finding {
    let message = format!("this `torch.export` archive cannot be read: {reason}");
    rule_ids::UNREADABLE_PART
        .at(Level::Error)
        .finding(message, Place::File)
        .help("save the program again, with `torch.export.save(program, path)`")
}

#[cfg(test)]
mod tests;
