"""Checks of all features, on n-best lists; then the checks of each feature contract."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.spec import parameters
from smtplugins.testing import samples
from smtplugins.testing.checks import Check, DoesNotApply, Subject, can_be_made, described, is_documented
from smtplugins.testing.features import (
    native_features,
    phrase_features,
    rule_features,
    stateful_features,
    undirected_features,
)
from smtplugins.testing.rows import Row, difference, rows_of

if TYPE_CHECKING:
    from smtformats import Candidates
    from smtplugins.contracts.offers import Offer
    from smtplugins.host.host import Host

_NOT_IN_LISTS = {"derivation", "grammar"}


def subject(offer: Offer, folder: Path, host: Host, *, options: Mapping[str, Any] | None = None) -> Subject:
    """Return a feature to check."""
    return Subject(offer, folder, host, options)


def options_are_free_of_name(subject: Subject) -> None:
    """No option is called ``name``, which the host uses for the column's name."""
    assert "name" not in parameters(subject.offer.factory), (
        f"{subject.offer.name!r} has an option `name`, which cannot be set: the host uses it for the column's name"
    )


def scores_are_finite(subject: Subject) -> None:
    """Each hypothesis gets one finite score or one row of scores, whatever characters are in its text."""
    with _scoring(subject) as score:
        for nbest in _lists(subject):
            score(nbest)


def column_names_are_stable(subject: Subject) -> None:
    """All rows have the same columns, except those of an open namespace ``prefix:``; names fit into list formats."""
    with _scoring(subject) as score:
        first: tuple[str, ...] | None = None
        for nbest in _lists(subject):
            for i, (names, _) in enumerate(score(nbest)):
                for name in names:
                    assert name and not any(char in name for char in " \t\n=|"), (
                        f"the column name {name!r} is empty or contains a blank, `=` or `|`"
                    )
                assert len(set(names)) == len(names), f"hypothesis {i} of list {nbest.id} has a column twice: {names}"
                fixed = tuple(name for name in names if ":" not in name)
                first = fixed if first is None else first
                assert fixed == first, (
                    f"hypothesis {i} of list {nbest.id} has the columns {fixed}, the first one has {first}; "
                    "columns that vary must be named `prefix:key`"
                )


def scores_repeat(subject: Subject) -> None:
    """The same list gets the same scores again, from the same object and from a new one."""
    with _scoring(subject) as score, _scoring(subject) as other:
        for nbest in _lists(subject):
            rows = score(nbest)
            _assert_same(rows, score(nbest), f"list {nbest.id} scored again")
            _assert_same(rows, other(nbest), f"list {nbest.id} scored by a second object with the same options")


def lists_are_independent(subject: Subject) -> None:
    """The scores of a list do not depend on the lists before it."""
    with _scoring(subject) as score:
        every = _lists(subject)
        rows = {nbest.id: score(nbest) for nbest in every}
        for nbest in reversed(every):
            _assert_same(rows[nbest.id], score(nbest), f"list {nbest.id} after different lists")


def hypotheses_are_independent(subject: Subject) -> None:
    """The scores of a hypothesis do not depend on the other hypotheses, unless ``needs`` has ``list``."""
    if "list" in subject.offer.needs:
        raise DoesNotApply("the feature reads the whole list")
    with _scoring(subject) as score:
        for nbest in _lists(subject):
            rows = score(nbest)
            backwards = list(reversed(range(len(nbest))))
            _assert_same(
                [rows[i] for i in backwards], score(nbest.select(backwards)), f"list {nbest.id} backwards", 1e-5
            )
            for i in range(len(nbest)):
                what = f"hypothesis {i} of list {nbest.id} alone (or `needs` lacks `list`)"
                _assert_same([rows[i]], score(nbest.select([i])), what, 1e-5)


def input_is_not_changed(subject: Subject) -> None:
    """Scoring does not change the list."""
    with _scoring(subject) as score:
        for nbest in _lists(subject):
            before = copy.deepcopy(nbest)
            score(nbest)
            assert nbest == before, f"scoring changed list {nbest.id}"


