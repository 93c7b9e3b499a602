//! `.pt2` archives: programs saved by `torch.export.save`.
//!
//! An archive is a zip file. Only the program's JSON is read; weights, sample inputs and constants are
//! left alone, and nothing that may hold a pickle is ever opened.

mod archive;
mod expression;
mod lower;
mod meta;
mod schema;

use crate::diag::known;
use crate::diag::{Finding, Level, Place};
use crate::torch::Trace;

/// The program of an archive; findings say why there is none, or what of it could not be read.
pub fn read(bytes: &[u8]) -> (Option<Trace>, Vec<Finding>) {
    match archive::program_json(bytes).and_then(|json| parse(&json)) {
        Ok(trace) => (Some(trace), Vec::new()),
        Err(reason) => (None, vec![unreadable(&reason)]),
    }
}

fn parse(json: &[u8]) -> Result<Trace, String> {
    let program =
        serde_json::from_slice(json).map_err(|error| format!("its program is no valid JSON: {error}"))?;
    lower::lower(&program)
}

fn unreadable(reason: &str) -> Finding {
    let message = format!("this `torch.export` archive cannot be read: {reason}");
    known::UNREADABLE_PART
        .at(Level::Error)
        .finding(message, Place::File)
        .help("save the program again, with `torch.export.save(program, path)`")
}

#[cfg(test)]
mod tests;
