"""Each check of features fails for the feature that breaks it, and says what is wrong; good features pass them all."""

from __future__ import annotations

import itertools
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smtformats import Columns
from smtplugins import Offer, feature
from smtplugins.contracts.adapters import SimpleStateful
from smtplugins.testing.features import any_feature as features

Failures = Callable[..., dict[str, str]]
TARGET = frozenset({"target"})


def offer(make: Any, needs: frozenset[str] = TARGET, **more: Any) -> Offer:
    return Offer(name="tried", make=make, summary="a feature under test", needs=needs, **more)


def scoring(function: Callable[[Any, Any], Any]) -> type:
    """A feature whose ``score_candidates`` is this function of source and candidates."""
    return type("Made", (), {"score_candidates": lambda self, source, candidates: function(source, candidates)})


def lengths(candidates: Any) -> list[int]:
    return [len(text.split()) for text in candidates.texts]


class Length:
    def score_candidates(self, source: Any, candidates: Any) -> Any:
        return lengths(candidates)


class Repetition(SimpleStateful):
    """Equal neighbours."""

    def combine_one(self, target: Any, tails: Any) -> tuple[float, Any]:
        ends = [tails[symbol] if isinstance(symbol, int) else (symbol, symbol) for symbol in target]
        ends = [pair for pair in ends if pair]
        score = sum(left[1] == right[0] for left, right in itertools.pairwise(ends))
        return float(score), (ends[0][0], ends[-1][1]) if ends else ()

    def finish_one(self, state: Any) -> float:
        return 0.5 * (state[1:] == ("a",))


@feature("words")
def words(source: str, hyp: str, *, factor: float = 1.0) -> Any:
    return {word: factor for word in hyp.split() if word in source}


def test_good_features_pass(failures: Failures) -> None:
    for record in (offer(Length), offer(Repetition), words.smt_offers):
        assert failures("features", record) == {}


class CountsLists:
    def __init__(self) -> None:
        self.seen: set[str] = set()

    def score_candidates(self, source: Any, candidates: Any) -> Any:
        self.seen.add(candidates.id)
        return [len(self.seen)] * len(candidates)


class Untyped:
    def __init__(self, factor=1.0) -> None:  # type: ignore[no-untyped-def]
        self.factor = factor

    score_candidates = Length.score_candidates


class Mistyped:
    def __init__(self, factor: NoSuchType = 1.0) -> None:  # type: ignore[name-defined]  # noqa: F821
        self.factor = factor

    score_candidates = Length.score_candidates


class Named:
    def __init__(self, name: str = "x") -> None:
        self.name = name

    score_candidates = Length.score_candidates


class NeedsPath:
    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")

    score_candidates = Length.score_candidates


def changes_list(source: Any, candidates: Any) -> Any:
    candidates.extras["seen"] = list(candidates.texts)
    return lengths(candidates)


def divides_by_words(source: Any, candidates: Any) -> Any:
    return [len(text) / len(text.split()) for text in candidates.texts]


def comes_and_goes(source: Any, candidates: Any) -> Any:
    return Columns.from_mappings([{"long": 1.0} if len(text) > 9 else {} for text in candidates.texts])


def reads_source(source: Any, candidates: Any) -> Any:
    return [len(source.split()) - length for length in lengths(candidates)]


def reads_source_if_there(source: Any, candidates: Any) -> Any:
    return [len(source or "") - length for length in lengths(candidates)]


def reads_alignment(source: Any, candidates: Any) -> Any:
    return [len(links) for links in candidates.extras.get("alignment", candidates.texts)]


def reads_annotation(source: Any, candidates: Any) -> Any:
    return [length + len(candidates.annotations.get("kit", "")) for length in lengths(candidates)]


def best_of_list(source: Any, candidates: Any) -> Any:
    longest = max(lengths(candidates))
    return [length - longest for length in lengths(candidates)]


DURING = {
    "scores_are_finite",
    "column_names_are_stable",
    "scores_repeat",
    "lists_are_independent",
    "hypotheses_are_independent",
    "input_is_not_changed",
    "needs_are_honest",
    "workers_give_the_same",
}
"""The checks that score lists: a feature that cannot score fails all of them."""


