"""Each check of metrics fails for the metric that breaks it, and says what is wrong."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from smtplugins import Offer
from smtplugins.testing.samples import WordOverlap

Failures = Callable[..., dict[str, str]]
TICKS = itertools.count()


def offer(**changes: Any) -> Offer:
    """Word overlap, with some of its methods or attributes changed."""
    return Offer(name="tried", make=type("Made", (WordOverlap,), changes), summary="a metric under test")


def changed(change: Callable[[Any], Any]) -> Any:
    """``stats`` with its rows changed."""
    return lambda self, *given: change(WordOverlap.stats(self, *given))


def sorted_input(self: Any, hypotheses: Any, references: Any, sources: Any = None) -> Any:
    rows = WordOverlap.stats(self, hypotheses, references, sources)
    hypotheses.sort()
    return rows


def three_words_more(self: Any, hypotheses: Any, references: Any, sources: Any = None) -> Any:
    rows = WordOverlap.stats(self, hypotheses, references, sources)
    return np.column_stack([rows, *(rows[:, :1] for _ in range(min(3, len(rows) // 2)))])


def one_reference(self: Any, hypotheses: Any, references: Any, sources: Any = None) -> Any:
    if len(references) != 1:
        raise ValueError("one reference, please")
    return WordOverlap.stats(self, hypotheses, references, sources)


def of_longest(rows: Any) -> Any:
    return rows / rows.max()


def first_weighs_double(self: Any, stats: Any) -> Any:
    return WordOverlap.score(self, np.atleast_2d(stats)[:1])


def quality(self: Any, hypotheses: Any, references: Any, sources: Any = None) -> Any:
    """Needs no references: how much longer than the source."""
    return np.array([[len(hyp), len(src), 1.0] for hyp, src in zip(hypotheses, sources, strict=True)])


class Held:
    """Prepared references that may be of the wrong number, forget numbers of segments, or add something."""

    def __init__(self, metric: Any, references: Any, missing: int, forgets: bool, more: float) -> None:
        self.metric, self.references, self.forgets, self.more = metric, references, forgets, more
        self.size = len(references[0]) - missing

    def __len__(self) -> int:
        return self.size

    def stats(self, hypotheses: Any, segments: Any = None) -> Any:
        numbers = range(len(hypotheses)) if segments is None or self.forgets else segments
        chosen = [[stream[k] for k in numbers] for stream in self.references]
        return WordOverlap.stats(self.metric, hypotheses, chosen) + self.more


def holding(missing: int = 0, forgets: bool = False, more: float = 0.0, turned: bool = False) -> Offer:
    """A metric that prepares references, well or not."""

    def matrix(self: Any, hypotheses: Any, others: Any) -> Any:
        table = [WordOverlap.stats(self, hypotheses, [[other] * len(hypotheses)]) for other in others]
        return np.stack(table, axis=0 if turned else 1)

    return offer(prepare=lambda self, references: Held(self, references, missing, forgets, more), matrix=matrix)


def averaging(more: float = 0.0, sums: bool = False, weighs_first: bool = False) -> Offer:
    """A metric that averages references, well or not; statistics of word overlap are means of rows here."""

    def aggregate(self: Any, hypotheses: Any, references: Any, weights: Any) -> Any:
        rows = [WordOverlap.stats(self, hypotheses, [[other] * len(hypotheses)]) for other in references]
        given = [1.0] * len(rows) if sums else sorted(weights) if weighs_first else weights
        return np.tensordot(np.array(given), np.stack(rows), 1) + more

    return offer(aggregate=aggregate)


def in_score(self: Any, stats: Any) -> Any:
    return WordOverlap.score(self, stats) / (stats[..., 1] > 0)


def test_good_metrics_pass(failures: Failures) -> None:
    assert failures("metrics", offer()) == {}


def test_a_metric_may_prepare_references(failures: Failures) -> None:
    assert failures("metrics", holding()) == {}


def test_a_metric_may_average_references(failures: Failures) -> None:
    assert failures("metrics", averaging()) == {}


def test_a_metric_without_references_is_not_asked_for_the_best(failures: Failures) -> None:
    assert failures("metrics", offer(stats=quality)) == {}


@pytest.mark.parametrize(
    ("record", "check", "words"),
    [
        (offer(name=" "), "has_name_and_direction", "expected a name, found ' '"),
        (offer(higher_is_better=None), "has_name_and_direction", "`higher_is_better` to be True or False, found None"),
        (offer(stats=changed(lambda rows: rows.ravel())), "statistics_are_rows", "7 rows of statistics, found shape"),
        (offer(stats=three_words_more), "statistics_are_rows", r"rows of one width, found widths \[3, 4, 6\]"),
        (offer(stats=changed(lambda rows: rows.astype(int))), "statistics_are_rows", "expected floats from `stats`"),
        (offer(stats=changed(lambda rows: rows + np.inf)), "statistics_are_rows", "expected finite .* `stats`, found"),
        (offer(stats=one_reference), "statistics_are_rows", "with 2 references failed: ValueError: one reference, p"),
        (offer(stats=changed(of_longest)), "statistics_are_of_segments", "segment 1 has different statistics alone"),
        (offer(stats=changed(lambda rows: rows + next(TICKS))), "statistics_repeat", "different statistics the second"),
        (offer(stats=sorted_input), "statistics_repeat", "`stats` changed the lists it was given"),
        (holding(missing=1), "prepared_references_agree", "expected 7 prepared segments, found 6"),
        (holding(more=1.0), "prepared_references_agree", "prepared references give different statistics$"),
        (holding(forgets=True), "prepared_references_agree", "different statistics when segments are selected"),
        (holding(turned=True), "prepared_references_agree", "`matrix` and `stats` give different statistics"),
        (averaging(more=1.0), "aggregated_references_agree", "`aggregate` and `stats` .* the one text 'where is my h"),
        (averaging(sums=True), "aggregated_references_agree", "a reference in two parts gives different statistics"),
        (averaging(weighs_first=True), "aggregated_references_agree", "changes with the order of the references"),
        (averaging(more=np.nan), "aggregated_references_agree", "expected finite numbers from `aggregate`"),
        (offer(score=first_weighs_double), "scores_follow_from_sums", r"one corpus, found shape \(1,\)"),
        (
            offer(score=lambda self, stats: np.asarray(random.random())),
            "scores_follow_from_sums",
            "the score changes with the order of the segments",
        ),
        (
            offer(score=lambda self, stats: WordOverlap.score(self, stats).sum()),
            "leading_axes_are_kept",
            r"expected scores of shape \(3, 2\) .*, found \(\)",
        ),
        (
            offer(score=lambda self, stats: WordOverlap.score(self, stats) / max(1, stats.ndim)),
            "leading_axes_are_kept",
            "a corpus among others scores .*, alone",
        ),
        (
            offer(sentence=lambda self, stats: WordOverlap.score(self, stats.sum(axis=0))),
            "sentences_are_scored",
            r"expected 7 sentence scores, found shape \(\)",
        ),
        (
            offer(sentence=lambda self, stats: stats[:, 0] / len(stats)),
            "sentences_are_scored",
            "sentence 0 scores .* among others and .* alone",
        ),
        (offer(higher_is_better=False), "the_reference_is_best", "a worse text scores 73.*, the reference itself 100"),
        (offer(signature=lambda self: ""), "has_a_signature", "expected a one-line signature, found ''"),
        (offer(signature=lambda self: f"v{id(self)}"), "has_a_signature", "the signature was 'v.*' and is now 'v"),
    ],
)
def test_a_bad_metric_fails(record: Offer, check: str, words: str, failures: Failures) -> None:
    failed = failures("metrics", record)
    assert re.search(words, failed[check]), failed


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_output_at_all_has_a_score(failures: Failures) -> None:
    failed = failures("metrics", offer(score=in_score))
    assert failed["empty_output_is_scored"] == "expected finite numbers from `score`, found nan"
