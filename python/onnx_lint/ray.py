"""Ray Data: lints the models of a dataset.

    import ray
    import onnx_lint.ray

    uris = ray.data.from_items([{"uri": "s3://bucket/a.onnx"}, {"uri": "s3://bucket/b.onnx"}])
    workers = ray.data.ActorPoolStrategy(size=8)
    found = uris.map_batches(onnx_lint.ray.Scan, batch_format="pyarrow", batch_size=64, compute=workers)
    found.write_parquet("findings")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._scan import table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import LintOptions


class Scan:
    """A callable for `map_batches` with `batch_format="pyarrow"`. The result has the columns of `onnx_lint.scan`.

    A batch has a column `uri`, and optionally `etag`: a model that still has this ETag has no row in the result.
    Keyword arguments are the options of `onnx_lint.scan`.
    """

    def __init__(self, **options: Unpack[LintOptions]) -> None:
        self.options = options

    def __call__(self, batch: Any) -> Any:
        etags = batch["etag"].to_pylist() if "etag" in batch.column_names else None
        return table(batch["uri"].to_pylist(), etags, self.options)
