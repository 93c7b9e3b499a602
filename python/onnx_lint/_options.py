"""Options of the functions: the options of the commands, with underscores instead of hyphens."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict, Union

Path = Union[str, "os.PathLike[str]"]


class LintOptions(TypedDict, total=False):
    """Options of `lint`. See `onnx-lint --help`."""

    select: str | Sequence[str]
    ignore: str | Sequence[str]
    extend_select: str | Sequence[str]
    preview: bool
    severity: str
    rules: Path | Sequence[Path]
    opset: int
    target: str | Sequence[str]
    targets: Path | Sequence[Path]
    source_root: Path | Sequence[Path]
    path_map: Mapping[str, Path]
    export_log: Path
    baseline: Path
    deadline: int
    memory: int
    no_cache: bool
    config: Path
    isolated: bool
    jobs: int


class FixOptions(TypedDict, total=False):
    """Options of `fix`. See `onnx-fix --help`."""

    opset: int
    ir_version: int
    target: str | Sequence[str]
    targets: Path | Sequence[Path]
    select: str | Sequence[str]
    ignore: str | Sequence[str]
    preview: bool
    rules: Path | Sequence[Path]
    unsafe_fixes: bool
    no_optimize: bool
    to: str
    keep_io: bool
    calibrate: Path | Sequence[Path]
    optimize_for: str
    guess: Mapping[str, int]
    fold_limit: int
    fold_qdq: bool
    infer_shapes: bool
    allow_errors: bool
    dynamic: Mapping[str, Mapping[int, str]]
    fix_shape: Mapping[str, Sequence[int]]
    verify: bool
    report: Path
    deadline: int
    save_as_external_data: bool
    size_threshold: int
    config: Path
    isolated: bool


def arguments(function: str, options: Mapping[str, Any], known: type) -> list[str]:
    """Converts options to command-line arguments.

    Raises:
        TypeError: an option is not in `known`.
    """
    for name in options:
        if name not in known.__annotations__:
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
    return [argument for name, value in options.items() for argument in _one("--" + name.replace("_", "-"), value)]


def _one(flag: str, value: Any) -> Iterator[str]:
    if value is None or value is False:
        return
    if value is True:
        yield flag
    elif isinstance(value, Mapping):
        yield from (f"{flag}={pair}" for pair in _pairs(value))
    else:
        yield from (f"{flag}={_text(item)}" for item in _items(value))


def _pairs(mapping: Mapping[Any, Any]) -> Iterator[str]:
    """Yields the pairs of an option: `KEY:AXIS=NAME` for a nested mapping, and `KEY=VALUE,VALUE` for a list."""
    for key, value in mapping.items():
        if isinstance(value, Mapping):
            yield from (f"{key}:{axis}={name}" for axis, name in value.items())
        else:
            yield f"{key}=" + ",".join(map(_text, _items(value)))


def _items(value: Any) -> Iterable[Any]:
    return [value] if isinstance(value, (str, os.PathLike)) or not isinstance(value, Iterable) else value


def _text(value: Any) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
