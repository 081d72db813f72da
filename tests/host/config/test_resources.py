"""Tables and features of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.resources import resources
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import ModelConfig, load_config

RULES = "[X] ||| haus ||| house ||| 0.5 2\n[X] ||| hut ||| hat ||| 1 4\n"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules"
    path.write_text(RULES)
    return path


def test_tables_and_features(rules: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text(RULES)
    tables = (RuleTable(other), RuleTable(rules, name="tm_pt", owner="pt", limit=5, max_span=-1))
    found = resources(smt.load_plugins().registry, ModelConfig(tables, features=(Spec("length"),)))
    assert found.tables == tables
    assert [one.label for one in found.features] == ["length"]


def test_no_features_and_no_tables() -> None:
    found = resources(smt.load_plugins().registry, ModelConfig())
    assert (found.tables, found.features) == ((), ())


@pytest.mark.parametrize(
    ("name", "message"),
    [("length", "two features are named 'length'"), ("a b", "expected a column name without blanks")],
)
def test_names_of_tables_are_checked_like_those_of_features(rules: Path, name: str, message: str) -> None:
    config = ModelConfig((RuleTable(rules, name=name),), features=(Spec("length"),))
    with pytest.raises(UsageError, match=message):
        resources(smt.load_plugins().registry, config)


def test_a_lacking_table_is_said_before_features_are_made(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("model:\n  tables: [absent]\n  features: [nothing]\n")
    config = load_config(path)
    with pytest.raises(SmtError, match=r"run.yaml:2: model.tables.0: .*absent: No such file"):
        resources(smt.load_plugins().registry, config.model, at=config.at)


def test_bare_numbers_are_joshuas_by_shape_and_cdecs_by_name(rules: Path) -> None:
    assert tuple(RuleTable(rules, name="tm_pt", owner="pt").load(cache="off").names[:]) == ("tm_pt_0", "tm_pt_1")
    columns = RuleTable(rules, format="cdec-grammar").load(cache="off")
    assert tuple(columns.names[:]) == ("PhraseModel_0", "PhraseModel_1")
    assert columns.values.tolist() == [0.5, 2.0, 1.0, 4.0]


def test_the_format_of_the_model_is_that_of_all_tables(rules: Path) -> None:
    for table in (RuleTable(rules), RuleTable(rules, name="TM")):
        found = resources(smt.load_plugins().registry, ModelConfig((table,), "cdec-grammar"))
        assert (found.tables[0].format, found.grammar_format) == ("cdec-grammar", "cdec-grammar")
    with pytest.raises(UsageError, match="unknown format 'cdec-gramar'; did you mean 'cdec-grammar'"):
        resources(smt.load_plugins().registry, ModelConfig((RuleTable(rules),), "cdec-gramar"))
    with pytest.raises(UsageError, match="unknown format 'cdec-gramar'; did you mean 'cdec-grammar'"):
        resources(smt.load_plugins().registry, ModelConfig((RuleTable(rules, format="cdec-gramar"),)))
    own = ModelConfig((RuleTable(rules, format="joshua-grammar"),), "cdec-grammar")
    assert resources(smt.load_plugins().registry, own).tables[0].format == "joshua-grammar"


def test_columns_of_toolkits_are_called_as_the_table(tmp_path: Path) -> None:
    joshua = tmp_path / "joshua"
    joshua.write_text("[X] ||| haus ||| house ||| 0.5 2\n[X] ||| das [X,1] ||| the [X,1] ||| 1 4\n")
    assert tuple(RuleTable(joshua, name="tm_pt", owner="pt").load(cache="off").names[:]) == ("tm_pt_0", "tm_pt_1")
    moses = tmp_path / "moses"
    moses.write_text("haus [X] ||| house [X] ||| 0.5 0.25 ||| 0-0\n")
    assert tuple(RuleTable(moses, name="TM").load(cache="off").names[:]) == ("TM[0]", "TM[1]")
