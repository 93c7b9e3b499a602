"""Checks a site: every link leads to an existing file and anchor, and no page loads anything from another site.

check.py FOLDER
"""

import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path: Path):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        for key in ("href", "src"):
            if values.get(key):
                (self.links if tag == "a" else self.loaded).append(values[key])



def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    faults, checked = defaultdict(set), 0
    for path, page in pages.items():
        base = folder if path.name == "404.html" else path.parent
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            checked += 1
            if parts.scheme or parts.netloc:
                if link in page.loaded:
                    faults[path].add(f"loads {link}")
                continue
            target = path if not parts.path else (base / unquote(parts.path.lstrip("/") if path.name == "404.html" else parts.path)).resolve()
            if target.is_dir():
                target /= "index.html"
            if not target.is_relative_to(folder) or not target.exists():
                faults[path].add(f"has a broken link to {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                faults[path].add(f"links to the missing anchor {link}")
    for path, found in faults.items():
        for fault in sorted(found):
            print(f"{path.relative_to(folder)} {fault}")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{len(pages)} pages, {checked} links, {size / 1e6:.1f} MB, {sum(map(len, faults.values()))} faults")
    assert len(pages) > 100 and not faults


main()
