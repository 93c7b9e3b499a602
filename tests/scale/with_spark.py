"""Lints a bucket in a local Spark session, and kills a worker in the middle."""

import os
import signal
import sys
import tempfile
from pathlib import Path

import onnx_lint.spark
from bucket import bucket, check
from pyspark.sql import SparkSession


def killed(marker: str):
    """Returns a function that kills its process once, before its second batch."""
    lint = onnx_lint.spark.scan(isolated=True)

    def run(batches):
        for number, batch in enumerate(batches):
            if number > 0 and not Path(marker).exists():
                Path(marker).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield from lint(iter([batch]))

    return run


def main() -> None:
    with bucket() as uris, tempfile.TemporaryDirectory() as folder:
        marker = Path(folder) / "killed"
        os.environ["PYSPARK_PYTHON"] = sys.executable
        # `local[2,4]`: two threads, and up to four attempts for each task, since one attempt is killed.
        builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "10")
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
        spark = builder.getOrCreate()
        frame = spark.createDataFrame([(uri,) for uri in uris], "uri string").repartition(4)
        rows = frame.mapInArrow(killed(str(marker)), onnx_lint.spark.SCHEMA).collect()
        spark.stop()
        assert marker.exists(), "no worker was killed"
        check([row.asDict() for row in rows], uris, "Spark")


if __name__ == "__main__":
    main()
