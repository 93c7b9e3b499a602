"""Assertions about models, for tests. With pytest, `assert_onnx_clean` is also a fixture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lint import lint
from ._models import Model

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import LintOptions


def assert_onnx_clean(model: Model, *, level: str = "warning", **options: Unpack[LintOptions]) -> None:
    """Fails if `onnx-lint` has findings at `level` or above, and shows them.

    Respects the configuration of the project, with its baseline and suppressions. `options` are the options of `lint`.

    Raises:
        AssertionError: there are findings at `level` or above.
        OnnxLintError: an option is invalid, or the model is unreadable.
    """
    __tracebackhide__ = True
    found = [finding for finding in lint(model, **options) if finding.is_at_least(level)]
    if found:
        count = "1 finding" if len(found) == 1 else f"{len(found)} findings"
        shown = "\n\n".join(finding.rendered for finding in found)
        raise AssertionError(f"onnx-lint: {count} at level {level} or above\n\n{shown}")
