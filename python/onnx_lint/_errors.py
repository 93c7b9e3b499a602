"""The exception type of the package."""

from __future__ import annotations

from collections.abc import Sequence

from ._findings import Finding


class OnnxLintError(RuntimeError):
    """The exception for a request that failed. The text is the diagnostic, as the commands print it.

    `findings` lists the problems of the model, or of a file that `lint` cannot read. The list `findings` is empty if an
    option is invalid, or if `fix` cannot read or write a file.
    """

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = list(findings)

    def __reduce__(self) -> tuple[type[OnnxLintError], tuple[str, list[Finding]]]:
        return type(self), (str(self), self.findings)
