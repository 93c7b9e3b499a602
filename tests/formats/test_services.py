"""Validates files of this repository that services read, and examples in its documentation."""

import tomllib

import yaml

from conftest import ROOT, own, published

WORKFLOW = "https://json.schemastore.org/github-workflow.json"
GITLAB = "https://gitlab.com/gitlab-org/gitlab/-/raw/master/app/assets/javascripts/editor/schema/ci.json"


def test_action_matches_its_schema():
    published("https://json.schemastore.org/github-action.json")(yaml.safe_load((ROOT / "action.yml").read_text()))


def test_configuration_schema_accepts_a_configuration():
    validate = own("editors/onnx-lint.schema.json")
    validate(tomllib.loads('select = ["EXP"]\nbaseline = "known.json"\n'))


def examples() -> dict:
    """Returns the YAML examples of docs/integrations.md, by heading."""
    text = (ROOT / "docs/integrations.md").read_text()
    sections = (section.split("\n", 1) for section in text.split("\n## ")[1:])
    return {title: yaml.safe_load(body.split("```yaml\n")[1].split("```")[0]) for title, body in sections if "```yaml" in body}


def test_examples_match_their_schemas():
    shown = examples()
    assert set(shown) == {"pre-commit", "GitHub Actions", "GitLab", "Azure Pipelines"}
    published("https://json.schemastore.org/pre-commit-config.json")(shown["pre-commit"])
    # PyYAML reads YAML 1.1, where `on` is a boolean.
    published(WORKFLOW)({"on" if key is True else key: value for key, value in shown["GitHub Actions"].items()})
    published(GITLAB)(shown["GitLab"])
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    step, = (step for step in shown["GitHub Actions"]["jobs"]["lint"]["steps"] if "onnx-lint@" in step["uses"])
    assert set(step["with"]) <= set(inputs)
    hook, = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in shown["pre-commit"]["repos"][0]["hooks"]] == [hook["id"]]


def test_docker_image_has_the_required_rust_version():
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    assert f"FROM rust:{version}-" in (ROOT / "Dockerfile").read_text()
