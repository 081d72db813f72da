"""Checks of metrics: additive statistics, scores computed from them, a signature."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.testing.checks import Check, DoesNotApply, Subject, can_be_made, described, is_documented

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.offers import Offer
    from smtplugins.host.host import Host

_SOURCES = [
    "wo ist mein hut ?",
    "das haus , das er kaufte",
    "ja",
    "prix\u00a0: 3\u202f%",
    "er sagt : nein",
    "猫",
    "gut",
]
_FIRST = ["where is my hat ?", "the house he bought", "yes", "price : 3 %", 'he says : " no "', "a cat", "good"]
_SECOND = ["where 's my hat ?", "the house , which he bought", "yeah", "3 % off", "he says no", "cats", "fine"]
_SYSTEM = ["where is my hat", "house bought he the", "no", "price\u00a0: 3\u202f% 🙂", "", "cat cat cat", "good"]
_TOLERANCE = 1e-6


def subject(offer: Offer, folder: Path, host: Host, *, options: Mapping[str, Any] | None = None) -> Subject:
    """Return a metric to check."""
    return Subject(offer, folder, host, options)


def has_name_and_direction(subject: Subject) -> None:
    """A metric has a ``name``, and ``higher_is_better`` is a bool."""
    metric = subject.make()
    name = getattr(metric, "name", None)
    assert isinstance(name, str) and name.strip(), f"expected a name, found {name!r}"
    direction = getattr(metric, "higher_is_better", None)
    assert isinstance(direction, bool), f"expected `higher_is_better` to be True or False, found {direction!r}"


def statistics_are_rows(subject: Subject) -> None:
    """``stats`` returns a row of finite floats per segment, of the same width for any segments and references."""
    metric = subject.make()
    widths = set()
    for references in _references(metric):
        for few in (slice(0, 7), slice(4, 5), slice(2, 4)):
            rows = _stats(metric, _SYSTEM[few], [stream[few] for stream in references], _SOURCES[few])
            wanted = len(_SYSTEM[few])
            assert rows.ndim == 2 and len(rows) == wanted, (
                f"expected {wanted} rows of statistics, found shape {rows.shape}"
            )
            widths.add(rows.shape[1])
    assert len(widths) == 1, f"expected rows of one width, found widths {sorted(widths)}"


def statistics_are_of_segments(subject: Subject) -> None:
    """A segment's row does not depend on other segments: corpora can be split, resampled and joined."""
    metric = subject.make()
    for references in _references(metric):
        rows = _stats(metric, _SYSTEM, references, _SOURCES)
        for i in range(len(_SYSTEM)):
            few = slice(i, i + 1)
            alone = _stats(metric, _SYSTEM[few], [stream[few] for stream in references], _SOURCES[few])
            assert _close(rows[i], alone[0]), f"segment {i} has different statistics alone than in a corpus"


def statistics_repeat(subject: Subject) -> None:
    """The same input gives the same statistics again, and is not changed."""
    metric = subject.make()
    references = _references(metric)[-1]
    given = (list(_SYSTEM), copy.deepcopy(references), list(_SOURCES))
    rows = _finite(metric.stats(*given), "stats")
    assert given == (_SYSTEM, references, _SOURCES), "`stats` changed the lists it was given"
    again = _stats(metric, _SYSTEM, references, _SOURCES)
    assert (rows == again).all(), "the same segments have different statistics the second time"


