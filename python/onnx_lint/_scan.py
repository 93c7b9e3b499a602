"""The function `scan`: findings of many models as an Arrow table."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import OnnxLintError
from ._options import LintOptions, Path, arguments

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Number of models that are linted at once. All bytes that are read for one batch are in memory at the same time.
BATCH = 32

# Columns of the result, with their Arrow types. All columns except `uri` can be null.
COLUMNS = {
    "uri": "string",
    "etag": "string",
    "code": "string",
    "severity": "string",
    "fingerprint": "string",
    "node": "string",
    "source": "string",
    "opset": "int64",
    "producer": "string",
    "operators": "list<string>",
    "parameters": "int64",
    "message": "string",
}


def scan(uris: Iterable[Path], *, etags: Mapping[str, str] | None = None, **options: Unpack[LintOptions]) -> Any:
    """Lints many models, and returns their findings as a `pyarrow.RecordBatchReader`.

    `uris` are URIs or paths; they are read as the reader advances. A row is a finding, or a model without findings. A
    model that cannot be read is a row with the code SPC001, not an exception. `docs/remote.md` describes the columns.

    `etags` maps URIs, as passed or as in the column `uri`, to the ETags of models that are linted already: a model
    whose ETag has not changed has no row. `deadline` (seconds) and `memory` (MB) limit the reading of each model.
    By default, `scan` caches nothing on disk.

    Raises:
        OnnxLintError: an option is invalid, or pyarrow is not installed.
    """
    pa = arrow()
    known = {name: etag for name, etag in (etags or {}).items() if etag}
    given = _arguments(options)
    columns = schema()

    def batches() -> Iterator[Any]:
        rest = iter(uris)
        while names := [os.fspath(uri) for uri in islice(rest, BATCH)]:
            yield _batch(pa, names, known, given)

    return pa.RecordBatchReader.from_batches(columns, batches())


def table(uris: Iterable[str], etags: Iterable[str | None] | None, options: LintOptions) -> Any:
    """Returns the findings of models as one `pyarrow.Table`. `etags` are the known ETags, one per model."""
    pa = arrow()
    names = list(uris)
    known = {name: etag for name, etag in zip(names, etags or ()) if etag}
    given = _arguments(options)
    parts = [names[start : start + BATCH] for start in range(0, len(names), BATCH)]
    return pa.Table.from_batches([_batch(pa, part, known, given) for part in parts], schema=schema())


def schema() -> Any:
    """Returns the `pyarrow.Schema` of all results."""
    pa = arrow()
    types = {"string": pa.string(), "int64": pa.int64(), "list<string>": pa.list_(pa.string())}
    return pa.schema([pa.field(name, types[kind], nullable=name != "uri") for name, kind in COLUMNS.items()])


def arrow() -> Any:
    """Returns the module pyarrow.

    Raises:
        OnnxLintError: pyarrow is not installed.
    """
    try:
        return importlib.import_module("pyarrow")
    except ImportError as error:
        hint = "install it, as by `pip install onnx-lint[arrow]`"
        raise OnnxLintError(f"a table requires the package pyarrow, which is not installed: {hint}") from error


def _arguments(options: Mapping[str, Any]) -> list[str]:
    given = {"no_cache": True, **options}
    return ["onnx-lint", *arguments("scan", given, LintOptions), "--"]


def _batch(pa: Any, names: list[str], etags: Mapping[str, str], given: list[str]) -> Any:
    shown = [(name, _native.shown(name)) for name in names] if etags else []
    known = [(own, etag) for name, own in shown if (etag := etags.get(name) or etags.get(own))]
    why, text = _native.scan([*given, *names], known)
    if why is not None:
        raise OnnxLintError(why, [])
    return pa.RecordBatch.from_pylist(json.loads(text), schema=schema())
