"""Runs other optimizers like their users do, in a separate virtual environment."""

import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from . import tools

REQUIREMENTS = Path(__file__).with_name("peers.txt")
WORK = tools.WORK / "peers"

_ONNXSCRIPT = """
import sys, onnx, onnxscript.optimizer, onnxscript.rewriter
model = onnxscript.optimizer.optimize(onnx.load(sys.argv[1]))
onnx.save(onnxscript.rewriter.rewrite(model), sys.argv[2])
"""

# Arguments of Python by optimizer; the paths of the model and of the result are appended.
COMMANDS = {
    "onnxsim": ("-m", "onnxsim"),
    "onnxslim": ("-m", "onnxslim"),
    "onnxoptimizer": ("-m", "onnxoptimizer"),
    "onnxscript": ("-c", _ONNXSCRIPT),
}


@dataclass(frozen=True)
class Result:
    """Result of an optimizer, CPU time and memory. After a failure, `path` is None and `failure` is the reason."""

    path: Path | None
    failure: str
    cpu_seconds: float
    peak_bytes: int


def python() -> Path:
    """Returns the Python interpreter of the virtual environment of the peers.

    Creates the environment if it is missing or its requirements changed.
    """
    venv = WORK / "venv"
    installed = venv / REQUIREMENTS.name
    wanted = REQUIREMENTS.read_text()
    if not installed.exists() or installed.read_text() != wanted:
        print(f"Installing {REQUIREMENTS.name} into {venv}", flush=True)
        WORK.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
        subprocess.run([venv / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps",
                        "--requirement", REQUIREMENTS], check=True)
        installed.write_text(wanted)
    return venv / "bin/python"


def optimize(peer: str, model: Path) -> Result:
    """Optimizes a model with a peer.

    Results are cached by the content of the model and the pinned versions.
    """
    stamp = hashlib.sha256(model.read_bytes() + REQUIREMENTS.read_bytes()).hexdigest()[:16]
    kept = WORK / "results" / stamp / peer
    made, record = kept / "model.onnx", kept / "run.json"
    if not record.exists():
        kept.mkdir(parents=True, exist_ok=True)
        run = tools.measure([python(), *COMMANDS[peer], model, made])
        failure = "" if run.status == 0 and made.exists() else run.last_words()
        record.write_text(json.dumps({"failure": failure, "cpu_seconds": run.cpu_seconds, "peak_bytes": run.peak_bytes}))
    result = json.loads(record.read_text())
    return Result(None if result["failure"] else made, **result)


def ours(fix: Path, arguments: list[str], model: Path, made: Path) -> Result:
    """Optimizes a model with `onnx-fix`. The CPU time is the minimum of three runs."""
    made.unlink(missing_ok=True)
    run = tools.measure([fix, "--isolated", *arguments, model, "-o", made], repeat=3)
    failure = "" if run.status == 0 and made.exists() else run.last_words()
    return Result(None if failure else made, failure, run.cpu_seconds, run.peak_bytes)
