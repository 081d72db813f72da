"""Weights against the features they are for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtformats import FormatError, open_lines
from smtformats.hypergraph import plf
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.host.config.override import with_decoder
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.config.weight_names import check_names
from smtplugins.host.decode.translator import Translator, make_translator

RULES = "[X] ||| haus ||| house ||| p=-1 rare=1\n[X] ||| das [X,1] ||| the [1] ||| p=-0.5\n"
CONFIG = """\
decoder: hiero
model:
  tables: rules
  features: [word-penalty, glue, pass-through]
  weights: w
"""


OPEN = """\
from smtplugins import Offer, hookimpl

class Open:
    def score_rules(self, rules):
        return rules.word_counts()

@hookimpl
def smt_features():
    yield Offer(name="open", make=Open, summary="its columns have names that it does not tell before")
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules").write_text(RULES)
    Path("own").write_text("[X] ||| haus ||| home ||| mine=1\n")
    Path("run.yaml").write_text(CONFIG)
    Path("open.py").write_text(OPEN)


def translator(weights: str, *overrides: str) -> Translator:
    Path("w").write_text(weights)
    host = smt.load_plugins(["open.py"])
    return make_translator(host, load_config("run.yaml", overrides), None, "off").loaded()


def told(made: Translator, *grammars: str) -> list[str]:
    notes: list[str] = []
    check_names(made, [Sentence("0", ("haus",), grammars=grammars)], notes.append)
    return notes


def test_all_names_of_no_feature_are_told_with_the_nearest_known_one() -> None:
    with pytest.raises(UsageError) as caught:
        told(translator("p 1\nword-penalti 2\n\nRARE 3\nrare 1\n"))
    assert str(caught.value) == (
        f"{Path.cwd()}/w: weights of unknown features: 'word-penalti' (line 2, the nearest is 'word-penalty'), "
        "'RARE' (line 4, the nearest is 'rare'); correct or remove the names"
    )


def test_names_in_open_namespaces_and_of_all_tables_are_good() -> None:
    assert told(translator("p 1\nrare 2\nword-penalty 1\nglue 1\npass-through 1\nx:y 1\n")) == []


def test_arcs_of_lattices_bring_features() -> None:
    Path("in").write_text("((('haus',{'Cost':0.5},1),),)\n")
    with open_lines("in") as lines:
        (lattice,) = plf.parse(lines)
    notes: list[str] = []
    given = [Sentence("0", ("haus",), lattice=lattice)]
    check_names(translator("p 1\nCost 2\n"), given, notes.append)
    assert notes == []
    # Lattices that follow may have others.
    check_names(translator("p 1\nCots 2\n"), given, notes.append)
    assert notes[0].startswith(
        f"{Path.cwd()}/w: weights of features outside the configuration and the first sentence's lattice are not used: "
        "'Cots' (line 2, the nearest is 'Cost')"
    )


def test_all_of_many_are_named() -> None:
    with pytest.raises(UsageError) as caught:
        told(translator("".join(f"n{i} 1\n" for i in range(1500))))
    for i in range(1500):
        assert f"'n{i}' (line {i + 1}" in str(caught.value)
    assert str(caught.value).count("the nearest is") == 10


def test_grammars_of_sentences_may_have_other_names() -> None:
    made = translator("p 1\nmine 1\nother 1\n")
    assert told(made, "own") == [
        f"{Path.cwd()}/w: weights of features outside the configuration and the first sentence's grammars are not "
        "used: 'other' (line 3, the nearest is 'pass-through')"
    ]
    with pytest.raises(UsageError, match="'mine'"):
        told(made)


def test_sparse_features_need_not_be_in_this_table() -> None:
    given = ("model.tables={path: rules, name: TM}", "model.features=[word-penalty]")
    assert "'TM_seldom'" in told(translator("p 1\nTM_seldom 2\n", *given))[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cdec.ini", "formalism=scfg\ngrammar=rules\nweights=w\n"),
        ("joshua.config", "tm = thrax pt 12 rules\nweights-file = w\n"),
    ],
)
def test_toolkits_that_ignore_such_weights(name: str, text: str) -> None:
    Path(name).write_text(text)
    Path("w").write_text("p 1\nlm_1 2\n")
    host = smt.load_plugins()
    config = load_config(name)
    for one in (config, with_decoder(host, config, "hiero,pop_limit=3")):
        assert "'lm_1'" in told(make_translator(host, one, None, "off").loaded())[0]


def test_features_that_do_not_declare_their_columns() -> None:
    made = translator("p 1\nanything 2\nopen[0] 1\nopen:x 1\n", "model.features=[open, glue]")
    assert told(made) == [
        f"{Path.cwd()}/w: weights of unknown features are not used, unless feature 'open' has such columns: "
        "'anything' (line 2, the nearest is 'rare')"
    ]
    assert made.unweighted() == ["glue"]
    assert translator("p 1\n", "model.features=[open]").unweighted() == ["open"]


