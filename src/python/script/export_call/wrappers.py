"""Writes wrappers.tsv: arguments of functions that wrap the exporter, read from the sources of wheels.

    python3 wrappers.py ultralytics-OLD.whl ultralytics-NEW.whl … optimum.whl optimum_onnx.whl

Pass the wheels of Ultralytics in the order of their releases. The table has the arguments of all these releases.
"""
import ast
import keyword
import os
import re
import sys
import zipfile

ROWS = [("function", "parameter", "position", "values")]
ultralytics, formats, onnx = {}, [], set()


def function(tree, name):
    return next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)


for path in sys.argv[1:]:
    wheel = zipfile.ZipFile(path)
    if os.path.basename(path).startswith("ultralytics"):
        keys = re.findall(r"^([a-z_0-9]+):", wheel.read("ultralytics/cfg/default.yaml").decode(), re.M)
        config = ast.parse(wheel.read("ultralytics/cfg/__init__.py"))
        old = [node.value for node in ast.walk(function(config, "_handle_deprecation"))
               if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()
               and not keyword.iskeyword(node.value.title())]  # "false" and "none" are values
        allowed = ["augmentations", "save_dir", "session"]
        ultralytics.update(dict.fromkeys([*keys, *old, *allowed]))
        exporter = ast.parse(wheel.read("ultralytics/engine/exporter.py"))
        table = max((node for node in ast.walk(function(exporter, "export_formats")) if isinstance(node, ast.List)),
                    key=lambda node: len(node.elts))
        rows = [[ast.literal_eval(field) for field in row.elts] for row in table.elts]
        formats = sorted({*formats, *(row[1] for row in rows if row[1] != "-")})
        if len(rows[0]) > 5:
            every = {argument for row in rows for argument in row[5]}
            onnx = next(every - set(row[5]) for row in rows if row[1] == "onnx") - {"conf", "iou", "name", "quantize", "nms"}
    elif "optimum/utils/input_generators.py" in wheel.namelist():
        source = wheel.read("optimum/utils/input_generators.py").decode()
        shapes = re.search(r"DEFAULT_DUMMY_SHAPES = (\{.*?\n\})", source, re.S).group(1)
        for name in re.findall(r'"(\w+)":', shapes):
            ROWS.append(("optimum.main_export", name, "-", ""))
    else:
        tree = ast.parse(wheel.read("optimum/exporters/onnx/__main__.py"))
        arguments = function(tree, "main_export").args
        values = {"optimize": "O1 O2 O3 O4", "framework": "pt"}
        for position, argument in enumerate(arguments.args):
            ROWS.append(("optimum.main_export", argument.arg, position, values.get(argument.arg, "")))
for name in sorted(ultralytics):
    ROWS.append(("ultralytics.export", name, "-", " ".join(formats) if name == "format" else ""))
for name in sorted(onnx):
    ROWS.append(("ultralytics.not_for_onnx", name, "-", ""))
with open(os.path.join(os.path.dirname(__file__), "wrappers.tsv"), "w") as out:
    out.writelines("\t".join(map(str, row)) + "\n" for row in ROWS)
