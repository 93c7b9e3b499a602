//! Python bindings: the commands, and functions that lint or fix one model and return findings as JSON.
//!
//! The Python package `onnx_lint` wraps these bindings.
//! Commands, linting and fixing release the GIL while they run.

use std::ffi::OsString;

use bytes::Bytes;
use onnx_lint::Finding;
use onnx_lint::command;
use onnx_lint::diag::render::{Format, Look, Run, findings, render};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

/// Findings: a JSON array, and the rendered text of each.
type Found = (String, Vec<String>);

fn found(found: &[Finding]) -> Found {
    let run = Run { files: &[], findings: found, pages: &[], models: &[] };
    let rendered = found.iter().map(|finding| findings(std::slice::from_ref(finding), Look::default()));
    (render(run, Format::Json, Look::default()), rendered.collect())
}

/// Wraps bytes owned by Python without a copy.
fn content(model: Option<PyBackedBytes>) -> Option<Bytes> {
    model.map(Bytes::from_owner)
}

#[pymodule]
mod _native {
    use super::*;

    /// Runs `onnx-lint` and returns its exit status.
    #[pyfunction]
    fn lint_command(py: Python<'_>, args: Vec<OsString>) -> u8 {
        py.detach(|| command::onnx_lint(args))
    }

    /// Runs `onnx-fix` and returns its exit status.
    #[pyfunction]
    fn fix_command(py: Python<'_>, args: Vec<OsString>) -> u8 {
        py.detach(|| command::onnx_fix(args))
    }

    /// Runs `onnx-diff` and returns its exit status.
    #[pyfunction]
    fn diff_command(py: Python<'_>, args: Vec<OsString>) -> u8 {
        py.detach(|| command::onnx_diff(args))
    }

    /// Lints a model; returns the error message, if any, and the findings.
    #[pyfunction]
    #[pyo3(signature = (args, model=None))]
    fn lint(py: Python<'_>, args: Vec<OsString>, model: Option<PyBackedBytes>) -> (Option<String>, Found) {
        py.detach(|| match command::lint(args, content(model)) {
            Ok(findings) => (None, found(&findings)),
            Err(refusal) => (Some(refusal.to_string()), found(&refusal.findings)),
        })
    }

    /// Lints many models; returns the error message, if any, and the rows of a table as a JSON array.
    #[pyfunction]
    fn scan(py: Python<'_>, args: Vec<OsString>, known: Vec<(String, String)>) -> (Option<String>, String) {
        let rows = py.detach(|| {
            let rows = command::scan(args, known).map_err(|refusal| refusal.to_string())?;
            serde_json::to_string(&rows).map_err(|error| error.to_string())
        });
        rows.map_or_else(|why| (Some(why), String::new()), |rows| (None, rows))
    }

    /// Returns a URI as the rows of `scan` show it: without user name, password, query and fragment.
    #[pyfunction]
    fn shown(uri: &str) -> String {
        command::shown(uri)
    }

    /// Fixes a model; returns the error message, if any, the findings, and the model if `-o -` is passed.
    #[pyfunction]
    #[pyo3(signature = (args, model=None))]
    fn fix(
        py: Python<'_>,
        args: Vec<OsString>,
        model: Option<PyBackedBytes>,
    ) -> PyResult<(Option<String>, Found, Option<Bound<'_, PyBytes>>)> {
        let done = py.detach(|| match command::fix(args, content(model)) {
            Ok(fixed) => Ok((found(&fixed.findings), fixed.output)),
            Err(refusal) => Err((refusal.to_string(), found(&refusal.findings))),
        });
        Ok(match done {
            Ok((found, pieces)) if pieces.is_empty() => (None, found, None),
            Ok((found, pieces)) => (None, found, Some(joined(py, &pieces)?)),
            Err((why, found)) => (Some(why), found, None),
        })
    }
}

/// Concatenates the pieces of a model into one Python `bytes` object.
fn joined<'py>(py: Python<'py>, pieces: &[Bytes]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, pieces.iter().map(Bytes::len).sum(), |mut rest| {
        for piece in pieces {
            let (here, after) = rest.split_at_mut(piece.len());
            here.copy_from_slice(piece);
            rest = after;
        }
        Ok(())
    })
}
