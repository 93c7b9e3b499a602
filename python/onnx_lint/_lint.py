"""`lint`."""

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
    """What is wrong with a model: what `onnx-lint` finds, with the same options and the same configuration.

    `model` is a path, bytes, an `onnx.ModelProto`, or the `ONNXProgram` that `torch.onnx.export` gives. A path may be
    whatever the command takes: also a folder, a `.pt2`, the log of an export, or Python. Weights are not read.

    Raises:
        OnnxLintError: an option is wrong, or this is no model that can be read.
    """
    held = content(model)
    named = [os.fspath(model)] if isinstance(model, (str, os.PathLike)) else ["-"]
    memory = [] if held is None else ["--stdin-filename=<model>"]
    said: dict[str, Any] = dict(options)
    args = ["onnx-lint", *arguments("lint", said, LintOptions), *memory, "--", *named]
    why, found = _native.lint(args, held)
    findings = _findings.read(found)
    if why is not None:
        raise OnnxLintError(why, findings)
    return findings
