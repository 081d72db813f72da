"""Scores of texts in batches across lists, each computed once: what a slow feature or metric puts before its model."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.host.progress import progress
from smtplugins.host.scores.score_cache import Row, ScoreCache, Texts

if TYPE_CHECKING:
    from smtformats import Candidates

Answers = Iterator[tuple[int, Row]]
Start = Callable[[list[Texts], bool], Answers]

_STORING = 1.0
"""Seconds between two additions to the cache: a killed run loses the scores of these."""


def in_batches(
    compute: Callable[[list[Texts]], Any],
    batch: int,
    length: Callable[[Texts], int] | None = None,
) -> Start:
    """Make the ``start`` of :class:`BatchScores` from a function that scores up to ``batch`` texts at a time.

    It gets texts of similar length (default: characters), the longest first, and returns a number or a row of numbers
    for each.
    """
    size = length or _characters

    def start(texts: list[Texts], last: bool) -> Answers:
        import numpy as np

        order = sorted(range(len(texts)), key=lambda i: -size(texts[i]))
        for i in range(0, len(order), batch):
            part = order[i : i + batch]
            values = np.asarray(compute([texts[k] for k in part]), dtype=np.float64)
            if values.ndim not in (1, 2) or len(values) != len(part):
                raise ValueError(f"expected {len(part)} scores, one for each text, found the shape {values.shape}")
            yield from zip(part, map(tuple, values.reshape(len(part), -1).tolist()), strict=True)

    return start


def _characters(texts: Texts) -> int:
    return sum(len(text or "") for text in texts)


class BatchScores:
    """Scores of texts by ``start``, through a cache.

    ``start(texts, last)`` begins to compute the scores of texts, none of which occurs twice, and returns an iterator of
    positions and rows as they become known. It is called again while the iterator before is not read to its end;
    ``last``: there will be no further call. ``ahead`` is the number of texts of which batches are made; lists with up
    to twice as many (or two lists) are in memory.
    """

    def __init__(self, cache: ScoreCache, start: Start, *, ahead: int = 4096) -> None:
        self._cache, self._start, self._ahead = cache, start, ahead

    def scores(self, keys: Sequence[Texts], label: str = "") -> list[Row]:
        """Return the row of each key, with a progress bar on a terminal if there is a label."""
        return self._begin(keys, None, last=False).finish(label)

    def score_lists(
        self, lists: Iterable[Candidates], keys: Callable[[Candidates], Sequence[Texts]]
    ) -> Iterator[list[Row]]:
        """Yield the rows of each list in order, reading lists ahead; ``keys`` are the texts of each hypothesis."""
        stream = iter(lists)
        before: _Window | None = None
        nbest = next(stream, None)
        while nbest is not None:
            texts: list[Texts] = []
            sizes: list[int] = []
            while nbest is not None and (not sizes or len(texts) < self._ahead):
                texts += keys(nbest)
                sizes.append(len(nbest))
                nbest = next(stream, None)
            window = self._begin(texts, before, last=nbest is None, sizes=sizes)
            if before is not None:
                yield from before.rows_by_list()
            before = window
        if before is not None:
            yield from before.rows_by_list()

    def _begin(
        self, keys: Sequence[Texts], before: _Window | None, *, last: bool, sizes: Sequence[int] = ()
    ) -> _Window:
        """Begin to compute what neither the cache has nor the window before, which is still in work."""
        keys = [tuple(key) for key in keys]
        rows = dict(zip(keys, self._cache.lookup(keys), strict=True))
        missing = [key for key, row in rows.items() if row is None and not (before and key in before.rows)]
        answers = self._start(missing, last) if missing or last else iter(())
        return _Window(self._cache, keys, rows, missing, answers, before, sizes)


class _Window:
    """Texts in work: ``rows`` has all of them, with None where the score is not known yet."""

    def __init__(
        self,
        cache: ScoreCache,
        keys: Sequence[Texts],
        rows: dict[Texts, Row | None],
        missing: list[Texts],
        answers: Answers,
        before: _Window | None,
        sizes: Sequence[int],
    ) -> None:
        self.rows = rows
        self._cache, self._keys, self._missing, self._answers = cache, keys, missing, answers
        self._before, self._sizes = before, sizes

    def rows_by_list(self) -> Iterator[list[Row]]:
        """Wait for the scores, and yield those of each list."""
        rows = iter(self.finish())
        for size in self._sizes:
            yield list(itertools.islice(rows, size))

    def finish(self, label: str = "") -> list[Row]:
        """Wait for the scores; they are added to the cache as they come, also if an error ends the work."""
        fresh: list[Texts] = []
        since = time.monotonic()
        try:
            for position, row in progress(self._answers, label, total=len(self._missing), quiet=not label):
                key = self._missing[position]
                self.rows[key] = row
                fresh.append(key)
                if time.monotonic() - since > _STORING:
                    self._store(fresh)
                    fresh, since = [], time.monotonic()
        finally:
            self._store(fresh)
        if self._before is not None:
            self.rows.update((key, self._before.rows[key]) for key, row in self.rows.items() if row is None)
            self._before = None
        found = [self.rows[key] for key in self._keys]
        rows = [row for row in found if row is not None]
        if len(rows) != len(found):
            raise ValueError(f"expected scores of {len(found)} texts, found {len(rows)}")
        return rows

    def _store(self, keys: list[Texts]) -> None:
        self._cache.store(keys, [row for row in map(self.rows.get, keys) if row is not None])
