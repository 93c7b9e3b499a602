//! Tests of pasted code and notebooks.

use super::*;

/// Checks the lines and columns of the findings at level warning or above.
#[track_caller]
fn check_places(text: &str, expected: &[(u32, u32)]) {
    let findings = lint(text, "x.py", &SourceFiles::default());
    let loud = findings.iter().filter(|finding| finding.level >= Level::Warning);
    let places: Vec<_> =
        loud.filter_map(|finding| finding.source.as_ref()).map(|at| (at.line, at.column)).collect();
    assert_eq!(places, expected, "{text}");
}

#[test]
fn pasted_methods_and_statements_are_linted() {
    check_places("# Bad\ndef forward(self, x, y):\n    return x.reshape(y.item(), -1)\n", &[(3, 22)]);
    check_places("def forward(self, x, y):\n    return x.reshape(y, -1)\n", &[]);
    check_places("data[torch.tensor([[1, 2], [2, -3]]), torch.tensor([-2, 3])]\n", &[(1, 6)]);
    check_places("data[torch.tensor([2, 3]), :, torch.tensor([1, 2])] = new_data\n", &[(1, 1)]);
    check_places(
        "x, y = np.random.rand(1, 2), np.random.rand(1, 2)\nnp.concatenate((x, y), axis=1)\n",
        &[(2, 1)],
    );
    check_places("x, y = torch.randn(1, 2), torch.randn(1, 2)\ntorch.cat((x, y), dim=1)\n", &[]);
}

#[test]
fn sessions_and_indented_pastes_are_linted_at_their_columns() {
    let class =
        ["class M(torch.nn.Module):", "    def forward(self, x):", "        return x * x.max().item()"];
    let session = format!(">>> {}\n... {}\n... {}\n", class[0], class[1], class[2]);
    check_places(&session, &[(3, 24)]);
    check_places(&class.map(|line| format!("  {line}\n")).concat(), &[(3, 22)]);
}

#[test]
fn cells_of_notebooks_are_linted_as_one_script() {
    let notebook = r#"{"cells": [
 {"cell_type": "code", "source": ["%matplotlib inline\n", "import torch\n", "from torch import nn"]},
 {"cell_type": "markdown", "source": "text"},
 {"cell_type": "code", "source": [
  "class M(nn.Module):\n",
  "    def forward(self, x):\n",
  "        return x * x.max().item()"
 ]}
]}"#;
    let findings = lint_notebook(notebook, "net.ipynb", &SourceFiles::default()).expect("a notebook");
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    let source = finding.source.as_ref().expect("a place");
    assert_eq!(source.locus(), "net.ipynb:cell 2:3:20");
    assert_eq!(source.line, 7);
    assert_eq!(finding.rewrite, None);
    let lines = notebook_lines(notebook).expect("a notebook");
    assert_eq!(lines.lines().nth(6).map(str::trim), Some("return x * x.max().item()"));
}
