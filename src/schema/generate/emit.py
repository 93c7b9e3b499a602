"""Renders operators as Rust."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy
import onnx
from onnx import defs, helper

import vendor
from form import Attr, Formal, Op

UNBOUNDED = 2**16 - 1

FILES = {
    "": "onnx",
    "ai.onnx.ml": "ml",
    "ai.onnx.preview": "preview",
    "ai.onnx.preview.training": "training",
    vendor.DOMAIN: "microsoft",
}

# Newest opset version of each domain.
LATEST = {
    "": defs.onnx_opset_version(),
    "ai.onnx.ml": helper.VERSION_TABLE[-1][3],
    "ai.onnx.preview": 1,
    "ai.onnx.preview.training": helper.VERSION_TABLE[-1][4],
    vendor.DOMAIN: 1,
}


@dataclass
class Types:
    """Names of the type sets found so far, so that each is defined once."""

    names: dict[frozenset[str], str] = field(default_factory=dict)

    SHAPES = {
        "tensor": r"tensor\((\w+)\)",
        "seq": r"seq\(tensor\((\w+)\)\)",
        "optional": r"optional\(tensor\((\w+)\)\)",
        "optional_seq": r"optional\(seq\(tensor\((\w+)\)\)\)",
        "sparse": r"sparse_tensor\((\w+)\)",
    }

    def name(self, types: frozenset[str]) -> str:
        return self.names.setdefault(types, f"T{len(self.names)}")

    def rust(self) -> str:
        lines = []
        for types, name in self.names.items():
            fields, rest = [], set(types)
            for shape, pattern in self.SHAPES.items():
                found = {t: m[1] for t in rest if (m := re.fullmatch(pattern, t))}
                rest -= found.keys()
                bits = sum(1 << onnx.TensorProto.DataType.Value(e.upper()) for e in found.values())
                fields += [f"{shape}: {bits:#x}"] if bits else []
            fields += [f"others: &[{', '.join(map(quote, sorted(rest)))}]"] if rest else []
            fields.append("..TypeSet::EMPTY")
            lines.append(f"pub static {name}: TypeSet = TypeSet {{ {', '.join(fields)} }};")
        return "\n".join(lines) + "\n"


def quote(text: str | bytes) -> str:
    text = text.decode() if isinstance(text, bytes) else text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def rust_float(value: float) -> str:
    """Returns the shortest decimal that rounds to this float32."""
    text = str(numpy.float32(value))
    return text if any(c in text for c in ".e") else text + ".0"


def rust_default(attr: Attr) -> str:
    if attr.every is not None:
        return f"Some(D::Every({attr.every}))"
    if attr.default is None:
        return "None"
    kind, value = attr.kind, attr.default
    scalars = {"INT": ("Int", str), "FLOAT": ("Float", rust_float), "STRING": ("String", quote)}
    if kind in scalars:
        variant, write = scalars[kind]
        return f"Some(D::{variant}({write(value)}))"
    variant, write = scalars[kind.removesuffix("S")]
    return f"Some(D::{variant}s(&[{', '.join(map(write, value))}]))"


def rust_values(attr: Attr) -> str:
    if attr.values in (None, "any"):
        return "Any"
    if attr.values.startswith(">="):
        return f"AtLeast({attr.values[2:]})"
    return f"OneOf(&[{', '.join(map(quote, attr.values.split()))}])"


def rust_attr(name: str, attr: Attr) -> str:
    kind = {"SPARSE_TENSOR": "SparseTensor", "TYPE_PROTO": "Type"}
    return (
        f"{'required' if attr.required else 'attr'}({quote(name)}, "
        f"K::{kind.get(attr.kind, attr.kind.capitalize())}, {rust_default(attr)}, {rust_values(attr)})"
    )


def rust_formal(formal: Formal, params: list[str], types: Types) -> str:
    option = formal.option
    if option == "Variadic":
        same = str(formal.homogeneous).lower()
        option = f"Variadic {{ homogeneous: {same}, min: {formal.min_arity} }}"
    if formal.type in params:
        ty = f"Param({params.index(formal.type)})"
    else:
        ty = f"Exactly(&{types.name(frozenset([formal.type]))})"
    make = "non_negative" if formal.non_negative else "formal"
    return f"{make}({quote(formal.name)}, {option}, {ty})"


def rust_schema(op: Op, types: Types) -> str:
    params = list(op.types)
    arity = [min(count, UNBOUNDED) for count in op.arity]
    lists = {
        "inputs": [rust_formal(f, params, types) for f in op.inputs],
        "outputs": [rust_formal(f, params, types) for f in op.outputs],
        "attrs": [rust_attr(name, attr) for name, attr in op.attrs.items()],
        "type_params": [
            f"TypeParam {{ name: {quote(p)}, allowed: &{types.name(op.types[p])} }}" for p in params
        ],
    }
    lines = [
        f"Schema {{ name: {quote(op.name)}, since: {op.since}, epoch: {op.epoch},"
        + " min_inputs: {}, max_inputs: {}, min_outputs: {}, max_outputs: {},".format(*arity),
    ]
    flags = [flag for flag in ("deprecated", "vendor", "has_body") if getattr(op, flag)]
    lines += [f"  {flag}: true," for flag in flags]
    if op.determinism != "Deterministic":
        lines.append(f"  determinism: {op.determinism},")
    for name, items in lists.items():
        if items:
            lines.append(f"  {name}: &[{', '.join(items)}],")
    return "\n".join([*lines, "  ..BLANK },"])


HEADER = f"""\
// Generated by src/schema/generate from onnx {onnx.__version__}; do not edit.

