"""`simplify` and `slim`: drop-in replacements for the functions of onnxsim and onnxslim."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._errors import OnnxLintError
from ._fix import apply
from ._models import Model, PathLike
from ._options import FixOptions

# Rules that fold a batch normalization into the operator before it.
_FUSED_NORMS = ("normalised-convolution", "normalised-transposed-convolution", "normalised-gemm")

Shapes = Mapping[str, Sequence[int]]


def simplify(
    model: Model,
    check_n: int = 0,
    perform_optimization: bool = True,
    skip_fuse_bn: bool = False,
    overwrite_input_shapes: Shapes | None = None,
    test_input_shapes: Shapes | None = None,
    skipped_optimizers: Sequence[str] | None = None,
    skip_constant_folding: bool = False,
    skip_shape_inference: bool = False,
    input_data: Mapping[str, Any] | None = None,
    dynamic_input_shape: bool = False,
    custom_lib: str | None = None,
    include_subgraph: bool = False,
    unused_output: Sequence[str] | None = None,
    tensor_size_threshold: int | str | None = None,
    mutable_initializer: bool = False,
    *,
    input_shapes: Shapes | None = None,
    target_opset_version: int | None = None,
) -> tuple[Any, bool]:
    """Simplifies a model. Replaces `onnxsim.simplify`.

    By default, works like `onnx-fix model -o output`. No configuration is read.

    Returns the simplified model, in the type that `fix` returns, and whether it is equivalent to `model`. If `check_n`
    is above 0, ONNX Runtime compares both models. If `check_n` is 0, the second value is True, because all applied
    rules preserve equivalence.

    Some options of onnxsim have no effect because they are always on: dynamic dimensions stay dynamic, subgraphs are
    simplified, and initializers that a caller may override are kept. `skip_shape_inference` has no effect.

    Raises:
        OnnxLintError: the model cannot be simplified, or an option is not supported.
    """
    _refuse(
        "simplify",
        test_input_shapes=test_input_shapes,
        skipped_optimizers=skipped_optimizers,
        input_data=input_data,
        custom_lib=custom_lib,
        unused_output=unused_output,
    )
    options: FixOptions = {"isolated": True, "no_optimize": not perform_optimization}
    if tensor_size_threshold is not None:
        options["fold_limit"] = _size(tensor_size_threshold)
    if skip_fuse_bn:
        options["ignore"] = _FUSED_NORMS
    if skip_constant_folding:
        options["fold_limit"] = 0
    if target_opset_version is not None:
        options["opset"] = target_opset_version
    shapes = {**(overwrite_input_shapes or {}), **(input_shapes or {})}
    if shapes:
        options["fix_shape"] = shapes
    return _checked(model, options, check=check_n > 0)


def slim(
    model: Model,
    output_model: PathLike | None = None,
    *,
    model_check: bool = False,
    input_shapes: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    no_shape_infer: bool = False,
    skip_optimizations: Sequence[str] | None = None,
    dtype: str | None = None,
    skip_fusion_patterns: Sequence[str] | None = None,
    size_threshold: int | None = None,
    inspect: bool = False,
    dump_to_disk: bool = False,
    save_as_external_data: bool = False,
    model_check_inputs: Sequence[str] | None = None,
    verbose: bool = False,
) -> Any:
    """Simplifies a model. Replaces `onnxslim.slim`.

    Returns the model, or `None` if it is written to `output_model`. With `model_check`, both models are run in ONNX
    Runtime; like onnxslim, returns `None` if their outputs differ. `no_shape_infer` and `verbose` have no effect.

    Raises:
        OnnxLintError: the model cannot be simplified, or an option is not supported.
    """
    _refuse(
        "slim",
        inputs=inputs,
        outputs=outputs,
        skip_optimizations=skip_optimizations,
        dtype=dtype,
        skip_fusion_patterns=skip_fusion_patterns,
        inspect=inspect,
        dump_to_disk=dump_to_disk,
        model_check_inputs=model_check_inputs,
    )
    options: FixOptions = {"isolated": True, "save_as_external_data": save_as_external_data}
    if size_threshold is not None:
        options["fold_limit"] = size_threshold
    if input_shapes:
        options["fix_shape"] = dict(_shape(text) for text in input_shapes)
    done, is_equal = _checked(model, options, check=model_check, output=output_model)
    return done if is_equal and output_model is None else None


def _refuse(function: str, **options: Any) -> None:
    """Raises an error if an unsupported option is set, rather than ignoring it."""
    for name, value in options.items():
        if value:
            raise OnnxLintError(f"{function}: the option `{name}` is not supported; see the options of onnx_lint.fix")


def _checked(model: Any, options: FixOptions, *, check: bool, output: PathLike | None = None) -> tuple[Any, bool]:
    """Returns the fixed model (or the path `output`), and whether its outputs equal those of `model`.

    With `check`, ONNX Runtime compares the outputs, and a fixed model with different outputs is not written. Without
    `check`, the outputs count as equal.
    """
    if not check:
        return apply(model, output, **options), True
    try:
        return apply(model, output, **options, verify=True), True
    except OnnxLintError as error:
        if not any(finding.rule == "results-differ" for finding in error.findings):
            raise
        return (apply(model, None, **options) if output is None else os.fspath(output)), False


def _shape(text: str) -> tuple[str, list[int]]:
    name, _, dims = text.rpartition(":")
    return name, [int(dim) for dim in dims.split(",")]


_UNITS = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


def _size(size: int | str) -> int:
    """Parses a size such as `1.5GB` into bytes."""
    text = str(size).strip().upper()
    unit = next((unit for unit in _UNITS if text.endswith(unit)), None)
    number = text if unit is None else text[: -len(unit)]
    try:
        return int(float(number) * _UNITS.get(unit or "", 1))
    except ValueError:
        raise OnnxLintError(f"simplify: `{size}` is not a size; write it like 1.5GB") from None
