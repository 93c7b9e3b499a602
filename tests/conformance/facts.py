"""Types and shapes declared in model files: reads them, compares them, and checks them against values."""

import ast
import math
import re

import numpy as np
import onnx

_FUNCTIONS = {"floor": math.floor, "ceil": math.ceil, "ceiling": math.ceil, "min": min, "max": max,
              "Min": min, "Max": max}


def of_graph(graph: onnx.GraphProto) -> dict[str, onnx.TypeProto]:
    """Returns the declared type of each value of the graph: inputs, outputs, and value_info."""
    declared = [*graph.input, *graph.output, *graph.value_info]
    return {value.name: value.type for value in declared if value.type.WhichOneof("value")}


def symbols(types) -> set[str]:
    """Returns the names of symbolic dimensions in tensor shapes."""
    return {dim.dim_param for type_ in types for dim in type_.tensor_type.shape.dim if dim.dim_param}


def names_in(text: str) -> set[str]:
    """Returns the symbols in the expression of a dimension. Names in backticks may have any characters."""
    quoted = re.findall(r"`((?:[^`]|``)*)`", text)
    plain = re.sub(r"`(?:[^`]|``)*`", " ", text)
    identifiers = set(re.findall(r"[A-Za-z_][\w.]*", plain)) - set(_FUNCTIONS)
    return identifiers | {name.replace("``", "`") for name in quoted}


def size_of(dim, sizes: dict[str, int]) -> int | None:
    """Evaluates a dimension with these sizes of symbols; None if the dimension is unknown or uses other symbols."""
    if dim.HasField("dim_value"):
        return dim.dim_value
    if not dim.dim_param or not names_in(dim.dim_param) <= set(sizes):
        return None
    try:
        tree = ast.parse(dim.dim_param, mode="eval")
        return int(eval(compile(tree, "dimension", "eval"), {"__builtins__": {}}, {**_FUNCTIONS, **sizes}))  # noqa: S307
    except (SyntaxError, NameError, TypeError, ZeroDivisionError):
        return None


def contradiction(type_: onnx.TypeProto, value, sizes: dict[str, int]) -> str | None:
    """Returns the contradiction between a value and its declared type, or None.

    Element types, shapes and dimensions that the type leaves unknown are not compared.
    """
    kind = type_.WhichOneof("value")
    if kind is None or value is None:
        return None
    if kind == "optional_type":
        return contradiction(type_.optional_type.elem_type, value, sizes)
    if (kind == "sequence_type") != isinstance(value, list):
        return f"is declared as {kind}, but is {type(value).__name__}"
    if kind == "sequence_type":
        found = (contradiction(type_.sequence_type.elem_type, item, sizes) for item in value)
        return next((reason for reason in found if reason), None)
    if kind != "tensor_type":
        return None
    return _tensor_contradiction(type_.tensor_type, np.asarray(value), sizes)


def _tensor_contradiction(tensor, value, sizes):
    is_text = value.dtype.kind in "OSU"
    actual = onnx.TensorProto.STRING if is_text else onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    if tensor.elem_type not in (0, actual):
        names = onnx.TensorProto.DataType.Name
        return f"is declared as {names(tensor.elem_type)}, but is {names(actual)}"
    if not tensor.HasField("shape"):
        return None
    if len(tensor.shape.dim) != value.ndim:
        return f"is declared with rank {len(tensor.shape.dim)}, but has rank {value.ndim}"
    for axis, (dim, actual) in enumerate(zip(tensor.shape.dim, value.shape)):
        declared = size_of(dim, sizes)
        if declared not in (None, actual):
            return f"is declared with {dim.dim_param or declared} at axis {axis}, but has {actual}"
    return None


def missing(known: onnx.TypeProto | None, ours: onnx.TypeProto | None, given: set[str]) -> str | None:
    """Returns a fact that is in `known` but not in `ours`, or None.

    A dimension is only compared if `known` has it as a number, or as an expression of the `given` symbols.
    """
    kind = known.WhichOneof("value") if known else None
    if kind is None:
        return None
    if ours is None or ours.WhichOneof("value") != kind:
        return f"a {kind.removesuffix('_type')}"
    if kind in ("sequence_type", "optional_type"):
        return missing(getattr(known, kind).elem_type, getattr(ours, kind).elem_type, given)
    if kind != "tensor_type":
        return None
    known, ours = known.tensor_type, ours.tensor_type
    if known.elem_type and not ours.elem_type:
        return "the element type"
    if known.HasField("shape") and not ours.HasField("shape"):
        return f"rank {len(known.shape.dim)}"
    for axis, (theirs, mine) in enumerate(zip(known.shape.dim, ours.shape.dim)):
        if is_known(theirs, given) and not is_known(mine, given):
            return f"axis {axis} is {theirs.dim_param or theirs.dim_value}"
    return None


def is_known(dim, given: set[str]) -> bool:
    """Returns True for a number, or an expression that uses only given symbols."""
    return dim.HasField("dim_value") or bool(dim.dim_param) and (dim.dim_param in given or names_in(dim.dim_param) <= given)


def coverage(model: onnx.ModelProto) -> tuple[int, int, int]:
    """Returns three counts of the values that nodes of the main graph compute: all, with a shape, and in input symbols.

    A value has a shape if each dimension is a number or any name, including names that a tool generated. A value is in
    input symbols if its dimensions use only numbers and symbols of the graph inputs.
    """
    types = of_graph(model.graph)
    given = symbols(value.type for value in model.graph.input)
    computed = {name for node in model.graph.node for name in node.output if name}
    shaped = in_inputs = 0
    for name in computed:
        type_ = types.get(name)
        if type_ is None or type_.HasField("tensor_type") and not type_.tensor_type.HasField("shape"):
            continue
        dims = type_.tensor_type.shape.dim
        shaped += all(dim.HasField("dim_value") or dim.dim_param for dim in dims)
        in_inputs += all(is_known(dim, given) for dim in dims)
    return len(computed), shaped, in_inputs
