"""The optimisers of others, each as its users start it, in a virtual environment of their own."""

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

# By name: the arguments of Python, to which the model's path and that of the result are added.
COMMANDS = {
    "onnxsim": ("-m", "onnxsim"),
    "onnxslim": ("-m", "onnxslim"),
    "onnxoptimizer": ("-m", "onnxoptimizer"),
    "onnxscript": ("-c", _ONNXSCRIPT),
}


@dataclass(frozen=True)
class Result:
    """What a tool made of a model, and what that cost; `path` is None where it made nothing, and `failure` says why."""

    path: Path | None
    failure: str
    cpu_seconds: float
    peak_bytes: int


def python() -> Path:
    """The Python of the virtual environment, which is made where it is missing or its requirements changed."""
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


def optimise(peer: str, model: Path) -> Result:
    """The model as a peer has it. What a peer did once is kept: it is pinned, and so is the model by its content."""
    stamp = hashlib.sha256(model.read_bytes() + REQUIREMENTS.read_bytes()).hexdigest()[:16]
    kept = WORK / "results" / stamp / peer
    made, said = kept / "model.onnx", kept / "run.json"
    if not said.exists():
        kept.mkdir(parents=True, exist_ok=True)
        run = tools.measure([python(), *COMMANDS[peer], model, made])
        failure = "" if run.status == 0 and made.exists() else run.last_words()
        said.write_text(json.dumps({"failure": failure, "cpu_seconds": run.cpu_seconds, "peak_bytes": run.peak_bytes}))
    result = json.loads(said.read_text())
    return Result(None if result["failure"] else made, **result)


def ours(fix: Path, arguments: list[str], model: Path, made: Path) -> Result:
    """The model as `onnx-fix` has it, and the least of the CPU times of three runs."""
    made.unlink(missing_ok=True)
    run = tools.measure([fix, "--isolated", *arguments, model, "-o", made], repeat=3)
    failure = "" if run.status == 0 and made.exists() else run.last_words()
    return Result(None if failure else made, failure, run.cpu_seconds, run.peak_bytes)
