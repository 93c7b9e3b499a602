"""PySpark: lints the models of a data frame.

    import onnx_lint.spark

    uris = spark.createDataFrame([("s3://bucket/a.onnx",), ("s3://bucket/b.onnx",)], "uri string").repartition(64)
    found = uris.mapInArrow(onnx_lint.spark.scan(), onnx_lint.spark.SCHEMA)
    found.write.parquet("findings")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ._scan import COLUMNS, table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import LintOptions

_TYPES = {"string": "string", "int64": "bigint", "list<string>": "array<string>"}

# The schema of the result, for `mapInArrow`.
SCHEMA = ", ".join(f"{name} {_TYPES[kind]}" for name, kind in COLUMNS.items())


def scan(**options: Unpack[LintOptions]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns a function for `mapInArrow` with `SCHEMA`. The result has the columns of `onnx_lint.scan`.

    The data frame has a column `uri`, and optionally `etag`: a model that still has this ETag has no row in the result.
    Keyword arguments are the options of `onnx_lint.scan`.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            names = batch.schema.names
            etags = batch.column(names.index("etag")).to_pylist() if "etag" in names else None
            uris = batch.column(names.index("uri")).to_pylist()
            yield from table(uris, etags, options).to_batches()

    return run
