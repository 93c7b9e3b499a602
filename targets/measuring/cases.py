"""Test cases: ONNX's node tests at their own opset and at each opset in OPSETS, with and without constants."""

import functools
import hashlib
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from conformance import node_tests, opset, parallel, tools

from . import features, variants

FOLDER = tools.WORK / "target-cases"

# Opsets besides the test's own: those of new runtimes, of runtimes a few years old, and of older devices.
OPSETS = (26, 19, 13)


@dataclass(frozen=True)
class Case:
    """Model with inputs and expected outputs; its files are in FOLDER."""

    name: str
    test: str
    opset: int
    nodes: list  # of features.node
    outputs: list  # names, in order
    rtol: float
    atol: float

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.onnx"

    @property
    def asked(self) -> dict:
        """Request to `outcomes.py`, which runs the case."""
        return {"name": self.name, "outputs": self.outputs, "rtol": self.rtol, "atol": self.atol}

    @property
    def is_judge(self) -> bool:
        """Whether the case is used to evaluate profiles, and not to derive them."""
        return self.test in _judges()

    @property
    def key(self):
        """Key of cases that differ only in the opset."""
        versions = sorted({(node["op"], node["since"]) for node in self.nodes})
        return self.test, self.name.partition(f".{self.opset}")[2], tuple(versions)


@functools.cache
def _judges() -> frozenset:
    """Returns half of the tests of each operator, selected by name hash; omits operators with a single test.

    Decomposed variants of a test are in the same half.
    """
    tests = node_tests.collect()
    whole = {test.name: test.operator for test in tests}
    by_operator = {}
    for test in tests:
        name = base(test.name)
        by_operator.setdefault(whole.get(name, test.operator.removesuffix(" …")), set()).add(name)
    judges = set()
    for names in by_operator.values():
        ordered = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        judges.update(ordered[(len(ordered) + 1) // 2:])
    return frozenset(judges)


def judges(test) -> bool:
    """Returns true if a test is used to evaluate profiles."""
    return base(test.name) in _judges()


def base(name: str) -> str:
    """Returns the name of a test without the suffix for an expanded function body."""
    return name.split("_expanded")[0]


def collect(jobs: int) -> list[Case]:
    """Returns all cases, which are created on the first call."""
    listed = FOLDER / "cases.json"
    if not listed.exists():
        tests = node_tests.collect()
        made = [*of_tests(tests, jobs), *varied(tests, jobs)]
        listed.write_text(json.dumps([vars(case) for case in made]))
    return [Case(**case) for case in json.loads(listed.read_text())]


def of_tests(tests, jobs: int) -> list[Case]:
    """Creates the cases of tests; unsuitable tests have none."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    tests = [test for test in tests if test.deterministic and _is_plain(test)]
    made = parallel.map_isolated(functools.partial(_cases, tools.binary("onnx-fix")), tests, jobs)
    return [Case(**case) for cases in made for case in cases or []]


def varied(tests, jobs: int) -> list[Case]:
    """Creates cases for variants of the tests from which profiles are derived."""
    tests = [test for test in tests if not judges(test) and test.deterministic and _is_plain(test)]
    made = parallel.map_isolated(_varied, variants.chosen(tests), jobs)
    return [Case(**case) for cases in made for case in cases or []]


def _is_plain(test) -> bool:
    """Returns true if all inputs and outputs are nonempty tensors of NumPy types, and the model imports ai.onnx.

    Emptiness is rarely known statically in real models, so no line of a target file could depend on it.
    """
    values = [*test.feeds.values(), *test.outputs]
    return (opset.opset_of(test.model) is not None
            and all(isinstance(value, np.ndarray) and value.dtype.kind in "fiubOSUc" and value.size
                    and value.dtype.itemsize and value.dtype.isbuiltin in (0, 1)
                    and value.dtype.type.__module__ == "numpy" for value in values))


def _cases(fix, test) -> list[dict]:
    own = opset.opset_of(test.model)
    made = []
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        for version in (own, *(older for older in OPSETS if older != own)):
            model = test.model
            if version != own:
                model = opset.convert(fix, test.path, version, Path(scratch) / "out.onnx").model
            if model is None:
                continue
            for suffix, variant, feeds in _variants(model, test.feeds):
                case = _written(test, f"{test.name}.{version}{suffix}", version, variant, feeds, test.outputs)
                made += [case] if case else []
    return made


def _varied(test) -> list[dict]:
    own = opset.opset_of(test.model)
    made = [_written(test, f"{test.name}.{own}.{name}", own, model, feeds, outputs)
            for name, model, feeds, outputs in variants.of(test)]
    return [case for case in made if case]


def _variants(model, feeds):
    """Yields the model as it is and, if all inputs are numeric, with constants for all inputs but the first.

    In real models, weights and sizes are constants.
    """
    yield "", model, feeds
    rest = {name: value for name, value in list(feeds.items())[1:] if value.dtype.kind in "fiub"}
    if not rest or any(value.dtype.kind not in "fiub" for value in feeds.values()):
        return
    constant = onnx.ModelProto()
    constant.CopyFrom(model)
    for name, value in rest.items():
        constant.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    kept = [value for value in constant.graph.input if value.name not in rest]
    del constant.graph.input[:]
    constant.graph.input.extend(kept)
    yield ".const", constant, {name: value for name, value in feeds.items() if name not in rest}


def _written(test, name, version, model, feeds, expected) -> dict | None:
    nodes = features.nodes(model, version)
    if nodes is None:
        return None
    # Use an IR version that old runtimes support.
    model.ir_version = min(model.ir_version, 8 if version <= 19 else model.ir_version)
    outputs = [value.name for value in model.graph.output]
    onnx.save(model, FOLDER / f"{name}.onnx")
    arrays = {f"in:{key}": _text(value) for key, value in feeds.items()}
    arrays |= {f"out:{key}": _text(value) for key, value in zip(outputs, expected)}
    np.savez(FOLDER / f"{name}.npz", **arrays)
    return {"name": name, "test": base(test.name), "opset": version, "nodes": nodes, "outputs": outputs,
            "rtol": test.rtol, "atol": test.atol}


def _text(value):
    return value.astype(str) if value.dtype.kind in "OS" else value
