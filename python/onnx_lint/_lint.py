"""The function `lint`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _findings, _native
from ._errors import OnnxLintError
from ._findings import Finding
from ._models import Model, content
from ._options import LintOptions, arguments

if TYPE_CHECKING:
    from typing_extensions import Unpack


def lint(model: Model, **options: Unpack[LintOptions]) -> list[Finding]:
    """Returns the findings of `onnx-lint` for a model, with most of its options, and with the same configuration.

    `model` is a path, bytes, an `onnx.ModelProto`, or the `ONNXProgram` that `torch.onnx.export` returns. A path may
    also name a directory, a `.pt2` archive, an export log, or a Python file, or be a URI (`https`, `s3`, `gs`, `az` or
    `hf`). Large weights are not read, except constants that a rule tests for a single value.

    Raises:
        OnnxLintError: an option is invalid, or the model is unreadable.
    """
    held = content(model)
    named = [os.fspath(model)] if isinstance(model, (str, os.PathLike)) else ["-"]
    memory = [] if held is None else ["--stdin-filename=<model>"]
    given: dict[str, Any] = dict(options)
    args = ["onnx-lint", *arguments("lint", given, LintOptions), *memory, "--", *named]
    why, found = _native.lint(args, held)
    findings = _findings.read(found)
    if why is not None:
        raise OnnxLintError(why, findings)
    return findings
