"""The weights that tuning starts from: of tables by their format, of features and decoders by what they say."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import PluginError, UsageError
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.start_weights import listed_weights, start_weights
from smtplugins.host.config.weight_names import check_names
from smtplugins.host.features.scoring import activate
from smtplugins.host.host import Host

MOSES = "a ||| b ||| 0.5 0.25 1 2.718 ||| 0-0 ||| 4 2 2 ||| sparse 1\na ||| c ||| 0.5 0.5 0.5 2.718 ||| 0-0 ||| 4 2 2\n"
ARPA = "\\data\\\nngram 1=4\n\n\\1-grams:\n-1\t<unk>\n-1\t<s>\n-1\t</s>\n-1\ta\n\n\\end\\\n"


@pytest.fixture(scope="module")
def host() -> Host:
    return smt.load_plugins()


@pytest.mark.parametrize(
    ("text", "name", "weights"),
    [
        (MOSES, "", {f"TranslationModel0[{k}]": 0.2 for k in range(4)}),
        (MOSES, "TM_b", {f"TM_b[{k}]": 0.2 for k in range(4)}),
        ("ein haus ||| a house ||| -0.3\n", "", {"log10p": 0.2}),
        # cdec's extractor writes costs, others logarithms; counts and indicators are no probabilities.
        (
            "[X] ||| a ||| b ||| EgivenF=1 FgivenE=-1 CountEF=2 IsSingletonF=1\n"
            "[X] ||| a ||| c ||| EgivenF=0 FgivenE=-2 CountEF=1 IsSingletonF=0\n",
            "",
            {"EgivenF": -0.2, "FgivenE": 0.2, "CountEF": 0, "IsSingletonF": 0},
        ),
        # Joshua's values without a name are costs, which reading makes logarithms.
        ("[X] ||| a ||| b ||| 0.5 1\n[X] ||| a ||| c ||| 0.7 2\n", "", {"tm_pt_0": 0.2, "tm_pt_1": 0.2}),
        (
            "[X] ||| a ||| b ||| e_given_f_lex=0.5 rarity=1 ||| 0-0 ||| 2\n"
            "[X] ||| a ||| c ||| e_given_f_lex=0.7 rarity=1 ||| 0-0 ||| 2\n",
            "",
            {"e_given_f_lex": -0.2, "rarity": 0},
        ),
    ],
)
def test_the_probabilities_of_a_table(
    host: Host, tmp_path: Path, text: str, name: str, weights: dict[str, float]
) -> None:
    (tmp_path / "table").write_text(text)
    assert RuleTable(tmp_path / "table", name=name).start_weights() == weights
    host.convert(tmp_path / "table", tmp_path / "table.smt")
    assert RuleTable(tmp_path / "table.smt", name=name).start_weights() == weights


@pytest.mark.parametrize(
    ("feature", "weights"),
    [
        ("lm,path=lm", {"lm": 0.5}),
        ("lm,path=lm,oov=true,oov_name=OOV,name=LM", {"LM": 0.5, "OOV": -1}),
        ("word-penalty,name=WP", {"WP": -1}),
        ("word-penalty,value=cdec", {"word-penalty": -1}),
        ("word-penalty,value=1", {"word-penalty": 1}),
        ("phrase-penalty", {"phrase-penalty": 0.2}),
        ("phrase-penalty,owners=a b,value=-1", {"phrase-penalty[0]": -0.2, "phrase-penalty[1]": -0.2}),
        ("oov,value=-100", {"oov": 1}),
        ("pass-through,lengths=2", {"pass-through": -5, "pass-through_1": 0, "pass-through_2": 0}),
        ("distortion", {"distortion": 0.3}),
        ("lexical-reordering,path=re,model=wbe-msd-backward-fe-collapseff", {"lexical-reordering": 0.3}),
        ("length", {}),
    ],
)
def test_the_weights_of_features(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, feature: str, weights: dict[str, float]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lm").write_text(ARPA)
    Path("re").write_text("a ||| b ||| 0.5 0.25 0.25\n")
    (active,) = activate(host.registry, [feature])
    given: Any = SimpleNamespace(tables=(), features=(active,), passes=(), formats=None)
    assert start_weights(object(), given) == weights
    # A decoder knows better.
    assert start_weights(SimpleNamespace(start_weights={"own": 2.0, "lm": 3.0}), given) == {
        **weights,
        "own": 2.0,
        "lm": 3.0,
    }


def test_a_number_of_weights_for_other_columns(host: Host) -> None:
    (active,) = activate(host.registry, ["phrase-penalty,owners=a b c"])
    active.feature.start_weights = (1.0, 2.0)
    given: Any = SimpleNamespace(tables=(), features=(active,), passes=(), formats=None)
    with pytest.raises(
        PluginError, match=r"'phrase-penalty': expected start_weights for its 3 columns, or .*, found 2"
    ):
        start_weights(object(), given)


def test_they_are_used_without_weights_alone(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table").write_text(MOSES)
    Path("weights").write_text("word-penalty 2\n")
    text = "decoder: phrase\nmodel: {tables: table, features: [word-penalty, distortion]}\n"
    Path("run.yaml").write_text(text)
    made = host.translator("run.yaml")
    assert made.started
    assert made.model.weights.keys() == {*(f"TranslationModel0[{k}]" for k in range(4)), "word-penalty", "distortion"}
    for more in ({"weights": "weights"}, {"set_weights": {"word-penalty": 2.0}}, {"weights": {"word-penalty": 2.0}}):
        made = host.translator("run.yaml", **more)  # type: ignore[arg-type]
        assert (made.started, dict(made.model.weights)) == (False, {"word-penalty": 2.0})
    made = host.translator("run.yaml", {"model.weights": "weights"})
    assert (made.started, dict(made.model.weights)) == (False, {"word-penalty": 2.0})


def test_a_toolkit_has_its_own_convention(host: Host, tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("[X] ||| a ||| b ||| EgivenF=1\n")
    (tmp_path / "cdec.ini").write_text(f"formalism=scfg\ngrammar={tmp_path / 'rules'}\n")
    made = host.translator(tmp_path / "cdec.ini")
    assert (made.started, dict(made.model.weights)) == (False, {})


def test_grammars_of_sentences_need_weights(host: Host, tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("decoder: hiero\nmodel: {features: [word-penalty]}\n")
    sentence = Sentence("0", ("a",), grammars=("own",))
    with pytest.raises(UsageError, match="no weights: expected some for the features of grammars of single sentences"):
        check_names(host.translator(tmp_path / "run.yaml"), [sentence], lambda text: None)


def test_a_note_lists_the_first_of_many() -> None:
    assert listed_weights({"a": 0.5, "b": -1.0}) == "a 0.5, b -1"
    assert listed_weights({f"f{k}": 1.0 for k in range(25)}).endswith("f19 1 and 5 more")


@pytest.mark.parametrize("mapped", [False, True])
def test_scores_of_a_table_without_a_weight_are_named(host: Host, tmp_path: Path, mapped: bool) -> None:
    (tmp_path / "table").write_text(MOSES)
    if mapped:
        host.convert(tmp_path / "table", tmp_path / "table.smt", "smt-table")
    table = "table.smt" if mapped else "table"
    (tmp_path / "run.yaml").write_text(f"decoder: phrase\nmodel: {{tables: {table}, features: [word-penalty]}}\n")
    notes: list[str] = []
    weights = {"TranslationModel0[0]": 1.0, "TranslationModel0[2]": 1.0}
    made = host.translator(tmp_path / "run.yaml", weights=weights, cache="off", note=notes.append)
    assert [one.best for one in made.decode(["a"])] == ["b"]
    lacking = "word-penalty, TranslationModel0[1], TranslationModel0[3]"
    assert notes == [f"features without a weight count 0: {lacking}"]
