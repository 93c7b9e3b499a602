"""Fixtures shared by the tests: small models, and a model included in this repository."""

from pathlib import Path

import numpy as np
import onnx
import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]

# Two Transposes that cancel each other.
CLUMSY = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N,4] x) => (float[N,4] y) {
  t = Transpose <perm = [1, 0]> (x)
  u = Transpose <perm = [1, 0]> (t)
  y = Relu (u)
}
"""

# An Add of shapes that do not broadcast.
CONTRADICTORY = """<ir_version: 8, opset_import: ["" : 17]>
main (float[2,4] x, float[3,5] z) => (float[2,4] y) {
  y = Add (x, z)
}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Runs each test in an empty directory, so that no configuration file applies."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def faulty() -> Path:
    """Returns the path of a model with a hard-coded batch size, which has a safe fix."""
    return ROOT / "tests/pitfalls/exported/BakedBatch.ts17.onnx"


@pytest.fixture
def clumsy() -> onnx.ModelProto:
    return onnx.parser.parse_model(CLUMSY)


@pytest.fixture
def contradictory() -> onnx.ModelProto:
    return onnx.parser.parse_model(CONTRADICTORY)


@pytest.fixture
def with_weights(tmp_path) -> Path:
    """Returns the path of a model with its weights in an external data file."""
    weights = onnx.numpy_helper.from_array(np.ones((64, 4), "float32"), "w")
    model = onnx.parser.parse_model(CLUMSY.replace("Relu (u)", "Mul (u, s)").replace("y) {", "y) <float s = {2}> {"))
    model.graph.initializer.append(weights)
    model.graph.output.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, (64, 4)))
    folder = tmp_path / "external"
    folder.mkdir()
    onnx.save(model, folder / "net.onnx", save_as_external_data=True, location="net.data", size_threshold=0)
    return folder / "net.onnx"