@pytest.mark.parametrize(
    ("record", "wanted", "words"),
    [
        (offer(scoring(divides_by_words)), DURING, "ZeroDivisionError"),
        (
            offer(scoring(lambda source, nbest: [float("nan")] * len(nbest))),
            DURING,
            "expected finite scores, found nan",
        ),
        (offer(scoring(lambda source, nbest: [1.0])), DURING, "expected 5 scores, one for each hypothesis, found 1"),
        (offer(scoring(comes_and_goes)), {"column_names_are_stable"}, r"has \('long',\); columns that vary"),
        (
            offer(scoring(lambda source, nbest: Columns.dense(("a b",), [[1.0]] * len(nbest)))),
            {"column_names_are_stable"},
            "the column name 'a b' is empty or contains a blank",
        ),
        (
            offer(scoring(lambda source, nbest: [random.random() for _ in nbest.texts])),
            DURING - {"scores_are_finite", "column_names_are_stable", "input_is_not_changed"},
            "list 0 scored again scores differently: row 0, 'tried' is",
        ),
        (offer(scoring(best_of_list)), {"hypotheses_are_independent"}, "hypothesis 2 of list 0 alone .*lacks `list`"),
        (offer(scoring(changes_list)), {"input_is_not_changed"}, "scoring changed list 0"),
        (offer(scoring(reads_source)), {"needs_are_honest"}, "without the source, which .* fails: .*'NoneType'"),
        (offer(scoring(reads_source_if_there)), {"needs_are_honest"}, "without the source, .* scores differently"),
        (offer(scoring(reads_alignment)), {"needs_are_honest"}, "list 0 without the alignment, which `needs` does not"),
        (offer(scoring(reads_annotation)), {"needs_are_honest"}, "list 0 without the annotations, which `needs`"),
        (offer(Length, frozenset()), {"needs_are_honest"}, "list 0 without the target, which `needs` does not name"),
        (
            offer(scoring(lambda source, nbest: [os.getpid()] * len(nbest))),
            {"workers_give_the_same"},
            "list 0 in another process scores differently",
        ),
        (offer(Untyped), {"is_documented"}, "option 'factor' of 'tried' has no type"),
        (offer(Mistyped), {"is_documented"}, "the type 'NoSuchType' of option 'factor' of 'tried' cannot be resolved"),
        (offer(Named), {"options_are_free_of_name"}, "has an option `name`, which cannot be set"),
        (offer(NeedsPath), {"can_be_made"}, "'tried' cannot be made without path: give its Offer a `trial`"),
        (
            offer(NeedsPath, trial=lambda folder: {"path": folder / "no"}),
            {"can_be_made"},
            "'tried' cannot be made: FileNotFoundError: ",
        ),
        (offer(Length, requires=("learner:absent",)), {"can_be_made"}, "is unavailable: needs learner:absent"),
    ],
)
def test_a_bad_feature_fails(record: Offer, wanted: set[str], words: str, failures: Failures) -> None:
    failed = failures("features", record)
    assert set(failed) == wanted
    assert any(re.search(words, message) for message in failed.values()), failed


def test_a_feature_that_remembers_lists_fails(failures: Failures) -> None:
    failed = failures("features", offer(CountsLists))
    text = "list 6 after different lists scores differently: row 0, 'tried' is 4.0 and then 5.0"
    assert failed["lists_are_independent"] == text
    # Whether workers show it depends on which of them gets which lists.
    assert set(failed) <= {"lists_are_independent", "workers_give_the_same"}


class Batches:
    """Reads three lists ahead; ``change`` is added to the scores of batches."""

    change = 0.0

    def score_candidates(self, source: Any, candidates: Any) -> Any:
        return lengths(candidates)

    def score_batches(self, lists: Any) -> Any:
        while some := list(itertools.islice(lists, 3)):
            for nbest in some:
                yield [length + self.change for length in lengths(nbest)]


class OtherBatches(Batches):
    change = 0.5


def test_batches_give_what_single_lists_do(failures: Failures) -> None:
    assert failures("features", offer(Batches)) == {}
    assert failures("features", offer(OtherBatches)) == {
        "batches_give_the_same": "list 0 among others scores differently: row 0, 'tried' is 5.0 and then 5.5"
    }


def test_a_feature_of_the_whole_list_says_so(failures: Failures) -> None:
    assert failures("features", offer(scoring(best_of_list), frozenset({"target", "list"}))) == {}


