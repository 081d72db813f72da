"""Features on lists: each contract gives one number per hypothesis, and wrong results are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtformats import Candidates, Columns
from smtplugins.contracts.adapters import SimpleStateful
from smtplugins.contracts.errors import FeatureError, SmtError, UsageError
from smtplugins.contracts.offers import Offer
from smtplugins.contracts.spec import Spec
from smtplugins.host.features.scoring import Active, activate, adapt, as_block, score_lists
from smtplugins.host.host import Host
from smtplugins.plugins.standard.runners import Serial

LISTS = [
    smt.candidates(["a man with a hat", "a hat", "", "hat"], id=0, source="ein mann"),
    smt.candidates(["the house", "a \u00a0 house a house"], id=1, source="das haus"),
]
BIGRAMS = {("<s>", "a"): -0.5, ("a", "man"): -0.25, ("a", "hat"): -0.75, ("hat", "</s>"): -1.0, ("<s>", "the"): -0.125}
UNSEEN = -2.0


def log_prob(left: str, right: str) -> float:
    return BIGRAMS.get((left, right), UNSEEN)


class WholeBigrams:
    """A bigram model over whole hypotheses."""

    def score_candidates(self, source: str | None, candidates: Candidates) -> list[float]:
        return [
            sum(log_prob(left, right) for left, right in zip(["<s>", *words], [*words, "</s>"], strict=True))
            for words in ([word for word in text.split(" ") if word] for text in candidates.texts)
        ]


class StatefulBigrams(SimpleStateful):
    """The same from edge to edge: the state is the first and the last word."""

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        score, first, last = 0.0, None, None
        for symbol in target:
            left, right = tails[symbol] if isinstance(symbol, int) else (symbol, symbol)
            if left is None:
                continue
            if last is not None:
                score += log_prob(last, left)
            first, last = first or left, right
        return score, (first, last)

    def finish_one(self, state: Any) -> float:
        first, last = state
        return log_prob("<s>", "</s>") if first is None else log_prob("<s>", first) + log_prob(last, "</s>")


class Counts:
    """Words, as a feature of rules."""

    def score_rules(self, rules: Any) -> Any:
        return rules.word_counts()


class StatefulCounts(SimpleStateful):
    """Words, from edge to edge."""

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        return float(sum(not isinstance(symbol, int) for symbol in target)), ()


class WholeCounts:
    """Words of whole hypotheses."""

    def score_candidates(self, source: str | None, candidates: Candidates) -> list[int]:
        return [len(text.replace("\u00a0", "x").split()) for text in candidates.texts]


class Returns:
    """A feature that returns what it was told to."""

    def __init__(self, result: Any) -> None:
        self.result = result

    def score_candidates(self, source: str | None, candidates: Candidates) -> Any:
        return self.result


def active(feature: Any, label: str = "x", needs: set[str] | None = None) -> Active:
    return Active(label, Offer(name="x", make=lambda: None, summary="x", needs=frozenset(needs or ())), feature)


def values(feature: Any) -> list[list[list[float]]]:
    return [active(feature).score(nbest)[1] for nbest in LISTS]


class TestAdapters:
    def test_stateful_and_candidate_bigrams_agree(self) -> None:
        assert values(StatefulBigrams()) == values(WholeBigrams())
        assert values(WholeBigrams())[0][1] == [-0.5 - 0.75 - 1.0]

    def test_three_contracts_count_alike(self) -> None:
        assert values(Counts()) == values(StatefulCounts()) == values(WholeCounts())
        assert values(Counts())[0] == [[5.0], [2.0], [0.0], [1.0]]

    def test_stateful_vectors_take_the_columns_name(self) -> None:
        class Pair:
            def start(self, sentence: Any) -> Any:
                return self

            def combine(self, edges: Any, tails: Any) -> tuple[Any, list[Any]]:
                return np.ones((len(edges), 2)), [()] * len(edges)

            def finish(self, states: Any) -> Any:
                return np.arange(2 * len(states)).reshape(-1, 2)

        layouts, rows = active(Pair(), "pair").score(LISTS[1])
        assert layouts == [("pair[0]", "pair[1]")] * 2
        assert rows == [[1.0, 2.0], [3.0, 4.0]]

    def test_stateful_columns_keep_their_names(self) -> None:
        class Named:
            def start(self, sentence: Any) -> Any:
                return self

            def combine(self, edges: Any, tails: Any) -> tuple[Any, list[Any]]:
                return Columns.dense(("n:a", "n:b"), [[1.0, 2.0]] * len(edges)), [()] * len(edges)

            def finish(self, states: Any) -> Any:
                return Columns.dense(("n:b", "n:c"), [[10.0, 5.0]] * len(states))

        layouts, rows = active(Named()).score(LISTS[1])
        assert [dict(zip(names, row, strict=True)) for names, row in zip(layouts, rows, strict=True)] == [
            {"n:a": 1.0, "n:b": 12.0, "n:c": 5.0}
        ] * 2

    def test_finish_of_another_shape_is_an_error(self) -> None:
        class Odd(SimpleStateful):
            def start(self, sentence: Any) -> Any:
                return self

            def combine(self, edges: Any, tails: Any) -> tuple[Any, list[Any]]:
                return np.ones((len(edges), 2)), [()] * len(edges)

            def finish(self, states: Any) -> Any:
                return [0.0] * len(states)

        with pytest.raises(
            FeatureError, match=r"scores of one shape from combine and finish, found \(2, 2\) and \(2,\)"
        ):
            active(Odd()).score(LISTS[1])

    def test_scorer_sees_the_sentence(self) -> None:
        seen = []

        class Sees(SimpleStateful):
            def start(self, sentence: Any) -> Any:
                seen.append((sentence.id, sentence.tokens))
                return super().start(sentence)

            def combine_one(self, target: Any, tails: Any) -> tuple[float, Any]:
                return 0.0, ()

        values(Sees())
        active(Sees()).score(smt.candidates(["a"], id=7))
        assert seen == [("0", ("ein", "mann")), ("1", ("das", "haus")), ("7", ())]

    def test_what_is_no_feature_is_refused(self) -> None:
        with pytest.raises(UsageError, match="object: expected score_candidates, score_rules or start"):
            adapt(object())


class TestBlocks:
    @pytest.mark.parametrize(
        ("result", "layout", "rows"),
        [
            ([1, 2.5], ("x",), [[1.0], [2.5]]),
            (np.array([1, 2]), ("x",), [[1.0], [2.0]]),
            (np.array([[1, 2], [3, 4]]), ("x[0]", "x[1]"), [[1.0, 2.0], [3.0, 4.0]]),
            ([[1], [2]], ("x[0]",), [[1.0], [2.0]]),
            (Columns.dense(("p", "q"), [[1, 2], [3, 4]]), ("p", "q"), [[1.0, 2.0], [3.0, 4.0]]),
            (iter([True, False]), ("x",), [[1.0], [0.0]]),
        ],
    )
    def test_forms_of_an_answer(self, result: Any, layout: tuple[str, ...], rows: list[list[float]]) -> None:
        assert as_block(result, 2, "x") == ([layout] * 2, rows)

    def test_rows_of_columns_may_have_their_own_names(self) -> None:
        layouts, rows = as_block(Columns.from_mappings([{"w:b": 2.0, "w:a": 1.0}, {}]), 2, "x")
        assert (layouts, rows) == ([("w:a", "w:b"), ()], [[1.0, 2.0], []])

    @pytest.mark.parametrize(
        ("result", "message"),
        [
            ([1.0], "ValueError: expected 2 scores, one for each hypothesis, found 1"),
            ([1.0, 2.0, 3.0], "ValueError: expected 2 scores, one for each hypothesis, found 3"),
            (Columns.dense(("p",), [[1.0]]), "ValueError: expected 2 scores, one for each hypothesis, found 1"),
            ([[1.0, 2.0], [3.0]], "ValueError: expected 2 components for hypothesis 1, found 1"),
            ([1.0, float("nan")], "ValueError: expected finite scores, found nan in 'mine' for hypothesis 1"),
            ([float("-inf"), 1.0], "ValueError: expected finite scores, found -inf in 'mine' for hypothesis 0"),
            (["high", 1.0], "ValueError: could not convert string to float: 'high'"),
            (None, "TypeError: 'NoneType' object is not iterable"),
            ([None, 1.0], "TypeError: float"),
        ],
    )
    def test_wrong_answers_name_feature_and_list(self, result: Any, message: str) -> None:
        with pytest.raises(FeatureError) as caught:
            active(Returns(result), "mine").score(LISTS[1])
        assert str(caught.value).startswith("feature 'mine' on list 1 (<data>:1): " + message)

    def test_a_feature_that_raises_names_list_and_line(self, tmp_path: Path, host: Host) -> None:
        class Raises:
            def score_candidates(self, source: str | None, candidates: Candidates) -> Any:
                raise KeyError("lost") if candidates.id == "1" else ZeroDivisionError

        path = tmp_path / "x.nbest"
        path.write_text("1 ||| a ||| f= 1 ||| 0\n2 ||| a ||| f= 1 ||| 0\n")
        first, second = smt.read(path)
        with pytest.raises(FeatureError) as caught:
            active(Raises()).score(first)
        assert str(caught.value) == f"feature 'x' on list 1 ({path}:1): KeyError: 'lost'"
        with pytest.raises(FeatureError, match=r"on list 2 \(.*x\.nbest:2\): ZeroDivisionError"):
            active(Raises()).score(second)

    def test_an_error_for_the_user_is_passed_on(self) -> None:
        class Refuses:
            def score_candidates(self, source: str | None, candidates: Candidates) -> Any:
                raise SmtError("the model speaks French only")

        with pytest.raises(SmtError, match=r"^the model speaks French only$"):
            active(Refuses()).score(LISTS[0])


class TestNeeds:
    @pytest.mark.parametrize(
        ("need", "message"),
        [
            ("source", "feature 'x' needs the source: add it with source=FILE"),
            ("alignment", "feature 'x' needs the alignment: the decoder has to print word alignments into the list"),
            ("segmentation", "feature 'x' needs the segmentation: the decoder has to print the segmentation into"),
            ("derivation", "feature 'x' needs the derivation: lists have it as trees, for features of whole"),
            ("grammar", "feature 'x' needs the grammar: n-best lists have no grammar"),
            ("annotations:topic", "feature 'x' needs the annotations topic: add it with annotations={'topic': FILE}"),
        ],
    )
    def test_what_is_lacking_is_named_with_its_remedy(self, need: str, message: str) -> None:
        with pytest.raises(UsageError) as caught:
            active(Returns([1.0]), needs={need, "target"}).score(smt.candidates(["a"]))
        assert str(caught.value).startswith(message)

    def test_what_is_there_is_enough(self) -> None:
        nbest = Candidates(
            id="0",
            texts=["a"],
            layouts=[()],
            values=[[]],
            extras={"alignment": ["0-0"], "segmentation": ["0=0"], "tree": ["[S a]"]},
            source="x",
            annotations={"topic": "news"},
        )
        needs = {"target", "source", "alignment", "segmentation", "derivation", "annotations:topic", "list"}
        assert active(Returns([1.0]), needs=needs).score(nbest) == ([("x",)], [[1.0]])

    def test_a_tree_is_no_derivation_for_what_sees_one_edge(self) -> None:
        nbest = replace(smt.candidates(["a"]), extras={"tree": ["[S a]"]})
        with pytest.raises(UsageError, match="needs the derivation: lists have it as trees"):
            active(StatefulBigrams(), needs={"derivation"}).score(nbest)


class TestActivation:
    def test_name_is_the_columns(self, host: Host) -> None:
        made = activate(host.registry, ["length", "length,name=second"])
        assert [feature.label for feature in made] == ["length", "second"]

    def test_two_columns_of_one_name_are_refused(self, host: Host) -> None:
        with pytest.raises(UsageError, match="two features are named 'length'; rename one of them with `name=`"):
            activate(host.registry, ["length", "word-penalty,name=length"])

    @pytest.mark.parametrize("name", ["", "a b", "a=b", "a|b", "a\tb"])
    def test_a_name_fits_into_a_list(self, host: Host, name: str) -> None:
        with pytest.raises(UsageError, match=r"expected a column name without blanks, `=` and `|`, found "):
            activate(host.registry, [Spec("length", {"name": name})])

    def test_there_is_something_to_do(self, host: Host) -> None:
        with pytest.raises(UsageError, match="features: expected at least one, found none"):
            activate(host.registry, [])


class TestLists:
    def test_columns_stand_behind_the_lists_own(self, host: Host) -> None:
        nbest = smt.candidates(["a b", "c"], scores={"LM": [1.0, 2.0]})
        (scored,) = host.score([nbest], ["word-penalty", "length"])
        assert scored.layouts == [("LM", "word-penalty", "length")] * 2
        assert scored.values == [[1.0, -2.0, 2.0], [2.0, -1.0, 1.0]]
        assert nbest.values == [[1.0], [2.0]]

    def test_a_column_that_is_there_already_is_refused(self, host: Host, tmp_path: Path) -> None:
        path = tmp_path / "x.nbest"
        path.write_text("0 ||| a ||| f= 1 ||| 0\n1 ||| a ||| length= 1 ||| 0\n")
        with pytest.raises(UsageError) as caught:
            host.score(smt.read(path), ["length"]).load()
        assert str(caught.value) == (f"{path}:2: list already has a feature 'length'; rename 'length' with `name=`")
        assert host.score(smt.read(path), ["length,name=words"]).load().features.names == ("f", "words", "length")

    def test_columns_that_name_themselves_clash_with_another_remedy(self, host: Host, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / name).write_text("qe\n1\n2\n")
        specs = [f"column,path={tmp_path / name},name={name}" for name in ("a", "b")]
        nbest = smt.candidates(["x", "y"])
        assert host.score([nbest], specs).load().features.names == ("a", "b")
        plain = f"column,path={tmp_path / 'a'}"
        assert host.score([nbest], [plain]).load().features.names == ("qe",)
        with pytest.raises(UsageError, match=r"already has a feature 'qe'; rename that column where it is made"):
            host.score(host.score([nbest], [plain]), [plain]).load()
        (tmp_path / "two").write_text("qe\tlen\n1\t2\n2\t3\n")
        names = host.score([nbest], [f"column,path={tmp_path / 'two'},name=mine"]).load().features.names
        assert names == ("mine-qe", "mine-len")

    def test_name_stands_for_the_offers_own_in_open_names(self) -> None:
        columns = Columns.dense(("offer", "offer:a", "offer[0]", "offers", "other"), [[1, 2, 3, 4, 5]])
        offer = Offer(name="offer", make=lambda: None, summary="x")
        layouts, _ = Active("mine", offer, Returns(columns)).score(smt.candidates(["x"]))
        assert layouts == [("mine", "mine:a", "mine[0]", "offers", "other")]

    def test_features_see_sources_but_no_raw_lines(self) -> None:
        seen = []

        class Sees:
            def score_candidates(self, source: str | None, candidates: Candidates) -> Any:
                seen.append((source, candidates.source, candidates.raw))
                return [0.0] * len(candidates)

        done = list(score_lists(LISTS, [active(Sees())], Serial()))
        assert seen == [("ein mann", "ein mann", None), ("das haus", "das haus", None)]
        assert [nbest.texts for nbest in done] == [nbest.texts for nbest in LISTS]

    def test_done_is_told_how_many_hypotheses_went_through(self) -> None:
        class Counting(Returns):
            total = 0

            def score_candidates(self, source: str | None, candidates: Candidates) -> Any:
                return [0.0] * len(candidates)

            def done(self, hypotheses: int) -> None:
                self.total += hypotheses

        feature = Counting(None)
        stream = score_lists(LISTS, [active(feature)], Serial())
        next(stream)
        assert feature.total == 0
        list(stream)
        assert feature.total == 6

    def test_lists_are_drawn_one_by_one(self) -> None:
        drawn = []

        def source() -> Any:
            for nbest in LISTS:
                drawn.append(nbest.id)
                yield nbest

        stream = score_lists(source(), [active(Counts())], Serial())
        next(stream)
        assert drawn == ["0"]
