"""The files that services read of this repository, and those that it shows as examples."""

import tomllib

import yaml

from conftest import ROOT, own, published

WORKFLOW = "https://json.schemastore.org/github-workflow.json"
GITLAB = "https://gitlab.com/gitlab-org/gitlab/-/raw/master/app/assets/javascripts/editor/schema/ci.json"


def test_the_action():
    published("https://json.schemastore.org/github-action.json")(yaml.safe_load((ROOT / "action.yml").read_text()))


def test_the_schema_of_the_configuration_takes_a_configuration():
    validate = own("editors/onnx-lint.schema.json")
    validate(tomllib.loads('select = ["EXP"]\nbaseline = "known.json"\n'))


def examples() -> dict:
    """The YAML of docs/integrations.md, by the heading that it stands under."""
    text = (ROOT / "docs/integrations.md").read_text()
    sections = (section.split("\n", 1) for section in text.split("\n## ")[1:])
    return {title: yaml.safe_load(body.split("```yaml\n")[1].split("```")[0]) for title, body in sections if "```yaml" in body}


def test_the_examples():
    shown = examples()
    assert set(shown) == {"pre-commit", "GitHub Actions", "GitLab", "Azure Pipelines"}
    published("https://json.schemastore.org/pre-commit-config.json")(shown["pre-commit"])
    # YAML 1.1, which PyYAML reads, takes `on` for a truth value.
    published(WORKFLOW)({"on" if key is True else key: value for key, value in shown["GitHub Actions"].items()})
    published(GITLAB)(shown["GitLab"])
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    step, = (step for step in shown["GitHub Actions"]["jobs"]["lint"]["steps"] if "onnx-lint@" in step["uses"])
    assert set(step["with"]) <= set(inputs)
    hook, = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in shown["pre-commit"]["repos"][0]["hooks"]] == [hook["id"]]


def test_the_image_has_the_compiler_that_is_asked_for():
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    assert f"FROM rust:{version}-" in (ROOT / "Dockerfile").read_text()
