"""What makes lists unfit to learn from, said before anything is learnt: who reads it should know what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.contracts import Lists, Metric
    from smtplugins.host.learn.problems import Matrix

Note = Callable[[str], None]
_AT_ONCE, _VALUES = 16, 1 << 20
COMPONENT = re.compile(r"(.*)\[([0-9]+)\]")


def components(problem: Lists, matrix: Matrix) -> None:
    """A feature of several values has as many in each hypothesis that has it: else the lists are of different runs."""
    import numpy as np

    stems: dict[str, list[int]] = {}
    for i, name in enumerate(matrix.names):
        found = COMPONENT.fullmatch(name)
        if found is not None:
            stems.setdefault(found[1], []).append(i)
    for i, name in enumerate(matrix.names):
        if name in stems:
            stems[name].append(i)
    if not stems:
        return
    of = np.full(len(matrix.names), -1)
    for number, ids in enumerate(stems.values()):
        of[ids] = number
    wanted = np.array([len(ids) for ids in stems.values()])
    for first, last in _stretches(matrix):
        part = slice(matrix.offsets[first], matrix.offsets[last])
        mine = of[matrix.ids[part]]
        rows = np.repeat(np.arange(first, last), np.diff(matrix.offsets[first : last + 1]))[mine >= 0]
        keys, counts = np.unique(rows * len(stems) + mine[mine >= 0], return_counts=True)
        wrong = np.flatnonzero(counts != wanted[keys % len(stems)])
        if len(wrong):
            break
    else:
        return
    row, number = divmod(int(keys[wrong[0]]), len(stems))
    k = int(np.searchsorted(matrix.lists, row, side="right")) - 1
    one = problem.lists[k]
    raise SmtError(
        f"{one.file or '<data>'}:{one.line + row - int(matrix.lists[k])}: expected {int(wanted[number])} values of the "
        f"feature {list(stems)[number]!r}, as other hypotheses have, found {int(counts[wrong[0]])}: "
        "are these lists of one system?"
    )


def note_absent(problem: Lists, matrix: Matrix, note: Note) -> None:
    """Tell of a feature that most lists have throughout and one list not at all, by design or by mistake."""
    import numpy as np

    sizes, width = np.diff(matrix.lists), len(matrix.names)
    # How many lists have a feature, and how many in all hypotheses.
    having, whole = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    for first, last in _stretches(matrix):
        a, b = (int(np.searchsorted(matrix.lists, row)) for row in (first, last))
        owner = np.repeat(np.arange(a, b), sizes[a:b])
        of = np.repeat(owner, np.diff(matrix.offsets[first : last + 1]))
        ids = matrix.ids[matrix.offsets[first] : matrix.offsets[last]]
        keys, counts = np.unique(of * width + ids, return_counts=True)
        lists, names = np.divmod(keys, width)
        having += np.bincount(names, minlength=width)
        whole += np.bincount(names[counts == sizes[lists]], minlength=width)
    for i in np.flatnonzero((whole > len(sizes) / 2) & (having < len(sizes))):
        one = problem.lists[next(k for k in range(len(sizes)) if i not in _ids(matrix, k))]
        note(
            f"feature {matrix.names[i]!r} is in all hypotheses of {int(whole[i])} lists and in none of list {one.id} "
            f"({one.file or '<data>'}:{one.line}): it counts 0 there"
        )


def _ids(matrix: Matrix, k: int) -> NDArray[Any]:
    first, last = matrix.offsets[matrix.lists[k]], matrix.offsets[matrix.lists[k + 1]]
    found: NDArray[Any] = matrix.ids[first:last]
    return found


def _stretches(matrix: Matrix) -> Iterator[tuple[int, int]]:
    """The rows of some lists at a time, so that what is looked at takes little room."""
    first = 0
    for last in matrix.lists[1:].tolist():
        if matrix.offsets[last] - matrix.offsets[first] >= _VALUES or last == len(matrix):
            yield first, last
            first = last


def differences(matrix: Matrix, metric: Metric) -> None:
    """Hypotheses of a list have to differ, in features and in what the metric says of them."""
    import numpy as np

    if not len(matrix.names):
        raise SmtError("the lists have no features to give weights to: add some (`smt score --feature`)")
    if (np.diff(matrix.lists) == 1).all():
        raise SmtError("each list has one hypothesis: there is nothing to choose from, expected longer lists")
    starts = matrix.lists[:-1]
    if not any(_differ(matrix, metric)):
        raise SmtError(
            f"all hypotheses of a list are the same to {metric.name}: are these the references of the lists, and the "
            "metric's options (tokenize, lowercase) those that fit them?"
        )
    # Features that differ somewhere make a difference to random weights.
    scores = matrix.scores(np.random.default_rng(0).normal(size=len(matrix.names)))
    if not np.any(np.maximum.reduceat(scores, starts) != np.minimum.reduceat(scores, starts)):
        raise SmtError(
            "within each list all hypotheses have the same features, so that weights make no difference: add features "
            "that differ (`smt score --feature`)"
        )


def _differ(matrix: Matrix, metric: Metric) -> Iterator[bool]:
    """Whether sentence scores differ within lists: looked at until one does, as scores may take long."""
    import numpy as np

    bounds = matrix.lists.tolist()
    for k in range(0, len(bounds) - 1, _AT_ONCE):
        part = bounds[k : k + _AT_ONCE + 1]
        scores = np.asarray(metric.sentence(matrix.stats[part[0] : part[-1]]))
        starts = np.array(part[:-1]) - part[0]
        yield bool(np.any(np.maximum.reduceat(scores, starts) != np.minimum.reduceat(scores, starts)))
