"""`fix`, and replacements for functions of onnx."""

from __future__ import annotations

import importlib.util
import operator
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ._errors import OnnxLintError
from ._lint import lint
from ._models import Model, PathLike, fixed
from ._options import FixOptions, arguments

if TYPE_CHECKING:
    from onnx import ModelProto
    from typing_extensions import Unpack

Held = TypeVar("Held", bytes, "ModelProto")


@overload
def fix(model: Model, *, output: PathLike, **options: Unpack[FixOptions]) -> Path: ...
@overload
def fix(model: PathLike, *, output: None = None, **options: Unpack[FixOptions]) -> ModelProto: ...
@overload
def fix(model: Held, *, output: None = None, **options: Unpack[FixOptions]) -> Held: ...
def fix(model: Any, *, output: PathLike | None = None, **options: Any) -> Any:
    """Fixes a model, simplifies it, and converts it to another opset.

    Works like `onnx-fix`, with most of its options, and with the same configuration.

    Returns the fixed model in the type of the input; for a path, an `onnx.ModelProto`. With `output`, writes a model
    of any size to this path, with its external data, and returns the path. The external data of a model in memory is
    read from the current directory.

    Raises:
        OnnxLintError: the model cannot be fixed. No model is written.
    """
    return apply(model, output, **options)


def apply(model: Any, output: PathLike | None, **options: Any) -> Any:
    """Implements `fix`, without overloads.

    With `verify`, sets `ORT_DYLIB_PATH` to the library of this interpreter, unless it is set.
    """
    if options.get("verify"):
        os.environ.setdefault("ORT_DYLIB_PATH", _runtime())
    return fixed(model, arguments("fix", options, FixOptions), output)


def _runtime() -> str:
    """Returns the ONNX Runtime library of this interpreter, or "".

    If this path is not passed, `onnx-fix` may load the library of another Python installation.
    """
    spec = importlib.util.find_spec("onnxruntime")
    folder = Path(spec.origin).parent / "capi" if spec and spec.origin else Path()
    names = ("libonnxruntime.so*", "libonnxruntime*.dylib", "onnxruntime.dll")
    return next((str(path) for name in names for path in sorted(folder.glob(name)) if spec), "")


# Options that restrict `onnx-fix` to the requested change and ignore configuration files.
_ALONE: FixOptions = {"select": "none", "no_optimize": True, "isolated": True}


@overload
def convert_version(model: Model, target_version: int, *, output: PathLike) -> Path: ...
@overload
def convert_version(model: PathLike, target_version: int, *, output: None = None) -> ModelProto: ...
@overload
def convert_version(model: Held, target_version: int, *, output: None = None) -> Held: ...
def convert_version(model: Any, target_version: int, *, output: PathLike | None = None) -> Any:
    """Converts a model to another opset, up or down. Replaces `onnx.version_converter.convert_version`.

    The result is equivalent to the input wherever the model runs. Only the changes that the opset requires are made;
    errors of the input remain.

    Raises:
        OnnxLintError: the input is not a model, or a node cannot be converted; the text names each such node, with the
            reason.
    """
    return apply(model, output, opset=operator.index(target_version), allow_errors=True, **_ALONE)


# Families of the rules that find contradictions, and violations of the specification.
_TYPES = ("DTY", "OPV", "SHP", "SPC")


@overload
def infer_shapes(
    model: Model, check_type: bool = False, strict_mode: bool = False, data_prop: bool = False, *, output: PathLike
) -> Path: ...
@overload
def infer_shapes(
    model: PathLike,
    check_type: bool = False,
    strict_mode: bool = False,
    data_prop: bool = False,
    *,
    output: None = None,
) -> ModelProto: ...
@overload
def infer_shapes(
    model: Held, check_type: bool = False, strict_mode: bool = False, data_prop: bool = False, *, output: None = None
) -> Held: ...
def infer_shapes(
    model: Any,
    check_type: bool = False,
    strict_mode: bool = False,
    data_prop: bool = False,
    *,
    output: PathLike | None = None,
) -> Any:
    """Writes the inferred types and shapes of intermediate values as `value_info`.

    Replaces `onnx.shape_inference.infer_shapes`.

    With `check_type` or `strict_mode`, contradictions and violations of the specification are errors. Values that
    shapes are computed from are always propagated, regardless of `data_prop`.

    Raises:
        OnnxLintError: the input is not a model, or a requested check failed.
    """
    if check_type or strict_mode:
        wrong = lint(model, select=_TYPES, severity="error", isolated=True)
        if wrong:
            raise OnnxLintError("\n\n".join(map(str, wrong)), wrong)
    return apply(model, output, infer_shapes=True, allow_errors=True, **_ALONE)
