"""Infers types and shapes of every node test, and compares them with outputs and with onnx."""

import collections
import functools
import tempfile
from pathlib import Path

import numpy as np
import onnx

from . import facts, node_tests, parallel, tools

SAMPLE_EVERY = 7
VARIANTS = ("pinned", "free")

CONTRADICTED, LESS, FAILED, COMPLETE = "CONTRADICTED", "less than onnx", "FAILED", "complete"

# (test, value) for which onnx infers an unsound fact, and why it is unsound.
ONNX_IS_WRONG: dict[tuple[str, str], str] = {
    (f"test_einsum_batch_matmul{suffix}", "z"):
        "a dimension of size 1 is broadcast, so the batch may be that of the second input"
    for suffix in ("", "_bfloat16")
}


def run(options) -> bool:
    fix = tools.binary("onnx-fix")
    tests = node_tests.sample(SAMPLE_EVERY) if options.sample else node_tests.collect()
    done = parallel.map_isolated(functools.partial(_infer_both, fix), tests, options.jobs)
    counts, lines = collections.defaultdict(collections.Counter), collections.defaultdict(list)
    for test, found in zip(tests, done):
        for variant, kind, detail in found or [(variant, FAILED, "the test process crashed") for variant in VARIANTS]:
            counts[variant][kind] += 1
            if detail:
                lines[kind].append(f"{test.name} ({variant}): {detail}")
    print(f"{len(tests)} node tests of {len(node_tests.collect())}; their outputs, and internal values")
    header = ("inputs", "outputs", "complete", CONTRADICTED, LESS, FAILED)
    print(tools.table(header, [(variant, counts[variant]["outputs"], *(counts[variant][kind] for kind in
                                (COMPLETE, CONTRADICTED, LESS, FAILED))) for variant in VARIANTS]))
    for kind, found in lines.items():
        print(f"{kind}: {len(found)}\n{options.listed(found)}")
    known = [options.floors.share(f"complete, {variant}", counts[variant][COMPLETE], counts[variant]["outputs"])
             for variant in VARIANTS]
    return all(known) and not any(lines[kind] for kind in (CONTRADICTED, LESS, FAILED))


def _infer_both(fix, test) -> list[tuple[str, str, str]]:
    """Returns (variant, kind, detail) of all results. Only faults have a detail."""
    found = []
    for variant in VARIANTS:
        model, sizes = _variant(test, variant)
        found += [(variant, *result) for result in _infer(fix, test, model, sizes)]
    return found


def _variant(test, variant) -> tuple[onnx.ModelProto, dict[str, int]]:
    """Returns the test with declared types only for inputs, and the sizes of its symbols.

    The dimensions of inputs are static (`pinned`), or each is a distinct symbol (`free`).
    """
    model, sizes = onnx.ModelProto(), {}
    model.CopyFrom(test.model)
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.ClearField("type")
    for index, declared in enumerate(model.graph.input):
        value = test.feeds[declared.name]
        if not declared.type.HasField("tensor_type") or not isinstance(value, np.ndarray):
            continue
        declared.type.tensor_type.ClearField("shape")
        declared.type.tensor_type.shape.SetInParent()
        for axis, size in enumerate(value.shape):
            dim = declared.type.tensor_type.shape.dim.add()
            if variant == "pinned":
                dim.dim_value = size
            else:
                dim.dim_param = f"in{index}_axis{axis}"
                sizes[dim.dim_param] = size
    return model, sizes


def _infer(fix, test, model, sizes):
    """Returns the results of inference for one variant, as (kind, detail)."""
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        source, written = Path(scratch) / "in.onnx", Path(scratch) / "out.onnx"
        source.write_bytes(model.SerializeToString())
        done = tools.run([fix, "--infer-shapes", "--no-optimize", source, "-o", written])
        if done.status != 0 or not written.exists():
            return [(FAILED, done.last_words())]
        ours = facts.of_graph(onnx.load(written).graph)
    theirs = _onnx_facts(model)
    found = []
    for output, value in zip(model.graph.output, test.outputs):
        found.append(("outputs", ""))
        type_ = ours.get(output.name)
        if reason := type_ and facts.contradiction(type_, value, sizes):
            found.append((CONTRADICTED, f"{output.name} {reason}"))
        if type_ and type_.tensor_type.HasField("shape") and \
                all(facts.is_known(dim, set(sizes)) for dim in type_.tensor_type.shape.dim):
            found.append((COMPLETE, ""))
    values = dict(zip((output.name for output in model.graph.output), test.outputs))
    for name, known in theirs.items():
        onnx_errs = (test.name, name) in ONNX_IS_WRONG or \
            name in values and facts.contradiction(known, values[name], sizes)
        if not onnx_errs and (reason := facts.missing(known, ours.get(name), set(sizes))):
            found.append((LESS, f"{name}: {reason}"))
    return found


def _onnx_facts(model) -> dict[str, onnx.TypeProto]:
    """Returns the facts of onnx.shape_inference: in strict mode, or without it if inference in strict mode fails."""
    for strict in (True, False):
        try:
            inferred = onnx.shape_inference.infer_shapes(model, strict_mode=strict, data_prop=True)
            return facts.of_graph(inferred.graph)
        except Exception:  # noqa: BLE001, S112 – onnx raises several kinds
            continue
    return {}
