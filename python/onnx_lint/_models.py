"""Types of models, and their conversion to and from bytes."""

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
    """Returns the bytes of a model in memory, or `None` for a path.

    Raises:
        TypeError: `model` is not a model.
        OnnxLintError: the model cannot be serialized, for example because it exceeds the size limit of protobuf.
    """
    if isinstance(model, (str, os.PathLike)):
        return None
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model)
    # `torch.onnx.export` returns a program that holds the model.
    proto = getattr(model, "model_proto", model)
    if not hasattr(proto, "SerializeToString"):
        kind = type(model).__name__
        raise TypeError(f"a model must be a path, bytes or an onnx.ModelProto, not {kind}")
    try:
        held: bytes = proto.SerializeToString()
        return held
    except Exception as error:  # The type depends on the version of protobuf.
        hint = "save it with external data, and pass its path"
        raise OnnxLintError(f"the model cannot be serialized: {error}; {hint}") from error


def fixed(model: Any, arguments: list[str], output: PathLike | None) -> Any:
    """Runs `onnx-fix`, and returns `output`, or the fixed model if `output` is `None`.

    The fixed model has the type of `model`; if `model` is a path, the fixed model is an `onnx.ModelProto`.

    Raises:
        OnnxLintError: the model cannot be fixed. No model is written.
    """
    if output is not None:
        _run(model, arguments, os.fspath(output))
        return Path(output)
    if isinstance(model, (str, os.PathLike)):
        # A temporary file supports every format and size, and external data.
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
        hint = "install it, or pass `output=` to write the result to a file"
        raise OnnxLintError(f"an onnx.ModelProto requires the package onnx, which is not installed: {hint}") from error
    return onnx.load(path)
