"""The commands."""

import signal
import sys

from . import _native


def lint() -> int:
    _end_at_once()
    return _native.lint_command(["onnx-lint", *sys.argv[1:]])


def fix() -> int:
    _end_at_once()
    return _native.fix_command(["onnx-fix", *sys.argv[1:]])


def diff() -> int:
    _end_at_once()
    return _native.diff_command(["onnx-diff", *sys.argv[1:]])


def _end_at_once() -> None:
    """Ctrl-C ends the command as it ends any other; Python would wait until it is done."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