# Plugins of papers may be taken out.
DECODERS = {"reference", "hiero", "umt", "phrase", "reference-phrase", "swap"}


@pytest.mark.parametrize("decoder", sorted(DECODERS & set(smt.load_plugins().registry.names("decoders"))))
def test_weights_are_checked_with_each_decoder(decoder: str) -> None:
    Path("rules").write_text("[X] ||| haus ||| house ||| p=-1\n")
    made = translator("p 1\nq 1\n", f"decoder={decoder}")
    with pytest.raises(UsageError, match="weights of unknown features: 'q'"):
        told(made)


def test_translators_of_the_api_check_their_weights() -> None:
    Path("w").write_text("p 1\n")
    notes: list[str] = []
    host = smt.load_plugins()
    made = host.translator("run.yaml", weights={"p": -1.0}, cache="off", note=notes.append)
    assert [decoding.best for decoding in made.decode(["haus", "das haus"])] == ["house", "the house"]
    assert notes == ["features without a weight count 0: word-penalty, glue, pass-through"]
    made = host.translator("run.yaml", weights={"p": 1.0, "P": 1.0, "LM": 1.0}, cache="off")
    with pytest.raises(UsageError, match=r"weights of unknown features: 'P' \(the nearest is 'p'\), 'LM' \("):
        list(made.decode(["haus"]))


def test_components_without_a_weight_are_named_one_by_one() -> None:
    Path("rules").write_text("haus ||| house ||| 0.5 0.25 0.1\n")
    given = ("model.tables={path: rules, name: TM}", "model.features=[glue]")
    made = translator("TM[1] 1\nword-penalty 1\n", *given)
    assert made.unweighted() == ["TM[0]", "TM[2]", "glue"]
    assert made.notes() == ["features without a weight count 0: TM[0], TM[2], glue"]


def test_columns_beside_a_feature_need_no_weight() -> None:
    features = "model.features=['pass-through,lengths=2,name=PT', 'word-penalty,name=WP']"
    assert translator("p 1\nrare 1\nPT 1\n", features).unweighted() == ["WP"]
    assert translator("p 1\nrare 1\nWP 1\n", features).unweighted() == ["PT", "PT_1", "PT_2"]
    features = "model.features=['source-path,scores=3,name=A', 'word-penalty,name=WP']"
    assert translator("p 1\nrare 1\nWP 1\nA[0] 1\n", features).unweighted() == ["A[1]", "A[2]"]


@pytest.mark.parametrize("value", ["1e39", "-1e39", "3.5e38"])
def test_weights_that_are_too_large(value: str) -> None:
    with pytest.raises(FormatError, match=r"w:2: expected a weight of p that fits 32-bit floats, found "):
        translator(f"# text\np {value}\n")
    Path("w").write_text("p 1\n")
    with pytest.raises(UsageError, match="weight of 'p': expected a number that fits 32-bit floats"):
        make_translator(smt.load_plugins(), load_config("run.yaml"), {"p": float(value)}, "off")


@pytest.mark.parametrize("value", ["1" + "0" * 39, "-1" + "0" * 400])
def test_weights_of_missing_features_that_are_too_large(value: str) -> None:
    with pytest.raises(UsageError, match=r"model.missing: expected a number that fits 32-bit floats, found a larger"):
        translator("p 1\n", f"model.missing={value}")


def test_weights_of_missing_features_are_no_names_of_the_user() -> None:
    given = ("model.tables={path: rules, name: TM}", "model.features=[word-penalty]", "model.missing=1")
    Path("rules").write_text("haus ||| house ||| 0.5 0.25\n")
    assert told(translator("word-penalty 1\n", *given)) == []


@pytest.mark.parametrize("value", ["inf", "nan", "-inf"])
def test_weights_that_are_not_finite(value: str) -> None:
    with pytest.raises(FormatError, match=f"w:2: field 2: expected a finite number, found '{value}'"):
        translator(f"q 1\np {value}\nr 1\n")


def test_every_format_of_weights_says_where_they_stand(tmp_path: Path) -> None:
    host = smt.load_plugins()
    texts = {
        "cdec-weights": "# x\na 1\n",
        "moses-ini": "[weight]\na= 1 2\n",
        "joshua-config": "top-n = 1\na 1\n",
        "pipe-weights": "\na ||| 1\n",
        "zmert-params": "\na ||| 1 Fix 0 0 0 0\nnormalization = none\n",
        "moses-hypergraph-weights": "b 1\na 1\n",
    }
    for name, text in texts.items():
        Path("w").write_text(text)
        found: Any = host.read_weights("w", name)
        assert set(found.places) == set(found), name
        assert found.places[max(found, key=lambda one: one.startswith("a"))] == 2, name
        assert found.file.endswith("w"), name
