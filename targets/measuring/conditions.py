"""Conditions on what is known of a node, as target files write them."""

import json
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Literal:
    """One condition on one fact: `op` is ==, <= or >=, or `in` a tuple of values; with `only`, it may also be missing."""

    name: str
    op: str
    value: object

    def holds(self, facts) -> bool:
        """Whether it is so; not, where the fact is not there."""
        found = facts.get(self.name)
        if found is None:
            return self.op == "only"
        match self.op:
            case "==":
                return found == self.value and type(found) is type(self.value)
            case "in" | "only":
                return found in self.value
            case "<=":
                return found <= self.value
        return found >= self.value


def is_type(name: str) -> bool:
    """Whether a fact is an element type."""
    return name.startswith(("dtype(", "[dtype("))


def literals(many) -> list[Literal]:
    """Conditions on single facts that some of many fulfil."""
    found = []
    for name, told in sorted({(name, json.dumps(value)) for facts in many for name, value in facts.items()}):
        value = json.loads(told)
        found.append(Literal(name, "==", value))
        if isinstance(value, (int, float)) and not isinstance(value, bool) and not name.startswith("["):
            found += [Literal(name, "<=", value), Literal(name, ">=", value)]
    return found


def plausible(literal: Literal) -> int:
    """Of conditions that say the same here, the one that more likely is the reason."""
    if isinstance(literal.value, list):
        return -1
    words = ("dtype", "opset", "@", "is_present", "rank", "is_stored", "count")
    return next((len(words) - index for index, word in enumerate(words) if word in literal.name), 0)


def holds(condition, facts) -> bool:
    """Whether all of some literals hold; a list of literals in the place of one: that not all of those do."""
    return all(not holds(one, facts) if isinstance(one, list) else one.holds(facts) for one in condition)


def text(condition, optional: set[str]) -> str:
    """As target files write it. `optional`: the facts that say whether something is there; where it may be missing,
    a condition on it says so, for it could not be decided otherwise."""
    return " and ".join(f"not ({text(one, optional)})" if isinstance(one, list) else _guarded(one, optional)
                        for one in condition)


def _guarded(literal, optional) -> str:
    operand = re.search(r"(@?\w+)\)?\]?$", literal.name)
    guard = f"is_present({operand[1]})" if operand else None
    if guard not in optional or literal.name == guard:
        return _one(literal)
    if literal.op == "only":
        return f"(not {guard} or {_one(literal)})"
    return f"{guard} and {_one(literal)}"


def _one(literal) -> str:
    name, value = literal.name, literal.value
    if name.startswith("["):
        values = value if isinstance(value, tuple) else (value,)
        parts = [f"all({name}, {_literal(name, one)})" for one in values]
        return parts[0] if len(parts) == 1 else f"({' or '.join(parts)})"
    if isinstance(value, tuple):
        return f"{name} in [{', '.join(_literal(name, one) for one in value)}]" if len(value) > 1 \
            else f"{name} == {_literal(name, value[0])}"
    if isinstance(value, bool):
        return name if value else f"not {name}"
    return f"{name} {literal.op} {_literal(name, value)}"


def _literal(name, value) -> str:
    return value if "dtype(" in name else json.dumps(value)
