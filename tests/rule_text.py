#!/usr/bin/env python3
"""Measures the text of the rules: `tests/rule_text.py [--pairs] [--check] [DIR]`.

Prints the numbers of rules, of tokens without comments and examples, of lines over 100 characters, of rules over 40
lines without their docs and examples, and of pairs of rules of one folder that are at least 85 % equal. `--pairs` lists the pairs of similar rules.
`--check` fails if a figure exceeds its ceiling, and lists the long lines, the long rules and the similar pairs.
"""

import argparse
import re
from collections import Counter
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path

LINE = 100
RULE = 40
EQUAL = 0.85
# Lower a ceiling when a change of the rules allows it. Raise the number of tokens only for new rules.
CEILINGS = {"tokens": 176100, "long lines": 0, "long rules": 0, "similar pairs": 10}
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|\d+(?:\.\d+)?|\S')
ITEM = re.compile(r"^(?:rule|fn|pattern|defaults|language)\b", re.MULTILINE)
EXAMPLE = re.compile(r"^  (?:example|but) ", re.MULTILINE)


def items(text):
    """Yields the keyword and the text of each item of a file."""
    starts = [match.start() for match in ITEM.finditer(text)]
    for start, end in zip(starts, starts[1:] + [len(text)], strict=True):
        body = text[start:end]
        if end < len(text):  # The docs of the next item are not part of this one.
            body = re.sub(r"(?:^#.*\n|^\s*\n)+\Z", "", body, flags=re.MULTILINE)
        yield body.split(None, 1)[0], body.rstrip()


def without_examples(body):
    """Returns the text of an item without examples."""
    example = EXAMPLE.search(body)
    return body[: example.start()] + "}" if example and body.startswith("rule") else body


def tokens(body):
    """Returns the tokens of an item, without comments and examples."""
    body = without_examples(body)
    code = "\n".join(re.sub(r'#(?=(?:[^"]*"[^"]*")*[^"]*$).*', "", line) for line in body.splitlines())
    return TOKEN.findall(code)


def similar(first, second):
    """Returns the fraction of equal tokens of two rules, or 0 if the fraction is certainly too small."""
    (_, a, counts_a), (_, b, counts_b) = first, second
    if 2 * sum((counts_a & counts_b).values()) / (len(a) + len(b)) < EQUAL:
        return 0
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", action="store_true", help="list the pairs of similar rules")
    parser.add_argument("--check", action="store_true", help="fail if a figure exceeds its ceiling")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[1] / "rules")
    arguments = parser.parse_args()
    count = Counter()
    folders, places = {}, {"long lines": [], "long rules": []}
    for path in sorted(arguments.folder.rglob("*.rule")):
        text = path.read_text(encoding="utf-8")
        long = [number for number, line in enumerate(text.splitlines(), 1) if len(line) > LINE]
        places["long lines"] += [f"{path}:{number}" for number in long]
        for keyword, body in items(text):
            found = tokens(body)
            count["tokens"] += len(found)
            if keyword == "rule":
                count["rules"] += 1
                code = body.split(None, 2)[1]
                if without_examples(body).count("\n") + 1 > RULE:
                    places["long rules"].append(f"{path}: {code}")
                # Compare bodies: code and name always differ. A built-in analysis (`detect`) has no body.
                body_tokens = found[found.index("{") :]
                if "detect" not in body_tokens:
                    folders.setdefault(path.parent, []).append((code, body_tokens, Counter(body_tokens)))
    pairs = []
    for folder, rules in folders.items():
        for first, second in combinations(rules, 2):
            share = similar(first, second)
            if share >= EQUAL:
                pairs.append((folder.name, first[0], second[0], share))
    places["similar pairs"] = [f"{folder}: {first} {second} {share:.0%}" for folder, first, second, share in pairs]
    count.update({name: len(found) for name, found in places.items()})
    print(f"{count['rules']} rules, {count['tokens']} tokens without comments and examples")
    print(f"{count['long lines']} lines over {LINE} characters, {count['long rules']} rules over {RULE} lines")
    print(f"{count['similar pairs']} pairs of rules of one folder are at least {EQUAL:.0%} equal")
    if arguments.pairs:
        print("\n".join(places["similar pairs"]))
    above = {name: ceiling for name, ceiling in CEILINGS.items() if count[name] > ceiling}
    if arguments.check and above:
        shown = [[f"{count[name]} {name}, at most {most}", *places.get(name, [])] for name, most in above.items()]
        raise SystemExit("\n  ".join(sum(shown, [])))


if __name__ == "__main__":
    main()
