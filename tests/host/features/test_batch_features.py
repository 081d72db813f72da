"""Features that read lists ahead, beside others, with any runner; and how they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import smtplugins as smt
from smtformats import Candidates
from smtplugins.contracts.errors import FeatureError, UsageError
from smtplugins.contracts.features import BatchFeature
from smtplugins.contracts.offers import Offer
from smtplugins.host.features.scoring import Active, score_lists
from smtplugins.host.host import Host
from smtplugins.host.spread.choice import default_runner

LISTS = [
    replace(smt.candidates([f"{'x' * (i % 5)} {k}" for k in range(1 + i % 3)], id=i), file="my.nbest", line=10 * i)
    for i in range(20)
]


class Characters:
    """The number of characters, of up to ``ahead`` lists at a time; ``closed`` counts the calls of ``close``."""

    def __init__(self, ahead: int = 3) -> None:
        self.ahead, self.closed = ahead, 0

    def score_candidates(self, source: str | None, candidates: Candidates) -> list[float]:
        return [float(len(text)) for text in candidates.texts]

    def score_batches(self, lists: Iterator[Candidates]) -> Iterator[list[float]]:
        waiting: list[Candidates] = []
        for nbest in lists:
            waiting.append(nbest)
            if len(waiting) == self.ahead:
                yield from (self.score_candidates(None, one) for one in waiting)
                waiting = []
        yield from (self.score_candidates(None, one) for one in waiting)

    def close(self) -> None:
        self.closed += 1


class Words:
    """The number of words, list by list."""

    def score_candidates(self, source: str | None, candidates: Candidates) -> list[float]:
        return [float(len(text.split())) for text in candidates.texts]


def active(label: str, feature: Any, **options: Any) -> Active:
    return Active(label, Offer(name=label, make=type(feature), summary="x", **options), feature)


def scored(host: Host, features: list[Active], jobs: int = 1, lists: Any = LISTS) -> list[Candidates]:
    return list(score_lists(lists, features, host.registry.make("runners", default_runner(jobs))))


@pytest.mark.parametrize("jobs", [1, 2])
def test_columns_are_those_of_single_lists_in_the_order_of_the_features(host: Host, jobs: int) -> None:
    batched = [Characters(3), Characters(50)]
    features = [
        active("a", batched[0]),
        active("words", Words()),
        active("b", batched[1]),
        active("more", Words()),
    ]
    result = scored(host, features, jobs)
    assert [nbest.names() for nbest in result] == [("a", "words", "b", "more")] * len(LISTS)
    for nbest, before in zip(result, LISTS, strict=True):
        assert nbest.texts == before.texts
        assert nbest.values == [
            [float(len(t)), float(len(t.split())), float(len(t)), float(len(t.split()))] for t in nbest.texts
        ]
    assert [feature.closed for feature in batched] == [1, 1]
    assert isinstance(batched[0], BatchFeature)


def test_lists_are_read_no_further_than_the_feature_does(host: Host) -> None:
    read: list[Candidates] = []

    def stream() -> Iterator[Candidates]:
        for nbest in LISTS:
            read.append(nbest)
            yield nbest

    result = score_lists(stream(), [active("a", Characters(4))], host.registry.make("runners", "serial"))
    next(result)
    assert len(read) == 4


def replaced(batches: Callable[[Iterator[Candidates]], Iterator[Any]]) -> Characters:
    feature = Characters()
    feature.score_batches = batches  # type: ignore[method-assign]
    return feature


def broken(lists: Iterator[Candidates]) -> Iterator[Any]:
    for i, _ in enumerate(lists):
        if i == 2:
            raise RuntimeError("no more")
    yield [1.0]


def too_few(lists: Iterator[Candidates]) -> Iterator[Any]:
    yield from ([1.0] * len(nbest) for nbest in lists if nbest.id != "19")


def too_many(lists: Iterator[Candidates]) -> Iterator[Any]:
    yield from ([1.0] * len(nbest) for nbest in lists)
    yield [1.0]


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        (broken, r"^feature 'a' on list 0 \(my.nbest:0\): RuntimeError: no more$"),
        (
            too_few,
            r"^feature 'a' on list 19 \(my.nbest:190\): ValueError: expected the scores of each list, found none$",
        ),
        (too_many, r"^feature 'a': ValueError: expected the scores of each list once, found more$"),
        (
            lambda lists: ([1.0] for _ in lists),
            r"^feature 'a' on list 1 \(my.nbest:10\): ValueError: expected 2 scores, one for each hypothesis, found 1$",
        ),
        (
            lambda lists: ([float("nan")] * len(nbest) for nbest in lists),
            r"^feature 'a' on list 0 \(my.nbest:0\): ValueError: expected finite scores, found nan",
        ),
    ],
)
def test_failures_name_the_feature_and_the_first_list_without_scores(
    host: Host, batches: Callable[[Iterator[Candidates]], Iterator[Any]], message: str
) -> None:
    feature = replaced(batches)
    with pytest.raises(FeatureError, match=message):
        scored(host, [active("a", feature)])
    assert feature.closed == 1


def test_failures_of_others_are_theirs(host: Host) -> None:
    def stream() -> Iterator[Candidates]:
        yield LISTS[0]
        raise OSError("disk on fire")

    with pytest.raises(OSError, match="disk on fire"):
        scored(host, [active("a", Characters())], lists=stream())
    with pytest.raises(UsageError, match="feature 'a' needs the source: add it with source=FILE"):
        scored(host, [active("a", Characters(), needs={"source"})])
