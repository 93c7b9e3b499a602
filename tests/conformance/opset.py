"""Converts a model with onnx-fix and checks the result."""

import re
from dataclasses import dataclass
from pathlib import Path

import onnx

from . import tools


@dataclass(frozen=True)
class Conversion:
    """Result of a conversion: the model, or the blockers of a refusal, or the failure of the tool."""

    model: onnx.ModelProto | None
    blockers: tuple[str, ...]
    failure: str | None


def convert(fix, source: Path, target: int, written: Path, *, with_model=True) -> Conversion:
    """Runs `onnx-fix --opset TARGET`. A refusal has exit status 1 and writes no file."""
    written.unlink(missing_ok=True)
    done = tools.run([fix, "--opset", target, source, "-o", written])
    if done.status == 1 and not done.crashed and not written.exists():
        return Conversion(None, _blockers(done.stderr), None)
    if done.status != 0 or not written.exists():
        return Conversion(None, (), f"exit {done.status}: {done.last_words()}")
    try:
        return Conversion(onnx.load(written) if with_model else None, (), None)
    except Exception as error:  # noqa: BLE001 – an unreadable output is a failure of the tool
        return Conversion(None, (), f"the output is unreadable: {error}")


def opset_of(model: onnx.ModelProto) -> int | None:
    """Returns the version of the default domain that a model imports."""
    return next((imported.version for imported in model.opset_import if imported.domain in ("", "ai.onnx")), None)


def illegality(model: onnx.ModelProto, target: int) -> str | None:
    """Returns the reason why a model does not import the target opset or fails onnx.checker, or None."""
    if opset_of(model) not in (target, None):
        return f"imports opset {opset_of(model)}"
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # noqa: BLE001 – the checker raises several kinds
        return " ".join(str(error).split())[:300]
    return None


def _blockers(stderr: str) -> tuple[str, ...]:
    """Returns the different reasons of a refusal."""
    found = re.findall(r"^(?:error|refused|blocker)[^:\n]*: (.+)$", stderr, flags=re.MULTILINE)
    return tuple(dict.fromkeys(found)) or (" ".join(stderr.split())[:200] or "no reason given",)
