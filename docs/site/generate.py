"""Writes the sources of the site for mdBook: documents, a page for every rule, their index, the commands, the configuration.

generate.py BIN FOLDER [RULES …]

BIN has the compiled commands, FOLDER becomes the source folder of a book, and RULES are folders of further rules.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

from pages import ASSETS, DOCUMENTS, FAMILIES, SILENT

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"`?\b([A-Z]{3}[0-9]{3})\b`?")
Rule = dict


def relative(to: str, page: str) -> str:
    """Returns the path of a page or asset relative to a page."""
    return os.path.relpath(to, PurePosixPath(page).parent)


def linked(text: str, source: str, page: str) -> str:
    """Replaces the links of a document in the repository by links between pages."""
    places = {path: to for path, to, *_ in [*DOCUMENTS, *ASSETS] if path}
    places |= {path.removesuffix("/README.md"): to for path, to in places.items() if path.endswith("/README.md")}

    def link(match: re.Match) -> str:
        target, hash_, anchor = match[2].partition("#")
        found = places.get(os.path.normpath(PurePosixPath(source).parent / target)) if target else None
        return f"{match[1]}({relative(found, page)}{hash_}{anchor})" if found else match[0]

    return outside_of_code(text, lambda part: re.sub(r"(\[[^\]]*\])\(([^)\s]+)\)", link, part))


def outside_of_code(text: str, change) -> str:
    """Applies a function to a text, except to its code blocks."""
    parts = re.split(r"(^```.*?^```\n?)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else change(part) for part in parts)


def with_rules(text: str, page: str, codes: set) -> str:
    """Links the codes of rules in a text to their pages."""

    def link(match: re.Match) -> str:
        code = match[1]
        to = f"rules/{code}.md"
        return f"[{code}]({relative(to, page)})" if code in codes and to != page else match[0]

    def change(line: str) -> str:
        # Code spans, links, HTML tags and headings are not changed.
        parts = re.split(r"(`[^`]*`|\[[^\]]*\]\([^)]*\)|<[^>]*>)", line)
        return line if line.startswith("#") else "".join(
            part if index % 2 else CODE.sub(link, part) for index, part in enumerate(parts))

    return outside_of_code(text, lambda part: "\n".join(change(line) for line in part.split("\n")))


def badges(rule: Rule) -> str:
    fix = f'<span class="badge fix-{rule["fix"]}">{rule["fix"]} fix</span>' if rule["fix"] else ""
    status = "" if rule["status"] == "stable" else f'<span class="badge status-{rule["status"]}">{rule["status"]}</span>'
    return f'<span class="badge level-{rule["severity"]}">{rule["severity"]}</span>{fix}{status}'


def rule_page(rule: Rule, codes: set) -> str:
    page = f"rules/{rule['code']}.md"
    title, _, body = rule["page"].partition("\n")
    # Each remark (`**Why**`, `**Fix safety**`) becomes a paragraph.
    body = re.sub(r"\n\*\*", "\n\n**", body)
    return f"{title}\n\n{badges(rule)}\n{with_rules(body, page, codes)}"


def family(rule: Rule) -> str:
    return rule["code"].rstrip("0123456789")


def families(rules: list) -> dict:
    """Returns the rules of each family, in the order of `FAMILIES`; all other families come last."""
    known = list(FAMILIES)
    names = sorted({family(rule) for rule in rules}, key=lambda name: (known.index(name) if name in FAMILIES else len(known), name))
    return {name: [rule for rule in rules if family(rule) == name] for name in names}


def about(name: str) -> str:
    """Returns the title of a family of rules."""
    return f"{name}: {FAMILIES.get(name, 'Custom rules')}"


def rule_table(rules: list, page: str) -> str:
    """Returns a table of rules, which the script of the site filters."""

    def summary(text: str) -> str:
        return re.sub(r"`([^`]*)`", lambda code: f"<code>{code[1]}</code>", html.escape(text, quote=False))

    rows = [
        f'<tr data-family="{family(rule)}" data-severity="{rule["severity"]}" data-fix="{rule["fix"] or "none"}" '
        f'data-status="{rule["status"]}">'
        f'<td><a href="{relative("rules/" + rule["code"] + ".html", page)}">{rule["code"]}</a></td>'
        f'<td>{html.escape(rule["rule"])}</td><td>{badges(rule)}</td><td>{summary(rule["summary"])}</td></tr>'
        for rule in rules
    ]
    head = "<thead><tr><th>Code</th><th>Name</th><th>Level and fix</th><th>Summary</th></tr></thead>"
    return f'<div class="table-wrapper"><table class="rules">{head}<tbody>\n' + "\n".join(rows) + "\n</tbody></table></div>\n"


def rule_index(rules: list) -> str:
    ordered = [rule for own in families(rules).values() for rule in own]

    def select(label: str, key: str, values: list) -> str:
        options = "".join(f'<option value="{value}">{html.escape(text)}</option>' for value, text in values)
        return f'<label>{label} <select data-key="{key}"><option value="">all</option>{options}</select></label>'

    controls = "".join([
        '<label>Text <input type="search" placeholder="reshape, EXP001, …"></label>',
        select("Family", "family", [(name, about(name)) for name in families(rules)]),
        select("Level", "severity", [(level, level) for level in ("error", "warning", "info", "hint")]),
        select("Fix", "fix", [("safe", "safe"), ("unsafe", "unsafe"), ("none", "none")]),
        select("Status", "status", [(status, status) for status in ("stable", "preview", "deprecated")]),
    ])
    return f"""# Rules

