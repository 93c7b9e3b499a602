"""Writes expected.tsv: what a linter must say of each file in exported/, and of which it must stay silent.

python make_expected.py [FOLDER]: this one, unless another is named.

A line `# PITFALL: rule` in a module is wanted of every kind of evidence that could know it, where proved.tsv says that
the export is wrong; a module without one, whose exports are right for all inputs, has to be left alone. `# PITFALL:
rule of CASE` stands outside of the module that it spoils, `, in no graph` after it where only the source can tell, and
`, in no source` where only a graph can.
In MISSED stand those that onnx-lint does not find yet: they are `?rule` in the table, and count against it.
"""
import ast
import csv
import os
import re
import sys

here = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
proved = {r["artifact"]: r for r in csv.DictReader(open(f"{here}/proved.tsv"), delimiter="\t")}
TOOLS = ("cases.py", "export.py", "project_export.py", "application_export.py", "make_expected.py", "pack.py")
SOURCES = sorted(os.path.relpath(f"{folder}/{f}", here) for folder, _, files in os.walk(here) for f in files
                 if f.endswith(".py") and f not in TOOLS)
# what helpers of another file, or classes beside it, do wrong to a module
BY_OTHERS = {"CountByHelper": ("helpers.py", "item-baked"), "SizesByHelper": ("helpers.py", "baked-shape"),
             "InASequential": ("structure.py", "baked-shape"), "FromRegistry": ("structure.py", "item-baked"),
             "ByAFreeFunction": ("structure.py", "traced-branch"), "ClassesByHelper": ("helpers.py", "one-hot-depth")}
LINES = {"item-baked in helpers.py": "count_of", "baked-shape in helpers.py": "sizes",
         "one-hot-depth in helpers.py": "to_classes", "baked-shape in structure.py": "FlattenAll",
         "item-baked in structure.py": "Centred", "traced-branch in structure.py": "free_function"}
# the same fault by another name: a loop over three samples is three pieces of the batch
IN_OTHER_WORDS = {("OverSamples.ts17.onnx", "unrolled-loop"): "baked-shape",
                  ("ReducedOverSamples.ts17.onnx", "unrolled-loop"): "baked-shape"}
# sizes that became factors, indices of Python or two copies: nothing in the graph alone tells
NOT_IN_GRAPH = {"CeilingOfHalf", "FloatOfSize", "MeanByLoop", "ShapeInAnFString", "SquareRootOfSize"}
IN_GRAPH = {"float64-promotion", "training-mode", "constant-output", "constant-overflow"}
IN_TRACED_GRAPH = IN_GRAPH | {"baked-shape", "unrolled-loop", "one-hot-depth"}
IN_IR = IN_GRAPH | {"unrolled-loop", "one-hot-depth", "in-place-view-lost"}
IN_LOG = {"item-baked", "traced-branch", "numpy-constant", "training-mode", "one-hot-depth"}
# what the exporter takes without a warning
WITHOUT_WARNING = {"FarthestByNumber", "IfEqual", "NearestThird"}
MISSED = set(open(f"{here}/missed.txt").read().split("\n")) if os.path.exists(f"{here}/missed.txt") else set()

# which PyTorch an export is by, where it is not that of the rest: what stands before the kind, and in a file's name
RELEASE = re.compile(r"(?:torch\d+\.(?=\w+\.|pt2))?")
WITHIN = re.compile(r"\.torch\d+\.(?=\w+\.|pt2)")
MARK = re.compile(r"  # PITFALL: (?P<rule>[\w-]+)(?: of (?P<case>\w+))?(?P<hidden>, in no (?:graph|source))?$")

