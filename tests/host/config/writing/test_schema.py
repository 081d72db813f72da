"""The JSON schema of a run.yaml: our own configurations are valid, mistakes are marked at their keys."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import smtplugins as smt
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.config.writing.schema import SCHEMA, schema_line
from smtplugins.host.host import Host

ROOT = Path(__file__).resolve().parents[4]
EXAMPLES = sorted(ROOT.glob("examples/*/run.yaml"))
TOOLKITS = sorted(path for name in ("moses.ini", "cdec.ini") for path in ROOT.glob(f"examples/*/{name}"))


@pytest.fixture(scope="module")
def host() -> Host:
    return smt.load_plugins()


@pytest.fixture(scope="module")
def schema(host: Host) -> jsonschema.Draft202012Validator:
    tree = json.loads(host.config_schema())
    jsonschema.Draft202012Validator.check_schema(tree)
    return jsonschema.Draft202012Validator(tree)


def places(schema: jsonschema.Draft202012Validator, tree: Any) -> list[str]:
    return [".".join(map(str, error.absolute_path)) for error in schema.iter_errors(tree)]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_our_configurations_are_valid(schema: jsonschema.Draft202012Validator, path: Path) -> None:
    assert places(schema, yaml.safe_load(path.read_text())) == []
    assert places(schema, yaml.safe_load(load_config(path).to_yaml())) == []


@pytest.mark.parametrize("path", TOOLKITS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_is_converted_is_valid(
    schema: jsonschema.Draft202012Validator, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    assert places(schema, yaml.safe_load(load_config(path).to_yaml())) == []


def test_new_configurations_are_valid_with_all_keys_set(
    host: Host, schema: jsonschema.Draft202012Validator, tmp_path: Path
) -> None:
    for decoder in host.registry.names("decoders"):
        text = host.new_config(decoder).replace("path:  # fill in", "path: some  # fill in")
        assert places(schema, yaml.safe_load(text)) == []
        lines = [line.replace("#", "", 1) if line.lstrip().startswith("#") else line for line in text.splitlines()[4:]]
        tree = yaml.safe_load("\n".join(line for line in lines if not re.search(": [,}]", line)))
        assert places(schema, tree) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("sorce: a", ""),
        ("seed: one", "seed"),
        ("decoder: hierro", "decoder"),
        ("decoder: {name: hiero, pop_limits: 3}", "decoder"),
        ("decoder: {name: hiero, pop_limit: many}", "decoder"),
        ("decoder: {name: phrase, search: qube}", "decoder"),
        ("model: {tables: [{limit: 3}]}", "model.tables"),
        ("model: {table: a}", "model"),
        ("model: {features: [lmm]}", "model.features"),
        ("model: {features: [{name: lm}]}", "model.features"),
        ("output: {nbest: many}", "output.nbest"),
        ("escape: html", "escape"),
        ("metric: {name: bleu, tokenise: none}", "metric"),
    ],
)
def test_mistakes_are_marked(schema: jsonschema.Draft202012Validator, text: str, place: str) -> None:
    assert place in places(schema, yaml.safe_load(text))


@pytest.mark.parametrize(
    "text",
    [
        "decoder: 'hiero,pop_limit=3'",
        "model: {tables: a, features: lm}",
        "model: {features: [{name: lm, path: a, base: 10, tuneable: false}, 'word-penalty,name=WP']}",
        "model:\noutput:",
        "references: ref\nmetric: chrf\nrunner: {name: processes, jobs: 2}",
        "escape: null\nlearner: mert",
    ],
)
def test_other_spellings_are_valid(schema: jsonschema.Draft202012Validator, text: str) -> None:
    assert places(schema, yaml.safe_load(text)) == []


def test_a_schema_is_named_where_it_is(tmp_path: Path, host: Host) -> None:
    assert schema_line(tmp_path) == ""
    (tmp_path / SCHEMA).write_text(host.config_schema())
    assert schema_line(tmp_path) == "# yaml-language-server: $schema=run.schema.json\n"
    assert schema_line(os.path.relpath(tmp_path), absolute=True).endswith(f"$schema={tmp_path.resolve() / SCHEMA}\n")