def needs_are_honest(subject: Subject) -> None:
    """Scores are the same without the inputs that ``needs`` does not name: the feature does not read them."""
    needs = subject.offer.needs
    removals: dict[str, Callable[[Candidates], Candidates]] = {
        "target": lambda nbest: replace(nbest, texts=[""] * len(nbest)),
        "source": lambda nbest: replace(nbest, source=None),
        "alignment": lambda nbest: _without_extra(nbest, "alignment"),
        "segmentation": lambda nbest: _without_extra(nbest, "segmentation"),
        "annotations": lambda nbest: replace(
            nbest, annotations={name: nbest.annotations[name] for name in subject.annotations}
        ),
    }
    for need, remove in removals.items():
        if need in needs:
            continue
        with _scoring(subject) as score, _scoring(subject) as other:
            for nbest in _lists(subject):
                rows = score(nbest)
                try:
                    scores = other(remove(nbest))
                except AssertionError as error:
                    raise AssertionError(
                        f"without the {need}, which `needs` does not name, list {nbest.id} fails: {error}"
                    ) from error
                what = f"list {nbest.id} without the {need}, which `needs` does not name,"
                _assert_same(rows, scores, what)


def _without_extra(nbest: Candidates, name: str) -> Candidates:
    return replace(nbest, extras={key: column for key, column in nbest.extras.items() if key != name})


def workers_give_the_same(subject: Subject) -> None:
    """Several processes give the same scores as one: the feature works after a fork."""
    from smtplugins.host.spread.choice import default_runner

    every = _lists(subject) * 4
    with _scoring(subject) as score:
        wanted = [score(nbest) for nbest in every]
    # A new object: workers get features that were not used before the fork.
    active = _active(subject)
    runner = subject.host.registry.make("runners", default_runner(2))
    try:
        actual = [rows_of(block) for block in runner.map(active.score, every)]
    except Exception as error:
        raise AssertionError(f"scoring in two processes: {described(error)}") from error
    finally:
        _close(active.feature)
    for nbest, rows, others in zip(every, wanted, actual, strict=True):
        _assert_same(rows, others, f"list {nbest.id} in another process")


def batches_give_the_same(subject: Subject) -> None:
    """A feature that reads lists ahead gives each of them the scores that it gives it alone, and closes its work."""
    every = _lists(subject) * 4
    active = _active(subject)
    if not hasattr(active.feature, "score_batches"):
        raise DoesNotApply("the feature has no score_batches")
    with _scoring(subject) as score:
        wanted = [score(nbest) for nbest in every]
    try:
        actual = [rows_of(block) for block in active.score_batches(every)]
    except Exception as error:
        raise AssertionError(described(error)) from error
    finally:
        _close(active.feature)
    for nbest, rows, others in zip(every, wanted, actual, strict=True):
        _assert_same(rows, others, f"list {nbest.id} among others", 1e-5)


def _lists(subject: Subject) -> list[Candidates]:
    lacking = _NOT_IN_LISTS & subject.offer.needs
    if lacking:
        raise DoesNotApply(f"n-best lists have no {min(lacking)}")
    return samples.lists([*subject.annotations, "kit"])


def _active(subject: Subject) -> Any:
    from smtplugins.host.features.scoring import Active

    feature = subject.make()
    of_lists = any(hasattr(feature, name) for name in ("score_candidates", "score_rules", "start"))
    if not of_lists and hasattr(feature, "smt_feature_v1"):
        raise DoesNotApply("the feature is native only and does not score lists")
    if not of_lists and hasattr(feature, "undirected"):
        raise DoesNotApply("the feature is undirected only and does not score lists")
    return Active(subject.offer.name, subject.offer, feature)


@contextlib.contextmanager
def _scoring(subject: Subject) -> Iterator[Callable[[Candidates], list[Row]]]:
    active = _active(subject)

    def score(nbest: Candidates) -> list[Row]:
        try:
            return rows_of(active.score(nbest))
        except Exception as error:
            raise AssertionError(described(error)) from error

    try:
        yield score
    finally:
        _close(active.feature)


def _close(feature: Any) -> None:
    if hasattr(feature, "close"):
        feature.close()


def _assert_same(wanted: Sequence[Row], actual: Sequence[Row], what: str, tolerance: float = 0.0) -> None:
    for i, (first, second) in enumerate(zip(wanted, actual, strict=True)):
        text = difference(first, second, tolerance)
        assert text is None, f"{what} scores differently: row {i}, {text}"


CHECKS: tuple[Check, ...] = (
    is_documented,
    can_be_made,
    options_are_free_of_name,
    scores_are_finite,
    column_names_are_stable,
    scores_repeat,
    lists_are_independent,
    hypotheses_are_independent,
    input_is_not_changed,
    needs_are_honest,
    workers_give_the_same,
    batches_give_the_same,
    *rule_features.CHECKS,
    *stateful_features.CHECKS,
    *phrase_features.CHECKS,
    *undirected_features.CHECKS,
    *native_features.CHECKS,
)
