"""Facts about a node that may decide whether a runtime supports it, in the syntax of target files."""

import functools
import re

import onnx

from conformance import tools


@functools.cache
def epochs() -> dict[tuple[str, str], list[tuple[int, int]]]:
    """Returns, by (domain, name), the versions of the operators of ai.onnx and ai.onnx.ml: pairs (since, epoch).

    The oldest version comes first. The epoch of a version is the first version with the same semantics.
    """
    found = {}
    for domain, file in (("", "onnx.rs"), ("ai.onnx.ml", "ml.rs")):
        text = (tools.ROOT / "src/schema/table" / file).read_text()
        for name, since, epoch in re.findall(r'Schema \{ name: "(\w+)", since: (\d+), epoch: (\d+)', text):
            found.setdefault((domain, name), []).append((int(since), int(epoch)))
    return found


def epoch(domain: str, name: str, opset: int) -> int | None:
    known = [epoch for since, epoch in epochs().get((domain, name), []) if since <= opset]
    return known[-1] if known else None


def nodes(model: onnx.ModelProto, opset: int) -> list[dict] | None:
    """Returns one record for each node of the main graph; None if type inference fails."""
    try:
        graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    except Exception:  # noqa: BLE001 – models that cannot be inferred are skipped
        return None
    types = {value.name: value.type for value in (*graph.input, *graph.value_info, *graph.output)}
    constants = {tensor.name: tensor for tensor in graph.initializer}
    constants |= {node.output[0]: attribute.t for node in graph.node if node.op_type == "Constant" and not node.domain
                  for attribute in node.attribute if attribute.name == "value"}
    versions = {entry.domain: entry.version for entry in model.opset_import}
    return [_node(node, types, constants, versions, opset) for node in graph.node]


def _node(node, types, constants, versions, opset) -> dict:
    domain = "" if node.domain == "ai.onnx" else node.domain
    version = versions.get(node.domain, opset)
    record = {"op": f"{domain}.{node.op_type}".lstrip("."), "epoch": epoch(domain, node.op_type, version), "since": 1,
              "facts": {}}
    facts = record["facts"]
    for since, of in epochs().get((domain, node.op_type), []):
        if of == record["epoch"] and since <= version:
            record["since"] = since
        if of == record["epoch"] and since > of and not domain:
            facts[f"opset() >= {since}"] = version >= since
    try:
        schema = onnx.defs.get_schema(node.op_type, version, domain)
    except Exception:  # noqa: BLE001 – without a schema, only the name is recorded
        return record
    if schema.has_function and version > record["since"]:
        # A runtime may run the function body of an operator, but only at the opset that the body is written for.
        record["since"] += 1
    if schema.has_function and not domain:
        next_opset = schema.since_version + 1
        facts.setdefault(f"opset() >= {next_opset}", version >= next_opset)
    for formals, actual in ((schema.inputs, node.input), (schema.outputs, node.output)):
        for index, formal in enumerate(formals):
            if formal.option == onnx.defs.OpSchema.FormalParameterOption.Variadic:
                facts[f"count({formal.name})"] = len(actual) - index
                facts |= _many(formal.name, actual[index:], types, constants)
                break
            if f"is_present({formal.name})" in facts or f"rank({formal.name})" in facts:
                break
            name = actual[index] if index < len(actual) else ""
            facts |= _operand(formal, name, types, constants, is_input=actual is node.input)
    given = {attribute.name: attribute for attribute in node.attribute}
    for name, spec in schema.attributes.items():
        facts |= _attribute(name, given.get(name), spec)
    return record


def _operand(formal, name, types, constants, *, is_input) -> dict:
    facts = {}
    if formal.option == onnx.defs.OpSchema.FormalParameterOption.Optional:
        facts[f"is_present({formal.name})"] = bool(name)
    if not name:
        return facts
    kind, rank = _type(name, types, constants)
    facts |= {f"dtype({formal.name})": kind} if kind else {}
    facts |= {f"rank({formal.name})": rank} if rank is not None else {}
    if is_input:
        facts[f"is_stored({formal.name})"] = name in constants
    return facts


def _many(formal, names, types, constants) -> dict:
    """Returns the dtype and rank that all values of a variadic parameter share."""
    found = {_type(name, types, constants) for name in names}
    kinds, ranks = {kind for kind, _ in found}, {rank for _, rank in found}
    facts = {f"[dtype(x) for x in {formal}]": kinds.pop()} if len(kinds) == 1 and None not in kinds else {}
    return facts | ({f"[rank(x) for x in {formal}]": ranks.pop()} if len(ranks) == 1 and None not in ranks else {})


def _type(name, types, constants):
    if name in constants:
        return _type_name(constants[name].data_type), len(constants[name].dims)
    value = types.get(name)
    if value is None or not value.HasField("tensor_type"):
        return None, None
    tensor = value.tensor_type
    return _type_name(tensor.elem_type), len(tensor.shape.dim) if tensor.HasField("shape") else None


def _type_name(number: int) -> str:
    return onnx.TensorProto.DataType.Name(number).lower()


def _attribute(name, given, spec) -> dict:
    """Returns facts on an attribute: value or default and, if it is optional without default, presence."""
    facts = {}
    if given is None and not spec.default_value.name:
        return {} if spec.required else {f"is_present(@{name})": False}
    if not spec.required and not spec.default_value.name:
        facts[f"is_present(@{name})"] = True
    value = onnx.helper.get_attribute_value(given or spec.default_value)
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, (int, float, str)):
        facts[f"@{name}"] = value
    elif isinstance(value, (list, tuple)) and all(isinstance(item, int) for item in value):
        facts[f"@{name}"] = list(value)
        if value:
            facts |= {f"{word}(@{name})": of(value) for word, of in (("min", min), ("max", max), ("len", len))}
    return facts
