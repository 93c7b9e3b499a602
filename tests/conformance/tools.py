"""Runs the tools under test as processes, and measures time and memory."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("TARGET") or ROOT / "target")
WORK = TARGET / "conformance"
# The folder of the tools under test. `sabotage.py` sets ONNX_LINT_TOOLS to a folder with a broken tool.
TOOLS = Path(os.environ.get("ONNX_LINT_TOOLS") or TARGET / "release")

# A run that takes longer is considered a hang.
TIMEOUT_SECONDS = 120


class NotBuilt(Exception):
    """The tool is missing or does not print its version."""


@dataclass(frozen=True)
class Run:
    """Result of a process: its exit status (negative: the signal), output, CPU time and peak memory."""

    status: int
    stdout: bytes
    stderr: str
    cpu_seconds: float
    peak_bytes: int

    @property
    def crashed(self) -> bool:
        """Whether the process was killed by a signal, timed out, or panicked: a bug for any input."""
        return self.status < 0 or self.status == 101

    def last_words(self) -> str:
        """Returns the end of standard error, on one line."""
        return " ".join(self.stderr.split())[-300:] or f"exit {self.status}"


def binary(name: str) -> Path:
    """Returns the path of the release build of a tool. Raises NotBuilt if the tool is missing or prints no version."""
    path = TOOLS / name
    if not path.exists():
        raise NotBuilt(f"{name}: not built ({path} is missing: cargo build --release)")
    if not subprocess.run([path, "--version"], capture_output=True, check=False).stdout.strip():
        raise NotBuilt(f"{name}: not built ({path} --version prints nothing)")
    return path


def run(command, *, environment=None, timeout=TIMEOUT_SECONDS) -> Run:
    """Runs a command without input; kills the process if it times out."""
    with subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**os.environ, **(environment or {})}) as process:
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
    return Run(process.returncode, stdout, stderr.decode(errors="replace"), 0.0, 0)


# A small process starts the measured one, since Linux includes the parent's memory at the fork in the peak of the child.
# Prints the exit status, the sum of user and system seconds, and the peak in KiB (bytes on macOS).
_METER = """
import os, sys
child = os.fork()
if not child:
    for stream, path in ((1, sys.argv[1]), (2, sys.argv[2])):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.execv(sys.argv[3], sys.argv[3:])
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


def measure(command, *, repeat=1) -> Run:
    """Like `run`, with the minimum CPU time (user and system) and maximum peak memory of `repeat` runs."""
    WORK.mkdir(parents=True, exist_ok=True)
    out, err = WORK / "measured.out", WORK / "measured.err"
    runs = []
    for _ in range(repeat):
        metered = subprocess.run([sys.executable, "-I", "-S", "-c", _METER, out, err, *map(str, command)],
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        status, cpu, peak = metered.stdout.split()
        runs.append((int(status), float(cpu), int(peak) * (1 if sys.platform == "darwin" else 1024)))
    return Run(runs[-1][0], out.read_bytes(), err.read_text(errors="replace"),
               min(cpu for _, cpu, _ in runs), max(peak for _, _, peak in runs))


def table(header, rows) -> str:
    """Formats rows as aligned text: the first column left-aligned, others right-aligned."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                       for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in cells]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


class Stopwatch:
    """A clock that formats as the wall-clock seconds since its creation."""

    def __init__(self):
        self.start = time.monotonic()

    def __str__(self):
        return f"{time.monotonic() - self.start:.0f} s"
