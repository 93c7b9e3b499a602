"""Finds and fixes export errors in ONNX models.

Models are paths, URIs, bytes, or `onnx.ModelProto`. `fix`, `convert_version` and `infer_shapes` return the type of their
input, or an `onnx.ModelProto` if the input is a path or a URI; with `output=`, they return the path of the written file.
`onnx` is imported only when needed.
"""

from ._errors import OnnxLintError
from ._findings import Finding, Fix, Location, Related, Rewrite, Source
from ._fix import convert_version, fix, infer_shapes
from ._lint import lint
from ._scan import scan
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
    "scan",
    "simplify",
    "slim",
]
