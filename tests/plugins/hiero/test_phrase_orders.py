"""Phrases in any order, as cdec's formalism pb has them, against all sequences of phrases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import smtplugins as smt
from smtformats import FormatError
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import kbest, paths
from smtplugins.core.search.phrase_forests import steps_of
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.files.tree_fields import tree_fields

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/decode-hiero"
LM = f"lm,path={EXAMPLE / 'en.arpa'},base=10,name=LM"
TABLE = {
    ("a",): [("A", 1.0), ("the", 0.5)],
    ("a", "b"): [("AB", 2.5)],
    ("b",): [("cook", -0.5)],
    ("b", "c", "d"): [("the boy", 0.25), ("BCD", 3.0)],
    ("c",): [("", 0.125)],
    ("d", "a"): [("DA dog", 1.5)],
}
WEIGHTS = {"F": 1.0, "PassThrough": -3.0, "W": -0.25, "LM": 0.7}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pb")
    lines = [f"{' '.join(s)} ||| {t} ||| F={value}\n" for s, targets in TABLE.items() for t, value in targets]
    (made / "pt").write_text("".join(lines))
    (made / "run.yaml").write_text("{}")
    return made


def decoded(folder: Path, words: tuple[str, ...], *features: str, **options: Any) -> Decoding:
    decoder = {"name": "hiero", "reach": 1, "search": "full", "pass_through": "unknown", **options}
    model = {
        "tables": str(folder / "pt"),
        "grammar_format": "cdec-grammar,label=X",
        "features": ["pass-through,name=PassThrough", "word-penalty,value=1,name=W", *features],
    }
    config = load_config(folder / "run.yaml", [("decoder", decoder), ("model", model)])
    return (
        smt.load_plugins()
        .translator(config, weights=WEIGHTS, cache="off")
        .decode_one(Sentence("0", words), graphs=True)
    )


def graph_of(decoding: Decoding) -> Hypergraph:
    assert decoding.graph is not None
    return decoding.graph()


def phrases(words: tuple[str, ...]) -> list[tuple[int, int, str, float]]:
    """Source span, target and score of each phrase; words that no phrase has alone are copied."""
    found = []
    for first in range(len(words)):
        for last in range(first + 1, len(words) + 1):
            targets = TABLE.get(words[first:last])
            if targets is None and last == first + 1:
                targets = [(words[first], -3.0)]
            found += [(first, last, text, value) for text, value in targets or ()]
    return found


def sequences(words: tuple[str, ...], reach: int, covered: frozenset[int] = frozenset()) -> Iterator[list[Any]]:
    """All sequences of phrases; the next one begins at most ``reach`` words behind the first word that is left."""
    left = [i for i in range(len(words)) if i not in covered]
    if not left:
        yield []
        return
    for phrase in phrases(words):
        own = set(range(phrase[0], phrase[1]))
        if phrase[0] <= left[0] + reach and not own & covered:
            for rest in sequences(words, reach, covered | own):
                yield [phrase, *rest]


def texts_of(words: tuple[str, ...], reach: int) -> Counter[tuple[str, float]]:
    found: Counter[tuple[str, float]] = Counter()
    for sequence in sequences(words, reach):
        text = " ".join(part for _, _, part, _ in sequence if part)
        score = sum(value for *_, value in sequence) - 0.25 * len(text.split())
        found[text, round(score, 4)] += 1
    return found


@settings(max_examples=60, deadline=None)
@given(words=st.lists(st.sampled_from("abcdx"), min_size=1, max_size=6).map(tuple), reach=st.integers(0, 6))
def test_all_orders_are_there_once(folder: Path, words: tuple[str, ...], reach: int) -> None:
    graph = graph_of(decoded(folder, words, reach=reach))
    wanted = texts_of(words, reach)
    assert paths(graph) == sum(wanted.values())
    found = kbest(graph, None, 100_000)
    scores = [round(score, 4) + 0.0 for score in found.scores.tolist()]
    assert Counter(zip(found.texts(), scores, strict=True)) == wanted


def test_a_forest_has_the_nodes_and_edges_of_cdecs(folder: Path) -> None:
    """A node for each set of words, and one for each phrase that is put behind such a set; phrases at the start of the
    translation are in the node of their words, another edge joins two nodes, and a goal is above them."""
    words = ("a", "b", "x")
    # [a] [b] [x] [ab]; [a] [ab]: 2 + 1 phrases, [b] and [x] one each.
    graph = graph_of(decoded(folder, words, reach=1))
    # Sets {a} {b} {ab} {ax} {abx}; b-a, a-b, a-x, ab-x, ax-b: {b} leads on by a alone, as x is 2 words behind a.
    joined = {("a", "b"), ("b", "a"), ("a", "x"), ("ab", "x"), ("ax", "b")}
    assert graph.nodes == 5 + len(joined) + 1
    starts = 2 + 1 + 1  # [a] twice, [b], [ab]
    behind = {"a": 2, "b": 1, "x": 1}
    assert len(graph) == starts + sum(behind[phrase] for _, phrase in joined) + len(joined) + 1


@pytest.mark.parametrize("words", [("a", "b", "c", "d", "a"), ("b", "x", "a", "b"), ("b", "c", "d", "a")])
def test_a_language_model_is_exact(folder: Path, words: tuple[str, ...]) -> None:
    """With it each translation has the score that it has where it is the only one."""
    graph = graph_of(decoded(folder, words, LM, reach=2))
    plain = texts_of(words, 2)
    lm = {}
    for derivation in kbest(graph, None, 100_000):
        features = dict(zip(graph.names[:], derivation.features().tolist(), strict=True))
        assert lm.setdefault(derivation.text, features["LM"]) == pytest.approx(features["LM"], abs=1e-4)
    assert set(lm) == {text for text, _ in plain}
    best = max(score + WEIGHTS["LM"] * lm[text] for text, score in plain)
    for search in ({"search": "full"}, {"search": "cube_pruning", "pop_limit": 100_000, "adapt": 0.0, "beam": 1e9}):
        assert decoded(folder, words, LM, reach=2, **search).score == pytest.approx(best, abs=1e-4)


def test_traces_and_features(folder: Path) -> None:
    found = decoded(folder, ("b", "a"), reach=1)
    assert found.features["F"] == pytest.approx(0.5)
    assert found.trace is not None
    assert [line.split("  ")[0] for line in found.trace() if "Goal" in line] == [
        "[0, 2) Goal -> [X,1] ||| [X,1]",
    ]
    # The span of a set of words is from its first to its last.
    found = decoded(folder, ("a", "b", "x", "d", "a"), reach=3)
    assert found.built is not None
    steps = found.built()
    assert sum(step.score for step in steps) == pytest.approx(found.score, abs=1e-4)
    assert all(0 <= step.first < step.last <= 5 for step in steps)
    assert all(number < i for i, step in enumerate(steps) for number in (step.beside, *(n for n, _ in step.further)))
    for words in (("x",), ()):
        none = decoded(folder, words, pass_through="none")
        assert (none.found, none.best) == (False, "")


def test_the_input_of_lists_is_in_its_order(folder: Path) -> None:
    words = ("a", "b", "a", "x")
    derivations = kbest(graph_of(decoded(folder, words)), k=50)
    assert len({*derivations.texts()}) > 5
    assert {*tree_fields(derivations, ["input"])["input"]} == {" ".join(words)}


def test_steps() -> None:
    # Two words, phrases for each: both orders if the second word may come first.
    assert {bits: len(steps) for bits, steps in steps_of([(0, 1), (1, 2)], 2, 0, 99).items()} == {1: 1, 3: 1}
    assert {bits: len(steps) for bits, steps in steps_of([(0, 1), (1, 2)], 2, 1, 99).items()} == {1: 1, 2: 1, 3: 2}
    # What leads nowhere is left out: the first word has no phrase.
    assert steps_of([(1, 2)], 2, 1, 99) == {}


def test_faults(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="reach: expected 0 or more, found -1"):
        decoded(folder, ("a",), reach=-1)
    with pytest.raises(UsageError, match="reach: expected no markers"):
        decoded(folder, ("a",), markers=True)
    with pytest.raises(
        SmtError, match="sentence 0: expected at most 10 steps from phrase to phrase, found more: lower"
    ):
        decoded(folder, ("a",) * 9, reach=8, max_steps=10)
    (tmp_path / "run.yaml").write_text("{}")
    (tmp_path / "pt").write_text("a ||| A ||| F=1\n[X,1] a ||| A [1]\n")
    with pytest.raises(FormatError, match=r"pt:2: field 1: expected a phrase without gaps, found '\[X,1\] a'"):
        decoded(tmp_path, ("a",))