def test_options_given_are_used_in_place_of_the_trial(failures: Failures, tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.touch()
    assert failures("features", offer(NeedsPath), options={"path": path}) == {}


def test_annotations_that_are_named_are_there(failures: Failures) -> None:
    class OfTopic(Repetition):
        def start(self, sentence: Any) -> Any:
            assert sentence.annotations["topic"]
            return super().start(sentence)

    made = scoring(lambda source, nbest: [len(nbest.annotations["topic"])] * len(nbest))
    assert failures("features", offer(made, frozenset({"annotations:topic"}))) == {}
    assert failures("features", offer(OfTopic, frozenset({"target", "annotations:topic"}))) == {}


class OfBatch:
    def score_rules(self, rules: Any) -> Any:
        counts = rules.word_counts()
        return counts - counts.max()


class OfNumbers:
    def score_rules(self, rules: Any) -> Any:
        return [float(sum(rules.target[a:b])) for a, b in zip(rules.offsets[:-1], rules.offsets[1:], strict=True)]


class Overwrites:
    def score_rules(self, rules: Any) -> Any:
        counts = rules.word_counts()
        rules.target[:] = 0
        return counts


@pytest.mark.parametrize(
    ("make", "check", "words"),
    [
        (OfBatch, "rules_are_independent", r"rule \[\] scores differently in a batch of 1: 'score' is -\d.0"),
        (OfNumbers, "word_numbers_do_not_matter", "scores differently with other word numbers"),
        (Overwrites, "rules_are_not_changed", "scoring changed the target sides of the rules"),
    ],
)
def test_a_bad_rule_feature_fails(make: type, check: str, words: str, failures: Failures) -> None:
    failed = failures("features", offer(make), features.rule_features.CHECKS)
    assert re.search(words, failed[check])
    assert set(failed) & {function.__name__ for function in features.rule_features.CHECKS} == {check}


class Forgets(Repetition):
    def combine_one(self, target: Any, tails: Any) -> tuple[float, Any]:
        score, state = super().combine_one(target, tails)
        return score, state[1:] * 2


class CountsBatch(Repetition):
    def start(self, sentence: Any) -> Any:
        inner = super().start(sentence)
        combine = inner.combine
        inner.combine = lambda edges, tails: ([len(edges)] * len(edges), combine(edges, tails)[1])
        return inner


class Unhashable(Repetition):
    def combine_one(self, target: Any, tails: Any) -> tuple[float, Any]:
        score, state = super().combine_one(target, [tuple(state) for state in tails])
        return score, list(state)

    def finish_one(self, state: Any) -> float:
        return super().finish_one(tuple(state))


class AlwaysEqual(tuple):  # type: ignore[type-arg]
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class MergesAll(Repetition):
    def combine_one(self, target: Any, tails: Any) -> tuple[float, Any]:
        score, state = super().combine_one(target, tails)
        return score, AlwaysEqual(state)


class NeverEqual(Repetition):
    def combine_one(self, target: Any, tails: Any) -> tuple[float, Any]:
        score, state = super().combine_one(target, [state.pair for state in tails])
        return score, Box(state)

    def finish_one(self, state: Any) -> float:
        return super().finish_one(state.pair)


class Box:
    def __init__(self, pair: Any) -> None:
        self.pair = pair


class RemembersSentence(Repetition):
    def start(self, sentence: Any) -> Any:
        self.width = len(sentence.tokens)
        return super().start(sentence)

    def finish_one(self, state: Any) -> float:
        return float(self.width)


class GuessesIn(Repetition):
    guessed = 0

    def estimate_one(self, target: Any) -> float:
        self.guessed += 1
        return 0.0

    def finish_one(self, state: Any) -> float:
        return float(self.guessed)


class GuessesNothing(Repetition):
    def estimate_one(self, target: Any) -> float:
        return float("-inf")


class Stateless(Repetition):
    """The score of an edge is right, its state is short of one word."""

    def start(self, sentence: Any) -> Any:
        inner = super().start(sentence)
        combine = inner.combine
        inner.combine = lambda edges, tails: (combine(edges, tails)[0], combine(edges, tails)[1][1:])
        return inner


@pytest.mark.parametrize(
    ("make", "wanted", "words"),
    [
        (Forgets, {"bracketing_does_not_matter"}, r"in one piece and as \[.*\[.*is"),
        (
            CountsBatch,
            {"bracketing_does_not_matter", "edges_are_independent"},
            "edge 'a' scores differently alone and in a batch: 'score' is 24.0 and then 1.0",
        ),
        (Unhashable, {"states_fit_a_table"}, r"the state \['a', 'a'\] cannot be hashed"),
        (MergesAll, {"equal_states_have_equal_futures"}, "'a' and '.*' have equal states, but score differently"),
        (NeverEqual, {"states_fit_a_table", "edges_are_independent"}, "which are not equal"),
        (RemembersSentence, {"sentences_do_not_mix"}, "scores differently beside another sentence"),
        (GuessesIn, {"estimates_are_finite"}, "'a' scores differently after `estimate`: 'score' is 0.0 and then 40.0"),
        (GuessesNothing, {"estimates_are_finite"}, "expected finite scores, found -inf"),
        (
            Stateless,
            {function.__name__ for function in features.stateful_features.CHECKS},
            r"expected \d+ states, found \d+",
        ),
    ],
)
def test_a_bad_stateful_feature_fails(make: type, wanted: set[str], words: str, failures: Failures) -> None:
    failed = failures("features", offer(make), features.stateful_features.CHECKS)
    of_states = {function.__name__ for function in features.stateful_features.CHECKS}
    assert set(failed) & of_states == wanted, failed
    assert any(re.search(words, message) for message in failed.values()), failed


def test_derivations_not_in_lists_are_asked_of_edges_alone(failures: Failures) -> None:
    failed = failures("features", offer(MergesAll, frozenset({"target", "derivation"})))
    assert set(failed) == {"equal_states_have_equal_futures"}
