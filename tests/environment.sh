# Sourced by the test scripts. Creates a virtual environment with the pinned Python packages, below the target folder.
#
# Exports:
#   TARGET            cargo's target folder, absolute
#   ONNX_LINT_PYTHON  the Python of the virtual environment
#   ORT_DYLIB_PATH    the ONNX Runtime library inside its onnxruntime package, for `--verify`
# The last two are kept if they are already set.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TARGET=$(mkdir -p "${CARGO_TARGET_DIR:-$ROOT/target}" && cd "${CARGO_TARGET_DIR:-$ROOT/target}" && pwd)
export TARGET

# Creates a virtual environment, unless it exists and its requirements have not changed.
make_environment() {
    local venv=$1 requirements=$ROOT/$2
    cmp --silent "$requirements" "$venv/requirements.txt" && return
    echo "Installing $2 into $venv"
    rm -rf "$venv"
    python3 -m venv "$venv"
    local python=$venv/bin/python
    [ -e "$python" ] || python=$venv/Scripts/python.exe # on Windows
    "$python" -m pip --disable-pip-version-check install --quiet --no-deps --requirement "$requirements"
    cp "$requirements" "$venv/requirements.txt"
}

if [ -z "${ONNX_LINT_PYTHON:-}" ]; then
    make_environment "$TARGET/conformance/venv" tests/conformance/requirements.txt
    ONNX_LINT_PYTHON=$TARGET/conformance/venv/bin/python
fi
if [ -z "${ORT_DYLIB_PATH:-}" ]; then
    ORT_DYLIB_PATH=$("$ONNX_LINT_PYTHON" - <<'PYTHON'
import importlib.util
import pathlib

capi = pathlib.Path(importlib.util.find_spec("onnxruntime").origin).parent / "capi"
libraries = [*capi.glob("libonnxruntime.so*"), *capi.glob("libonnxruntime*.dylib"), *capi.glob("onnxruntime.dll")]
print(libraries[0] if libraries else "")
PYTHON
)
fi
export ONNX_LINT_PYTHON ORT_DYLIB_PATH
