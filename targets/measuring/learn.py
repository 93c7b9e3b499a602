"""From what ran and what did not to the lines of a target file.

For each epoch of an operator: what the runtime has no kernel for is told apart from what ran by an element type, or by an
opset, that no case that ran has. Kernels are chosen by those; what failed for another reason, and what cannot be told
apart, is left unknown. What ran is taken for the element types that it ran with, and no others.
"""

import json
from collections import defaultdict


# Of an operator where what ran cannot be told from what did not by what did not.
MOST_LINES = 3


def lines(examples) -> dict[str, list[tuple[bool, str]]]:
    """`examples`: (test, node, whether it ran; None where it failed though there is a kernel). Gives for each operator
    lines (whether it is taken, under which condition)."""
    by_operator, tests = defaultdict(list), defaultdict(set)
    for test, node, ran in examples:
        by_operator[node["op"], node["epoch"]].append((node["facts"], ran))
        tests[node["op"], node["epoch"]].add(test)
    found = {}
    for (op, epoch), known in sorted(by_operator.items(), key=lambda item: (item[0][0], item[0][1] or 0)):
        name = op if epoch is None else f"{op}@{epoch}"
        # What one test tells, its details may be the reason of.
        if len(tests[op, epoch]) > 1 or any(ran for _, ran in known):
            found[name] = list(_of_operator(known))
    return found


def _of_operator(known):
    ran = [facts for facts, ran in known if ran]
    refused = [facts for facts, ran in known if ran is False]
    failed = [facts for facts, ran in known if ran is None]
    if not ran:
        if not failed:
            yield False, ""
        return
    while refused:
        best = max(_candidates(refused, ran), key=lambda found: found[0], default=None)
        if best is None:
            break
        yield False, _text(*best[1])
        refused = [facts for facts in refused if not _hold([best[1]], facts)]
    mixed = refused + failed
    for condition in _types(ran):
        # What ran is not taken where what was refused looks the same.
        if not any(_hold([condition], facts) for facts in mixed) or not mixed:
            yield True, _text(*condition) if condition[0] else ""
            continue
        for narrower in _purely(ran, mixed, condition):
            yield True, " and ".join(_text(*one) for one in narrower if one[0])


def _candidates(refused, ran):
    """Conditions that some of what was refused fulfils, and nothing that ran: (how good, condition)."""
    decides = ("dtype(", "[dtype(", "opset()")
    singles = sorted({(name, json.dumps(value)) for facts in refused for name, value in facts.items()
                      if name.startswith(decides)})
    for condition in ((name, json.loads(value)) for name, value in singles):
        if not any(_hold([condition], facts) for facts in ran):
            covered = sum(_hold([condition], facts) for facts in refused)
            yield (covered, _plausible([condition]), str(condition)), condition


def _plausible(conditions) -> int:
    """Of conditions that say the same here, the one that more likely is the reason."""
    def rank(name):
        words = ("dtype", "opset", "@", "is_present", "rank", "is_const", "count")
        return next((len(words) - index for index, word in enumerate(words) if word in name), 0)
    return sum(rank(name) for name, _ in conditions)


def _types(ran):
    """The element types of the first operand, as one condition; all where it has none."""
    names = [name for facts in ran for name in facts if name.startswith(("dtype(", "[dtype("))]
    if not names:
        yield "", None
        return
    first = names[0]
    kinds = sorted({facts[first] for facts in ran if first in facts})
    if kinds:
        yield first, tuple(kinds)


def _purely(ran, mixed, types):
    """Conditions on attributes that only what ran fulfils."""
    singles = sorted({(name, json.dumps(value)) for facts in ran for name, value in facts.items()
                      if not name.startswith(("dtype(", "[dtype("))})
    pure = [[types, (name, json.loads(value))] for name, value in singles]
    pure = [narrower for narrower in pure if not any(_hold(narrower, facts) for facts in mixed)]
    left = ran
    for _ in range(MOST_LINES):
        covered = [(sum(_hold(narrower, facts) for facts in left), _plausible(narrower), narrower) for narrower in pure]
        count, _, best = max(covered, key=lambda found: (found[0], found[1], str(found[2])), default=(0, 0, None))
        if not count:
            return
        yield best
        left = [facts for facts in left if not _hold(best, facts)]


def _hold(conditions, facts) -> bool:
    return all(_holds(name, value, facts) for name, value in conditions)


def _holds(name, value, facts) -> bool:
    if not name:
        return True
    found = facts.get(name)
    return found in value if isinstance(value, tuple) else found == value and name in facts


def _text(name, value) -> str:
    """A condition as target files write it."""
    if name.startswith("["):
        values = value if isinstance(value, tuple) else (value,)
        return _joined([f"all({name}, {_literal(name, one)})" for one in values])
    if isinstance(value, tuple):
        return f"{name} in [{', '.join(_literal(name, one) for one in value)}]" if len(value) > 1 \
            else f"{name} == {_literal(name, value[0])}"
    if isinstance(value, bool):
        return name if value else f"not {name}"
    return f"{name} == {_literal(name, value)}"


def _joined(parts) -> str:
    return parts[0] if len(parts) == 1 else f"({' or '.join(parts)})"


def _literal(name, value) -> str:
    return value if "dtype(" in name else json.dumps(value)
