"""What tests say of models. With pytest, `assert_onnx_clean` is there as a fixture, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lint import lint
from ._models import Model

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import LintOptions


def assert_onnx_clean(model: Model, *, level: str = "warning", **options: Unpack[LintOptions]) -> None:
    """Fails where `onnx-lint` finds something that is as bad as `level`, and shows it.

    The configuration of the project holds, with its baseline and what it suppresses; options are those of `lint`.

    Raises:
        AssertionError: something was found.
        OnnxLintError: an option is wrong, or this is no model that can be read.
    """
    __tracebackhide__ = True
    found = [finding for finding in lint(model, **options) if finding.is_at_least(level)]
    if found:
        count = "1 finding" if len(found) == 1 else f"{len(found)} findings"
        shown = "\n\n".join(finding.rendered for finding in found)
        raise AssertionError(f"onnx-lint: {count} at level {level} or above\n\n{shown}")
