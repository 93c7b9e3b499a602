"""Tests of `lint`: all types of input, and all parts of a finding."""

import json
import subprocess
import sys
from pathlib import Path

import onnx
import onnx_lint
import pytest

NATIVE = "import sys; sys.modules['onnx'] = None; import onnx_lint; "


def test_findings_do_not_depend_on_the_type_of_the_input(faulty):
    proto = onnx.load(faulty)
    held = faulty.read_bytes()
    found = [onnx_lint.lint(model) for model in (str(faulty), faulty, held, bytearray(held), memoryview(held), proto)]
    for findings in found:
        assert [(finding.code, finding.message) for finding in findings] == [
            ("EXP001", "`Reshape` fixes `batch` at 2, but it is dynamic in input `in0`")
        ]
    assert [findings[0].file for findings in found] == [str(faulty)] * 2 + ["<model>"] * 4


def test_finding_in_a_notebook_has_a_cell():
    notebook = Path(__file__).parents[2] / "tests/scripts/snippets/faulty_tour.ipynb"
    finding, *_ = onnx_lint.lint(notebook)
    assert finding.source is not None and finding.source.cell is not None
    assert f"cell {finding.source.cell}:{finding.source.line}" in str(finding)


def test_object_with_model_proto_is_a_model(faulty):
    """The ONNXProgram of PyTorch has an attribute `model_proto`."""

    class Program:
        model_proto = onnx.load(faulty)

    assert [finding.rule for finding in onnx_lint.lint(Program())] == ["baked-shape"]


def test_finding_matches_the_json_output(faulty):
    ran = subprocess.run(
        [sys.executable, "-m", "onnx_lint", "--output-format", "json", faulty], capture_output=True, text=True
    )
    assert ran.returncode == 1, ran.stderr
    printed, = json.loads(ran.stdout)
    finding, = onnx_lint.lint(faulty)
    for key, value in printed.items():
        own = getattr(finding, key)
        if key in ("location", "source", "fix"):
            known = {name: part for name, part in vars(own).items() if part is not None}
            assert known == value, key
        elif key == "related":
            assert [related.message for related in own] == [related["message"] for related in value]
        else:
            assert own == value, key
    assert finding.fix == onnx_lint.Fix("safe", "replaces {2,12} by {0,12}")
    assert finding.source.line == 60
    assert str(finding).startswith("error[EXP001]: `Reshape` fixes `batch`")
    assert finding.is_at_least("error") and finding.is_at_least("hint")


def test_options_and_configuration_match_the_command(faulty, clumsy, tmp_path):
    assert onnx_lint.lint(faulty, ignore="EXP") == []
    assert onnx_lint.lint(faulty, ignore=["DTY", "baked-shape"]) == []
    hints = onnx_lint.lint(clumsy, severity="hint")
    assert "double-transpose" in [finding.rule for finding in hints]
    mapped = onnx_lint.lint(faulty, path_map={"/app": faulty.parents[1]})
    assert mapped[0].source.file.endswith("tests/pitfalls/pitfalls.py")
    assert mapped[0].source.code.strip().startswith("return x.reshape(2, 12)")
    (tmp_path / "onnx-lint.toml").write_text('ignore = ["EXP"]\n')
    held = faulty.read_bytes()
    assert onnx_lint.lint(held) == []
    assert len(onnx_lint.lint(held, isolated=True)) == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/a.onnx").write_bytes(held)
    assert onnx_lint.lint(tmp_path / "mine") == []
    (tmp_path / "nothing").mkdir()
    with pytest.raises(onnx_lint.OnnxLintError, match="there is nothing to lint"):
        onnx_lint.lint(tmp_path / "nothing")


def test_onnx_is_imported_only_when_needed(faulty, tmp_path):
    code = NATIVE + (
        "from pathlib import Path; path, out = map(Path, sys.argv[1:]); held = path.read_bytes();"
        "assert len(onnx_lint.lint(path)) == len(onnx_lint.lint(held)) == 1;"
        "assert onnx_lint.fix(held) == onnx_lint.fix(path, output=out).read_bytes();"
        "assert 'numpy' not in sys.modules and 'torch' not in sys.modules\n"
        "try: onnx_lint.fix(path)\n"
        "except onnx_lint.OnnxLintError as error: assert 'output=' in str(error)\n"
        "else: raise AssertionError"
    )
    subprocess.run([sys.executable, "-c", code, faulty, tmp_path / "out.onnx"], check=True)
