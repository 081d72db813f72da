"""Check that lists are fit to learn from, before learning starts; errors say what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from smtformats.errors import first_of
from smtplugins.contracts.errors import SmtError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.learners import ListProblem
    from smtplugins.contracts.metrics import Metric
    from smtplugins.host.learn.problems import Matrix

Note = Callable[[str], None]
_AT_ONCE, _VALUES = 16, 1 << 20
_NAMED = 5
COMPONENT = re.compile(r"(.*)\[([0-9]+)\]")


def components(problem: ListProblem, matrix: Matrix) -> None:
    """Check that a feature with components has all of them in every hypothesis; otherwise lists of several runs mix."""
    import numpy as np

    stems: dict[str, list[int]] = {}
    for i, name in enumerate(matrix.names):
        match = COMPONENT.fullmatch(name)
        if match is not None:
            stems.setdefault(match[1], []).append(i)
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
        rows = np.repeat(np.arange(last - first), np.diff(matrix.offsets[first : last + 1]))[mine >= 0]
        keys, counts = _counted(rows * len(stems) + mine[mine >= 0], (last - first) * len(stems))
        wrong = np.flatnonzero(counts != wanted[keys % len(stems)])
        if len(wrong):
            break
    else:
        return
    row, number = divmod(int(keys[wrong[0]]), len(stems))
    row += first
    k = int(np.searchsorted(matrix.lists, row, side="right")) - 1
    nbest = problem.lists[k]
    line = nbest.line + row - int(matrix.lists[k])
    raise SmtError(
        f"{nbest.file or '<data>'}:{line}: expected {int(wanted[number])} values of the "
        f"feature {list(stems)[number]!r}, as other hypotheses have, found {int(counts[wrong[0]])}: "
        "are these lists from the same system?"
    )


def _counted(keys: NDArray[Any], limit: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The distinct keys, all below the limit, in order, and how often each occurs."""
    import numpy as np

    if limit > 2 * len(keys):
        return np.unique(keys, return_counts=True)
    counts = np.bincount(keys, minlength=limit)
    found = np.flatnonzero(counts)
    return found, counts[found]


def note_absent(problem: ListProblem, matrix: Matrix, note: Note) -> None:
    """Note features that most lists have in every hypothesis and some list has in none, by design or by mistake."""
    import numpy as np

    sizes, width = np.diff(matrix.lists), len(matrix.names)
    # Number of lists with a feature in any hypothesis, and in all hypotheses.
    having, whole = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    for first, last in _stretches(matrix):
        a, b = (int(np.searchsorted(matrix.lists, row)) for row in (first, last))
        owner = np.repeat(np.arange(b - a), sizes[a:b])
        of = np.repeat(owner, np.diff(matrix.offsets[first : last + 1]))
        ids = matrix.ids[matrix.offsets[first] : matrix.offsets[last]]
        keys, counts = _counted(of * width + ids, (b - a) * width)
        lists, names = np.divmod(keys, width)
        having += np.bincount(names, minlength=width)
        whole += np.bincount(names[counts == sizes[a + lists]], minlength=width)
    for i in np.flatnonzero((whole > len(sizes) / 2) & (having < len(sizes))):
        nbest = problem.lists[next(k for k in range(len(sizes)) if i not in _ids(matrix, k))]
        note(
            f"feature {matrix.names[i]!r} is in all hypotheses of {int(whole[i])} lists and in none of list {nbest.id} "
            f"({nbest.file or '<data>'}:{nbest.line}): it counts as 0 there"
        )


def note_constant(names: Sequence[str], note: Note) -> None:
    """Note the features that are the same in all hypotheses of each list."""
    if names:
        named = first_of([repr(name) for name in names], _NAMED)
        same = "the same in all hypotheses of each list"
        if len(names) == 1:
            note(f"feature {named} is {same}: its weight is kept")
        else:
            note(f"features {named} are {same}: their weights are kept")


def _ids(matrix: Matrix, k: int) -> NDArray[Any]:
    first, last = matrix.offsets[matrix.lists[k]], matrix.offsets[matrix.lists[k + 1]]
    ids: NDArray[Any] = matrix.ids[first:last]
    return ids


def _stretches(matrix: Matrix) -> Iterator[tuple[int, int]]:
    """Row ranges of a few lists at a time, to bound memory."""
    first = 0
    for last in matrix.lists[1:].tolist():
        if matrix.offsets[last] - matrix.offsets[first] >= _VALUES or last == len(matrix):
            yield first, last
            first = last


def differences(matrix: Matrix, metric: Metric) -> None:
    """Check that the hypotheses of a list differ in features and in metric scores."""
    import numpy as np

    if not len(matrix.names):
        raise SmtError("expected features in the lists, found none: add some (`smt score --feature`)")
    if (np.diff(matrix.lists) == 1).all():
        raise SmtError("expected lists to choose from, found a single hypothesis in each")
    starts = matrix.lists[:-1]
    if not any(_differ(matrix, metric)):
        raise SmtError(
            f"{metric.name} scores all hypotheses of each list the same: do the references belong to these lists, and "
            "do the metric's options (tokenize, lowercase) fit them?"
        )
    # If features differ anywhere, random weights give different scores.
    scores = matrix.scores(np.random.default_rng(0).normal(size=len(matrix.names)))
    if not np.any(np.maximum.reduceat(scores, starts) != np.minimum.reduceat(scores, starts)):
        raise SmtError(
            "all hypotheses of each list have the same feature values, so weights make no difference: add features "
            "that differ (`smt score --feature`)"
        )


def _differ(matrix: Matrix, metric: Metric) -> Iterator[bool]:
    """Whether sentence scores differ within lists, a batch of lists at a time, as scoring may be slow."""
    import numpy as np

    bounds = matrix.lists.tolist()
    for k in range(0, len(bounds) - 1, _AT_ONCE):
        part = bounds[k : k + _AT_ONCE + 1]
        scores = np.asarray(metric.sentence(matrix.stats[part[0] : part[-1]]))
        starts = np.array(part[:-1]) - part[0]
        yield bool(np.any(np.maximum.reduceat(scores, starts) != np.minimum.reduceat(scores, starts)))
