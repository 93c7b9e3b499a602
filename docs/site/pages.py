"""The Markdown documents of the repository that become pages of the site, in the order of its menu."""

# Each row: path in the repository, page, title. A generated page has no path. A row without path and page is the title
# of a section.
DOCUMENTS = [
    ("README.md", "index.md", "Start"),
    ("", "", "Use"),
    ("", "commands.md", "Commands"),
    ("", "configuration.md", "Configuration"),
    ("docs/suppressions.md", "suppressions.md", "Suppressions"),
    ("docs/dynamic.md", "dynamic.md", "Dynamic axes"),
    ("docs/remote.md", "remote.md", "Remote models"),
    ("docs/formats.md", "formats.md", "Output formats"),
    ("docs/integrations.md", "integrations.md", "Integrations"),
    ("python/README.md", "python.md", "Python"),
    ("editors/vscode/README.md", "vscode.md", "VS Code"),
    ("web/README.md", "web.md", "Browser"),
    ("web/npm/README.md", "npm.md", "npm package"),
    ("", "", "Runtimes"),
    ("docs/recipes/README.md", "recipes/index.md", "Recipes"),
    ("docs/recipes/rknn.md", "recipes/rknn.md", "RKNN"),
    ("docs/recipes/tensorrt.md", "recipes/tensorrt.md", "TensorRT"),
    ("docs/recipes/openvino.md", "recipes/openvino.md", "OpenVINO"),
    ("docs/recipes/coreml.md", "recipes/coreml.md", "CoreML"),
    ("docs/recipes/onnxruntime-web.md", "recipes/onnxruntime-web.md", "ONNX Runtime in the browser"),
    ("targets/README.md", "targets.md", "Target profiles"),
    ("", "", "Rules"),
    ("", "rules/index.md", "All rules"),
    ("rules/README.md", "rules/language.md", "Rule language"),
    ("rules/COSTS.md", "rules/costs.md", "Cost model"),
    ("rules/aten/README.md", "rules/aten.md", "PyTorch lowering rules"),
    ("", "", "Project"),
    ("ARCHITECTURE.md", "architecture.md", "Architecture"),
    ("CONTRIBUTING.md", "contributing.md", "Contributing"),
    ("docs/policy.md", "policy.md", "Versions and compatibility"),
    ("SECURITY.md", "security.md", "Security"),
    ("CHANGELOG.md", "changelog.md", "Changelog"),
]

# Files that documents link to: path in the repository, path in the site.
ASSETS = [
    ("docs/page.png", "page.png"),
    ("docs/browser.png", "browser.png"),
    ("docs/site.png", "site.png"),
    ("docs/findings.schema.json", "findings.schema.json"),
    ("editors/onnx-lint.schema.json", "onnx-lint.schema.json"),
    ("LICENSE", "LICENSE.txt"),
]

# The title of each family of rules.
FAMILIES = {
    "CAL": "Calls of exporters",
    "EXP": "Baked-in values and other export faults",
    "IDX": "Indices and indexed writes",
    "DTY": "Element types",
    "SHP": "Shapes",
    "NUM": "Numbers",
    "QDQ": "Quantization",
    "OPS": "Operator support",
    "OPV": "Operator versions",
    "VER": "Comparison of results by --verify",
    "SPC": "The ONNX specification",
    "OPT": "Optimizations",
    "FIX": "Other fixes",
    "CVT": "Conversion between opsets",
    "DEC": "Decompositions into older operators",
    "CTB": "ONNX Runtime operators to and from standard ones",
    "ATN": "PyTorch operators to ONNX",
    "PRV": "Equivalences for proofs of onnx-diff",
    "REA": "Unreadable input",
    "RUL": "Rule files",
    "SUP": "Suppressions",
    "INT": "Internal errors",
}

# Families whose rules report nothing: their pages are not in the search index.
SILENT = ("ATN", "CTB", "CVT", "DEC", "PRV")
