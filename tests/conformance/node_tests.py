"""ONNX's own node tests: each has one model, inputs, and the expected outputs."""

import functools
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from . import tools, values

# The outputs of these operators are random, so they cannot be compared with the stored ones.
RANDOM_OPERATORS = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
                    "RandomUniformLike"}
# Relative tolerance of float16 results: two units in the last place. onnx allows 1e-3, about one unit, for all floats, but
# the kernel of Attention in ONNX Runtime 1.31 differs by 1.23e-3 from the stored outputs of test_attention_4d_causal_fp16.
HALF_ROUNDING = 2 * 2**-10


@dataclass(frozen=True)
class NodeTest:
    """One test; `path` is its model as a file."""

    name: str
    model: onnx.ModelProto
    path: Path
    feeds: dict
    outputs: list
    rtol: float
    atol: float

    @property
    def operator(self) -> str:
        """The tested operator; “…” marks the test of its decomposition."""
        match = re.search(r"_expanded(_ver\d+)?$", self.name)
        return self.model.graph.node[0].op_type + " …" if match else self.model.graph.node[-1].op_type

    @property
    def deterministic(self) -> bool:
        return not any(node.op_type in RANDOM_OPERATORS or _drops_at_random(self, node)
                       for node in self.model.graph.node)


def _drops_at_random(test, node) -> bool:
    """Returns True for Dropout in training mode with a ratio other than 0."""
    if node.op_type != "Dropout" or len(node.input) < 3 or not test.feeds.get(node.input[2], False):
        return False
    return test.feeds.get(node.input[1], 0.5) != 0


@functools.cache
def collect() -> tuple[NodeTest, ...]:
    """Returns all tests, sorted by name, and writes their models below the target folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases
        cases = sorted(collect_testcases(None), key=lambda case: case.name)
    folder = tools.WORK / "node-tests"
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(_node_test(case, folder) for case in cases)


def sample(every: int) -> tuple[NodeTest, ...]:
    """Returns a fixed sample: one in `every` tests."""
    return collect()[::every]


def _node_test(case, folder) -> NodeTest:
    path = folder / f"{case.name}.onnx"
    content = case.model.SerializeToString(deterministic=True)
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)
    inputs, outputs = case.data_sets[0]
    names = [value.name for value in case.model.graph.input]
    expected = [values.plain(value) for value in outputs]
    rtol = max(case.rtol, HALF_ROUNDING) if any(_is_half(value) for value in expected) else case.rtol
    return NodeTest(case.name, case.model, path, dict(zip(names, map(values.plain, inputs), strict=True)), expected, rtol,
                    case.atol)


def _is_half(value) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float16
