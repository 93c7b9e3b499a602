"""Tests the constant evaluator: onnx-fix constant-folds deterministic node tests, with their inputs as constants."""

import collections
import functools
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from . import node_tests, parallel, tools, values

SAMPLE_EVERY = 5
# Maximum size of a folded constant in bytes: larger than in any node test.
FOLD_LIMIT = 1 << 30

_ROUNDED_OFTEN = ("the stored result is rounded after every step, and is further than ours from the exact result (computed "
                  "in double), by more than the tolerance, which is below the precision of the element type")
_ATTENTION = ("3d_causal_bf16", "4d_attn_mask_causal_bf16", "4d_causal_bf16", "4d_causal_padded_kv_bf16",
              "4d_padded_kv_bf16")

# Tests whose stored output we cannot match, and why. The results of these tests still count as not equal.
EXPLAINED = {f"test_attention_{case}{suffix}": _ROUNDED_OFTEN for case in _ATTENTION for suffix in ("", "_expanded")} | {
    "test_attention_4d_causal_fp16_expanded": _ROUNDED_OFTEN,
    "test_dft_inverse": "terms cancel to nearly 0, with float rounding errors beyond the relative tolerance",
    "test_dft_inverse_opset19": "terms cancel to nearly 0, with float rounding errors beyond the relative tolerance",
}

# Operators that the evaluator does not support, and why.
NOT_EVALUATED = {
    "FlexAttention": "its subgraphs read scores that no other node computes",
    "ImageDecoder": "decoding images is out of scope",
    "Resize": "align_corners with a non-integer output size: specification and reference disagree",
}

EQUAL, WRONG, NOT_FOLDED, FAILED, SKIPPED = "equal", "WRONG", "not folded", "FAILED", "skipped"


def run(options) -> bool:
    fix = tools.binary("onnx-fix")
    chosen = node_tests.sample(SAMPLE_EVERY) if options.sample else node_tests.collect()
    tests = [test for test in chosen if test.deterministic]
    done = parallel.map_isolated(functools.partial(_evaluate, fix), tests, options.jobs)
    verdicts = [(test, *(found or (FAILED, "the test process crashed"))) for test, found in zip(tests, done)]
    counts = collections.Counter(kind for _, kind, _ in verdicts)
    held = len(tests) - counts[SKIPPED]
    share = counts[EQUAL] / max(held, 1)
    print(tools.table(("node tests", "deterministic", EQUAL, "share", WRONG, NOT_FOLDED, FAILED, SKIPPED),
                      [(len(chosen), len(tests), counts[EQUAL], f"{share:.1%}",
                        *(counts[kind] for kind in (WRONG, NOT_FOLDED, FAILED, SKIPPED)))]))
    for kind in (WRONG, NOT_FOLDED, FAILED, SKIPPED):
        lines = [f"{test.operator}, {test.name}: {detail}{_reason(test, kind)}" for test, found, detail in verdicts if found == kind]
        if lines:
            print(f"{kind}: {len(lines)}\n{options.listed(sorted(lines), first=25)}")
    unexplained = [test.name for test, kind, _ in verdicts if kind == WRONG and test.name not in EXPLAINED]
    return options.floors.share("equal", counts[EQUAL], held) and not unexplained and not counts[FAILED]


def _reason(test, kind) -> str:
    reason = {WRONG: EXPLAINED.get(test.name), NOT_FOLDED: NOT_EVALUATED.get(test.operator)}.get(kind)
    return f" ({reason})" if reason else ""


def _evaluate(fix, test) -> tuple[str, str]:
    """Returns (kind, detail) for one test."""
    model, expected = _with_constant_inputs(test)
    if model is None:
        return SKIPPED, expected
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        source, written = Path(scratch) / "in.onnx", Path(scratch) / "out.onnx"
        source.write_bytes(model.SerializeToString())
        done = tools.run([fix, "--fold-limit", FOLD_LIMIT, "--fold-qdq", source, "-o", written])
        if done.status != 0 or not written.exists():
            return FAILED, done.last_words()
        folded = onnx.load(written)
    got = [_constant(folded.graph, output.name) for output in model.graph.output]
    if any(value is None for value in got):
        return NOT_FOLDED, ", ".join(sorted({node.op_type for node in folded.graph.node})) + " left"
    reason = values.difference(expected, got, test.rtol, test.atol)
    return (WRONG, reason) if reason else (EQUAL, "")


def _with_constant_inputs(test):
    """Returns the model with initializers instead of inputs, and the expected outputs.

    Output sequences are replaced by their tensors. If an input or output is optional, returns None and the reason.
    """
    model, expected = onnx.ModelProto(), []
    model.CopyFrom(test.model)
    # Before IR version 4, an initializer must also be a graph input.
    model.ir_version = max(model.ir_version, 4)
    graph = model.graph
    nodes = []
    for declared in graph.input:
        value = test.feeds[declared.name]
        if value is None or declared.type.HasField("optional_type"):
            return None, "an optional input"
        if isinstance(value, list):
            nodes += _sequence(graph, declared.name, value)
        else:
            graph.initializer.append(numpy_helper.from_array(value, declared.name))
    nodes += graph.node
    outputs = []
    for declared, value in zip(graph.output, test.outputs):
        if declared.type.HasField("optional_type"):
            return None, "an optional output"
        if not isinstance(value, list):
            outputs.append(declared)
            expected.append(value)
            continue
        for index, item in enumerate(value):
            name = f"{declared.name}_{index}"
            graph.initializer.append(helper.make_tensor(f"{name}_at", onnx.TensorProto.INT64, [], [index]))
            nodes.append(helper.make_node("SequenceAt", [declared.name, f"{name}_at"], [name]))
            outputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(item.dtype), item.shape))
            expected.append(item)
    for field, entries in ((graph.node, nodes), (graph.output, outputs), (graph.input, [])):
        kept = [type(entry).FromString(entry.SerializeToString()) for entry in entries]
        del field[:]
        field.extend(kept)
    return model, expected


def _sequence(graph, name, items):
    """Adds the items of a sequence as initializers; returns the node that constructs the sequence."""
    names = [f"{name}_{index}" for index in range(len(items))]
    for item_name, item in zip(names, items):
        graph.initializer.append(numpy_helper.from_array(item, item_name))
    return [helper.make_node("SequenceConstruct", names, [name]) if items else
            helper.make_node("SequenceEmpty", [], [name])]


def _constant(graph, name):
    """Returns the constant that a value was folded to, or None if nodes still compute it."""
    for tensor in graph.initializer:
        if tensor.name == name:
            return numpy_helper.to_array(tensor)
    for node in graph.node:
        if name in node.output and node.op_type == "Identity":
            return _constant(graph, node.input[0])
        if name in node.output and node.op_type == "Constant":
            return _attribute_value(node.attribute[0])
    return None


def _attribute_value(attribute):
    """Returns the value of a Constant node, whose attribute is a tensor, a number or a list of numbers."""
    value = helper.get_attribute_value(attribute)
    if attribute.name == "value":
        return numpy_helper.to_array(value)
    return np.array(value, {"value_float": np.float32, "value_floats": np.float32}.get(attribute.name))
