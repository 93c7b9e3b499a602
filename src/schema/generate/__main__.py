#!/usr/bin/env python3
"""Generates the schemas of all versions of all operators, as files of `../table`.

    pip install onnx==1.23.2 && python src/schema/generate
    python src/schema/generate --missing    # operators of the installed onnxruntime that com_microsoft.txt lacks

Sources: the registry of the `onnx` package; `com_microsoft.txt`, the operators of ONNX Runtime;
`steps.tsv`, the reviewed steps between versions, and whether each ends an epoch; `values.tsv`, the
allowed values of attributes and inputs. If a version of an operator rejects nodes that the previous
version accepts, apart from their types, and `steps.tsv` has no row for the two versions, the generator
fails: review the change and add a row.
"""

from __future__ import annotations

import sys
from pathlib import Path

from onnx import defs, helper

import emit
import vendor
from form import Attr, Formal, Op, widens

SCHEMA = Path(__file__).parent.parent

# Corrections of the determinism in the registry, for all versions.
DETERMINISM = {
    # The determinism of these operators depends on their subgraphs.
    **dict.fromkeys(["If", "Loop", "Scan", "SequenceMap"], "Unknown"),
    # The registry does not mark AffineGrid as deterministic, because its function body contains an If.
    "AffineGrid": "Deterministic",
    # The registry has no value for these operators, which draw no random numbers by definition.
    **dict.fromkeys(
        ["CausalConvWithState", "LinearAttention", "DepthToSpace", "SpaceToDepth"], "Deterministic"
    ),
}

# Defaults of lists with one or two entries for each spatial axis, from the specification.
SPATIAL_OPS = {
    *["Conv", "ConvInteger", "ConvTranspose", "DeformConv", "QLinearConv", "Col2Im"],
    *["AveragePool", "LpPool", "MaxPool", "MaxUnpool"],
    *["FusedConv", "NhwcConv", "NhwcFusedConv", "NhwcMaxPool", "QLinearAveragePool"],
    *["MaxpoolWithMask", "ConvTransposeWithDynamicPads"],
}
SPATIAL_LISTS = {"strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}


def registered() -> list[Op]:
    """Returns all versions of all operators of the `onnx` package."""
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
    """Returns the rows of a tab-separated file, without comments."""
    lines = (SCHEMA / name).read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def canonical(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def set_epochs(ops: list[Op]) -> None:
    """Sets the `epoch` of each version: the first version with the same semantics."""
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
        sys.exit(f"steps.tsv: missing rows {unreviewed}; unused rows {sorted(reviewed)}")


def set_values(ops: list[Op]) -> None:
    """Sets the allowed values of attributes and inputs from `values.tsv`."""
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
            sys.exit(f"values.tsv: no version of {domain}.{name} since {since} has {slot}")


def set_spatial_defaults(ops: list[Op]) -> None:
    for op in ops:
        for name, every in SPATIAL_LISTS.items():
            attr = op.attrs.get(name)
            if op.name in SPATIAL_OPS and attr and attr.kind == "INTS" and not attr.required:
                attr.every = every


def main() -> None:
    own = vendor.read(SCHEMA / "com_microsoft.txt")
    if sys.argv[1:] == ["--missing"]:
        from missing import blocks  # needs onnxruntime

        print("\n\n".join(blocks(own)))
        return
    ops = registered() + own
    ops.sort(key=lambda op: (op.domain, op.name, op.since))
    set_values(ops)
    set_spatial_defaults(ops)
    set_epochs(ops)
    for name, text in emit.files(ops):
        (SCHEMA / "table" / name).write_text(text)


if __name__ == "__main__":
    main()
