"""Lists with a segmentation: phrases, and features scored phrase by phrase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import smtplugins as smt
from smtformats import Candidates, Columns, FormatError
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.offers import Offer
from smtplugins.core.grammar.rules import Edges
from smtplugins.host.features.scoring import Active
from smtplugins.host.features.segmentations import Phrase, phrases_of

NEEDS = frozenset({"target", "segmentation"})


def listed(*pairs: tuple[str, str], source: str | None = "w0 w1 w2 w3") -> Candidates:
    made = smt.candidates([text for text, _ in pairs], id=7, source=source)
    return replace(made, extras={"segmentation": [segments for _, segments in pairs]}, file="list.txt", line=5)


def scores(feature: Any, nbest: Candidates) -> list[list[float]]:
    return Active("f", Offer(name="f", make=object, summary="s", needs=NEEDS), feature).score(nbest)[1]


def test_phrases_in_target_order() -> None:
    nbest = listed(("a b c", "2-3=0-1 0-1=2"), ("", ""), ("a", "0-3=0"))
    assert phrases_of(nbest) == [[Phrase(2, 4, ("a", "b")), Phrase(0, 2, ("c",))], [], [Phrase(0, 4, ("a",))]]


def test_phrases_without_words() -> None:
    """Moses prints only where such a phrase would begin."""
    nbest = listed(("a b", "0=0 1=1 2-3=1"), ("a", "0-1=0 2-3=0"), ("a", "0-1=0 2-3=1"))
    words = [[phrase.words for phrase in own] for own in phrases_of(nbest)]
    assert words == [[("a",), (), ("b",)], [(), ("a",)], [("a",), ()]]


@pytest.mark.parametrize(
    ("text", "segments", "message"),
    [
        ("a b", "0=0", "phrases for all 2 words|up to word 2"),
        ("a b", "0=0 1=2", "up to word 2"),
        ("a b", "0=1 1=0", "up to word 2"),
        ("a b", "0=0 0=1", "each source word in one phrase"),
        ("a b", "1-0=0 2=1", "each source word in one phrase"),
        ("a b", "0=0 4=1", "a source sentence of 4 words"),
        ("a b", "", "phrases for all 2 words of the translation, found none"),
    ],
)
def test_segmentations_that_do_not_fit(text: str, segments: str, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        phrases_of(listed(("", ""), (text, segments)))
    assert (caught.value.file, caught.value.line) == ("list.txt", 6)


class Walker:
    """States and scores that show which way a derivation was gone."""

    def start(self, sentence: Any) -> Any:
        assert sentence.tokens == ("w0", "w1", "w2", "w3")
        return self

    def combine(self, edges: Edges, tails: Sequence[Sequence[Any]]) -> tuple[Any, list[Any]]:
        assert edges.firsts is not None and edges.lasts is not None
        states, values = [], []
        for i, below in enumerate(tails):
            target = edges.rules.target_of(i)
            place = edges.firsts[i], edges.lasts[i]
            assert (target, place) == ([], (0, 0)) if not below else target[0] == 0
            states.append((*(below[0] if below else ()), (*map(int, place), *target)))
            values.append([1.0, float(place[0])])
        return values, states

    def finish(self, states: Sequence[Any]) -> Any:
        self.ends = list(states)
        return [[100.0, 0.0]] * len(states)


def test_features_with_states_walk_along_the_phrases() -> None:
    feature = Walker()
    nbest = listed(("a b c", "2-3=0-1 0-1=2"), ("", ""), ("a", "0-3=0"))
    assert scores(feature, nbest) == [[103.0, 2.0], [101.0, 0.0], [102.0, 0.0]]
    start = (0, 0)
    assert feature.ends == [(start, (2, 4, 0, "a", "b"), (0, 2, 0, "c")), (start,), (start, (0, 4, 0, "a"))]


def test_features_of_rules_are_summed_over_phrases() -> None:
    class Rows:
        def score_rules(self, rules: Any) -> Any:
            counts = rules.word_counts().tolist()
            return Columns.from_mappings([{f"n:{count}": 1.0} for count in counts])

    class Ones:
        def score_rules(self, rules: Any) -> Any:
            return [1.0] * len(rules)

    nbest = listed(("a b c", "2-3=0-1 0-1=2"), ("", ""), ("a b", "0-1=0 2-3=1"))
    assert scores(Ones(), nbest) == [[2.0], [0.0], [2.0]]
    layouts, values = Active("f", Offer(name="f", make=object, summary="s", needs=NEEDS), Rows()).score(nbest)
    assert (layouts, values) == ([("n:1", "n:2"), (), ("n:1",)], [[1.0, 1.0], [], [2.0]])


def test_lists_without_a_segmentation_name_the_remedy() -> None:
    with pytest.raises(UsageError, match="needs the segmentation: the decoder has to print"):
        scores(Walker(), smt.candidates(["a"], id=0))
    with pytest.raises(UsageError, match="list 0: expected a segmentation, found none"):
        phrases_of(smt.candidates(["a"], id=0))


def test_paths_of_a_lattice_are_not_measured_by_the_source() -> None:
    nbest = listed(("a", "7-9=0"), source="w0")
    with pytest.raises(FormatError):
        phrases_of(nbest)
    assert phrases_of(replace(nbest, extras={**nbest.extras, "input": ["w0"]})) == [[Phrase(7, 10, ("a",))]]
