"""The pitfalls: what onnx-lint must say of each of their exports, and of which it must stay silent."""

import subprocess
import sys

from . import tools


def run(options) -> bool:
    lint = tools.binary("onnx-lint")
    check = tools.ROOT / "tests/pitfalls/check.py"
    done = subprocess.run([sys.executable, check, lint, "-v"], capture_output=True, text=True, check=False)
    print(done.stdout, end="")
    print(done.stderr, end="")
    return done.returncode == 0
