"""The form of an operator version, as the generator holds it, and what a widening of it is."""

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
    values: str | None = None  # as values.tsv writes it
    every: int | None = None  # the default of each entry of a list


@dataclass
class Op:
    domain: str
    name: str
    since: int
    inputs: list[Formal]
    outputs: list[Formal]
    arity: tuple[int, int, int, int]  # least and most inputs, least and most outputs
    attrs: dict[str, Attr]  # sorted by name
    types: dict[str, frozenset[str]]
    deprecated: bool = False
    vendor: bool = False
    determinism: str = "Deterministic"
    has_body: bool = False
    epoch: int = field(default=0)


def widens(old: Op, new: Op) -> bool:
    """Whether every node that `old` takes is one that `new` takes, with nothing moved or renamed.

    Inputs and outputs that are added must be optional, attributes that are added must not be
    required. Deprecation counts as a widening: nodes keep their meaning. So do type constraints
    that get narrower, for legality tests them against each version.
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