HIDDEN = set()  # what no graph tells, that of TorchScript neither
SILENT = set()  # what is no matter of the source alone
spans, marks, elsewhere = {}, {}, {}
for file in SOURCES:
    text = open(f"{here}/{file}").read()
    tops = [node for node in ast.parse(text).body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    for node in tops:
        spans[node.name] = (file, node.lineno, node.end_lineno)
    for number, line in enumerate(text.splitlines(), 1):
        if mark := MARK.search(line):
            marks.setdefault(file, []).append((number, mark["rule"]))
            around = next(node for node in tops if node.lineno <= number <= node.end_lineno)
            if mark["case"]:
                elsewhere.setdefault(mark["case"], []).append((mark["rule"], around.lineno, around.end_lineno))
            if mark["hidden"] == ", in no source":
                SILENT.add((file, number))
            elif mark["hidden"]:
                HIDDEN.add(mark["case"] or around.name)


def wanted(case):
    """The rules that are broken in a case, each with its first and last line."""
    file, first, last = spans[case]
    own = [(rule, first, last) for number, rule in marks.get(file, []) if first <= number <= last]
    if case in BY_OTHERS:
        of, rule = BY_OTHERS[case]
        own.append((rule, *spans[LINES[f"{rule} in {of}"]][1:]))
    return list(dict.fromkeys(own + elsewhere.get(case, [])))


def is_wrong(artifact):
    row = proved.get(artifact)
    return row is not None and int(row["differs"]) + int(row["fails"]) > 0


def is_right(artifact):
    row = proved.get(artifact)
    return row is not None and int(row["right"]) > 0 and not is_wrong(artifact)


def at_user(want):
    """A layer of PyTorch has PyTorch's line in a graph of TorchScript, and in a log none."""
    rule, first, last = want
    return (rule, 0, last) if rule == "training-mode" else want


rows = []
exported = sorted(os.listdir(f"{here}/exported"))
for artifact in exported:
    case, kind = artifact.split(".", 1)
    # of another PyTorch: `torch113.`
    release = RELEASE.match(kind)[0]
    kind, by = kind.removeprefix(release), f"{case}.{release}"
    rules = wanted(case)
    traced = is_wrong(f"{by}ts17.onnx")
    always = [w for w in rules if w[0] in IN_GRAPH]
    if kind == "ts17.onnx":
        # a graph has its own line for what a size was made into a number for
        whole = case in BY_OTHERS and BY_OTHERS[case][0] == "helpers.py" or case not in BY_OTHERS
        lines = (1, 9999) if case in elsewhere else spans[case][1:]
        rows += [(artifact, rule, *(lines if rule == "baked-shape" and whole else (a, b))) for rule, a, b in rules
                 if rule in IN_GRAPH or traced and rule in IN_TRACED_GRAPH and case not in NOT_IN_GRAPH | HIDDEN]
        rows += [(f"{artifact}+src", rule, a, b) for rule, a, b in rules if traced or rule in IN_GRAPH]
        if is_right(artifact) and not always:
            rows += [(artifact, "-", 0, 0), (f"{artifact}+src", "-", 0, 0)]
            if f"{by}ts17.log" in exported:
                rows.append((f"{artifact}+log", "-", 0, 0))
    elif kind == "dynamo.onnx":
        rows += [(artifact, *w) for w in always]
        if is_right(artifact) and not always:
            rows += [(artifact, "-", 0, 0), (f"{artifact}+src", "-", 0, 0)]
    elif kind == "torch25.onnx" and is_wrong(artifact):
        # of a size that it fixed, this exporter makes a name
        rows.append((artifact, "baked-shape", *spans[case][1:]))
    elif kind == "torchir.txt":
        rows += [(artifact, *at_user(w)) for w in rules
                 if w[0] in IN_GRAPH or traced and w[0] in IN_IR and case not in HIDDEN]
        if not rules and is_right(f"{by}ts17.onnx"):
            rows.append((artifact, "-", 0, 0))
    elif kind == "ts17.log":
        rows += [(artifact, *at_user(w)) for w in rules
                 if w[0] in IN_LOG and (traced or w[0] in IN_GRAPH) and case not in WITHOUT_WARNING]
        if not rules and is_right(f"{by}ts17.onnx"):
            rows.append((artifact, "-", 0, 0))
    elif kind == "pt2":
        rows += [(artifact, *w) for w in always]
        if not rules:
            rows.append((artifact, "-", 0, 0))
for file, found in marks.items():
    lines = open(f"{here}/{file}").read().splitlines()
    for number, line in enumerate(lines, 1):
        if "  # CALLS: " in line:  # the fault stands in another file
            rows.append((file, line.split("# CALLS: ")[1], number, number))
    for number, rule in found:
        # a number that the model holds is no matter of the source
        numbers = ("int(", "(int,", "len(", "math.", "float(")
        is_told = rule != "constant-output" and (file, number) not in SILENT
        if is_told and (rule != "baked-shape" or any(n in lines[number - 1] for n in numbers)):
            rows.append((file, rule, number, number))
with open(f"{here}/expected.tsv", "w") as out:
    out.write("artifact\trule\tfirst_line\tlast_line\n")
    for row in sorted({(row[0], IN_OTHER_WORDS.get((re.sub(WITHIN, '.', row[0]), row[1]), row[1]), *row[2:]) for row in rows}):
        known = f"{re.sub(WITHIN, '.', row[0])} {row[1]}" + (f" {row[2]}" if row[0].endswith(".py") else "")
        out.write("\t".join(map(str, (row[0], ("?" if known in MISSED else "") + row[1], *row[2:]))) + "\n")
