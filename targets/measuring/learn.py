"""Derives the lines of a target file from the outcomes of cases.

The rules, for the versions of an operator with equal semantics:
- An element type is not supported if cases with this type were rejected, no case with this type passed, and a case
  passed that differs only in element types.
- An opset is not supported if cases at this opset were rejected, no case at this opset passed, and a case passed that
  differs only in the opset.
- A condition, or a pair of conditions, is not supported if cases of several tests fulfill it and all of these cases
  were rejected.
- If only a single test was rejected, or if a case failed in another way, support is unknown.
- If none of these rules applies, the operator is supported, in the element types of the passed cases. If these rules do
  not explain many failures, it is supported only under conditions that no unexplained case fulfills.

A failed model of several nodes does not tell which node caused the failure. If no case with the operator of a node
passed, that node is the cause of the failure. In the other failed models, the cause is the fact about the nodes of an
operator that no passed case has and that the models of the largest number of tests share.
"""

import itertools
import json
from collections import defaultdict

from .conditions import Literal, holds, is_type, literals, plausible, text

# Maximum number of conditions derived for an operator, besides those on one element type or opset. Further failures
# are considered noise, up to the ratio NOISE.
MOST_LINES = 6
# Maximum ratio of unexplained failures to passed cases. Above this ratio, the operator counts as supported only under
# conditions that hold for none of the unexplained failures.
NOISE = 0.04
# Minimum number of failed tests that must share a fact for the fact to be the cause of their failure.
LEAST_BLAMED = 3


def lines(models) -> dict[str, list[tuple[bool, str]]]:
    """Returns the lines of each operator, as pairs: whether the operator is supported, and under which condition.

    `models` are triples (test, nodes, outcome). The outcome is True if the results are equal, False if the runtime
    rejected the model, and None for other failures.
    """
    by_operator, left = defaultdict(list), []
    for test, nodes, ran in models:
        if ran or len(nodes) == 1:
            for node in nodes:
                by_operator[_key(node)].append((test, node["facts"], ran))
        else:
            left.append((test, nodes))
    for test, node in _to_blame(by_operator, left):
        by_operator[_key(node)].append((test, node["facts"], False))
    found = {}
    for (op, epoch), known in sorted(by_operator.items(), key=lambda item: (item[0][0], item[0][1] or 0)):
        optional = {name for _, facts, _ in known for name in facts if name.startswith("is_present(")}
        # Conditions on attributes that a later version added are undecided for older versions.
        attributes = {name for _, facts, _ in known for name in facts if name.startswith("@")}
        optional |= {f"is_present({name})" for name in attributes if any(name not in facts for _, facts, _ in known)}
        said = [(taken, text(condition, optional)) for taken, condition in _of_operator(known)]
        if said:
            found[op if epoch is None else f"{op}@{epoch}"] = said
    return found


def _key(node):
    return node["op"], node["epoch"]


def _to_blame(by_operator, left):
    """Yields (test, node) for failed models that share a fact that no passed case has."""
    ran = {key: [facts for _, facts, is_run in known if is_run] for key, known in by_operator.items()}
    refused = {key for key, known in by_operator.items() if not ran[key] and len({test for test, *_ in known}) > 1}
    # If two or more tests with an operator failed and none passed, it is the cause of these failures.
    left = [(test, nodes) for test, nodes in left if not any(_key(node) in refused for node in nodes)]
    while True:
        shared, named = defaultdict(set), {}
        for index, (_, nodes) in enumerate(left):
            for node in nodes:
                for literal in literals([node["facts"]]):
                    # Lists of numbers are ignored: that two lists are equal is usually a coincidence.
                    if literal.op == "==" and not isinstance(literal.value, list):
                        fact = _key(node), str(literal)
                        shared[fact].add(index)
                        named[fact] = _key(node), literal
        best, many = None, 0
        for fact, found in shared.items():
            key, literal = named[fact]
            tests = {left[index][0] for index in found}
            if len(tests) > max(many, LEAST_BLAMED - 1) and not any(map(literal.holds, ran.get(key, []))):
                best, many = (key, literal), len(tests)
        if best is None:
            return
        key, literal = best
        blamed = [(index, test, node) for index, (test, nodes) in enumerate(left) for node in nodes
                  if _key(node) == key and literal.holds(node["facts"])]
        yield from ((test, node) for _, test, node in blamed)
        gone = {index for index, *_ in blamed}
        left = [entry for index, entry in enumerate(left) if index not in gone]


