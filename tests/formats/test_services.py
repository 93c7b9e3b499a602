"""The files that services read of this repository, and those that it shows as examples."""

import tomllib

import yaml

from conftest import ROOT, own, published

GITLAB = "https://gitlab.com/gitlab-org/gitlab/-/raw/master/app/assets/javascripts/editor/schema/ci.json"


def test_the_action():
    published("https://json.schemastore.org/github-action.json")(yaml.safe_load((ROOT / "action.yml").read_text()))


def test_the_schema_of_the_configuration_takes_a_configuration():
    validate = own("editors/onnx-lint.schema.json")
    validate(tomllib.loads('select = ["EXP"]\nbaseline = "known.json"\n'))
