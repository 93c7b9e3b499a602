"""One conversion by onnx-fix, and what there is to say about its result."""

import re
from dataclasses import dataclass
from pathlib import Path

import onnx

from . import tools


@dataclass(frozen=True)
class Conversion:
    """A model converted, refused with its blockers, or neither: a tool that fails or crashes."""

    model: onnx.ModelProto | None
    blockers: tuple[str, ...]
    failure: str | None


def convert(fix, source: Path, target: int, written: Path, *, with_model=True) -> Conversion:
    """`onnx-fix --opset TARGET`; a refusal has exit status 1 and writes nothing."""
    written.unlink(missing_ok=True)
    done = tools.run([fix, "--opset", target, source, "-o", written])
    if done.status == 1 and not done.crashed and not written.exists():
        return Conversion(None, _blockers(done.stderr), None)
    if done.status != 0 or not written.exists():
        return Conversion(None, (), f"exit {done.status}: {done.last_words()}")
    try:
        return Conversion(onnx.load(written) if with_model else None, (), None)
    except Exception as error:  # noqa: BLE001 – what cannot be decoded is the tool's failure
        return Conversion(None, (), f"the output cannot be read: {error}")


def opset_of(model: onnx.ModelProto) -> int | None:
    """The version of the default domain that a model imports."""
    return next((imported.version for imported in model.opset_import if imported.domain in ("", "ai.onnx")), None)


def illegality(model: onnx.ModelProto, target: int) -> str | None:
    """What is wrong with a model as one of the target opset, by onnx.checker with full check; or None."""
    if opset_of(model) not in (target, None):
        return f"imports opset {opset_of(model)}"
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # noqa: BLE001 – the checker raises several kinds
        return " ".join(str(error).split())[:300]
    return None


def _blockers(stderr: str) -> tuple[str, ...]:
    """The reasons a refusal gives, each without the names of nodes and values, so that they can be counted."""
    found = re.findall(r"^(?:error|refused|blocker)[^:\n]*: (.+)$", stderr, flags=re.MULTILINE)
    return tuple(dict.fromkeys(found)) or (" ".join(stderr.split())[:200] or "no reason given",)
