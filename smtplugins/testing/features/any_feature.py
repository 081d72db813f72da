"""Checks of features on n-best lists, which every feature passes through; those of rules and states follow them."""

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
    """A feature to check."""
    return Subject(offer, folder, host, options)


def options_are_free_of_name(subject: Subject) -> None:
    """No option is called ``name``: that one is the host's and names the column."""
    assert "name" not in parameters(subject.offer.make), (
        f"{subject.offer.name!r} has an option `name`, which nobody can set: the host takes it for the column's name"
    )


def scores_are_finite(subject: Subject) -> None:
    """Each hypothesis of a list gets one finite score (or one row of them), whatever characters are in its text."""
    with _scoring(subject) as score:
        for one in _lists(subject):
            score(one)


def column_names_are_stable(subject: Subject) -> None:
    """All rows have the same columns, save those of an open namespace ``prefix:``; names fit into list formats."""
    with _scoring(subject) as score:
        first: tuple[str, ...] | None = None
        for one in _lists(subject):
            for i, (names, _) in enumerate(score(one)):
                for name in names:
                    assert name and not any(char in name for char in " \t\n=|"), (
                        f"the column name {name!r} is empty or has a blank, `=` or `|` in it"
                    )
                assert len(set(names)) == len(names), f"hypothesis {i} of list {one.id} has a column twice: {names}"
                fixed = tuple(name for name in names if ":" not in name)
                first = fixed if first is None else first
                assert fixed == first, (
                    f"hypothesis {i} of list {one.id} has the columns {fixed}, the first one had {first}; columns that "
                    "come and go are named `prefix:key`"
                )


def scores_repeat(subject: Subject) -> None:
    """The same list gets the same scores again, from the same object and from a new one."""
    with _scoring(subject) as score, _scoring(subject) as other:
        for one in _lists(subject):
            rows = score(one)
            _assert_same(rows, score(one), f"list {one.id} scored again")
            _assert_same(rows, other(one), f"list {one.id} scored by a second object made alike")


def lists_are_independent(subject: Subject) -> None:
    """What a list gets does not depend on the lists before it."""
    with _scoring(subject) as score:
        every = _lists(subject)
        rows = {one.id: score(one) for one in every}
        for one in reversed(every):
            _assert_same(rows[one.id], score(one), f"list {one.id} after other lists than before")


def hypotheses_are_independent(subject: Subject) -> None:
    """What a hypothesis gets does not depend on the others of its list, unless ``needs`` has ``list``."""
    if "list" in subject.offer.needs:
        raise DoesNotApply("the feature reads the whole list")
    with _scoring(subject) as score:
        for one in _lists(subject):
            rows = score(one)
            backwards = list(reversed(range(len(one))))
            _assert_same([rows[i] for i in backwards], score(one.select(backwards)), f"list {one.id} backwards", 1e-5)
            for i in range(len(one)):
                what = f"hypothesis {i} of list {one.id} alone (or `needs` lacks `list`)"
                _assert_same([rows[i]], score(one.select([i])), what, 1e-5)


def input_is_not_changed(subject: Subject) -> None:
    """Scoring changes nothing in the list that it is given."""
    with _scoring(subject) as score:
        for one in _lists(subject):
            before = copy.deepcopy(one)
            score(one)
            assert one == before, f"scoring changed list {one.id}"


def needs_are_honest(subject: Subject) -> None:
    """A feature gives the same scores when all that ``needs`` does not name is absent: it reads nothing in secret."""
    needs = subject.offer.needs
    removals: dict[str, Callable[[Candidates], Candidates]] = {
        "target": lambda one: replace(one, texts=[""] * len(one)),
        "source": lambda one: replace(one, source=None),
        "alignment": lambda one: _without_extra(one, "alignment"),
        "segmentation": lambda one: _without_extra(one, "segmentation"),
        "annotations": lambda one: replace(
            one, annotations={name: one.annotations[name] for name in subject.annotations}
        ),
    }
    for need, remove in removals.items():
        if need in needs:
            continue
        with _scoring(subject) as score, _scoring(subject) as other:
            for one in _lists(subject):
                rows = score(one)
                try:
                    found = other(remove(one))
                except AssertionError as error:
                    raise AssertionError(
                        f"without the {need}, which `needs` does not name, list {one.id} fails: {error}"
                    ) from error
                what = f"list {one.id} without the {need}, which `needs` does not name,"
                _assert_same(rows, found, what)


def _without_extra(one: Candidates, name: str) -> Candidates:
    return replace(one, extras={key: column for key, column in one.extras.items() if key != name})


def workers_give_the_same(subject: Subject) -> None:
    """Several processes give the same scores as one: a feature that was made works after a fork."""
    from smtplugins.host.host import default_runner

    every = _lists(subject) * 4
    with _scoring(subject) as score:
        wanted = [score(one) for one in every]
    # Another object: what was not used before the fork is what workers get.
    active = _active(subject)
    runner = subject.host.registry.make("runners", default_runner(2))
    try:
        found = [rows_of(block) for block in runner.map(active.score, every)]
    except Exception as error:
        raise AssertionError(f"scoring in two processes: {described(error)}") from error
    finally:
        _close(active.feature)
    for one, rows, others in zip(every, wanted, found, strict=True):
        _assert_same(rows, others, f"list {one.id} in another process")


def _lists(subject: Subject) -> list[Candidates]:
    lacking = _NOT_IN_LISTS & subject.offer.needs
    if lacking:
        raise DoesNotApply(f"an n-best list does not carry the {min(lacking)}")
    return samples.lists([*subject.annotations, "kit"])


def _active(subject: Subject) -> Any:
    from smtplugins.host.features.scoring import Active

    feature = subject.make()
    of_lists = any(hasattr(feature, name) for name in ("score_candidates", "score_rules", "start"))
    if not of_lists and hasattr(feature, "smt_feature_v1"):
        raise DoesNotApply("the feature is native code alone, which lists do not ask")
    if not of_lists and hasattr(feature, "undirected"):
        raise DoesNotApply("the feature is undirected alone, which lists do not ask")
    return Active(subject.offer.name, subject.offer, feature)


@contextlib.contextmanager
def _scoring(subject: Subject) -> Iterator[Callable[[Candidates], list[Row]]]:
    active = _active(subject)

    def score(one: Candidates) -> list[Row]:
        try:
            return rows_of(active.score(one))
        except Exception as error:
            raise AssertionError(described(error)) from error

    try:
        yield score
    finally:
        _close(active.feature)


def _close(feature: Any) -> None:
    if hasattr(feature, "close"):
        feature.close()


def _assert_same(wanted: Sequence[Row], found: Sequence[Row], what: str, tolerance: float = 0.0) -> None:
    for i, (first, second) in enumerate(zip(wanted, found, strict=True)):
        text = difference(first, second, tolerance)
        assert text is None, f"{what} scores otherwise: row {i}, {text}"


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
    *rule_features.CHECKS,
    *stateful_features.CHECKS,
    *phrase_features.CHECKS,
    *undirected_features.CHECKS,
    *native_features.CHECKS,
)
