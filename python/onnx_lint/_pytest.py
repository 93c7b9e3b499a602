"""The pytest plugin, with the fixture `assert_onnx_clean`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def assert_onnx_clean() -> Callable[..., None]:
    """Returns `onnx_lint.testing.assert_onnx_clean`."""
    from .testing import assert_onnx_clean

    return assert_onnx_clean
