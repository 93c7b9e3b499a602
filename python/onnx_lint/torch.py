"""An export hook that lints: `onnx_lint.torch.export` replaces `torch.onnx.export`."""

from __future__ import annotations

import contextlib
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
    """Exports a model like `torch.onnx.export`, with the same arguments, and lints it.

    Warnings of the tracer are shown after the export, even if it fails. Unless `lint_options` has an `export_log`, the
    warnings of the tracer are also passed to the linter, which attributes them to nodes.
    `lint_options` are the options of `onnx_lint.lint`. The exported file is kept even if there are findings.

    Raises:
        OnnxLintError: there are findings at `level` or above; the text shows them.
    """
    import torch  # type: ignore[import-not-found, unused-ignore]

    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            program = torch.onnx.export(model, args, f, *more, **options)
    except BaseException:
        # A filter that turns warnings into errors must not replace the error of the exporter.
        with contextlib.suppress(Warning):
            _show(caught)
        raise
    _show(caught)
    bad = [finding for finding in _found(_exported(program, f), caught, lint_options) if finding.is_at_least(level)]
    if bad:
        raise OnnxLintError("\n\n".join(map(str, bad)), bad)
    return program


def _show(caught: list[warnings.WarningMessage]) -> None:
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _exported(program: Any, f: Any) -> Any:
    """Returns the exported file, or the model in memory if no file was written.

    The folder of the exported file also contains its external data.
    """
    if isinstance(f, (str, os.PathLike)):
        return f
    if isinstance(f, io.BytesIO):
        return f.getvalue()
    return program


def _found(
    model: Any, caught: list[warnings.WarningMessage], options: LintOptions | None
) -> list[Finding]:
    given: LintOptions = {**(options or {})}
    if not caught or "export_log" in given:
        return lint(model, **given)
    with tempfile.TemporaryDirectory() as folder:
        given["export_log"] = os.path.join(folder, "export.log")
        with open(given["export_log"], "w", encoding="utf-8") as log:
            for warning in caught:
                log.write(warnings.formatwarning(warning.message, warning.category, warning.filename, warning.lineno))
        return lint(model, **given)