def prepared_references_agree(subject: Subject) -> None:
    """``prepare`` and ``matrix``, if the metric has them, give the same statistics as ``stats``."""
    metric: Any = subject.make()
    if not (hasattr(metric, "prepare") and hasattr(metric, "matrix")):
        raise DoesNotApply("the metric does not prepare references")
    for references in _references(metric):
        rows = _stats(metric, _SYSTEM, references, _SOURCES)
        held = metric.prepare([list(stream) for stream in references])
        assert len(held) == len(_SYSTEM), f"expected {len(_SYSTEM)} prepared segments, found {len(held)}"
        assert _close(rows, _finite(held.stats(list(_SYSTEM)), "stats")), (
            "prepared references give different statistics"
        )
        order = [6, 0, 0, 3]
        few = _finite(held.stats([_SYSTEM[i] for i in order], order), "stats")
        assert _close(rows[order], few), "prepared references give different statistics when segments are selected"
    table = _finite(metric.matrix(list(_SYSTEM), list(_FIRST)), "matrix")
    for j, other in enumerate(_FIRST):
        alone = _stats(metric, _SYSTEM, [[other] * len(_SYSTEM)], _SOURCES)
        assert _close(table[:, j], alone), f"`matrix` and `stats` give different statistics against text {j}"


def aggregated_references_agree(subject: Subject) -> None:
    """``aggregate``, if the metric has it, gives the statistics of the mean of references, however it is written."""
    metric: Any = subject.make()
    if not hasattr(metric, "aggregate"):
        raise DoesNotApply("the metric does not average references")

    def rows(references: Sequence[str], weights: Sequence[float]) -> NDArray[Any]:
        return _finite(metric.aggregate(list(_SYSTEM), list(references), list(weights)), "aggregate")

    for other in _FIRST:
        alone = _stats(metric, _SYSTEM, [[other] * len(_SYSTEM)], _SOURCES)
        found = rows([other], [1.0])
        assert _close(alone, found), f"`aggregate` and `stats` give different statistics against the one text {other!r}"
        assert _close(alone, rows([other, other], [0.25, 0.75])), "a reference in two parts gives different statistics"
    mean = rows(_FIRST[:3], [0.5, 0.3, 0.2])
    _finite(metric.sentence(mean), "sentence")
    assert _close(mean, rows([*_FIRST[2::-1], "x"], [0.2, 0.3, 0.5, 0.0])), (
        "`aggregate` changes with the order of the references, or with one of weight 0"
    )


def scores_follow_from_sums(subject: Subject) -> None:
    """The corpus score is one finite number computed from summed statistics, independent of segment order."""
    metric = subject.make()
    rows = _stats(metric, _SYSTEM, _references(metric)[-1], _SOURCES)
    score = _scores(metric, rows.sum(axis=0))
    assert score.shape == (), f"expected one number for one corpus, found shape {score.shape}"
    for order in ([6, 5, 4, 3, 2, 1, 0], [3, 0, 6, 2, 5, 1, 4]):
        total = rows[order[0]].copy()
        for i in order[1:]:
            total += rows[i]
        assert _close(score, _scores(metric, total)), "the score changes with the order of the segments"
    halves = rows[:3].sum(axis=0) + rows[3:].sum(axis=0)
    assert _close(score, _scores(metric, halves)), "the score changes when the corpus is joined from two parts"


def leading_axes_are_kept(subject: Subject) -> None:
    """``score`` takes many corpora along leading axes and gives each the same score as alone."""
    metric = subject.make()
    rows = _stats(metric, _SYSTEM, _references(metric)[-1], _SOURCES)
    import numpy as np

    sums = np.stack([[rows[:k].sum(axis=0), rows[-k:].sum(axis=0)] for k in (3, 5, 7)])
    scores = _scores(metric, sums)
    assert scores.shape == (3, 2), (
        f"expected scores of shape (3, 2) for statistics of {sums.shape}, found {scores.shape}"
    )
    for i in range(3):
        for j in range(2):
            alone = _scores(metric, sums[i, j])
            assert _close(scores[i, j], alone), f"a corpus among others scores {scores[i, j]}, alone {alone}"


def sentences_are_scored(subject: Subject) -> None:
    """``sentence`` returns a finite number per row, independent of the other rows."""
    metric = subject.make()
    rows = _stats(metric, _SYSTEM, _references(metric)[-1], _SOURCES)
    scores = _finite(metric.sentence(rows), "sentence")
    assert scores.shape == (len(rows),), f"expected {len(rows)} sentence scores, found shape {scores.shape}"
    for i in range(len(rows)):
        alone = _finite(metric.sentence(rows[i : i + 1]), "sentence")
        assert _close(scores[i], alone[0]), f"sentence {i} scores {scores[i]} among others and {alone[0]} alone"


