"""Tests of the commands that the wheel installs."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import onnx
import onnx_lint
import pytest

SCRIPTS = Path(sysconfig.get_path("scripts"))


def run(command: str, *args) -> subprocess.CompletedProcess:
    return subprocess.run([SCRIPTS / command, *args], capture_output=True, text=True)


def test_all_commands_are_installed_in_one_version():
    runs = [run(command, "--version") for command in ("onnx-lint", "onnx-fix", "onnx-diff")]
    assert [ran.returncode for ran in runs] == [0, 0, 0]
    versions = {ran.stdout.split()[1] for ran in runs}
    assert versions == {__import__("importlib.metadata").metadata.version("onnx-lint")}


def test_exit_status_and_output_match_the_programs(faulty, tmp_path):
    assert run("onnx-lint", faulty).returncode == 1
    ran = run("onnx-lint", "--no-such-option")
    assert (ran.returncode, "Usage: onnx-lint" in ran.stderr) == (2, True)
    ran = run("onnx-lint", "no.onnx")
    assert (ran.returncode, "no such file or directory" in ran.stdout) == (2, True)
    out = tmp_path / "out.onnx"
    assert run("onnx-fix", faulty, "-o", out).returncode == 0
    assert run("onnx-lint", out).returncode == 0
    assert run("onnx-diff", out, out).returncode == 0
    assert out.read_bytes() == onnx_lint.fix(faulty.read_bytes())
    assert "onnx-lint" in run("onnx-lint", "--generate", "man").stdout


def test_fix_reads_standard_input_and_writes_standard_output(faulty):
    held = faulty.read_bytes()
    ran = subprocess.run([SCRIPTS / "onnx-fix", "-", "-o", "-"], input=held, capture_output=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == onnx_lint.fix(held)


@pytest.mark.skipif("ONNX_FIX" not in os.environ, reason="ONNX_FIX names the program")
def test_simplify_matches_the_program(tmp_path):
    """Compares `simplify` and `onnx-fix` on the models of the repository and of the directories in ONNX_MODELS."""
    root = Path(__file__).resolve().parents[2]
    folders = [root / "tests/models", root / "tests/pitfalls/exported", *map(Path, os.environ.get("ONNX_MODELS", "").split())]
    paths = sorted(path for folder in folders for path in folder.rglob("*.onnx"))
    assert len(paths) > 20
    out = tmp_path / "out.onnx"
    for path in paths:
        ran = subprocess.run([os.environ["ONNX_FIX"], "--isolated", path, "-o", out], capture_output=True, text=True)
        try:
            model, is_equal = onnx_lint.simplify(onnx.load(path))
        except onnx_lint.OnnxLintError as error:
            said = str(error).replace("<model>", str(path))
            assert (ran.returncode, said in ran.stderr) == (1, True), f"{path}: {error}"
            continue
        assert (ran.returncode, is_equal) == (0, True), f"{path}: {ran.stderr}"
        assert model == onnx.load(out), path
