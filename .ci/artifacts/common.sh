# Sourced by the scripts of the artifacts, with the name of the script as its argument.
#
# Exports:
#   TARGET   cargo's target folder, absolute
#   VERSION  the version of the workspace in Cargo.toml, the only place where it is set
#   DIST     the folder of the artifacts, which is the first argument of every script
#   TRIPLE   the Rust name of the platform, which is the second argument, or that of this machine
set -Eeuo pipefail
trap 'echo "$0: FAILED in: $BASH_COMMAND" >&2' ERR
DIST=$(mkdir -p "$1" && cd "$1" && pwd)
TRIPLE=${2:-$(rustc -vV | sed -n 's/^host: //p')}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# The environment of the tests is not needed here.
ONNX_LINT_PYTHON=${ONNX_LINT_PYTHON:-python3} ORT_DYLIB_PATH=${ORT_DYLIB_PATH:-none}
source tests/environment.sh
VERSION=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
export DIST TRIPLE VERSION CARGO_TARGET_DIR=$TARGET

# Creates the environment of the release tools, and puts its commands on the PATH.
use_tools() {
    make_environment "$TARGET/release-tools" .ci/artifacts/requirements.txt
    # The second folder is that of Windows.
    PATH=$TARGET/release-tools/bin:$TARGET/release-tools/Scripts:$PATH
}

# Compiles the commands, unless ONNX_LINT_BIN names a folder with compiled ones, and sets BIN to their folder.
build_commands() {
    BIN=${ONNX_LINT_BIN:-}
    [ -z "$BIN" ] || return 0
    # On Linux, zig links with an old C library, so that the commands run on older systems.
    case $TRIPLE in
    *-linux-gnu)
        use_tools
        cargo zigbuild --quiet --release --locked --bins --features remote,tables --target "$TRIPLE.2.28"
        ;;
    *-linux-musl)
        use_tools
        cargo zigbuild --quiet --release --locked --bins --features remote,tables --target "$TRIPLE"
        ;;
    *) cargo build --release --locked --bins --features remote,tables --target "$TRIPLE" ;;
    esac
    BIN=$TARGET/$TRIPLE/release
}