def _of_operator(known):
    """Yields (whether the operator is supported, literals). A nested list of literals is a negated conjunction."""
    ran = [facts for _, facts, is_run in known if is_run]
    left = [(test, facts, is_run) for test, facts, is_run in known if not is_run]
    if not ran:
        if _is_refused(left):
            yield False, []
        return
    types = _types([facts for _, facts, _ in known])
    for literal in (*_types_refused(types, ran, left), *_opsets_refused(ran, left)):
        yield False, [literal]
        left = [entry for entry in left if not literal.holds(entry[1])]
    doubtful = []
    for _ in range(MOST_LINES):
        best = _best(ran, left)
        if best is None:
            break
        if _is_refused([entry for entry in left if holds(best, entry[1])]):
            yield False, best
        else:
            doubtful.append(best)
        left = [entry for entry in left if not holds(best, entry[1])]
    taken = list(_types_taken(types, ran))
    if len(left) > NOISE * len(ran):
        yield from _purely(taken, ran, [facts for _, facts, _ in left])
        return
    yield True, [*taken, *doubtful]


def _is_refused(failed) -> bool:
    """Returns true if several tests failed, and all of them because the runtime rejected them."""
    return len({test for test, *_ in failed}) > 1 and all(is_run is False for *_, is_run in failed)


def _types(many) -> list[str]:
    """Returns the names of dtype facts in operand order, without those that always equal an earlier one."""
    names = list(dict.fromkeys(name for facts in many for name in facts if is_type(name)))
    told = []
    for name in names:
        same = (all(facts[name] == facts.get(other) for facts in many if name in facts) for other in told)
        told += [] if any(same) else [name]
    return told


def _types_refused(types, ran, left):
    """Yields, for each operand, the element types that occur in rejected cases but not in passed cases.

    Ignores a rejected case unless a passed case differs from it only in element types.
    """
    alike = {_without_types(facts) for facts in ran}
    for name in types:
        good = {facts[name] for facts in ran if name in facts}
        bad = {facts[name] for _, facts, is_run in left
               if name in facts and is_run is False and _without_types(facts) in alike} - good
        if good and bad:
            yield Literal(name, "in", tuple(sorted(bad)))


def _opsets_refused(ran, left):
    """Yields the opsets that occur in rejected cases but not in passed cases.

    Ignores a rejected case unless a passed case differs from it only in the opset.
    """
    for name in sorted({name for _, facts, _ in left for name in facts if name.startswith("opset()")}):
        literal = Literal(name, "==", True)
        alike = [{**facts, name: True} for facts in ran]
        if not any(map(literal.holds, ran)) and any(
                is_run is False and literal.holds(facts) and facts in alike for _, facts, is_run in left):
            yield literal


def _without_types(facts) -> str:
    return json.dumps({name: value for name, value in facts.items() if not is_type(name)}, sort_keys=True)


def _types_taken(types, ran):
    """Yields, for each operand, the element types that it has in passed cases."""
    for name in types:
        kinds = {facts[name] for facts in ran if name in facts}
        if kinds:
            yield Literal(name, "only", tuple(sorted(kinds)))


def _best(ran, left):
    """Returns a condition on one or two facts that no case in `ran` fulfills, but many cases in `left`."""
    missing = [facts for _, facts, _ in left]
    masks = [(_mask(literal, missing), _mask(literal, ran), literal) for literal in literals(missing)]
    found = [(bad, [literal]) for bad, good, literal in masks if not good]
    partial = [entry for entry in masks if entry[1]]
    found += [(a[0] & b[0], [a[2], b[2]]) for a, b in itertools.combinations(partial, 2)
              if a[0] & b[0] and not a[1] & b[1]]

    def merit(entry):
        bad, condition = entry
        tests = {test for index, (test, *_) in enumerate(left) if bad >> index & 1}
        count = bad.bit_count() * (2 if len(condition) == 1 else 1)
        return len(tests) > 1, count, sum(map(plausible, condition)) / len(condition), str(condition)

    return max(found, key=merit, default=(0, None))[1]


def _mask(literal, many) -> int:
    return sum(1 << index for index, facts in enumerate(many) if literal.holds(facts))


def _purely(taken, ran, mixed):
    """Yields conditions that no case in `mixed` fulfills: `taken`, and one fact that is not a dtype."""
    pure = [literal for literal in literals(ran) if not is_type(literal.name)
            and not any(holds([*taken, literal], facts) for facts in mixed)]
    left = ran
    for _ in range(MOST_LINES // 2):
        covered = [(sum(map(literal.holds, left)), plausible(literal), str(literal), literal) for literal in pure]
        count, *_, best = max(covered, default=(0, None))
        if not count:
            return
        yield True, [*taken, best]
        left = [facts for facts in left if not best.holds(facts)]
