"""Variants of node tests that differ in an element type, an attribute or an optional input.

The node tests cover few combinations of element types, attributes and optional inputs. Only tests from which profiles
are derived are varied, not those that evaluate profiles. ONNX Runtime or onnx's ReferenceEvaluator computes the
expected outputs.
"""

import functools

import numpy as np
import onnx

from conformance import node_tests, opset, runner

# Maximum number of tests per operator that are varied.
TESTS = 4

TYPES = {f"tensor({name})": number for name, number in (
    ("bool", onnx.TensorProto.BOOL), ("int8", onnx.TensorProto.INT8), ("int16", onnx.TensorProto.INT16),
    ("int32", onnx.TensorProto.INT32), ("int64", onnx.TensorProto.INT64), ("uint8", onnx.TensorProto.UINT8),
    ("uint16", onnx.TensorProto.UINT16), ("uint32", onnx.TensorProto.UINT32), ("uint64", onnx.TensorProto.UINT64),
    ("float16", onnx.TensorProto.FLOAT16), ("float", onnx.TensorProto.FLOAT), ("double", onnx.TensorProto.DOUBLE))}

# Largest magnitude of inputs, so that results are small in every type. Floats cast to integers are multiplied by 4
# after clipping, so they may reach 400.
LARGEST = 100


def chosen(tests) -> list:
    """Returns the tests to vary: of those with one node and only numeric inputs, the first four per operator."""
    counts, found = {}, []
    for test in tests:
        is_numbers = all(value.dtype.kind in "fiub" for value in test.feeds.values())
        if len(test.model.graph.node) != 1 or not is_numbers:
            continue
        key = test.model.graph.node[0].domain, test.model.graph.node[0].op_type
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= TESTS:
            found.append(test)
    return found


def of(test):
    """Yields (name of the change, model, inputs, outputs) for variants that can be computed."""
    node = test.model.graph.node[0]
    try:
        schema = onnx.defs.get_schema(node.op_type, opset.opset_of(test.model), node.domain)
    except onnx.defs.SchemaError:
        return
    for name, model, feeds in (*_types(test, schema), *_attributes(test, schema), *_inputs(test, schema)):
        try:
            # Output types and sizes may change; invalid models are skipped.
            onnx.checker.check_model(model)
            outputs = runner.outputs(model, feeds)
        except Exception:  # noqa: BLE001 – variants without a reference result are skipped
            continue
        if all(isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and value.size for value in outputs):
            for value, array in zip(model.graph.output, outputs):
                value.CopyFrom(onnx.helper.make_tensor_value_info(
                    value.name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
            yield name, model, feeds, outputs


def _types(test, schema):
    """Yields a variant for each element type that a type variable allows and the test does not have."""
    node = test.model.graph.node[0]
    for constraint in schema.type_constraints:
        variable = constraint.type_param_str
        bound = {*_names(schema.inputs, node.input, variable), *_names(schema.outputs, node.output, variable)}
        fed = [name for name in bound if name in test.feeds]
        own = {test.feeds[name].dtype for name in fed}
        if len(own) != 1:
            continue
        for text in sorted(TYPES.keys() & set(constraint.allowed_type_strs)):
            kind = onnx.helper.tensor_dtype_to_np_dtype(TYPES[text])
            if kind in own:
                continue
            model = _copy(test.model)
            for value in (*model.graph.input, *model.graph.output):
                if value.name in bound:
                    value.type.tensor_type.elem_type = TYPES[text]
            yield f"{variable}.{text[7:-1]}", model, test.feeds | {name: _cast(test.feeds[name], kind) for name in fed}


def _names(formals, actual, variable):
    """Returns the names of the values whose formal parameters have this type variable."""
    found = []
    for index, name in enumerate(actual):
        formal = formals[min(index, len(formals) - 1)]
        if name and formal.type_str == variable:
            found.append(name)
    return found


def _cast(value, kind):
    """Clips values to small numbers and casts them to the type `kind`.

    Floats cast to integers become nonzero, because they may be divisors.
    """
    small = np.clip(np.nan_to_num(value.astype(np.float64)), -LARGEST, LARGEST)
    if value.dtype.kind == "f" and kind.kind in "iu":
        small = np.rint(small * 4)
        small = np.where(small == 0, 1, small)
    if kind.kind in "ub":
        small = np.abs(small)
    return small.astype(kind)


@functools.cache
def _vocabulary() -> dict:
    """Returns, for each attribute, the strings, zeros and ones that it has as values in node tests."""
    found = {}
    for test in node_tests.collect():
        for node in test.model.graph.node:
            for attribute in node.attribute:
                value = onnx.helper.get_attribute_value(attribute)
                if isinstance(value, bytes) or (isinstance(value, int) and value in (0, 1)):
                    found.setdefault((node.domain, node.op_type, attribute.name), set()).add(value)
    return found


def _attributes(test, schema):
    """Yields a variant for each attribute value that the test lacks: the default, or a value in `_vocabulary`."""
    node = test.model.graph.node[0]
    given = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    for name, spec in sorted(schema.attributes.items()):
        known = _vocabulary().get((node.domain, node.op_type, name), set())
        default = onnx.helper.get_attribute_value(spec.default_value) if spec.default_value.name else None
        own = given.get(name, default)
        for value in sorted(known | ({default} if known and default is not None else set()), key=str):
            if value == own or (own is not None and type(value) is not type(own)):
                continue
            model = _copy(test.model)
            kept = [attribute for attribute in node.attribute if attribute.name != name]
            del model.graph.node[0].attribute[:]
            model.graph.node[0].attribute.extend([*kept, onnx.helper.make_attribute(name, value)])
            _forget_sizes(model)
            text = value.decode() if isinstance(value, bytes) else value
            yield f"{name}.{text}", model, test.feeds


def _inputs(test, schema):
    """Yields one variant for each optional input: the test without that input."""
    node = test.model.graph.node[0]
    for index, (formal, name) in enumerate(zip(schema.inputs, node.input)):
        if formal.option == onnx.defs.OpSchema.FormalParameterOption.Optional and name in test.feeds:
            model = _copy(test.model)
            model.graph.node[0].input[index] = ""
            while model.graph.node[0].input and not model.graph.node[0].input[-1]:
                model.graph.node[0].input.pop()
            kept = [value for value in model.graph.input if value.name != name]
            del model.graph.input[:]
            model.graph.input.extend(kept)
            _forget_sizes(model)
            yield f"no-{formal.name}", model, {key: value for key, value in test.feeds.items() if key != name}


def _forget_sizes(model):
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")


def _copy(model):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy
