#!/bin/sh
# Installs onnx-lint, onnx-fix and onnx-diff from a release, after checking its SHA-256.
#
#   install.sh [--version VERSION] [--to DIR] [--sha256 SUM]
#
#   --version VERSION   release to install [default: the one that this script belongs to]
#   --to DIR            folder of the commands [default: $HOME/.local/bin]
#   --sha256 SUM        expected checksum of the archive [default: that of the file SHA256SUMS of the release]
#
# ONNX_LINT_RELEASES is the address of the releases; a folder on this machine is file:///path.
set -eu

version=0.1.0
folder=${HOME:-.}/.local/bin
expected=
releases=${ONNX_LINT_RELEASES:-https://github.com/YOU/onnx-lint/releases/download}

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --version | --to | --sha256) [ $# -ge 2 ] || fail "\`$1\` needs a value" ;;
    esac
    case $1 in
    --version) version=${2#v} ;;
    --to) folder=$2 ;;
    --sha256) expected=$2 ;;
    -h | --help)
        sed -n '2,/^set /{/^set /!s/^#\( \|$\)//p}' "$0"
        exit
        ;;
    *) fail "unknown option \`$1\`; see install.sh --help" ;;
    esac
    shift $(($# >= 2 ? 2 : 1))
done

case $(uname -s)-$(uname -m) in
Linux-x86_64) system=unknown-linux machine=x86_64 ;;
Linux-aarch64 | Linux-arm64) system=unknown-linux machine=aarch64 ;;
Darwin-x86_64) system=apple-darwin machine=x86_64 ;;
Darwin-arm64) system=apple-darwin machine=aarch64 ;;
*) fail "no release for $(uname -s) on $(uname -m); use \`pip install onnx-lint\`, or \`cargo install\` in a clone" ;;
esac
if [ "$system" = unknown-linux ]; then
    # musl's loader is only on systems without glibc, such as Alpine.
    if ls /lib/ld-musl-* >/dev/null 2>&1 && ! ls /lib*/ld-linux-* >/dev/null 2>&1; then
        system=$system-musl
    else
        system=$system-gnu
    fi
fi
name=onnx-lint-$version-$machine-$system
address=$releases/v$version

download() {
    if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --retry 3 --output "$2" "$1" || fail "$1 cannot be downloaded"
    elif command -v wget >/dev/null 2>&1; then
        wget --quiet --tries 3 --output-document "$2" "$1" || fail "$1 cannot be downloaded"
    else
        fail "curl or wget is required"
    fi
}

checksum() {
    if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum --algorithm 256 "$1"; fi | cut -d ' ' -f 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
download "$address/$name.tar.gz" "$work/archive.tar.gz"
if [ -z "$expected" ]; then
    download "$address/SHA256SUMS" "$work/SHA256SUMS"
    expected=$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' "$work/SHA256SUMS")
    [ -n "$expected" ] || fail "SHA256SUMS of $version has no checksum of $name.tar.gz"
fi
found=$(checksum "$work/archive.tar.gz")
[ "$found" = "$expected" ] || fail "$name.tar.gz has the SHA-256 $found instead of $expected; nothing was installed"

tar -xzf "$work/archive.tar.gz" -C "$work"
mkdir -p "$folder"
for command in onnx-lint onnx-fix onnx-diff; do
    # A running command keeps its file.
    cp "$work/$name/$command" "$folder/.$command.new"
    chmod 755 "$folder/.$command.new"
    mv -f "$folder/.$command.new" "$folder/$command"
done
"$folder/onnx-lint" --version >"$work/version" || fail "$folder/onnx-lint does not run on this system"
echo "Installed $(cat "$work/version"), onnx-fix and onnx-diff in $folder"
case :${PATH:-}: in
*:"$folder":*) ;;
*) echo "Add $folder to the PATH to run them by name." ;;
esac