def empty_output_is_scored(subject: Subject) -> None:
    """Empty output gets a finite score."""
    metric = subject.make()
    rows = _stats(metric, [""] * len(_SYSTEM), _references(metric)[-1], _SOURCES)
    _scores(metric, rows.sum(axis=0))
    _finite(metric.sentence(rows), "sentence")


def the_reference_is_best(subject: Subject) -> None:
    """The reference itself scores at least as well as any other text, in the direction of ``higher_is_better``."""
    metric = subject.make()
    if _needs_no_references(metric):
        raise DoesNotApply("the metric needs no references")
    for references in _references(metric):
        for best in references:
            top = float(_scores(metric, _stats(metric, best, references, _SOURCES).sum(axis=0)))
            for other in (_SYSTEM, list(reversed(_FIRST)), [""] * len(_FIRST), [f"{text} {text}" for text in _FIRST]):
                score = float(_scores(metric, _stats(metric, other, references, _SOURCES).sum(axis=0)))
                better = score - top if metric.higher_is_better else top - score
                assert better <= _TOLERANCE * max(1.0, abs(top)), (
                    f"a worse text scores {score:g}, the reference itself {top:g}, "
                    f"with higher_is_better={metric.higher_is_better}"
                )


def has_a_signature(subject: Subject) -> None:
    """The signature is one line and, after scoring, the same for all objects with the same options."""
    metric, other = subject.make(), subject.make()
    references = _references(metric)[-1]
    signatures = []
    for scorer in (metric, other, metric):
        rows = _stats(scorer, _SYSTEM, references, _SOURCES)
        scorer.score(rows.sum(axis=0))
        scorer.sentence(rows)
        signatures.append(scorer.signature())
    for signature in signatures:
        assert isinstance(signature, str) and signature.strip() and "\n" not in signature, (
            f"expected a one-line signature, found {signature!r}"
        )
        assert signature == signatures[0], f"the signature was {signatures[0]!r} and is now {signature!r}"


def _references(metric: Metric) -> list[list[list[str]]]:
    """Return one and two reference streams, or none for a metric that needs none."""
    return [[]] if _needs_no_references(metric) else [[_FIRST], [_FIRST, _SECOND]]


def _needs_no_references(metric: Metric) -> bool:
    try:
        metric.stats(list(_SYSTEM), [], list(_SOURCES))
    except Exception:
        return False
    return True


def _stats(
    metric: Metric, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str]
) -> NDArray[Any]:
    try:
        rows = metric.stats(list(hypotheses), [list(stream) for stream in references], list(sources))
    except Exception as error:
        raise AssertionError(f"`stats` with {len(references)} references failed: {described(error)}") from error
    return _finite(rows, "stats")


def _scores(metric: Metric, stats: NDArray[Any]) -> NDArray[Any]:
    return _finite(metric.score(stats), "score")


def _finite(values: Any, method: str) -> NDArray[Any]:
    import numpy as np

    array = np.asarray(values)
    assert np.issubdtype(array.dtype, np.floating), f"expected floats from `{method}`, found {array.dtype}"
    assert np.isfinite(array).all(), f"expected finite numbers from `{method}`, found {array[~np.isfinite(array)][0]}"
    return array


def _close(first: Any, second: Any) -> bool:
    import numpy as np

    return bool(np.shape(first) == np.shape(second) and np.allclose(first, second, rtol=_TOLERANCE, atol=_TOLERANCE))


CHECKS: tuple[Check, ...] = (
    is_documented,
    can_be_made,
    has_name_and_direction,
    statistics_are_rows,
    statistics_are_of_segments,
    statistics_repeat,
    prepared_references_agree,
    aggregated_references_agree,
    scores_follow_from_sums,
    leading_axes_are_kept,
    sentences_are_scored,
    empty_output_is_scored,
    the_reference_is_best,
    has_a_signature,
)
