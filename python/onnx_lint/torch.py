"""Exports from PyTorch that are linted at once: `onnx_lint.torch.export` in the place of `torch.onnx.export`."""

from __future__ import annotations

import io
import os
import tempfile
import warnings
from typing import TYPE_CHECKING, Any

from ._errors import OnnxLintError
from ._findings import Finding
from ._lint import lint

if TYPE_CHECKING:
    from ._options import LintOptions


def export(
    model: Any,
    args: Any = (),
    f: Any = None,
    *more: Any,
    level: str = "error",
    lint_options: LintOptions | None = None,
    **options: Any,
) -> Any:
    """Exports as `torch.onnx.export` does, with the same arguments, and lints what comes of it.

    The warnings of the tracer are handed to the linter too, so that each is said at the node that it is about; they are
    shown as ever. `lint_options` are those of `onnx_lint.lint`. What was exported stays where it is.

    Raises:
        OnnxLintError: something was found that is as bad as `level`; the text shows it.
    """
    import torch  # type: ignore[import-not-found, unused-ignore]

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        program = torch.onnx.export(model, args, f, *more, **options)
    for warning in said:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    bad = [finding for finding in _found(_exported(program, f), said, lint_options) if finding.is_at_least(level)]
    if bad:
        raise OnnxLintError("\n\n".join(map(str, bad)), bad)
    return program


def _exported(program: Any, f: Any) -> Any:
    """The file where there is one: it has its external data beside it."""
    if isinstance(f, (str, os.PathLike)):
        return f
    if isinstance(f, io.BytesIO):
        return f.getvalue()
    return program


def _found(
    model: Any, said: list[warnings.WarningMessage], options: LintOptions | None
) -> list[Finding]:
    given: LintOptions = {**(options or {})}
    if not said or "export_log" in given:
        return lint(model, **given)
    with tempfile.TemporaryDirectory() as folder:
        given["export_log"] = os.path.join(folder, "export.log")
        with open(given["export_log"], "w", encoding="utf-8") as log:
            for warning in said:
                log.write(warnings.formatwarning(warning.message, warning.category, warning.filename, warning.lineno))
        return lint(model, **given)
