"""Valid models of at most three nodes, made from ONNX's node tests, as the origin of invalid ones."""

import collections
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import helper, numpy_helper

from . import node_tests, runner

# Tests with more input elements are left out: their mutants would be slow.
MAX_ELEMENTS = 3000
MAX_NODES = 3

# Operators whose first input is a parameter, not data.
FIRST_IS_PARAMETER = {"ConstantOfShape", "Range", "SequenceEmpty", "Bartlett", "BlackmanWindow", "HannWindow", "HammingWindow"}

# The oldest opset that is tried. ONNX Runtime supports older opsets only in part.
OLDEST = 7


@dataclass
class Base:
    """A valid model, the inputs it runs with, and the group that sampling draws from."""

    name: str
    model: onnx.ModelProto
    feeds: dict = field(repr=False)
    group: tuple
    # Whether the model is relabeled to an older opset. ONNX Runtime may run a relabeled model although it is invalid.
    is_relabeled: bool = False


def bases(limit: int) -> list[Base]:
    """Returns at most `limit` models for each operator, version of the operator, and kind of inputs.

    Each version of a test yields up to two models: one with `_parameters` as initializers, one without initializers.
    """
    found, counts = [], collections.Counter()
    for test in node_tests.collect():
        if len(test.model.graph.node) > MAX_NODES or _elements(test.feeds) > MAX_ELEMENTS:
            continue
        for version, (model, feeds) in enumerate(_versions(test)):
            for is_constant in (True, False):
                base = _base(test.name, model, feeds, is_constant)
                if base and counts[base.group] < limit:
                    base.is_relabeled = version > 0
                    counts[base.group] += 1
                    found.append(base)
    return found


def _elements(feeds) -> int:
    return sum(np.size(value) for value in feeds.values() if isinstance(value, np.ndarray))


def _base(name, origin, feeds, is_constant) -> Base | None:
    model = onnx.ModelProto()
    model.CopyFrom(origin)
    # Before IR version 4, an initializer must also be a graph input.
    model.ir_version = min(max(model.ir_version, 4), runner.LAST_RELEASED_IR)
    graph = model.graph
    constants = _parameters(graph, feeds) if is_constant else []
    if is_constant and not constants:
        return None
    for constant in constants:
        graph.initializer.append(numpy_helper.from_array(feeds[constant], constant))
    kept = [value for value in graph.input if value.name not in constants]
    for value in kept:
        if value.type.HasField("tensor_type") and feeds[value.name] is not None:
            value.CopyFrom(helper.make_tensor_value_info(value.name, value.type.tensor_type.elem_type,
                                                         feeds[value.name].shape))
    kept = [type(value).FromString(value.SerializeToString()) for value in kept]
    del graph.input[:]
    graph.input.extend(kept)
    # Mutants may have other output shapes, so these are not declared.
    for value in graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    node = graph.node[-1]
    version = schema_of(node, model)
    return version and Base(name, model, feeds, (node.op_type, version.since_version, is_constant))


def _parameters(graph, feeds) -> list[str]:
    """Returns the inputs that exporters usually write as constants: all tensors but the first input of each node."""
    found = {}
    for node in graph.node:
        first = 0 if node.op_type in FIRST_IS_PARAMETER else 1
        found |= dict.fromkeys(name for name in node.input[first:] if name not in node.input[:first])
    return [name for name in found if isinstance(feeds.get(name), np.ndarray)]


def schema_of(node, model: onnx.ModelProto):
    """Returns the schema of a node at the opset of the model, or None."""
    opset = next((entry.version for entry in model.opset_import if entry.domain == node.domain), None)
    try:
        return onnx.defs.get_schema(node.op_type, opset, node.domain)
    except (onnx.defs.SchemaError, TypeError):
        return None


def _versions(test):
    """Yields the model and the feeds of a test, at each operator version to which the test can be relabeled."""
    is_standard = any(not entry.domain for entry in test.model.opset_import)
    model = is_standard and runner.as_released(test.model) or test.model
    yield model, test.feeds
    node = model.graph.node[-1]
    if len(model.graph.node) > 1 or node.domain or model.functions:
        return
    schema = schema_of(node, model)
    while schema and schema.since_version > OLDEST:
        opset = schema.since_version - 1
        model, feeds, schema = _older(test, node, opset)
        if schema:
            yield model, feeds


def _older(test, node, opset):
    """Returns the model of a test relabeled to an older opset; inputs that are attributes there become attributes."""
    try:
        schema = onnx.defs.get_schema(node.op_type, opset)
    except onnx.defs.SchemaError:
        return None, None, None
    model, feeds = onnx.ModelProto(), dict(test.feeds)
    model.CopyFrom(test.model)
    [node] = model.graph.node
    next(entry for entry in model.opset_import if not entry.domain).version = opset
    newest = onnx.defs.get_schema(node.op_type)
    taken = {entry.name for entry in schema.inputs}
    for place, (name, formal) in enumerate(zip(node.input, newest.inputs)):
        if formal.name in taken or not isinstance(feeds.get(name), np.ndarray) or formal.name not in schema.attributes:
            continue
        value = feeds.pop(name)
        if not value.size:
            return None, None, None
        is_list = str(schema.attributes[formal.name].type).endswith("S")
        node.attribute.append(helper.make_attribute(formal.name, value.tolist() if is_list else value.reshape(-1)[0].item()))
        node.input[place] = ""
    while node.input and not node.input[-1]:
        del node.input[-1]
    kept = [type(value).FromString(value.SerializeToString()) for value in model.graph.input if value.name in feeds]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return model, feeds, schema
