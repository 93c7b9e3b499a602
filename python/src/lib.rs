//! The border to Python: the commands, and what they do to one model, with findings as JSON. The package
//! `onnx_lint` around it gives them their form. While anything here works, other threads of Python run.

use std::ffi::OsString;

use bytes::Bytes;
use onnx_lint::Finding;
use onnx_lint::command;
use onnx_lint::diag::render::{Format, Look, Run, findings, render};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

/// What was found: a JSON array, and each finding as a person reads it.
type Found = (String, Vec<String>);

fn found(found: &[Finding]) -> Found {
    let run = Run { files: &[], findings: found, pages: &[] };
    let rendered = found.iter().map(|finding| findings(std::slice::from_ref(finding), Look::default()));
    (render(run, Format::Json, Look::default()), rendered.collect())
}

/// The bytes stay Python's: they are not copied.
fn content(model: Option<PyBackedBytes>) -> Option<Bytes> {
    model.map(Bytes::from_owner)
}

#[pymodule]
mod _native {
    use super::*;

    /// Runs `onnx-lint` as its process does; the exit status.
    #[pyfunction]
    fn lint_command(py: Python<'_>, args: Vec<OsString>) -> u8 {
        py.detach(|| command::onnx_lint(args))
    }

    /// Runs `onnx-fix` as its process does; the exit status.
    #[pyfunction]
    fn fix_command(py: Python<'_>, args: Vec<OsString>) -> u8 {
        py.detach(|| command::onnx_fix(args))
    }

    /// Runs `onnx-diff` as its process does; the exit status.
    #[pyfunction]
    fn diff_command(py: Python<'_>, args: Vec<OsString>) -> u8 {
        py.detach(|| command::onnx_diff(args))
    }

    /// Why there is no result, if there is none, and what was found.
    #[pyfunction]
    #[pyo3(signature = (args, model=None))]
    fn lint(py: Python<'_>, args: Vec<OsString>, model: Option<PyBackedBytes>) -> (Option<String>, Found) {
        py.detach(|| match command::lint(args, content(model)) {
            Ok(said) => (None, found(&said)),
            Err(refusal) => (Some(refusal.to_string()), found(&refusal.findings)),
        })
    }

    /// Why there is no result, if there is none; what was found; and the result, where `-o -` asks for it.
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
            Ok((said, pieces)) if pieces.is_empty() => (None, said, None),
            Ok((said, pieces)) => (None, said, Some(joined(py, &pieces)?)),
            Err((why, said)) => (Some(why), said, None),
        })
    }
}

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
