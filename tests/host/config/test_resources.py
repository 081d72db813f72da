"""Tables and features of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.resources import Table, resources
from smtplugins.host.config.run_yaml import ModelConfig, load_config

RULES = "[X] ||| haus ||| house ||| 0.5 2\n[X] ||| hut ||| hat ||| 1 4\n"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules"
    path.write_text(RULES)
    return path


def test_features_that_describe_a_table_are_none_of_the_rest(rules: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text(RULES)
    spec = {"path": str(rules), "limit": "5", "max_span": "-1", "owner": "pt", "name": "tm_pt"}
    config = ModelConfig(grammar=(other, rules), features=(Spec("length"), Spec("translation-model", spec)))
    found = resources(smt.load_plugins().registry, config)
    assert found.tables == (Table(other), Table(rules, name="tm_pt", owner="pt", limit=5, max_span=-1))
    assert [one.label for one in found.features] == ["length"]


def test_no_features_and_no_tables() -> None:
    found = resources(smt.load_plugins().registry, ModelConfig())
    assert (found.tables, found.features) == ((), ())


def test_a_described_table_has_to_be_one_of_the_model(rules: Path) -> None:
    config = ModelConfig(features=(Spec("translation-model", {"path": str(rules)}),))
    with pytest.raises(UsageError, match="which is not among the grammars of the model"):
        resources(smt.load_plugins().registry, config)


def test_a_lacking_table_is_said_before_features_are_made(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("model:\n  grammar: [absent]\n  features: [nothing]\n")
    config = load_config(path)
    with pytest.raises(SmtError, match=r"run.yaml:2: model.grammar.0: .*absent: No such file"):
        resources(smt.load_plugins().registry, config.model, at=config.at)


def test_bare_numbers_are_joshuas_by_shape_and_cdecs_by_name(rules: Path) -> None:
    assert tuple(Table(rules, name="tm_pt", owner="pt").load(cache="off").names[:]) == ("tm_pt_0", "tm_pt_1")
    columns = Table(rules, format="cdec-grammar").load(cache="off")
    assert tuple(columns.names[:]) == ("PhraseModel_0", "PhraseModel_1")
    assert columns.values.tolist() == [0.5, 2.0, 1.0, 4.0]


def test_the_format_of_the_model_is_that_of_all_tables(rules: Path) -> None:
    spec = Spec("translation-model", {"path": str(rules), "name": "TM"})
    for config in (ModelConfig((rules,), "cdec-grammar"), ModelConfig((rules,), "cdec-grammar", (spec,))):
        found = resources(smt.load_plugins().registry, config)
        assert (found.tables[0].format, found.grammar_format) == ("cdec-grammar", "cdec-grammar")
    with pytest.raises(UsageError, match="unknown format 'cdec-gramar'; did you mean 'cdec-grammar'"):
        resources(smt.load_plugins().registry, ModelConfig((rules,), "cdec-gramar"))


def test_columns_of_toolkits_are_called_as_the_table(tmp_path: Path) -> None:
    joshua = tmp_path / "joshua"
    joshua.write_text("[X] ||| haus ||| house ||| 0.5 2\n[X] ||| das [X,1] ||| the [X,1] ||| 1 4\n")
    assert tuple(Table(joshua, name="tm_pt", owner="pt").load(cache="off").names[:]) == ("tm_pt_0", "tm_pt_1")
    moses = tmp_path / "moses"
    moses.write_text("haus [X] ||| house [X] ||| 0.5 0.25 ||| 0-0\n")
    assert tuple(Table(moses, name="TM").load(cache="off").names[:]) == ("TM[0]", "TM[1]")
