"""What a model can be, and what comes back."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _findings, _native
from ._errors import OnnxLintError

if TYPE_CHECKING:
    from onnx import ModelProto

PathLike = Union[str, "os.PathLike[str]"]
Model = Union[PathLike, bytes, "ModelProto"]


def content(model: Any) -> bytes | None:
    """What is in a model that is in memory; `None` of a path.

    Raises:
        TypeError: it is no model.
        OnnxLintError: it is too large for protobuf.
    """
    if isinstance(model, (str, os.PathLike)):
        return None
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model)
    # What torch.onnx.export gives.
    proto = getattr(model, "model_proto", model)
    if not hasattr(proto, "SerializeToString"):
        kind = type(model).__name__
        raise TypeError(f"a model is a path, bytes or an onnx.ModelProto, not {kind}")
    try:
        held: bytes = proto.SerializeToString()
        return held
    except Exception as error:  # Of what kind depends on the version of protobuf.
        hint = "save it with external data, and name its path"
        raise OnnxLintError(f"the model cannot be handed over: {error}; {hint}") from error


def fixed(model: Any, arguments: list[str], output: PathLike | None) -> Any:
    """What `onnx-fix` makes of a model: of its kind, or the path of `output`.

    Raises:
        OnnxLintError: it cannot be done. Nothing is written then.
    """
    if output is not None:
        _run(model, arguments, os.fspath(output))
        return Path(output)
    if isinstance(model, (str, os.PathLike)):
        # Through a file: so it may have any form and size, and brings its external data along.
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            _run(model, arguments, path)
            return _load(path)
    done = _run(model, arguments, "-")
    if isinstance(model, (bytes, bytearray, memoryview)):
        return done
    return type(getattr(model, "model_proto", model)).FromString(done)


def _run(model: Any, arguments: list[str], output: str) -> bytes:
    held = content(model)
    name = os.fspath(model) if held is None else "-"
    why, found, done = _native.fix(["onnx-fix", *arguments, f"--output={output}", "--", name], held)
    if why is not None:
        raise OnnxLintError(why, _findings.read(found))
    return done or b""


def _load(path: str) -> ModelProto:
    try:
        import onnx
    except ImportError as error:
        hint = "install it, or say by `output=` where to write the result"
        raise OnnxLintError(f"a path gives an onnx.ModelProto, and the package onnx is not here: {hint}") from error
    return onnx.load(path)
