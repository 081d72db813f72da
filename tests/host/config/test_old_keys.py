"""Tables of rules in run.yaml, and the keys that had them before."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from smtplugins.cli.main import main
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.rule_tables import RuleTable, merged
from smtplugins.host.config.run_yaml import ModelConfig, RunConfig, load_config

RULES = "haus [X] ||| house [X] ||| 0.5 0.25 ||| 0-0\nhaus [X] ||| home [X] ||| 0.25 0.5 ||| 0-0\n"
OTHER = "haus [X] ||| building [X] ||| 0.125 ||| 0-0\n"
OLD = """\
decoder: hiero
model:
  grammar: [rules, other]
  features:
    - glue
    - translation-model,path=other,limit=3,name=Two,tuneable=false
    - word-penalty
    - translation-model,path=rules,scores=2,name=TM
    - pass-through
  weights: weights
output: {nbest: 9, format: moses-nbest}
"""
NEW = """\
decoder: hiero
model:
  tables:
    - {path: rules, name: TM, scores: 2, position: 3}
    - {path: other, name: Two, limit: 3, position: 1, tuneable: false}
  features: [glue, word-penalty, pass-through]
  weights: weights
output: {nbest: 9, format: moses-nbest}
"""
NOTE = (
    "old.yaml: model.grammar and translation-model: write model.tables: "
    "[{path: rules, name: TM, scores: 2, position: 3}, "
    "{path: other, name: Two, limit: 3, position: 1, tuneable: false}]"
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("rules", RULES), ("other", OTHER), ("old.yaml", OLD), ("new.yaml", NEW)):
        Path(name).write_text(text)
    names = ("glue", "Two", "word-penalty", "TM[0]", "TM[1]", "pass-through")
    Path("weights").write_text("".join(f"{name} {number / 2}\n" for number, name in enumerate(names)))
    Path("in").write_text("haus\nhaus fremd\n")


def written(text: str) -> RunConfig:
    Path("run.yaml").write_text(text)
    return load_config("run.yaml")


def test_the_old_spelling_gives_the_same_record_with_a_note() -> None:
    old, new = load_config("old.yaml"), load_config("new.yaml")
    assert (old, old.notes, new.notes) == (new, (NOTE,), ())
    assert old.to_yaml() == new.to_yaml()
    assert written(old.to_yaml()) == new


def test_the_old_spelling_gives_the_same_bytes(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    written_lists = []
    for name, note in (("new.yaml", ""), ("old.yaml", f"smt: note: {NOTE}\n")):
        assert main(["decode", "-c", name, "-i", "in"]) == 0
        out, err = capfdbinary.readouterr()
        assert err.decode() == note
        written_lists.append(out)
    assert written_lists[0] == written_lists[1]
    first = written_lists[0].decode().split(" ||| ")[2].split()
    names = ["glue=", "word-penalty=", "TM=", "pass-through="]
    assert [word for word in first if word.endswith("=")] == names


def test_one_old_key_alone() -> None:
    config = written("model:\n  grammar: rules\n")
    assert config.model.tables == (RuleTable(Path("rules").absolute()),)
    assert config.notes == ("run.yaml: model.grammar: write model.tables: [rules]",)
    config = written("model:\n  tables: [rules]\n  features: ['translation-model,path=rules,name=TM']\n")
    assert config.model == ModelConfig((RuleTable(Path("rules").absolute(), name="TM"),))
    assert config.notes == ("run.yaml: translation-model: write model.tables: [{path: rules, name: TM, position: 0}]",)


@pytest.mark.parametrize(
    ("overrides", "tables", "features"),
    [
        (["model.grammar=[other, rules]"], [("other", "Two"), ("rules", "TM")], "glue word-penalty pass-through"),
        (["model.tables=other"], [("other", "")], "glue word-penalty pass-through"),
        (["model.features=[oov]"], [("rules", "TM"), ("other", "Two")], "oov"),
        (["model.tables=rules", "model.features=['translation-model,path=rules,name=TM']"], [("rules", "TM")], ""),
    ],
)
@pytest.mark.parametrize("name", ["old.yaml", "new.yaml"])
def test_overrides(name: str, overrides: list[str], tables: list[tuple[str, str]], features: str) -> None:
    config = load_config(name, overrides)
    assert [(table.path.name, table.name) for table in config.model.tables] == tables
    assert [feature.name for feature in config.model.features] == features.split()


@pytest.mark.parametrize("name", ["old.yaml", "new.yaml"])
def test_a_described_table_is_not_left_out_in_silence(name: str) -> None:
    expected = "model.grammar: expected rules too, which the model describes as 'TM'; to leave it out, set model.tables"
    with pytest.raises(SmtError, match=re.escape(expected)):
        load_config(name, ["model.grammar=other"])


def test_a_feature_describes_a_table_anew_where_a_feature_described_it() -> None:
    override = ["model.features=[oov, 'translation-model,path=other,name=T2']"]
    tables = load_config("old.yaml", override).model.tables
    assert [(table.path.name, table.name, table.limit) for table in tables] == [("rules", "TM", 0), ("other", "T2", 0)]
    with pytest.raises(SmtError, match=r"which model\.tables describes: change it there"):
        load_config("new.yaml", override)


def test_a_replaced_model_has_no_old_keys() -> None:
    config = load_config("old.yaml", ["model={features: [distortion]}"])
    assert (config.model.tables, config.notes) == ((), (NOTE,))


def test_the_note_has_the_tables_of_the_file_and_old_keys_of_overrides_a_note_of_their_own() -> None:
    assert load_config("old.yaml", ["model.tables=[other]"]).notes == (NOTE,)
    assert load_config("new.yaml", ["model.grammar=[rules, other]"]).notes == (
        "overrides: model.grammar: model.tables is the new spelling",
    )


def test_an_override_of_tables_without_paths_or_with_one_path_twice() -> None:
    Path("run.yaml").write_text("model: {tables: [{name: TM}]}\n")
    assert load_config("run.yaml", ["model.grammar=rules"]).model.paths == (Path("rules").absolute(),)
    Path("run.yaml").write_text("model: {tables: [{path: rules, name: A}, {path: rules, name: B}]}\n")
    with pytest.raises(SmtError, match="two tables of the model have one path"):
        load_config("run.yaml", ["model.grammar=rules"])


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        ("  grammar: [rules, 5]\n", (), "run.yaml:2: model.grammar.1: expected a path, found 5"),
        ("  tables: [{name: TM}]\n", (), "run.yaml:2: model.tables.0: expected a path: add the key `path`"),
        (
            "  tables:\n  - path: a\n    limit: x\n",
            (),
            "run.yaml:4: model.tables.0.limit: expected a whole number, found",
        ),
        ("  tables: [{path: a, spans: 3}]\n", (), "run.yaml:2: model.tables.0.spans: unknown key"),
        ("  grammar: null\n", (), "run.yaml:2: model.grammar: expected a path, found None"),
        (
            "  tables: [{path: a, limit: 1}]\n  features: ['translation-model,path=a,name=TM']\n",
            (),
            "run.yaml:3: model.features.0: feature 'TM' describes",
        ),
        (
            "  grammar: a\n  features: ['translation-model,path=a', 'translation-model,path=a,name=TM']\n",
            (),
            "run.yaml:3: model.features.1: feature 'TM' describes",
        ),
        ("  tables: a\n  grammar: b\n", (), "run.yaml:3: model.grammar: expected all tables in model.tables"),
        ("  grammar: a\n", ("model", "tables", "0"), "run.yaml:2: model.grammar.0: bad"),
        (
            "  grammar: a\n  features:\n  - glue\n  - translation-model,path=a\n  - oov\n",
            ("model", "features", "1"),
            "run.yaml:6: model.features.2: bad",
        ),
        (
            "  grammar: a\n  features:\n  - glue\n  - translation-model,path=a,limit=x\n",
            (),
            "run.yaml:5: model.features.1: feature 'translation-model': limit: expected a whole number, found 'x'",
        ),
        (
            "  features: [translation-model]\n",
            (),
            "run.yaml:2: model.features.0: feature 'translation-model' needs the option path",
        ),
    ],
)
def test_errors_have_the_keys_of_the_file(text: str, key: tuple[str, ...], message: str) -> None:
    from smtplugins.contracts.errors import UsageError

    with pytest.raises(SmtError) as caught:  # noqa: PT012 - either reading or the use of a value fails
        config = written(f"model:\n{text}")
        with config.at(*key):
            raise UsageError("bad")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("positions", "order"),
    [
        ({}, "a b"),
        ({"s": 0, "t": 0}, "s t a b"),
        ({"s": 1, "t": 0}, "t s a b"),
        ({"s": 3, "t": 1}, "a t b s"),
        ({"s": 9, "t": 9}, "a b s t"),
    ],
)
def test_places_of_tables_among_features(positions: dict[str, int], order: str) -> None:
    tables: list[Any] = [RuleTable(Path(name), name=name, position=at) for name, at in positions.items()]
    parts = merged([RuleTable(Path("unnamed")), *tables], [Spec("a"), Spec("b")])
    assert " ".join(part.name for part in parts) == order
