"""Entry points of the command-line tools."""

import signal
import sys

from . import _native


def lint() -> int:
    """Runs `onnx-lint` and returns its exit status."""
    _end_at_once()
    return _native.lint_command(["onnx-lint", *sys.argv[1:]])


def fix() -> int:
    """Runs `onnx-fix` and returns its exit status."""
    _end_at_once()
    return _native.fix_command(["onnx-fix", *sys.argv[1:]])


def diff() -> int:
    """Runs `onnx-diff` and returns its exit status."""
    _end_at_once()
    return _native.diff_command(["onnx-diff", *sys.argv[1:]])


def _end_at_once() -> None:
    """Restores the default action of Ctrl-C: Python's signal handler would run only after the native call returns."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