"""


def domain_file(domain: str, ops: list[Op], types: Types) -> str:
    schemas = "\n".join(rust_schema(op, types) for op in ops)
    return (
        HEADER
        + "use super::prelude::*;\nuse super::types::*;\n\n"
        + f"/// Newest opset version of the domain.\npub const LATEST: u16 = {LATEST[domain]};\n\n"
        + f"const BLANK: Schema = Schema {{ domain: {quote(domain)}, ..super::prelude::BLANK }};\n\n"
        + f"pub static SCHEMAS: [Schema; {len(ops)}] = [\n{schemas}\n];\n"
    )


def releases(ops: list[Op]) -> str:
    """Renders the first release with each opset, and its new element types."""
    first: dict[str, int] = {}
    for op in sorted((op for op in ops if op.domain == "" and not op.vendor), key=lambda op: op.since):
        for name in sorted(set().union(*op.types.values())):
            if m := re.fullmatch(r"tensor\((\w+)\)", name):
                first.setdefault(m[1], op.since)
    lines = []
    for opset in range(1, defs.onnx_opset_version() + 1):
        version, ir, _, ml = next(row for row in helper.VERSION_TABLE if row[2] >= opset)[:4]
        new = [elem for elem, since in first.items() if since == opset]
        new.sort(key=lambda elem: onnx.TensorProto.DataType.Value(elem.upper()))
        elems = ", ".join(f"ElemType::{elem.capitalize()}" for elem in new)
        lines.append(
            f"Release {{ opset: {opset}, onnx: {quote(version)}, ir_version: {ir}, ml: {ml}, "
            f"new_elems: &[{elems}] }},"
        )
    body = "\n".join(lines)
    return (
        HEADER
        + "use crate::graph::ElemType;\nuse crate::schema::release::Release;\n\n"
        + f"pub static RELEASES: [Release; {len(lines)}] = [\n{body}\n];\n"
    )


def files(ops: list[Op]) -> Iterator[tuple[str, str]]:
    """Yields the name and the text of each file of the table."""
    types = Types()
    for domain in sorted({op.domain for op in ops}):
        own = [op for op in ops if op.domain == domain]
        yield f"{FILES[domain]}.rs", domain_file(domain, own, types)
    yield "types.rs", HEADER + "use crate::schema::TypeSet;\n\n" + types.rust()
    yield "releases.rs", releases(ops)
