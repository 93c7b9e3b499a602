"""Writes signatures.tsv from the sources of PyTorch releases: python generate.py FOLDER_OR_WHEEL ... > signatures.tsv

The sources are parsed, never run. A folder holds the files of one release, and its name is the version (2.15.0).
Columns: function; parameter; position (0-based, or `keyword`); first release; last release, or `newest`; whether it is
required; the exporter that reads the parameter (`both`, `tracing`, `dynamo`), from the lists below. In rows of the
function `opset`, the position is an opset: the default opset, or the highest opset that the tracing exporter supports.
"""
import ast
import os
import sys
import zipfile

FUNCTIONS = {
    "torch.onnx.export": ("torch/onnx/__init__.py", "torch/onnx/utils.py"),
    "torch.onnx.dynamo_export": ("torch/onnx/_internal/_exporter_legacy.py", "torch/onnx/_internal/exporter.py"),
    "torch.export.export": ("torch/export/__init__.py",),
}
LIMITS = {
    "default": ("ONNX_DEFAULT_OPSET", "onnx_default_opset", "_default_onnx_opset_version"),
    "tracing": ("ONNX_TORCHSCRIPT_EXPORTER_MAX_OPSET", "ONNX_MAX_OPSET", "onnx_main_opset", "_onnx_main_opset"),
}
DYNAMO = ["external_data", "dynamic_shapes", "custom_translation_table", "report", "optimize", "verify", "profile",
          "dump_exported_program", "artifacts_dir"]
TRACING = ["training", "operator_export_type", "do_constant_folding", "custom_opsets", "export_modules_as_functions",
           "autograd_inlining"]


def reader(path):
    if os.path.isdir(path):
        version = os.path.basename(path.rstrip("/"))

        def read(name):
            flat = os.path.join(path, name.replace("/", "__"))
            return open(flat).read() if os.path.exists(flat) else None
    else:
        version = os.path.basename(path).split("-")[1]
        archive = zipfile.ZipFile(path)
        names = set(archive.namelist())

        def read(name):
            return archive.read(name).decode() if name in names else None
    return tuple(map(int, version.split("+")[0].split(".")[:2])), read


def definition(text, name):
    """Returns the last definition of a function, without overloads and forwarders."""
    found = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name]
    found = [node for node in found if len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs) > 1]
    return found[-1] if found else None


def parameters(function):
    ordered = function.args.posonlyargs + function.args.args
    optional = len(function.args.defaults)
    for at, one in enumerate(ordered):
        yield one.arg, str(at), at < len(ordered) - optional
    for one, default in zip(function.args.kwonlyargs, function.args.kw_defaults):
        yield one.arg, "keyword", default is None


def limits(read):
    texts = [read(f"torch/onnx/{name}") or "" for name in ("_constants.py", "symbolic_helper.py")]
    values = {}
    for node in [node for text in texts for node in ast.parse(text).body]:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
            values.setdefault(target.id, value.value)
        elif isinstance(target, ast.Name) and isinstance(value, ast.List) and target.id == "_onnx_stable_opsets":
            values["_onnx_main_opset"] = max([one.value for one in value.elts] + [values.get("_onnx_main_opset", 0)])
    for limit, names in LIMITS.items():
        number = next((values[name] for name in names if name in values), None)
        if number is not None:
            yield "opset", limit, str(number)


def runs(within, releases):
    """Splits the releases in `within` into runs of consecutive releases."""
    found = []
    for release in sorted(set(within)):
        if found and releases.index(found[-1][-1]) + 1 == releases.index(release):
            found[-1].append(release)
        else:
            found.append([release])
    return found


def main():
    rows = {}
    releases = []
    for path in sys.argv[1:]:
        release, read = reader(path)
        releases.append(release)
        for name, files in FUNCTIONS.items():
            texts = [text for text in map(read, files) if text]
            function = next(filter(None, (definition(text, name.split(".")[-1]) for text in texts)), None)
            for parameter, position, required in parameters(function) if function else ():
                key = name, parameter, position, str(required).lower()
                rows.setdefault(key, []).append(release)
        for function, limit, number in limits(read):
            rows.setdefault((function, limit, number, "false"), []).append(release)
    releases = sorted(set(releases))
    newest = releases[-1]
    print("function\tparameter\tposition\tfirst\tlast\trequired\texporter")
    for (function, parameter, position, required), within in rows.items():
        exporter = "dynamo" if parameter in DYNAMO else "tracing" if parameter in TRACING else "both"
        exporter = exporter if function == "torch.onnx.export" else "both"
        for run in runs(within, releases):
            first, last = run[0], run[-1]
            until = "newest" if last == newest else f"{last[0]}.{last[1]}"
            print(function, parameter, position, f"{first[0]}.{first[1]}", until, required, exporter, sep="\t")


main()
