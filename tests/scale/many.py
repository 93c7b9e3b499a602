"""Lints many URIs of a local server, and checks bytes, CPU time, memory, findings, and the gain of a second worker.

Usage: python many.py FOLDER COUNT
"""

import resource
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import onnx_lint
from models import DISTINCT, make

HERE = Path(__file__).parent
# Limits of the whole run; a limit that grows with the number of URIs is per URI.
MAX_SHARE = 0.01
MAX_CPU = 600 / 100_000
MAX_MEMORY = 300 << 20
DELAY, MIN_GAIN = 0.02, 1.7


@contextmanager
def serving(folder: Path, delay: float) -> Iterator[str]:
    """Runs the server, and yields its address."""
    command = [sys.executable, str(HERE / "server.py"), str(folder), str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
        finally:
            server.terminate()


def uris(address: str, count: int, start: int = 0) -> list[str]:
    return [f"{address}/{number}/model{number % DISTINCT}.onnx" for number in range(start, start + count)]


def memory() -> int:
    """Returns the largest memory of this process so far, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def key(row: dict) -> tuple:
    return (row["code"] or "", row["severity"] or "", row["node"] or "", row["message"] or "")


def whole(path: Path) -> list[tuple]:
    """Returns the findings of a file that is linted as a whole."""
    found = onnx_lint.lint(str(path), isolated=True)
    return sorted((one.code, one.severity, one.node or "", one.message) for one in found) or [("", "", "", "")]


def check_all(folder: Path, count: int) -> None:
    paths = make(folder)
    expected = [whole(path) for path in paths]
    sizes = [path.stat().st_size for path in paths]
    assert min(sizes) >= 20 << 20, min(sizes)
    logical = sum(sizes[number % DISTINCT] for number in range(count))
    with serving(folder, 0) as address:
        # Lint one model first: an idle worker has loaded the rules, and its memory is the baseline.
        onnx_lint.scan(uris(address, 1), isolated=True).read_all()
        idle, before, start = memory(), cpu(), time.monotonic()
        rows, seen, current = 0, 0, None
        found: list[tuple] = []
        reader = onnx_lint.scan(uris(address, count), isolated=True)
        for batch in reader:
            for row in batch.to_pylist():
                if row["uri"] != current:
                    if current is not None:
                        assert sorted(found) == expected[(seen - 1) % DISTINCT], current
                    current, found, seen = row["uri"], [], seen + 1
                found.append(key(row))
                rows += 1
        assert sorted(found) == expected[(seen - 1) % DISTINCT], current
        assert seen == count, (seen, count)
        used, grown, took = cpu() - before, memory() - idle, time.monotonic() - start
        requests, sent = map(int, urllib.request.urlopen(f"{address}/statistics").read().split())
    share = sent / logical
    print(
        f"{count} URIs: {rows} rows in {took:.0f} s; {used:.0f} s of CPU ({1000 * used / count:.2f} ms a model); "
        f"{sent / 1e6:.0f} of {logical / 1e6:.0f} MB ({100 * share:.2f} %) in {requests} requests; "
        f"{grown / 1e6:.0f} MB above an idle worker"
    )
    assert share <= MAX_SHARE, share
    assert used <= MAX_CPU * count, used
    assert grown <= MAX_MEMORY, grown


def check_resume(folder: Path) -> None:
    """Checks that a scan skips models with a known ETag, and has a row for each model that cannot be read."""
    with serving(folder, 0) as address:
        names = uris(address, DISTINCT)
        first = onnx_lint.scan(names, isolated=True).read_all().to_pylist()
        etags = {row["uri"]: row["etag"] for row in first if not row["uri"].endswith("model0.onnx")}
        more = [*names, f"{address}/0/missing.onnx", "ftp://user:secret@host/m.onnx"]
        again = onnx_lint.scan(more, etags=etags, isolated=True).read_all().to_pylist()
    left = {row["uri"].removeprefix(address): row["code"] for row in again if not row["uri"].endswith("model0.onnx")}
    assert left == {"/0/missing.onnx": "SPC001", "ftp://host/m.onnx": "SPC001"}, left
    assert any(row["uri"].endswith("model0.onnx") for row in again)


WORKER = """
import sys
import onnx_lint
onnx_lint.scan(sys.argv[1:], isolated=True, jobs=1).read_all()
"""


def timed(address: str, parts: list[list[str]]) -> float:
    start = time.monotonic()
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, *part]) for part in parts]
    assert all(worker.wait() == 0 for worker in workers)
    return time.monotonic() - start


def check_workers(folder: Path, count: int) -> None:
    with serving(folder, DELAY) as address:
        names = uris(address, count)
        one = timed(address, [names])
        two = timed(address, [names[::2], names[1::2]])
    print(f"{count} URIs with a delay of {1000 * DELAY:.0f} ms: {one:.1f} s by one worker, {two:.1f} s by two: {one / two:.2f}x")
    assert one / two >= MIN_GAIN


if __name__ == "__main__":
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    check_all(folder, count)
    check_resume(folder)
    check_workers(folder, 100)
