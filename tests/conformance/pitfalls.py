"""Checks that onnx-lint reports exactly the expected findings on the exports of the pitfalls."""

import re
import subprocess
import sys

from . import tools


def run(options) -> bool:
    lint = tools.binary("onnx-lint")
    check = tools.ROOT / "tests/pitfalls/check.py"
    done = subprocess.run([sys.executable, check, lint, "-v"], capture_output=True, text=True, check=False)
    print(done.stdout, end="")
    print(done.stderr, end="")
    hold = re.search(r"^(\d+) of (\d+) hold", done.stdout, flags=re.MULTILINE)
    return bool(hold) and options.floors.share("expectations met", *map(int, hold.groups())) and done.returncode == 0
