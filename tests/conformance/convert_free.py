"""Converts node tests with a dynamic batch to each opset of TARGETS, and checks the results at several sizes."""

import collections
import dataclasses
import functools
import tempfile
from pathlib import Path

import numpy as np
import onnx

from . import convert, node_tests, opset, parallel, runner, tools
from .convert import FAILED, ILLEGAL, REFUSED, RIGHT, TARGETS, UNRUNNABLE, WRONG, Outcome

SAMPLE_EVERY = 23
BATCH = "batch"


def run(options) -> bool:
    fix = tools.binary("onnx-fix")
    tests = node_tests.sample(SAMPLE_EVERY) if options.sample else node_tests.collect()
    done = parallel.map_isolated(functools.partial(_convert_everywhere, fix), tests, options.jobs)
    outcomes = []
    for test, found in zip(tests, done):
        died = [convert.outcome_of(test, {}, target, FAILED, "the test process crashed") for target in TARGETS]
        outcomes += died if found is None else found
    freed = {outcome.test for outcome in outcomes}
    print(f"{len(tests)} node tests of {len(node_tests.collect())}; {len(freed)} of them also run at other batch sizes")
    print(tools.table(("opset", "static", RIGHT, "share", REFUSED, UNRUNNABLE, WRONG, ILLEGAL, FAILED),
                      [_row(outcomes, target) for target in TARGETS]))
    passed = convert.print_faults(outcomes, options)
    convert.print_refusals(outcomes, options)
    for target in TARGETS:
        here = [outcome for outcome in outcomes if outcome.target == target]
        passed &= options.floors.share(f"right at {target}", sum(outcome.kind == RIGHT for outcome in here), len(here))
    return passed


def _row(outcomes, target) -> tuple:
    count = collections.Counter(outcome.kind for outcome in outcomes if outcome.target == target)
    return (target, count.total(), count[RIGHT], f"{count[RIGHT] / max(count.total(), 1):.1%}",
            *(count[kind] for kind in (REFUSED, UNRUNNABLE, WRONG, ILLEGAL, FAILED)))


def _convert_everywhere(fix, test) -> list[Outcome]:
    """Converts one test, with a dynamic batch, to all opsets to which the test with static shapes can be converted.

    Skips tests that require a static batch size.
    """
    freed = _at_several_batches(test)
    if not freed:
        return []
    judges = [runner.Judge(at_batch) for at_batch in freed]
    checked = opset.illegality(freed[0].model, opset.opset_of(test.model)) is None
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        source, written = Path(scratch) / "free.onnx", Path(scratch) / "out.onnx"
        source.write_bytes(freed[0].model.SerializeToString(deterministic=True))
        targets = [target for target in TARGETS if opset.convert(fix, test.path, target, written).model]
        return [convert.outcome_of(test, {}, target, *convert.verdict(fix, source, judges, checked, target, written))
                for target in targets]


def _at_several_batches(test) -> list[node_tests.NodeTest]:
    """Returns the test with a dynamic batch at three batch sizes: the original one and two larger ones.

    Expected outputs at the larger sizes are those of the dynamic model before conversion.

    The batch is axis 0 of the first input, and axis 0 of each input whose axis 0 has the same size. If the model fails
    at the larger sizes, or its outputs do not follow the batch, the batch is axis 0 of the first input only. If that
    fails in the same way, returns an empty list.
    """
    arrays = {name: value for name, value in test.feeds.items() if isinstance(value, np.ndarray) and value.ndim}
    if not arrays or not len(first := next(iter(arrays.values()))):
        return []
    size = len(first)
    same = tuple(name for name, value in arrays.items() if len(value) == size)
    for names in dict.fromkeys((same, tuple(arrays)[:1])):
        try:
            model = _with_free_batch(test.model, names)
            others = [_at_batch(test, model, names, other) for other in (size + 1, 2 * size + 1)]
        except Exception:  # noqa: BLE001, S112 – the evaluators raise a dozen kinds
            continue
        freed = [dataclasses.replace(test, model=model), *others]
        if _declare_outputs(model, [at_batch.outputs for at_batch in freed], (size, size + 1, 2 * size + 1)):
            return freed
    return []


def _with_free_batch(original: onnx.ModelProto, names) -> onnx.ModelProto:
    """Returns the model with a symbolic axis 0 of these inputs, without declared shapes of computed values."""
    model = onnx.ModelProto()
    model.CopyFrom(original)
    for declared in model.graph.input:
        if declared.name in names:
            declared.type.tensor_type.shape.dim[0].dim_param = BATCH
    del model.graph.value_info[:]
    for output in model.graph.output:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.ClearField("shape")
    return model


def _declare_outputs(model, outputs, batches) -> bool:
    """Declares the output dimensions that have one size in all runs, and those that equal the batch size.

    Returns False if axis 0 of an output equals the original batch size but does not follow it: then the dynamic
    dimension is not a batch.
    """
    for declared, values in zip(model.graph.output, zip(*outputs)):
        if not all(isinstance(value, np.ndarray) for value in values) or len({value.ndim for value in values}) > 1:
            continue
        declared.type.tensor_type.shape.SetInParent()
        for axis, sizes in enumerate(zip(*(value.shape for value in values))):
            dim = declared.type.tensor_type.shape.dim.add()
            if sizes == batches:
                dim.dim_param = BATCH
            elif len(set(sizes)) == 1:
                dim.dim_value = sizes[0]
            if axis == 0 and sizes[0] == batches[0] and sizes != batches:
                return False
    return True


def _at_batch(test, model, names, size) -> node_tests.NodeTest:
    feeds = {name: np.resize(value, (size, *value.shape[1:])) if name in names else value
             for name, value in test.feeds.items()}
    outputs = runner.outputs(model, feeds)
    return dataclasses.replace(test, model=model, feeds=feeds, outputs=outputs, atol=max(test.atol, _rounding(outputs)))


def _rounding(outputs) -> float:
    """Returns an absolute tolerance for sums whose terms cancel.

    The tolerance that a test declares is only valid for its own batch size.
    """
    floats = [value.astype(np.float64) for value in outputs if isinstance(value, np.ndarray) and value.dtype.kind == "f"]
    largest = max((np.nanmax(np.abs(value[np.isfinite(value)]), initial=0) for value in floats), default=0)
    return 1e-6 * largest
