"""Lists operators of the installed onnxruntime that `com_microsoft.txt` lacks, in the format of that file."""

from __future__ import annotations

import vendor
from form import Op
from onnx import AttributeProto, helper
from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

KINDS = {code: word for word, code in vendor.KINDS.items()}
MARKS = {"Single": "", "Optional": "?"}


def blocks(known: list[Op]) -> list[str]:
    """Returns a block for each operator of ONNX Runtime that is not among the known ones."""
    names = {op.name for op in known}
    schemas = [schema for schema in get_all_operator_schema() if schema.domain == vendor.DOMAIN]
    return [block(schema) for schema in sorted(schemas, key=lambda schema: schema.name) if schema.name not in names]


def block(schema) -> str:
    lines = [schema.name]
    if schema.inputs:
        lines.append("    <- " + ", ".join(map(formal, schema.inputs)))
    if schema.outputs:
        lines.append("    -> " + ", ".join(map(formal, schema.outputs)))
    for constraint in schema.type_constraints:
        types = " ".join(map(short, constraint.allowed_type_strs))
        lines.append(f"    {constraint.type_param_str} in {types}")
    lines += [attribute(attr) for _, attr in sorted(schema.attributes.items())]
    return "\n".join(lines)


def short(kind: str) -> str:
    """Returns `float` for `tensor(float)`; other types are returned unchanged."""
    return kind.removeprefix("tensor(").removesuffix(")") if kind.startswith("tensor(") else kind


def formal(parameter) -> str:
    mark = MARKS.get(parameter.option.name, "..." if parameter.isHomogeneous else "...*")
    return f"{parameter.name}{mark}: {short(parameter.typeStr)}"


def attribute(attr) -> str:
    default = AttributeProto.FromString(attr._default_value) if attr._default_value else None
    shown = "" if default is None else f" = {value(default)}"
    return f"    .{attr.name}: {KINDS[attr.type.name]}{'!' if attr.required else ''}{shown}"


def value(default: AttributeProto) -> str:
    """Returns the default; a float in the fewest digits that give the same float32."""
    content = helper.get_attribute_value(default)
    if isinstance(content, bytes):
        return f'"{content.decode()}"'
    return f"{content:.7g}" if isinstance(content, float) else str(content)
