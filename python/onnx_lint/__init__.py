"""Finds what went wrong when a model was exported to ONNX, and mends it.

Models are paths, bytes, or `onnx.ModelProto`, and what comes back is of the same kind; of a path, an `onnx.ModelProto`,
or, with `output=`, the path that was written to. `onnx` is imported where that is so, and nowhere else.
"""

from ._errors import OnnxLintError
from ._findings import Finding, Fix, Location, Related, Rewrite, Source
from ._fix import convert_version, fix, infer_shapes
from ._lint import lint
from ._simplify import simplify, slim
from .testing import assert_onnx_clean

__all__ = [
    "Finding",
    "Fix",
    "Location",
    "OnnxLintError",
    "Related",
    "Rewrite",
    "Source",
    "assert_onnx_clean",
    "convert_version",
    "fix",
    "infer_shapes",
    "lint",
    "simplify",
    "slim",
]
