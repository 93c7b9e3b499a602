"""Writes measured entries to a target file, replacing the generated section of the version."""

import re
import textwrap
from collections import defaultdict
from pathlib import Path


# Start of the source text of generated sections; sections with another source are kept.
SOURCE = "half of the node tests"


def section(source: str, day: str, versions: str, lines: dict) -> str:
    """Formats a section. `lines` is a result of `learn.lines`."""
    shared = defaultdict(list)
    for op, said in lines.items():
        for taken, condition in said:
            shared[taken, condition].append(op)
    out = [f'    measured "{source}" on "{day}" {{', f"      {versions}"]
    for (taken, condition), ops in sorted(shared.items(), key=lambda item: (not item[0][0], item[0][1] != "", item[1])):
        word = "op" if taken else "not op"
        where = f" where {{ {condition} }}" if condition else ""
        wrapped = textwrap.wrap(f"{word} {', '.join(ops)}{where}", 112, break_long_words=False, break_on_hyphens=False)
        out += [f"      {wrapped[0]}", *(f"        {line}" for line in wrapped[1:])]
    return "\n".join([*out, "    }"]) + "\n"


def replace(path: Path, version: str, text: str):
    """Replaces the generated section of the version, or adds the version at the end."""
    file = path.read_text()
    whole = re.compile(rf"^  version {re.escape(version)} \{{\n(.*?)^  \}}\n", re.MULTILINE | re.DOTALL)
    found = whole.search(file)
    if not found:
        end = file.rindex("}")
        path.write_text(f"{file[:end]}  version {version} {{\n{text}  }}\n{file[end:]}")
        return
    rest = re.sub(rf'^    measured "{SOURCE}.*?^    \}}\n', "", found[1], flags=re.MULTILINE | re.DOTALL)
    path.write_text(file[:found.start()] + f"  version {version} {{\n{rest}{text}  }}\n" + file[found.end():])
