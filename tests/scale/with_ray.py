"""Lints a bucket on a local Ray cluster, and kills a worker in the middle."""

import os
import signal
import tempfile
from pathlib import Path

import onnx_lint.ray
import ray
from bucket import bucket, check


class Killed(onnx_lint.ray.Scan):
    """Kills the process of one worker once, before its second batch or a later one."""

    def __init__(self, marker: str, **options):
        super().__init__(**options)
        self.marker, self.batches = Path(marker), 0

    def __call__(self, batch):
        self.batches += 1
        if self.batches > 1 and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(batch)


def main() -> None:
    with bucket() as uris, tempfile.TemporaryDirectory() as folder:
        marker = Path(folder) / "killed"
        # One CPU more than workers: without a free one, other tasks of the dataset would wait forever.
        ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, configure_logging=False)
        rows = (
            ray.data.from_items([{"uri": uri} for uri in uris], override_num_blocks=30)
            .map_batches(
                Killed,
                fn_constructor_kwargs={"marker": str(marker), "isolated": True},
                batch_format="pyarrow",
                batch_size=10,
                compute=ray.data.ActorPoolStrategy(size=2),
            )
            .take_all()
        )
        ray.shutdown()
        assert marker.exists(), "no worker was killed"
        check(rows, uris, "Ray")


if __name__ == "__main__":
    main()
