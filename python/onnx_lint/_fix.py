"""`fix`, and the functions of onnx that it is in the place of."""

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
    """Mends a model, simplifies it, and converts it to another opset: what `onnx-fix` does, with the same options and
    the same configuration.

    Gives a model of the same kind. Of a path, an `onnx.ModelProto`; with `output`, the result is written there, with its
    external data, whatever its size, and the path is given. External data of a model in memory are looked for in the
    current folder.

    Raises:
        OnnxLintError: it cannot be done, and why. Nothing is written then.
    """
    return apply(model, output, **options)


def apply(model: Any, output: PathLike | None, **options: Any) -> Any:
    """`fix`, of a model of any kind."""
    if options.get("verify"):
        os.environ.setdefault("ORT_DYLIB_PATH", _runtime())
    return fixed(model, arguments("fix", options, FixOptions), output)


def _runtime() -> str:
    """The library of ONNX Runtime that this Python has: the command would ask another one. Empty where it has none."""
    spec = importlib.util.find_spec("onnxruntime")
    folder = Path(spec.origin).parent / "capi" if spec and spec.origin else Path()
    names = ("libonnxruntime.so*", "libonnxruntime*.dylib", "onnxruntime.dll")
    return next((str(path) for name in names for path in sorted(folder.glob(name)) if spec), "")


# What is asked for, and nothing else, wherever this runs.
_ALONE: FixOptions = {"select": "none", "no_optimize": True, "isolated": True}


@overload
def convert_version(model: Model, target_version: int, *, output: PathLike) -> Path: ...
@overload
def convert_version(model: PathLike, target_version: int, *, output: None = None) -> ModelProto: ...
@overload
def convert_version(model: Held, target_version: int, *, output: None = None) -> Held: ...
def convert_version(model: Any, target_version: int, *, output: PathLike | None = None) -> Any:
    """Converts a model to another opset, up or down: for `onnx.version_converter.convert_version`.

    Wherever the model runs, the result computes the same. Nothing but the opset is changed.

    Raises:
        OnnxLintError: it cannot be said in that opset; the text names each node that is in the way, and why.
    """
    return apply(model, output, opset=operator.index(target_version), **_ALONE)


# Rules that find what contradicts itself, or the specification.
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
    """Writes the inferred type and shape of every value as `value_info`: for `onnx.shape_inference.infer_shapes`.

    With `check_type` or `strict_mode`, what contradicts itself or the specification is an error. What shapes are
    computed from is always followed, whatever `data_prop` says.

    Raises:
        OnnxLintError: this is no model, or it is contradictory and that was asked for.
    """
    if check_type or strict_mode:
        wrong = lint(model, select=_TYPES, severity="error", isolated=True)
        if wrong:
            raise OnnxLintError("\n\n".join(map(str, wrong)), wrong)
    return apply(model, output, infer_shapes=True, **_ALONE)
