"""Findings. Field names and meanings match `--output-format json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ._native import Found

LEVELS = ("hint", "info", "warning", "error")


@dataclass(frozen=True)
class Source:
    """A line of Python. Unknown fields are `None`. Lines and columns are 1-based.

    In a notebook, `cell` is the number of the code cell, from 1, and `line` is a line of the cell.
    """

    file: str
    line: int
    column: int | None = None
    end_column: int | None = None
    function: str | None = None
    code: str | None = None
    cell: int | None = None


@dataclass(frozen=True)
class Location:
    """A position in the linted file: a node as ONNX text, a line of a text file, or a byte offset."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    end_column: int | None = None
    offset: int | None = None
    node_index: int | None = None
    node_count: int | None = None
    function: str | None = None
    code: str | None = None
    label: str | None = None
    cell: int | None = None


@dataclass(frozen=True)
class Related:
    """A secondary location of a finding."""

    message: str
    node: str | None = None
    graph: str | None = None
    location: Location | None = None
    source: Source | None = None


@dataclass(frozen=True)
class Fix:
    """The change that `onnx-fix` offers. `applicability` is "safe" or "unsafe"."""

    applicability: str
    summary: str


@dataclass(frozen=True)
class Rewrite:
    """A replacement of a range of Python source, in the file that `Finding.source` names.

    `applicability` is "safe" if the behavior of the Python code does not change, else "unsafe". Lines and columns are
    1-based; the end column is exclusive.
    """

    applicability: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True)
class Finding:
    """A problem or a possible improvement. `str(finding)` is the text that `onnx-lint` prints."""

    file: str
    code: str
    rule: str
    severity: str
    message: str
    help: str | None
    notes: list[str]
    node: str | None
    graph: str | None
    location: Location | None
    source: Source | None
    related: list[Related]
    fix: Fix | None
    rewrite: Rewrite | None
    fingerprint: str
    rendered: str

    def __str__(self) -> str:
        return self.rendered

    def is_at_least(self, level: str) -> bool:
        """Returns True if the severity is `level` or above: "hint", "info", "warning" or "error"."""
        return LEVELS.index(self.severity) >= LEVELS.index(level)


def read(found: Found) -> list[Finding]:
    """Parses the findings returned by the native library."""
    text, rendered = found
    return [_finding(item, shown.rstrip()) for item, shown in zip(json.loads(text), rendered)]


def _finding(item: dict[str, Any], rendered: str) -> Finding:
    item["related"] = [_placed(Related, related) for related in item["related"]]
    item["fix"] = _part(Fix, item["fix"])
    item["rewrite"] = _part(Rewrite, item["rewrite"])
    return _placed(Finding, {**item, "rendered": rendered})


Part = TypeVar("Part")


def _placed(kind: type[Part], item: dict[str, Any]) -> Part:
    places = {"location": _part(Location, item["location"]), "source": _part(Source, item["source"])}
    return kind(**{**item, **places})


def _part(kind: type[Part], item: dict[str, Any] | None) -> Part | None:
    return None if item is None else kind(**item)
