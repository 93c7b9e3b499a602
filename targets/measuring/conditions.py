"""Conditions on facts about a node, in the syntax of target files."""

import json
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Literal:
    """Condition on a fact.

    `op` is ==, <=, >=, or `in` for a tuple of values; `only` is like `in`, but also holds if the fact is absent.
    """

    name: str
    op: str
    value: object

    def holds(self, facts) -> bool:
        """Returns true if the condition holds. If the fact is absent, only a condition with `op` = `only` holds."""
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
    """Returns true if a fact is an element type."""
    return name.startswith(("dtype(", "[dtype("))


def literals(many) -> list[Literal]:
    """Returns conditions that compare a fact with its value in one of `many`: ==, and for numbers also <= and >=."""
    found = []
    for name, told in sorted({(name, json.dumps(value)) for facts in many for name, value in facts.items()}):
        value = json.loads(told)
        found.append(Literal(name, "==", value))
        if isinstance(value, (int, float)) and not isinstance(value, bool) and not name.startswith("["):
            found += [Literal(name, "<=", value), Literal(name, ">=", value)]
    return found


def plausible(literal: Literal) -> int:
    """Returns a score that prefers the more likely cause among equivalent conditions."""
    if isinstance(literal.value, list):
        return -1
    words = ("dtype", "opset", "@", "is_present", "rank", "is_stored", "count")
    return next((len(words) - index for index, word in enumerate(words) if word in literal.name), 0)


def holds(condition, facts) -> bool:
    """Returns true if all literals hold. A nested list of literals is a negated conjunction."""
    return all(not holds(one, facts) if isinstance(one, list) else one.holds(facts) for one in condition)


def text(condition, optional: set[str]) -> str:
    """Formats a condition in the syntax of target files.

    `optional` has the names of presence facts, such as `is_present(B)`. A condition on an optional operand or
    attribute gets a presence guard: without it, the condition would be undecided for nodes that lack the operand or
    attribute.
    """
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
