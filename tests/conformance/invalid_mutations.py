"""Mutations that make a valid model invalid, or may do so: one fault at a time."""

import functools

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from . import values

FAR, HUGE = 1000, 1 << 40

# Element types that mutations declare or assign, by name.
TYPES = {"float": TensorProto.FLOAT, "double": TensorProto.DOUBLE, "int64": TensorProto.INT64, "int32": TensorProto.INT32,
         "bool": TensorProto.BOOL, "float16": TensorProto.FLOAT16, "string": TensorProto.STRING}

# The longest tensor whose elements are changed one by one.
MAX_ELEMENTS = 12


def mutations(model: onnx.ModelProto, schema_of) -> list:
    """Returns all mutations of a model as (operator, part, change, function that edits a copy in place)."""
    found = [("", "none", "none", lambda graph: None)]
    graph = model.graph
    found += _of_symbolic(graph)
    for index, node in enumerate(graph.node):
        schema = schema_of(node)
        if schema is None:
            continue
        edits = (*_of_attributes(node, schema), *_of_arity(graph, node, schema), *_of_values(graph, node, schema))
        for part, change, edit in edits:
            found.append((node.op_type, part, change, functools.partial(_at, index, edit)))
    return found


def apply(model: onnx.ModelProto, mutation) -> bytes | None:
    """Returns the serialized mutant, or None if the model has no place for the mutation."""
    mutant = onnx.ModelProto()
    mutant.CopyFrom(model)
    try:
        mutation[-1](mutant.graph)
    except (ValueError, OverflowError):
        return None
    return mutant.SerializeToString(deterministic=True)


def _at(index, edit, graph):
    edit(graph, graph.node[index])


# Attributes

def _of_attributes(node, schema):
    present = {attribute.name for attribute in node.attribute}
    for attribute in node.attribute:
        name = attribute.name
        yield f"attribute {name}", "removed", functools.partial(_without, name)
        for change, value in _attribute_values(attribute):
            yield f"attribute {name}", change, functools.partial(_with, name, value)
    yield "attribute unknown", "added", functools.partial(_with, "unknown_attribute", 1)
    for name, attribute in schema.attributes.items():
        if name not in present:
            for change, value in _fresh_values(attribute.type):
                yield f"attribute {name}", f"added: {change}", functools.partial(_with, name, value)


def _attribute_values(attribute):
    if attribute.type == AttributeProto.INT:
        yield from _integers(attribute.i)
        yield "float instead of int", float(attribute.i)
        yield "list instead of int", [attribute.i]
    elif attribute.type == AttributeProto.FLOAT:
        yield from (("zero", 0.0), ("negative", -1.0), ("large", 1e10), ("int instead of float", int(attribute.f) or 1))
    elif attribute.type == AttributeProto.STRING:
        yield from (("unknown word", "unknown"), ("empty", ""))
    elif attribute.type == AttributeProto.INTS:
        yield from _lists(list(attribute.ints))
        if attribute.ints:
            yield "int instead of list", attribute.ints[0]
    elif attribute.type == AttributeProto.FLOATS and attribute.floats:
        values = list(attribute.floats)
        yield from (("longer", [*values, 1.0]), ("shorter", values[:-1] or [1.0, 1.0]))
    elif attribute.type == AttributeProto.STRINGS and attribute.strings:
        values = [value.decode(errors="replace") for value in attribute.strings]
        yield from (("longer", [*values, values[-1]]), ("unknown word", ["unknown", *values[1:]]))
        if len(values) > 1:
            yield "shorter", values[:-1]


def _integers(value):
    changes = {"negative": -1, "zero": 0, "one more": value + 1, "one less": value - 1, "double": value * 2,
               "too large": FAR, "too negative": -FAR, "huge": HUGE, "small": 3}
    return [(change, new) for change, new in changes.items() if new != value]


def _lists(values):
    yield "longer", [*values, values[-1] if values else 1]
    yield "repeated twice", [*values, *values] or [0, 0]
    if len(values) > 1:
        yield "shorter", values[:-1]
    for place, value in enumerate(values[:4]):
        for change, new in _integers(value):
            yield f"element {change}", [*values[:place], new, *values[place + 1:]]
        if place and values[0] != value:
            yield "element duplicate", [*values[:place], values[0], *values[place + 1:]]


