"""Writes expected.tsv: the findings that a linter must report for each file in exported/, or "-" for none.

Usage: python make_expected.py [FOLDER]; the default is the folder of this script.

A line with `# PITFALL: rule` in a module is expected as a finding for every kind of evidence that can show the fault,
if the export is wrong according to proved.tsv. A module without `# PITFALL` whose exports are right for all inputs
must have no findings. `# PITFALL: rule of CASE` marks a faulty line outside of the module CASE. The suffix `, in no
graph` marks a fault that only the source shows, and `, in no source` a fault that only a graph shows. MISSED has the
faults that onnx-lint does not find yet: they are `?rule` in the table, and lower the recall.
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
# case: the file and the rule of a fault outside of its class, in a helper or another class
BY_OTHERS = {"CountByHelper": ("helpers.py", "item-baked"), "SizesByHelper": ("helpers.py", "baked-shape"),
             "InASequential": ("structure.py", "baked-shape"), "FromRegistry": ("structure.py", "item-baked"),
             "ByAFreeFunction": ("structure.py", "traced-branch"), "ClassesByHelper": ("helpers.py", "one-hot-depth")}
LINES = {"item-baked in helpers.py": "count_of", "baked-shape in helpers.py": "sizes",
         "one-hot-depth in helpers.py": "to_classes", "baked-shape in structure.py": "FlattenAll",
         "item-baked in structure.py": "Centred", "traced-branch in structure.py": "free_function"}
# the rule to expect instead of the marked rule: the graph of a loop over three samples splits the batch into three
IN_OTHER_WORDS = {("OverSamples.ts17.onnx", "unrolled-loop"): "baked-shape",
                  ("ReducedOverSamples.ts17.onnx", "unrolled-loop"): "baked-shape"}
# a size became a factor, an index or a number of copies, which the graph alone does not show
NOT_IN_GRAPH = {"CeilingOfHalf", "FloatOfSize", "MeanByLoop", "ShapeInAnFString", "SquareRootOfSize"}
IN_GRAPH = {"float64-promotion", "training-mode", "constant-output", "constant-overflow"}
IN_TRACED_GRAPH = IN_GRAPH | {"baked-shape", "unrolled-loop", "one-hot-depth"}
IN_IR = IN_GRAPH | {"unrolled-loop", "one-hot-depth", "in-place-view-lost"}
IN_LOG = {"item-baked", "traced-branch", "numpy-constant", "training-mode", "one-hot-depth"}
# cases that the exporter converts without a warning
WITHOUT_WARNING = {"FarthestByNumber", "IfEqual", "NearestThird"}
MISSED = set(open(f"{here}/missed.txt").read().split("\n")) if os.path.exists(f"{here}/missed.txt") else set()

# the release of PyTorch, if it is not the current one: before the kind of an export, and within a file name
RELEASE = re.compile(r"(?:torch\d+\.(?=\w+\.|pt2))?")
WITHIN = re.compile(r"\.torch\d+\.(?=\w+\.|pt2)")
MARK = re.compile(r"  # PITFALL: (?P<rule>[\w-]+)(?: of (?P<case>\w+))?(?P<hidden>, in no (?:graph|source))?$")

HIDDEN = set()  # cases whose fault no graph shows, not even the one of TorchScript
SILENT = set()  # lines whose fault the source alone does not show
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
    """Returns the rules that must find a fault in a case, each with the first and last line of the range."""
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
    """Extends the range of `training-mode` to line 0: a finding in a PyTorch layer has no line of the module."""
    rule, first, last = want
    return (rule, 0, last) if rule == "training-mode" else want


rows = []
exported = sorted(os.listdir(f"{here}/exported"))
for artifact in exported:
    case, kind = artifact.split(".", 1)
    # the prefix of an export by another release of PyTorch, such as `torch113.`, or empty
    release = RELEASE.match(kind)[0]
    kind, by = kind.removeprefix(release), f"{case}.{release}"
    rules = wanted(case)
    traced = is_wrong(f"{by}ts17.onnx")
    always = [w for w in rules if w[0] in IN_GRAPH]
    if kind == "ts17.onnx":
        # the graph has the line that uses a constant size, not the line that makes it constant
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
        # this exporter declares a symbolic dimension for a size that it hard-coded
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
        if "  # CALLS: " in line:  # the fault is in another file
            rows.append((file, line.split("# CALLS: ")[1], number, number))
    for number, rule in found:
        # the source shows a hard-coded size only if it contains one of these calls
        numbers = ("int(", "(int,", "len(", "math.", "float(")
        is_told = rule != "constant-output" and (file, number) not in SILENT
        if is_told and (rule != "baked-shape" or any(n in lines[number - 1] for n in numbers)):
            rows.append((file, rule, number, number))
with open(f"{here}/expected.tsv", "w") as out:
    out.write("artifact\trule\tfirst_line\tlast_line\n")
    for row in sorted({(row[0], IN_OTHER_WORDS.get((re.sub(WITHIN, '.', row[0]), row[1]), row[1]), *row[2:]) for row in rows}):
        known = f"{re.sub(WITHIN, '.', row[0])} {row[1]}" + (f" {row[2]}" if row[0].endswith(".py") else "")
        out.write("\t".join(map(str, (row[0], ("?" if known in MISSED else "") + row[1], *row[2:]))) + "\n")
