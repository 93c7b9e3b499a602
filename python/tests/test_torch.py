"""Tests of `onnx_lint.torch`, with a fake PyTorch whose export writes a given model."""

import io
import subprocess
import sys
import types
import warnings
from pathlib import Path

import onnx
import onnx_lint
import onnx_lint.torch
import pytest


@pytest.fixture
def torch(monkeypatch):
    """Installs a `torch.onnx.export(model, args, f)` that writes `model` to `f`, or returns a program."""

    def export(model, args=(), f=None, **options):
        warnings.warn("raised while tracing", UserWarning)
        if f is None:
            return types.SimpleNamespace(model_proto=onnx.load_from_string(model))
        if isinstance(f, io.BytesIO):
            f.write(model)
        else:
            Path(f).write_bytes(model)

    fake = types.ModuleType("torch")
    fake.onnx = types.SimpleNamespace(export=export)
    monkeypatch.setitem(sys.modules, "torch", fake)


def test_warnings_of_a_failed_export_are_shown(torch, monkeypatch):
    def export(*_, **__):
        warnings.warn("the cause", UserWarning)
        raise RuntimeError("not exported")

    monkeypatch.setattr(sys.modules["torch"].onnx, "export", export)
    with pytest.warns(UserWarning, match="the cause"), pytest.raises(RuntimeError, match="not exported"):
        onnx_lint.torch.export(None)


@pytest.mark.parametrize("kind", ["program", "path", "memory"])
def test_exported_model_is_linted(torch, kind, faulty, clumsy, tmp_path):
    target = {"program": lambda: None, "path": lambda: tmp_path / "net.onnx", "memory": io.BytesIO}[kind]
    with pytest.warns(UserWarning, match="raised while tracing"):
        program = onnx_lint.torch.export(clumsy.SerializeToString(), (), target())
    assert (program is None) == (kind != "program")
    with pytest.warns(UserWarning), pytest.raises(onnx_lint.OnnxLintError, match="fixes `batch` at 2") as caught:
        onnx_lint.torch.export(faulty.read_bytes(), (), target())
    assert [finding.rule for finding in caught.value.findings] == ["baked-shape"]
    with pytest.warns(UserWarning):
        onnx_lint.torch.export(faulty.read_bytes(), (), f=target(), lint_options={"ignore": ["EXP001"]})


def test_warnings_of_the_tracer_reach_the_linter(torch, faulty, monkeypatch):
    """The warnings are passed as an export log, so that the linter attributes them to nodes."""
    passed = {}

    def lint(model, **options):
        passed["log"] = Path(options["export_log"]).read_text()
        return []

    monkeypatch.setattr(onnx_lint.torch, "lint", lint)
    with pytest.warns(UserWarning):
        onnx_lint.torch.export(faulty.read_bytes())
    assert "test_torch.py" in passed["log"] and "UserWarning: raised while tracing" in passed["log"]


def test_torch_is_imported_only_for_an_export():
    code = "import sys, onnx_lint.torch; sys.exit('torch' in sys.modules or 'onnx' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