def _fresh_values(kind):
    kind = str(kind).rsplit(".", maxsplit=1)[-1]
    values = {"INT": (("negative", -1), ("two", 2), ("too large", FAR), ("too negative", -FAR)), "FLOAT": (("negative", -1.0),),
              "STRING": (("unknown word", "unknown"),),
              "INTS": (("one element", [1]), ("three ones", [1, 1, 1]), ("negative", [-1, -1]), ("zeros", [0, 0]))}
    return values.get(kind, ())


def _with(name, value, _graph, node):
    _without(name, _graph, node)
    node.attribute.append(helper.make_attribute(name, value))


def _without(name, _graph, node):
    kept = [attribute for attribute in node.attribute if attribute.name != name]
    kept = [AttributeProto.FromString(attribute.SerializeToString()) for attribute in kept]
    del node.attribute[:]
    node.attribute.extend(kept)


# Number of inputs and outputs

def _of_arity(graph, node, schema):
    for place, name in enumerate(node.input):
        part = f"input {_formal(schema.inputs, place)}"
        if name:
            yield part, "left out", functools.partial(_blank, place)
    if node.input:
        yield f"input {_formal(schema.inputs, len(node.input) - 1)}", "removed", _drop_last_input
        yield f"input {_formal(schema.inputs, len(node.input))}", "added", functools.partial(_add_input, node.input[0])
    yield f"output {_formal(schema.outputs, len(node.output))}", "added", lambda _, node: node.output.append("extra_output")
    if len(node.output) > 1:
        yield f"output {_formal(schema.outputs, len(node.output) - 1)}", "removed", _drop_last_output
    for value in graph.output:
        if value.name in node.output and value.type.HasField("tensor_type"):
            part = f"output {_formal(schema.outputs, list(node.output).index(value.name))} type"
            for word in ("float", "int32"):
                if TYPES[word] != value.type.tensor_type.elem_type:
                    yield part, f"declared as {word}", functools.partial(_redeclare, value.name, TYPES[word])


def _formal(formals, place) -> str:
    """Returns the name of an input or output in the documentation of the operator."""
    if place < len(formals):
        return formals[place].name
    if formals and "Variadic" in str(formals[-1].option):
        return formals[-1].name
    return f"#{place + 1}"


def _blank(place, _graph, node):
    node.input[place] = ""


def _drop_last_input(_graph, node):
    del node.input[-1]


def _add_input(name, _graph, node):
    node.input.append(name)


def _drop_last_output(graph, node):
    name = node.output.pop()
    for place, output in enumerate(graph.output):
        if output.name == name:
            del graph.output[place]
            return


# Shapes, types and values of inputs

def _of_values(graph, node, schema):
    constants = {tensor.name: tensor for tensor in graph.initializer}
    declared = {value.name: value for value in graph.input if value.type.HasField("tensor_type")}
    seen = set()
    for place, name in enumerate(node.input):
        part = f"input {_formal(schema.inputs, place)}"
        if name in seen or name not in constants and name not in declared:
            continue
        seen.add(name)
        kind = "constant" if name in constants else "input"
        part = part.replace("input", kind, 1)
        dims, dtype = _description(constants, declared, name)
        for change, new in _shapes(dims):
            yield f"{part} shape", change, functools.partial(_reshape, name, new)
        same = [other for other, formal in zip(node.input, schema.inputs)
                if other != name and place < len(schema.inputs) and formal.type_str == schema.inputs[place].type_str]
        for word, new in TYPES.items():
            if new != dtype:
                yield f"{part} type", f"to {word}", functools.partial(_retype_bound, [name, *same], schema, place, new)
                if same:
                    yield f"{part} type", f"to {word}, of one input only", functools.partial(_retype, [name], new)
        if name in constants:
            yield from _elements(part, name, numpy_helper.to_array(constants[name]))


def _description(constants, declared, name):
    if name in constants:
        return list(constants[name].dims), constants[name].data_type
    kind = declared[name].type.tensor_type
    return [dim.dim_value for dim in kind.shape.dim], kind.elem_type


