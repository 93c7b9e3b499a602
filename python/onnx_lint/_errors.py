"""What is raised."""

from __future__ import annotations

from collections.abc import Sequence

from ._findings import Finding


class OnnxLintError(RuntimeError):
    """What was asked cannot be done; the text is the diagnostic, as the commands print it.

    It is a `RuntimeError`, which onnx and onnxsim raise in such cases.

    `findings` is what is wrong with the model; it is empty where the options are at fault, or the file system.
    """

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = list(findings)

    def __reduce__(self) -> tuple[type[OnnxLintError], tuple[str, list[Finding]]]:
        return type(self), (str(self), self.findings)
