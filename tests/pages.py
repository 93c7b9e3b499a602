"""Tests HTML reports in a headless Chromium. See tests/pages."""

import html
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

CHROMIUM = [os.environ.get("CHROMIUM", "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
            "--enable-logging=stderr"]

# Writes the faults of a page into its title, which `--dump-dom` prints. Interactive and scrolling elements must be
# reachable by keyboard.
LOOK = """<script>
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("load", () => {
  const page = document.documentElement;
  const unreachable = [...document.querySelectorAll("a[href], summary, input, .graph")].filter((element) => {
    element.focus();
    return document.activeElement !== element;
  });
  const scrolling = [...document.querySelectorAll("pre, .graph")].filter(
    (element) => element.scrollWidth > element.clientWidth && element.tabIndex < 0);
  // The search hides the other findings, and shows them again.
  const search = document.getElementById("search");
  const visible = () => document.querySelectorAll("article:not([hidden])").length;
  const type = (text) => { search.value = text; search.dispatchEvent(new Event("input")); return visible(); };
  const all = visible();
  if (!(type("Transpose is") < all) || type("no such text") !== 0 || type("") !== all) errors.push("the search does not work");
  document.title = JSON.stringify({
    errors, wide: page.scrollWidth > innerWidth, articles: document.querySelectorAll("article").length,
    unreachable: unreachable.map((element) => element.outerHTML.slice(0, 80)),
    scrolling: scrolling.map((element) => element.outerHTML.slice(0, 80)),
  });
});
</script>"""


def network(nodes: int) -> str:
    """Returns a chain of nodes: every 40th has a faulty attribute, and the nodes halfway between are redundant."""
    def node(at: int) -> str:
        if at % 40 == 0:
            return f"x{at + 1} = Relu <oops = 1> (x{at})"
        if at % 20 == 0:
            return f"x{at + 1} = Transpose <perm = [0, 1, 2]> (x{at})"
        return f"x{at + 1} = Relu (x{at})"

    body = "\n".join(f"  {node(at)}" for at in range(nodes))
    return (f'<ir_version: 8, opset_import: ["" : 17]>\nmain (float[A,12] x0) => (float[A,12] x{nodes}) {{\n'
            f"{body}\n}}\n")


def chromium(folder: Path, page: Path, *options: str) -> str:
    command = [*CHROMIUM, f"--user-data-dir={folder}/profile", *options, page.as_uri()]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    messages = [line for line in ran.stderr.splitlines() if ":CONSOLE" in line]
    assert not messages, messages
    return ran.stdout


def framed(folder: Path, page: Path, width: int) -> Path:
    """Returns a page that shows `page` at a width, since windows have a minimum width."""
    frame = folder / "framed.html"
    frame.write_text(f"""<!DOCTYPE html><title></title>
<iframe id="page" style="width: {width}px; height: 900px; border: 0" srcdoc="{html.escape(page.read_text())}"></iframe>
<script>
const frame = document.getElementById("page");
frame.addEventListener("load", () => setTimeout(() => {{ document.title = frame.contentDocument.title; }}, 0));
</script>""")
    return frame


def pictures(folder: Path, page: Path, into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    looks = {"light": ["--window-size=1280,1600"], "narrow": ["--window-size=500,1600"],
             "dark": ["--window-size=1280,1600", "--blink-settings=preferredColorScheme=0"]}
    for name, options in looks.items():
        chromium(folder, page, *options, f"--screenshot={into.resolve()}/{page.stem}-{name}.png")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for nodes in (1_000, 10_000):
            model, page = folder / f"net{nodes}.onnxtxt", folder / f"net{nodes}.html"
            model.write_text(network(nodes))
            command = [os.environ["ONNX_LINT"], model, "--severity", "hint", "--output-format", "html", "-o", page]
            assert subprocess.run(command, cwd=folder).returncode == 1
            looked = folder / "looked.html"
            looked.write_text(page.read_text() + LOOK)
            for width in (1280, 400):
                dom = chromium(folder, framed(folder, looked, width), "--window-size=1300,1000",
                               "--virtual-time-budget=60000", "--dump-dom")
                seen = json.loads(html.unescape(re.search("<title>(.*?)</title>", dom, re.DOTALL)[1]))
                assert seen.pop("articles") >= 3, seen
                assert not any(seen.values()), f"{nodes} nodes at width {width}: {seen}"
                print(f"{nodes:6} nodes at width {width:4}: {page.stat().st_size} bytes")
            if "PICTURES" in os.environ:
                pictures(folder, page, Path(os.environ["PICTURES"]))


main()
