#!/usr/bin/env python3
"""Generates `table/*.rs`: what every version of every operator takes.

    pip install onnx==1.23.2 && python src/schema/generate.py

Sources: the registry of the `onnx` package; `com_microsoft.txt`, the operators of ONNX Runtime;
`steps.tsv`, which steps between versions end an epoch; `values.tsv`, which values attributes may
have. A step of a newer `onnx` that is more than a widening stops the generator until somebody has
read what changed and has added a row to `steps.tsv`.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import onnx
from onnx import defs, helper

import vendor
from form import Attr, Formal, Op, widens

HERE = Path(__file__).parent
UNBOUNDED = 2**16 - 1

FILES = {
    "": "onnx",
    "ai.onnx.ml": "ml",
    "ai.onnx.preview": "preview",
    "ai.onnx.preview.training": "training",
    vendor.DOMAIN: "microsoft",
}

# The newest version of each domain's opset.
LATEST = {
    "": defs.onnx_opset_version(),
    "ai.onnx.ml": helper.VERSION_TABLE[-1][3],
    "ai.onnx.preview": 1,
    "ai.onnx.preview.training": helper.VERSION_TABLE[-1][4],
    vendor.DOMAIN: 1,
}

# What the registry says of determinism and is not so; all versions.
DETERMINISM = {
    # As deterministic as their bodies.
    **dict.fromkeys(["If", "Loop", "Scan", "SequenceMap"], "Unknown"),
    # The registry marks it because its function body holds an If.
    "AffineGrid": "Deterministic",
    # Not stated; their definitions draw no random numbers.
    **dict.fromkeys(
        ["CausalConvWithState", "LinearAttention", "DepthToSpace", "SpaceToDepth"], "Deterministic"
    ),
}

# Lists with one entry (or two) for each spatial axis: what the text says they are when absent.
SPATIAL_OPS = {
    *["Conv", "ConvInteger", "ConvTranspose", "DeformConv", "QLinearConv", "Col2Im"],
    *["AveragePool", "LpPool", "MaxPool", "MaxUnpool"],
    *["FusedConv", "NhwcConv", "NhwcFusedConv", "NhwcMaxPool", "QLinearAveragePool"],
    *["MaxpoolWithMask", "ConvTransposeWithDynamicPads"],
}
SPATIAL_LISTS = {"strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}


def registered() -> list[Op]:
    """Every operator of the `onnx` package."""
    return [from_registry(schema) for schema in defs.get_all_schemas_with_history()]


def from_registry(schema: defs.OpSchema) -> Op:
    def formal(param) -> Formal:
        return Formal(
            param.name, param.option.name, param.type_str, param.is_homogeneous, param.min_arity
        )

    return Op(
        domain=schema.domain,
        name=schema.name,
        since=schema.since_version,
        deprecated=schema.deprecated,
        determinism=DETERMINISM.get(schema.name, schema.node_determinism.name),
        has_body=schema.has_function or schema.has_context_dependent_function,
        inputs=[formal(param) for param in schema.inputs],
        outputs=[formal(param) for param in schema.outputs],
        arity=(schema.min_input, schema.max_input, schema.min_output, schema.max_output),
        attrs={name: attribute(attr) for name, attr in sorted(schema.attributes.items())},
        types={c.type_param_str: frozenset(c.allowed_type_strs) for c in schema.type_constraints},
    )


def attribute(attr: defs.OpSchema.Attribute) -> Attr:
    proto = attr.default_value
    default = helper.get_attribute_value(proto) if proto.type else None
    return Attr(attr.type.name, attr.required, default)


def rows(name: str) -> list[list[str]]:
    """The rows of a tab-separated file, without its comments."""
    lines = (HERE / name).read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def canonical(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def set_epochs(ops: list[Op]) -> None:
    """Gives each version the first version of its epoch."""
    reviewed = {
        (canonical(domain), op, int(old), int(new)): epoch
        for domain, op, old, new, _, epoch, _ in rows("steps.tsv")
    }
    unreviewed = []
    for old, new in zip([None, *ops], ops):
        if old is None or (old.domain, old.name) != (new.domain, new.name):
            new.epoch = new.since
            continue
        step = (new.domain, new.name, old.since, new.since)
        verdict = reviewed.pop(step, None)
        if verdict is None and not widens(old, new):
            unreviewed.append(step)
        new.epoch = new.since if verdict == "new" else old.epoch
    if unreviewed or reviewed:
        sys.exit(f"steps.tsv lacks {unreviewed}; it has needless rows {sorted(reviewed)}")


def set_values(ops: list[Op]) -> None:
    """Gives attributes and inputs the limits of `values.tsv`."""
    for domain, name, slot, since, values in rows("values.tsv"):
        domain = canonical(domain)
        found = False
        for op in ops:
            if op.domain != domain or name not in ("*", op.name) or op.since < int(since):
                continue
            if slot in op.attrs:
                op.attrs[slot].values = values
                found = True
            for formal in op.inputs:
                if formal.name == slot:
                    formal.non_negative = values == ">=0"
                    found = True
        if not found:
            sys.exit(f"values.tsv: no {domain}.{name} from {since} on has {slot}")


def set_spatial_defaults(ops: list[Op]) -> None:
    for op in ops:
        for name, every in SPATIAL_LISTS.items():
            attr = op.attrs.get(name)
            if op.name in SPATIAL_OPS and attr and attr.kind == "INTS" and not attr.required:
                attr.every = every


@dataclass
class Types:
    """The type sets met so far, so that each is written once."""

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
            fields.append("..EMPTY")
            lines.append(f"pub static {name}: TypeSet = TypeSet {{ {', '.join(fields)} }};")
        return "\n".join(lines) + "\n"


def quote(text: str | bytes) -> str:
    text = text.decode() if isinstance(text, bytes) else text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def rust_float(value: float) -> str:
    """The shortest decimal that is this float32."""
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
// Generated by src/schema/generate.py from onnx {onnx.__version__}; do not edit.

"""


def domain_file(domain: str, ops: list[Op], types: Types) -> str:
    schemas = "\n".join(rust_schema(op, types) for op in ops)
    latest = LATEST[domain]
    return (
        HEADER
        + "use super::prelude::*;\nuse super::types::*;\n\n"
        + f"/// The newest version of the opset.\npub const LATEST: u16 = {latest};\n\n"
        + f"const BLANK: Schema = Schema {{ domain: {quote(domain)}, ..super::prelude::BLANK }};\n\n"
        + f"pub static SCHEMAS: [Schema; {len(ops)}] = [\n{schemas}\n];\n"
    )


def releases(ops: list[Op]) -> str:
    """The first release with each opset, and the element types that came with it."""
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


def main() -> None:
    ops = registered() + vendor.read(HERE / "com_microsoft.txt")
    ops.sort(key=lambda op: (op.domain, op.name, op.since))
    set_values(ops)
    set_spatial_defaults(ops)
    set_epochs(ops)
    types = Types()
    for domain, name in FILES.items():
        own = [op for op in ops if op.domain == domain]
        (HERE / "table" / f"{name}.rs").write_text(domain_file(domain, own, types))
    prelude = "use crate::schema::TypeSet;\n\nconst EMPTY: TypeSet = TypeSet::EMPTY;\n\n"
    (HERE / "table" / "types.rs").write_text(HEADER + prelude + types.rust())
    (HERE / "table" / "releases.rs").write_text(releases(ops))
    unknown = {op.domain for op in ops} - FILES.keys()
    if unknown:
        sys.exit(f"no file for the domains {sorted(unknown)}")


if __name__ == "__main__":
    main()
