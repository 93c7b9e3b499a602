"""Parser of `com_microsoft.txt`, whose format is described at its head."""

from __future__ import annotations

import re
from pathlib import Path

from form import Attr, Formal, Op

DOMAIN = "com.microsoft"

KINDS = {
    **{"int": "INT", "float": "FLOAT", "string": "STRING", "graph": "GRAPH", "tensor": "TENSOR"},
    **{"ints": "INTS", "floats": "FLOATS", "strings": "STRINGS"},
}
MARKS = {"": "Single", "?": "Optional", "...": "Variadic", "...*": "Variadic"}


def read(path: Path) -> list[Op]:
    text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#"))
    return [operator(block) for block in re.split(r"\n\s*\n", text.strip())]


def operator(block: str) -> Op:
    head, *lines = block.splitlines()
    domain, _, name = head.rpartition("::")
    op = Op(
        domain={"": DOMAIN, "ai.onnx": ""}[domain],
        name=name,
        since=1,
        inputs=[],
        outputs=[],
        arity=(0, 0, 0, 0),
        attrs={},
        types={},
        vendor=True,
    )
    for line in lines:
        clause(op, line.strip())
    op.attrs = dict(sorted(op.attrs.items()))
    op.arity = (*counts(op.inputs), *counts(op.outputs))
    return op


def formals(text: str) -> list[Formal]:
    found = []
    for part in text.split(", "):
        match = re.fullmatch(r"(\w+)(\.\.\.\*|\.\.\.|\??): (\w+)", part)
        if match is None:
            raise ValueError(f"not a formal: {part}")
        name, mark, kind = match.groups()
        kind = kind if kind[0].isupper() else f"tensor({kind})"
        found.append(Formal(name, MARKS[mark], kind, homogeneous=mark != "...*"))
    return found


def clause(op: Op, line: str) -> None:
    if line.startswith("<- "):
        op.inputs += formals(line[3:])
    elif line.startswith("-> "):
        op.outputs += formals(line[3:])
    elif match := re.fullmatch(r"([A-Z]\w*) in (.*)", line):
        words = match[2].split()
        op.types[match[1]] = frozenset(w if "(" in w else f"tensor({w})" for w in words)
    elif match := re.fullmatch(r"\.(\w+): (\w+)(!?)(?: = (.*))?", line):
        name, kind, required, default = match.groups()
        op.attrs[name] = Attr(KINDS[kind], bool(required), default and constant(kind, default))
    elif match := re.fullmatch(r"determinism (\w+)", line):
        op.determinism = match[1]
    else:
        raise ValueError(f"{op.name}: invalid line {line!r}")


def constant(kind: str, text: str) -> object:
    return {"int": int, "float": float, "string": lambda text: text.strip('"')}[kind](text)


def counts(formals: list[Formal]) -> tuple[int, int]:
    """Returns the minimum and maximum number of values."""
    needed = [at + 1 for at, formal in enumerate(formals) if formal.option != "Optional"]
    endless = any(formal.option == "Variadic" for formal in formals)
    return max(needed, default=0), 2**31 - 1 if endless else len(formals)
