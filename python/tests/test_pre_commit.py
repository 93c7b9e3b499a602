"""Tests the pre-commit hook in a clean clone, with the command of the wheel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from conftest import ROOT

pytestmark = pytest.mark.skipif("WHEEL" not in os.environ, reason="WHEEL names the wheel")

KNOWN = ("BakedBatch", "InPlaceShape", "TrainingMode")


def git(folder: Path, *args) -> None:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, "-c", "core.hooksPath=/dev/null", *args], cwd=folder, check=True,
                   capture_output=True)


def pre_commit(folder: Path, home: Path) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PRE_COMMIT_HOME": str(home)}
    return subprocess.run([sys.executable, "-m", "pre_commit", "run", "--all-files"], cwd=folder, env=environment,
                          capture_output=True, text=True)


def test_hook_passes_faults_in_the_baseline_and_fails_on_new_ones(tmp_path):
    exported = ROOT / "tests/pitfalls/exported"
    origin, clone, home = (tmp_path / name for name in ("origin", "clone", "home"))
    (origin / "models").mkdir(parents=True)
    for name in KNOWN:
        (origin / f"models/{name}.onnx").write_bytes((exported / f"{name}.ts17.onnx").read_bytes())
    (origin / "pyproject.toml").write_text('[tool.onnx-lint]\nbaseline = "known.json"\n')
    # Uses the hook of this repository, with the command of the wheel.
    hook, = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    hook["additional_dependencies"] = [os.environ["WHEEL"]]
    config = {"repos": [{"repo": "local", "hooks": [hook]}]}
    (origin / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    subprocess.run([sys.executable, "-m", "onnx_lint", "--write-baseline", "--baseline", "known.json", "."], cwd=origin,
                   check=True)
    git(origin, "init")
    git(origin, "add", ".")
    git(origin, "commit", "-m", "three models")
    git(tmp_path, "clone", str(origin), str(clone))

    ran = pre_commit(clone, home)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Passed" in ran.stdout

    (clone / "models/new.onnx").write_bytes((exported / "NumpyConstant.ts17.onnx").read_bytes())
    git(clone, "add", ".")
    ran = pre_commit(clone, home)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "models/new.onnx" in ran.stdout
    assert not any(f"models/{name}.onnx" in ran.stdout for name in KNOWN)