Every rule has a code, a name, and a page, which `onnx-lint --explain CODE` prints, too. A fix is *safe* if correct results
stay equal, up to rounding. *Unsafe* fixes need `--unsafe-fixes`. Rules are *stable* unless they have the badge of another
status: a *preview* is applied only with `--preview`, and a *deprecated* rule will be removed.

<div class="rule-filter" hidden>{controls}<output></output></div>

{rule_table(ordered, "rules/index.md")}"""


def commands(folder: Path) -> str:
    text = """# Commands

`COMMAND --generate bash` (`zsh`, `fish`, `elvish`, `powershell`) prints completions for a shell, and `--generate man` prints a
man page.
"""
    # `--help` shows the values of environment variables, so the commands run in an empty environment.
    for name in ("onnx-lint", "onnx-fix", "onnx-diff"):
        shown = subprocess.run([folder / name, "--help"], check=True, capture_output=True, text=True, env={"COLUMNS": "100"})
        text += f"\n## {name}\n\n```text\n{shown.stdout}```\n"
    return text


def configuration() -> str:
    """Returns the page of the configuration from its schema."""
    schema = json.loads((ROOT / "editors/onnx-lint.schema.json").read_text())
    text = f"""# Configuration

{schema["description"]}

The command line overrides or extends the configuration. Editors can use the [JSON schema](onnx-lint.schema.json) of the
configuration.
"""
    for key, property_ in schema["properties"].items():
        text += f"\n## {key}\n\n{property_['description']}\n"
        for example in property_.get("examples", []):
            text += f"\n```toml\n{toml(key, example)}```\n"
        for name, item in property_.get("items", {}).get("properties", {}).items():
            text += f"\n- `{name}`: {item['description']}"
        text += "\n"
    return text


def toml(key: str, value) -> str:
    """Returns a key with its value as TOML; a dictionary becomes a table with a header."""
    if isinstance(value, dict):
        return f"[{key}]\n" + "".join(toml(name, inner) for name, inner in value.items())
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "".join(f"[[{key}]]\n" + "".join(toml(name, inner) for name, inner in item.items()) for item in value)
    name = key if re.fullmatch(r"[\w-]+", key) else json.dumps(key)
    return f"{name} = {json.dumps(value, ensure_ascii=False)}\n"


def menu(rules: list) -> str:
    text = "# Summary\n\n"
    for _, page, title in DOCUMENTS:
        text += f"- [{title}]({page})\n" if page else f"\n# {title}\n\n"
        if page == "rules/index.md":
            for name, own in families(rules).items():
                text += f"  - [{about(name)}](rules/{name}.md)\n"
                text += "".join(f"    - [{rule['code']} {rule['rule']}](rules/{rule['code']}.md)\n" for rule in own)
    return text


def book(rules: list) -> str:
    """Returns the configuration of the book. Lists of rules and pages of silent rules are not in the search index."""
    text = (Path(__file__).parent / "book.toml").read_text()
    silent = ["index", *families(rules), *(rule["code"] for rule in rules if family(rule) in SILENT)]
    return text + "".join(f'"rules/{code}.md" = {{ enable = false }}\n' for code in silent)


def main() -> None:
    folder, out, *more = map(Path, sys.argv[1:])
    options = [option for rules in more for option in ("--rules", rules)]
    listed = [folder / "onnx-lint", "--isolated", "--list-rules", "--all", "--output-format", "json", *options]
    rules = json.loads(subprocess.run(listed, check=True, capture_output=True, text=True).stdout)
    codes = {rule["code"] for rule in rules}
    shutil.rmtree(out, ignore_errors=True)
    pages = {"SUMMARY.md": menu(rules), "commands.md": commands(folder), "configuration.md": configuration(),
             "rules/index.md": rule_index(rules)}
    for source, page, _ in DOCUMENTS:
        if source:
            pages[page] = with_rules(linked((ROOT / source).read_text(), source, page), page, codes)
    for name, own in families(rules).items():
        pages[f"rules/{name}.md"] = f"# {about(name)}\n\n{rule_table(own, f'rules/{name}.md')}"
    pages |= {f"rules/{rule['code']}.md": rule_page(rule, codes) for rule in rules}
    for page, text in pages.items():
        path = out / "src" / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for source, to in ASSETS:
        shutil.copy(ROOT / source, out / "src" / to)
    (out / "book.toml").write_text(book(rules))
    for name in ("site.css", "rules.js"):
        shutil.copy(Path(__file__).parent / name, out)
    print(f"{len(pages)} pages, {len(rules)} rules")


if __name__ == "__main__":
    main()
