"""`python -m onnx_lint`."""

import sys

from ._commands import lint

sys.exit(lint())
