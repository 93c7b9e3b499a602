"""Runtimes in which profiles are measured: versions, installation, outcomes of cases."""

import importlib.metadata
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from conformance import tools

from . import cases, outcomes as _outcomes


@dataclass(frozen=True)
class Runtime:
    """Version of a runtime: newest opset and IR version that it loads, and packages to install, the runtime first."""

    name: str
    version: str
    opset: int
    ir: int | None
    packages: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def target(self) -> str:
        """Value for `--target`."""
        return f"{self.name}={self.version}"

    @property
    def folder(self) -> Path:
        return tools.WORK / "targets" / f"{self.name}-{self.version}"

    def python(self) -> Path | None:
        """Returns a Python interpreter with the runtime: the current one or that of its environment, or None."""
        package, _, version = self.packages[0].partition("==")
        try:
            if importlib.metadata.version(package) == version:
                return Path(sys.executable)
        except importlib.metadata.PackageNotFoundError:
            pass
        return self.folder / "bin/python" if (self.folder / "installed").exists() else None

    def install(self) -> Path:
        """Installs the runtime into its own virtual environment and returns its Python interpreter."""
        if not (self.folder / "installed").exists():
            subprocess.run([sys.executable, "-m", "venv", self.folder], check=True)
            subprocess.run([self.folder / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "-q",
                            *self.packages], check=True)
            (self.folder / "installed").touch()
        return self.folder / "bin/python"


def known() -> list[Runtime]:
    """Returns all versions of all runtimes, the newest of each first."""
    numpy = "numpy==2.4.6"
    return [Runtime("onnxruntime", "1.31", 26, 13, ("onnxruntime==1.31.1", numpy)),
            Runtime("onnxruntime", "1.20", 21, 10, ("onnxruntime==1.20.1", numpy)),
            Runtime("onnxruntime", "1.15", 19, 8, ("onnxruntime==1.15.1", "numpy==1.26.4")),
            Runtime("opencv", "5.0", 26, None, ("opencv-python-headless==5.0.0.93", numpy)),
            Runtime("openvino", "2026.4", 26, None, ("openvino==2026.4.1", numpy))]


def newest() -> list[Runtime]:
    """Returns the newest version of each runtime."""
    return list({runtime.name: runtime for runtime in reversed(known())}.values())


def outcomes(runtime: Runtime, chosen) -> dict[str, str]:
    """Returns the outcome of each case, by name."""
    return _told(_run(runtime, chosen, runtime.python()))


def kept_outcomes(runtime: Runtime, chosen, python: Path) -> dict[str, str]:
    """Like `outcomes`, with a cache on disk: outcomes are deterministic."""
    kept = runtime.folder.with_name(f"{runtime.folder.name}.jsonl")
    kept.parent.mkdir(parents=True, exist_ok=True)
    known = _told(kept.read_text()) if kept.exists() else {}
    missing = [case for case in chosen if case.name not in known]
    if missing:
        with kept.open("a") as out:
            _run(runtime, missing, python, out)
        known = _told(kept.read_text())
    return {case.name: known[case.name] for case in chosen}


def _run(runtime, chosen, python, out=subprocess.PIPE) -> str | None:
    asked = "".join(json.dumps(case.asked) + "\n" for case in chosen)
    return subprocess.run([python, Path(_outcomes.__file__), runtime.name, cases.FOLDER], input=asked, text=True,
                          stdout=out, stderr=subprocess.DEVNULL, check=True).stdout


def _told(text: str) -> dict[str, str]:
    return {said["case"]: said["outcome"] for said in map(json.loads, text.splitlines())}
