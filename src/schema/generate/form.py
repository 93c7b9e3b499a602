"""Data model of operator versions, and the check whether a signature accepts all nodes of the previous version."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Formal:
    name: str
    option: str  # Single, Optional or Variadic
    type: str  # a type parameter, or a type
    homogeneous: bool = True
    min_arity: int = 1
    non_negative: bool = False


@dataclass
class Attr:
    kind: str  # a name of AttributeProto.AttributeType
    required: bool
    default: object = None
    values: str | None = None  # as in values.tsv
    every: int | None = None  # default of each entry of a list


@dataclass
class Op:
    domain: str
    name: str
    since: int
    inputs: list[Formal]
    outputs: list[Formal]
    arity: tuple[int, int, int, int]  # minimum and maximum number of inputs, then of outputs
    attrs: dict[str, Attr]  # sorted by name
    types: dict[str, frozenset[str]]
    deprecated: bool = False
    vendor: bool = False
    determinism: str = "Deterministic"
    has_body: bool = False
    epoch: int = field(default=0)


def widens(old: Op, new: Op) -> bool:
    """Returns true if the signature of `new` accepts all nodes of version `old`.

    New inputs and outputs must be optional, and new attributes must not be required. Deprecation
    and narrower type constraints are ignored here, because legality checks them for each version.
    """
    if new.deprecated:
        return True
    return (
        formals_widen(old.inputs, new.inputs)
        and formals_widen(old.outputs, new.outputs)
        and all(attr_widens(attr, new.attrs.get(name)) for name, attr in old.attrs.items())
        and not any(attr.required for name, attr in new.attrs.items() if name not in old.attrs)
    )


def formals_widen(old: list[Formal], new: list[Formal]) -> bool:
    looser = {"Single": 0, "Optional": 1, "Variadic": 2}
    kept = all(looser[a.option] <= looser[b.option] for a, b in zip(old, new))
    return len(old) <= len(new) and kept and all(f.option == "Optional" for f in new[len(old) :])


def attr_widens(old: Attr, new: Attr | None) -> bool:
    if new is None or new.kind != old.kind or (new.required and not old.required):
        return False
    return old.default is None or old.default == new.default
