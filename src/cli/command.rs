//! The commands as functions, for programs that embed them.
//!
//! [`onnx_lint`], [`onnx_fix`] and [`onnx_diff`] print their output and return the exit status. [`lint`] and [`fix`]
//! return their result.
//!
//! The arguments are those of the command line, beginning with the program name. [`lint`] and [`fix`] read
//! `-` from memory if content is passed, and [`fix`] returns the output of `-o -`:
//!
//! ```
//! use bytes::Bytes;
//! use onnx_lint::command;
//!
//! let model = Bytes::from(std::fs::read("tests/pitfalls/exported/BakedBatch.ts17.onnx")?);
//! let findings = command::lint(["onnx-lint", "--isolated", "-"], Some(model.clone()))?;
//! assert_eq!(&*findings[0].code, "EXP001");
//!
//! let fixed = command::fix(["onnx-fix", "--isolated", "--opset", "13", "-", "-o", "-"], Some(model))?;
//! assert_eq!(fixed.report.opset.to, Some(13));
//! let repaired = Bytes::from(fixed.output.concat());
//! assert!(command::lint(["onnx-lint", "--isolated", "-"], Some(repaired))?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A panic, which would be a bug, becomes an error or a finding: a panic hook captures its message instead of
//! printing it.

use std::ffi::OsString;
use std::fmt;

use bytes::Bytes;
use clap::Parser;

pub use super::lint::table::Row;
use super::{Failure, Status, catalog, confusion, crash, diff, failure, fix, generate, lint, output};
use crate::diag::render::{self, Look};
use crate::diag::{Finding, Level};
use crate::fix::Report;
use crate::remote::Uri;

/// Runs `onnx-lint` and returns its exit status.
pub fn onnx_lint(args: impl IntoIterator<Item = impl Into<OsString>>) -> u8 {
    run("onnx-lint", args, lint::run)
}

/// Runs `onnx-fix` and returns its exit status.
pub fn onnx_fix(args: impl IntoIterator<Item = impl Into<OsString>>) -> u8 {
    run("onnx-fix", args, fix::run)
}

/// Runs `onnx-diff` and returns its exit status.
pub fn onnx_diff(args: impl IntoIterator<Item = impl Into<OsString>>) -> u8 {
    run("onnx-diff", args, diff::run)
}

/// The result of [`fix`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Fixed {
    /// The encoded model in consecutive chunks; empty without `-o -`.
    pub output: Vec<Bytes>,
    /// The changes.
    pub report: Report,
    /// The findings of the run; those at level error did not prevent writing the model.
    pub findings: Vec<Finding>,
}

/// Reason why a command has no result; `Display` formats it for users.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The error of the run; empty if the findings explain the failure.
    pub message: String,
    /// The findings of the run.
    pub findings: Vec<Finding>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = render::findings(&self.findings, Look::default());
        f.write_str([findings.trim_end(), &self.message].join("\n").trim())
    }
}

impl std::error::Error for Refusal {}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Refusal { message: failure.message().to_owned(), findings: Vec::new() }
    }
}

/// Returns the findings of `onnx-lint` that are not in the baseline. The path `-` refers to `content`.
///
/// # Errors
/// The run fails, or a file cannot be read.
pub fn lint(
    args: impl IntoIterator<Item = impl Into<OsString>>,
    content: Option<Bytes>,
) -> Result<Vec<Finding>, Refusal> {
    let args = parsed(args)?;
    let (findings, readable) = guarded("onnx-lint", || lint::findings(&args, content.as_ref()))??;
    if readable { Ok(findings) } else { Err(Refusal { message: String::new(), findings }) }
}

/// Returns the findings of `onnx-lint` as rows of a table. A file that cannot be read gets a row, too.
///
/// `known` lists URIs, without credentials and query, with ETags; a file that still has the listed ETag has no row.
///
/// # Errors
/// The arguments, the configuration or the baseline are invalid, or there is nothing to lint.
pub fn scan(
    args: impl IntoIterator<Item = impl Into<OsString>>,
    known: Vec<(String, String)>,
) -> Result<Vec<Row>, Refusal> {
    let args = lint::args::Args { known_etags: known, ..parsed(args)? };
    Ok(guarded("onnx-lint", || lint::table::scan(&args))??)
}

/// Returns a URI or path as rows of a table show it: without user name, password, query and fragment.
pub fn shown(uri: &str) -> String {
    match Uri::parse(uri) {
        Some(Ok(uri)) => uri.shown().to_string(),
        _ => uri.to_owned(),
    }
}

/// Runs `onnx-fix` on one model.
///
/// The path `-` refers to `content`; `-o -` returns the fixed model in memory.
///
/// # Errors
/// The run fails, or it ends with errors and writes no result.
pub fn fix(
    args: impl IntoIterator<Item = impl Into<OsString>>,
    content: Option<Bytes>,
) -> Result<Fixed, Refusal> {
    let args = parsed(args)?;
    let done = guarded("onnx-fix", || fix::done(&args, content))??;
    let refusal = |message: &str| Refusal { message: message.to_owned(), findings: done.findings.clone() };
    done.ended.as_ref().map_err(|failure| refusal(failure.message()))?;
    if !done.is_written && done.findings.iter().any(|finding| finding.level == Level::Error) {
        return Err(refusal(""));
    }
    let fix::Done { output, findings, report, .. } = done;
    Ok(Fixed { output, report: report.unwrap_or_default(), findings })
}

/// Runs a tool, and returns its exit status.
fn run<A: Parser>(
    tool: &str,
    args: impl IntoIterator<Item = impl Into<OsString>>,
    work: impl FnOnce(&A) -> Result<Status, Failure>,
) -> u8 {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let made = generate::generated::<A>(&args);
    let parsed = made.map_or_else(|| A::try_parse_from(&args).map(Ok), |made| made.map(Err));
    match parsed {
        Ok(Ok(args)) => {
            let ended = guarded(tool, || work(&args)).and_then(|ended| ended);
            failure::code(ended.and_then(|status| catalog::none_dropped().map(|()| status)))
        }
        Ok(Err(made)) => failure::code(output::print_bytes(&made).map(|()| Status::Clean)),
        // Clap returns help, the version and errors in the arguments as an error. A failure to print that error
        // cannot be reported anywhere.
        Err(said) => match confusion::message(tool, &said, &args) {
            Some(message) => failure::code(Err(Failure::new(message))),
            None => {
                drop(said.print());
                u8::from(said.use_stderr()) * u8::from(Status::Failed)
            }
        },
    }
}

/// Runs `work` and turns a panic into a failure.
fn guarded<T>(tool: &str, work: impl FnOnce() -> T) -> Result<T, Failure> {
    crash::install_hook();
    crash::guard(work).map_err(|what| Failure::internal(tool, what))
}

/// Parses the arguments. Errors omit the usage line of the command.
fn parsed<A: Parser>(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<A, Failure> {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    A::try_parse_from(&args).map_err(|error| {
        if let Some(message) = confusion::message(A::command().get_name(), &error, &args) {
            return Failure::new(message);
        }
        let text = error.to_string();
        let (what, _) = text.split_once("\n\nUsage:").unwrap_or((&text, ""));
        Failure::new(what.strip_prefix("error: ").unwrap_or(what).trim_end())
    })
}
