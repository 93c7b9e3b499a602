//! Code cells of Jupyter notebooks.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::diag::Cell;

use super::excerpt::{Excerpt, Origin};

/// A notebook (nbformat 4).
#[derive(Deserialize)]
struct Notebook<'t> {
    #[serde(borrow)]
    cells: Vec<NotebookCell<'t>>,
}

#[derive(Deserialize)]
struct NotebookCell<'t> {
    cell_type: String,
    /// The text: one string, or one for each line.
    #[serde(borrow, default)]
    source: Option<&'t RawValue>,
}

/// Cell magics whose cells contain Python.
const PYTHON_MAGICS: [&str; 6] = ["%%time", "%%timeit", "%%capture", "%%prun", "%%python", "%%python3"];

/// Comment in place of a command that may write files.
pub const SHELL: &str = "# a command that may write files";

/// Commands of IPython that write no file of the notebook.
const HARMLESS: [&str; 16] = [
    "pip",
    "conda",
    "apt",
    "apt-get",
    "ls",
    "nvidia-smi",
    "matplotlib",
    "load_ext",
    "autoreload",
    "config",
    "time",
    "timeit",
    "%time",
    "%timeit",
    "%capture",
    "pwd",
];

/// Returns the code of a notebook, cell by cell, or `None` if the text is not a notebook.
///
/// Commands of IPython (`%matplotlib inline`, `!pip install onnx`, `model?`) become `pass`. A cell in another
/// language, such as one with `%%bash`, becomes empty lines.
pub fn code(text: &str) -> Option<Excerpt> {
    let notebook: Notebook = serde_json::from_str(text).ok()?;
    let mut excerpt = Excerpt::default();
    let mut reader = LineReader { text, offset: 0, line: 1 };
    let code_cells = notebook.cells.into_iter().enumerate().filter(|(_, cell)| cell.cell_type == "code");
    for (number, (_, cell)) in code_cells.enumerate() {
        let number = u32::try_from(number + 1).unwrap_or(u32::MAX);
        let lines = lines(cell.source, &mut reader)?;
        let magic = lines.iter().map(|(line, _)| line.trim()).find(|line| !line.is_empty());
        let is_foreign = magic.is_some_and(|first| {
            first.starts_with("%%") && !PYTHON_MAGICS.contains(&first.split(' ').next().unwrap_or(""))
        });
        let mut continued = false;
        for (at, (line, in_file)) in lines.iter().enumerate() {
            let cell = Cell { number, line: u32::try_from(at + 1).unwrap_or(u32::MAX) };
            let is_skipped = continued || is_foreign || is_command(line);
            continued = is_skipped && line.trim_end().ends_with('\\');
            let origin = Origin { line: *in_file, shift: 0, cell: Some(cell), code: Arc::from(&**line) };
            // The first line of a command becomes `pass`, and its continuation lines become empty.
            let indent = &line[..line.len() - line.trim_start().len()];
            let by = match is_command(line) && !is_foreign {
                true if writes_files(line) => format!("{indent}pass {SHELL}"),
                true => format!("{indent}pass"),
                false if is_foreign && at == 0 => SHELL.to_owned(),
                false => String::new(),
            };
            excerpt.push(if is_skipped { &by } else { line }, origin);
        }
    }
    Some(excerpt)
}

/// Returns the lines of a cell, each with its line in the file.
fn lines(source: Option<&RawValue>, reader: &mut LineReader) -> Option<Vec<(String, u32)>> {
    let strings: Vec<&RawValue> = match source {
        Some(list) if list.get().starts_with('[') => serde_json::from_str(list.get()).ok()?,
        Some(whole) => vec![whole],
        None => vec![],
    };
    let mut found: Vec<(String, u32)> = Vec::new();
    let mut is_open = false;
    for raw in strings {
        let decoded: String = serde_json::from_str(raw.get()).ok()?;
        let in_file = reader.line_of(raw.get());
        for part in decoded.split_inclusive('\n') {
            let line = part.strip_suffix('\n').unwrap_or(part);
            match found.last_mut().filter(|_| is_open) {
                Some((last, _)) => last.push_str(line),
                None => found.push((line.to_owned(), in_file)),
            }
            is_open = !part.ends_with('\n');
        }
    }
    Some(found)
}

/// Finds the lines of several parts of a text in one pass. The parts must be passed in text order.
struct LineReader<'t> {
    text: &'t str,
    /// End of the bytes that were read.
    offset: usize,
    /// 1-based line at `offset`.
    line: u32,
}

impl LineReader<'_> {
    /// Returns the 1-based line of a part of the text.
    fn line_of(&mut self, part: &str) -> u32 {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let between = self.text.as_bytes().get(self.offset..offset).unwrap_or_default();
        let lines = between.iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.offset = offset;
        self.line
    }
}

/// Returns true for a command that may write files.
fn writes_files(line: &str) -> bool {
    let Some((_, command)) = line.split_once(['%', '!']) else { return false };
    !HARMLESS.contains(&command.split_whitespace().next().unwrap_or(""))
}

/// Returns true for a line that IPython runs: a magic, a shell command, or a question.
fn is_command(line: &str) -> bool {
    let code = line.trim();
    let assigned = code.split_once('=').map(|(target, value)| (target.trim(), value.trim()));
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
    code.starts_with(['%', '!', '?'])
        || code.strip_suffix('?').is_some_and(|name| is_name(name.trim_end_matches('?')))
        || assigned.is_some_and(|(target, value)| is_name(target) && value.starts_with(['%', '!']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTEBOOK: &str = r##"{
 "cells": [
  {"cell_type": "markdown", "source": ["# Title\n"]},
  {
   "cell_type": "code",
   "source": [
    "%matplotlib inline\n",
    "!pip install onnx \\\n",
    "  onnxruntime\n",
    "import torch"
   ]
  },
  {"cell_type": "code", "source": "x = torch.ones(1)\nmodel?\nfiles = !ls"},
  {"cell_type": "code", "source": ["%%bash\n", "cd x"]}
 ],
 "nbformat": 4
}"##;

    #[test]
    fn code_cells_are_joined_without_commands() {
        let code = code(NOTEBOOK).expect("a notebook");
        let expected = "pass\npass\n\nimport torch\nx = torch.ones(1)\npass\npass\n";
        assert_eq!(code.text, format!("{expected}{SHELL}\n\n"));
    }

    #[test]
    fn other_json_is_no_notebook() {
        for text in ["", "{}", "[1]", "{\"cells\": 3}"] {
            assert!(code(text).is_none(), "{text}");
        }
    }
}
