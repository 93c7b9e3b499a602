"""Runs the Python examples of the READMEs that need neither PyTorch nor pytest."""

import re
import shutil

import onnx_lint
import pytest

from conftest import ROOT

EXAMPLES = [
    (name, code)
    for name in ("README.md", "python/README.md")
    for code in re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)
]


def test_both_readmes_have_examples():
    assert {name for name, _ in EXAMPLES} == {"README.md", "python/README.md"}


@pytest.mark.parametrize("code", [code for _, code in EXAMPLES if "torch" not in code and "def test" not in code])
def test_example_runs(code, faulty, tmp_path, capsys):
    shutil.copy(faulty, tmp_path / "model.onnx")
    exec(code, {})  # noqa: S102 – the code is from this repository
    assert "error EXP001 `Reshape` fixes `batch` at 2" in capsys.readouterr().out
    if "output=" in code:
        assert onnx_lint.lint("fixed.onnx") == []