def _shapes(dims):
    for axis, size in enumerate(dims):
        changes = {"dim one more": size + 1, "dim one less": size - 1, "dim double": 2 * size, "dim 1": 1, "dim 0": 0}
        for change, new in changes.items():
            if new != size and new >= 0:
                yield change, [*dims[:axis], new, *dims[axis + 1:]]
    yield "rank one more", [1, *dims]
    yield "rank one more, at the end", [*dims, 1]
    if dims:
        yield "rank one less", dims[1:]
        yield "rank one less, at the end", dims[:-1]


def _reshape(name, dims, graph, _node):
    for tensor in graph.initializer:
        if tensor.name == name:
            _store(tensor, resized(numpy_helper.to_array(tensor), dims))
    for value in graph.input:
        if value.name == name:
            value.CopyFrom(helper.make_tensor_value_info(name, value.type.tensor_type.elem_type, dims))


def resized(array, dims):
    """Returns an array of another shape with the elements of the given one, repeated or cut."""
    if not array.size or not np.prod(dims, dtype=np.int64):
        return np.zeros(dims, array.dtype) if array.dtype != object else np.full(dims, "", object)
    return np.resize(array, dims)


def _store(tensor, array):
    tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), tensor.name))


def _retype(names, dtype, graph, _node):
    for tensor in graph.initializer:
        if tensor.name in names:
            _store(tensor, cast(numpy_helper.to_array(tensor), dtype))
    for value in graph.input:
        if value.name in names:
            value.type.tensor_type.elem_type = dtype


def _retype_bound(names, schema, place, dtype, graph, node):
    """Changes the type of the inputs `names`, which share a type variable, and of the outputs with this variable."""
    _retype(names, dtype, graph, node)
    if place >= len(schema.inputs):
        return
    changed = {output for output, formal in zip(node.output, schema.outputs)
               if formal.type_str == schema.inputs[place].type_str}
    for value in graph.output:
        if value.name in changed and value.type.HasField("tensor_type"):
            value.type.tensor_type.elem_type = dtype


def _redeclare(name, dtype, graph, _node):
    [value] = [value for value in graph.output if value.name == name]
    value.type.tensor_type.elem_type = dtype


def cast(array, dtype):
    """Returns an array with elements of another ONNX type."""
    if values.is_special(array.dtype):
        array = array.astype(np.float32)
    if dtype == TensorProto.STRING:
        return array.astype(str).astype(object)
    if array.dtype.kind in "OSU":
        return np.ones(array.shape, helper.tensor_dtype_to_np_dtype(dtype))
    with np.errstate(all="ignore"):
        return array.astype(helper.tensor_dtype_to_np_dtype(dtype))


def _elements(part, name, array):
    if array.size > MAX_ELEMENTS or array.dtype.kind not in "if" or not array.size:
        return
    flat = array.reshape(-1)
    for place, value in enumerate(flat.tolist()):
        changes = {"negative": -1, "zero": 0, "one more": value + 1, "one less": value - 1, "too large": FAR,
                   "too negative": -FAR}
        if array.dtype.kind == "f":
            changes = {"negative": -1.0, "zero": 0.0, "double": 2 * value}
        for change, new in changes.items():
            if new != value:
                yield f"{part} element", change, functools.partial(_set, name, {place: new})
        if place and flat[0] != flat[place]:
            yield f"{part} element", "duplicate", functools.partial(_set, name, {place: flat[0]})
    if array.dtype.kind == "i" and array.size > 1:
        yield f"{part} element", "two -1", functools.partial(_set, name, {0: -1, 1: -1})


def _set(name, elements, graph, _node):
    [tensor] = [tensor for tensor in graph.initializer if tensor.name == name]
    array = numpy_helper.to_array(tensor).copy()
    flat = array.reshape(-1)
    for place, value in elements.items():
        flat[place] = value
    _store(tensor, flat.reshape(array.shape))


def _of_symbolic(graph):
    tensors = [value for value in graph.input if value.type.tensor_type.shape.dim]
    operator = graph.node[-1].op_type
    for value in tensors:
        yield operator, "first axis", "symbolic in one input", functools.partial(_make_symbolic, {value.name})
    if len(tensors) > 1:
        names = {value.name for value in tensors}
        yield operator, "first axis", "symbolic in all inputs", functools.partial(_make_symbolic, names)


def _make_symbolic(names, graph):
    for value in graph.input:
        if value.name in names:
            value.type.tensor_type.shape.dim[0].dim_param = "N"
