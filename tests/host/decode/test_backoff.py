"""Phrase tables that are used where the tables before them have nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.core.graph.inference import kbest
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.translator import make_translator

CONFIG = """\
decoder: {name: phrase, search: stack, stack_size: 0, beam_threshold: 0, distortion_limit: 1, xml: inclusive}
model:
  tables:
  - {path: table0, name: A, scores: 1, backoff: 4}
  - {path: table1, name: B, scores: 1, backoff: BACKOFF}
  - {path: table2, name: C, scores: 1, backoff: BACKOFF}
  grammar_format: moses-phrases
  features: [oov, distortion]
  weights: weights
"""
SENTENCES = ("a b c d", "a b a b", "d d e", "e", "")
OTHER = ("z", "Z", 0.5)  # no file is empty
Table = list[tuple[str, str, float]]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("weights").write_text("A 1\nB 0.5\nC 0.7\noov -20\ndistortion 0.2\n")


def derivations(tables: list[Table], backoff: str) -> list[list[tuple[str, float]]]:
    """All derivations of the sentences."""
    for i, table in enumerate(tables):
        Path(f"table{i}").write_text(
            "".join(f"{source} ||| {text} ||| {p}\n" for source, text, p in [*sorted(table), OTHER])
        )
    Path("run.yaml").write_text(CONFIG.replace("BACKOFF", backoff))
    made = make_translator(smt.load_plugins(), load_config("run.yaml"), None, "off")
    found = []
    for decoding in made.decode(SENTENCES, graphs=True):
        assert decoding.graph is not None
        listed = kbest(decoding.graph(), k=100_000)
        scores = [round(score, 4) for score in listed.scores.tolist()]
        found.append(sorted(zip(listed.texts(), scores, strict=True)))
    return found


def random_table(source: random.Random, name: str) -> Table:
    words = [" ".join(source.choices("abcd", k=source.choice([1, 1, 2, 3]))) for _ in range(5)]
    return [(text, f"{name}{i}", source.choice([0.5, 0.25])) for i, text in enumerate(words)]


@pytest.mark.parametrize(("backoff", "most"), [("1", 1), ("2", 2), ("-1", 99)])
def test_the_same_as_tables_without_what_is_not_used(backoff: str, most: int) -> None:
    """Tables know sources, not places, so what a backoff leaves out can be left out of the file."""
    for seed in range(4):
        source = random.Random(f"{seed} {backoff}")
        tables = [random_table(source, name) for name in "XYZ"]
        used, known = [tables[0]], {text for text, *_ in tables[0]}
        for table in tables[1:]:
            used.append([row for row in table if row[0] not in known and len(row[0].split()) <= most])
            known |= {text for text, *_ in used[-1]}
        assert used != tables
        assert derivations(tables, backoff) == derivations(used, "0")
        # Without a backoff all tables are used.
        assert derivations(tables, "0") != derivations(used, "0")


@pytest.mark.parametrize("decoder", ["hiero", "reference-phrase"])
def test_decoders(decoder: str) -> None:
    """Whatever takes phrases has it, charts do not."""
    derivations([random_table(random.Random(1), name) for name in "XYZ"], "1")
    options = "{name: reference-phrase, distortion_limit: 1}" if decoder != "hiero" else "hiero"
    made = make_translator(smt.load_plugins(), load_config("run.yaml", [f"decoder={options}"]), None, "off")
    if decoder == "hiero":
        with pytest.raises(UsageError, match="backoff: expected a decoder of phrases"):
            list(made.decode(["a b"]))
    else:
        best = [
            one.best
            for one in make_translator(smt.load_plugins(), load_config("run.yaml"), None, "off").decode(SENTENCES)
        ]
        assert [one.best for one in made.decode(SENTENCES)] == best


def test_translations_of_tags_are_before_the_backoff() -> None:
    from smtformats.corpus.segments import Mark

    derivations([[("a", "X", 0.5)], [("b", "Y", 0.5)], []], "1")
    made = make_translator(smt.load_plugins(), load_config("run.yaml"), None, "off")
    mark = Mark("n", 1, 2, {"translation": "T"})
    (plain, tagged) = made.decode([Sentence("0", ("a", "b")), Sentence("1", ("a", "b"), marks=(mark,))], graphs=True)
    assert plain.graph is not None and tagged.graph is not None
    assert set(kbest(plain.graph(), k=9).texts()) == {"X Y"}
    assert set(kbest(tagged.graph(), k=9).texts()) == {"X T"}


def test_a_penalty_for_each_table() -> None:
    from smtformats.corpus.segments import Mark

    derivations([[("a", "X", 1.0)], [("b", "Y", 1.0)], [("c", "Z", 1.0)]], "0")
    Path("weights").write_text("P[0] 1\nP[1] 10\nP[2] 100\noov 0\n")
    penalty = ["model.features=[oov, 'phrase-penalty,name=P,owners=A+markup B C']"]
    made = make_translator(smt.load_plugins(), load_config("run.yaml", penalty), None, "off")
    mark = Mark("n", 3, 4, {"translation": "T"})
    plain, tagged = made.decode([Sentence("0", tuple("abce")), Sentence("1", tuple("abcb"), marks=(mark,))])
    assert plain.score == 111
    assert dict(plain.features)["P[2]"] == 1
    # The table has a better phrase for what is tagged.
    assert tagged.score == 121


@pytest.mark.parametrize("options", ["owners= ", "owner=A,owners=B"])
def test_owners_of_penalties(options: str) -> None:
    derivations([[("a", "X", 1.0)], [], []], "0")
    config = load_config("run.yaml", [f"model.features=['phrase-penalty,{options}']"])
    with pytest.raises(UsageError, match="owners: expected"):
        make_translator(smt.load_plugins(), config, None, "off")
