"""Confidence in hypotheses and in their words, by the posterior probabilities of an n-best list.

The probability of hypothesis h of a list is ``exp(scale * s(h))`` over the sum of these for all hypotheses, s being the
total or a feature. The posterior of a text is the sum over hypotheses with the same words. The posterior of the word at
position i of a text e is that of Ueffing and Ney (2007), "Word-Level Confidence Estimation for Machine Translation",
by Levenshtein alignment: the sum of the probabilities of all hypotheses that have the same word where a Levenshtein
alignment with e puts position i. Among alignments with the fewest insertions, deletions and substitutions, the one is
taken that prefers, from the end backwards, a match or substitution, then to leave the word of e unaligned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtformats import Columns
from smtformats.tokens import words as words_of
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.statistics import word_posteriors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtformats import Candidates

LONGEST = 4096


class Confidence:
    """Posterior of the text, entropy of the list's texts, and mean and least posterior of the words.

    The columns are ``confidence``, ``confidence:entropy`` (in nats, the same for the whole list), ``confidence:mean``
    and ``confidence:least``; a text without words has its own posterior in both. ``words=true`` adds the posterior of
    the word at position i as ``confidence:word[i]``. ``scale`` multiplies the totals, or the feature ``column``.
    """

    def __init__(self, *, scale: float = 1.0, column: str | None = None, words: bool = False) -> None:
        self._scale = scale
        self._column = column
        self._words = words

    def score_candidates(self, source: str | None, candidates: Candidates) -> Columns:
        """Score a list."""
        import numpy as np

        if not len(candidates):
            return Columns.from_rows([], [])
        texts: dict[tuple[str, ...], int] = {}
        which = [texts.setdefault(tuple(words_of(text)), len(texts)) for text in candidates.texts]
        longest = max(map(len, texts))
        if longest > LONGEST:
            raise UsageError(f"list {candidates.id}: expected texts of at most {LONGEST} words, found one of {longest}")
        sums = np.bincount(which, weights=self._probabilities(candidates), minlength=len(texts))
        probabilities = np.asarray(sums, dtype=np.float64)
        there = probabilities[probabilities > 0]
        entropy = max(0.0, float(-(there * np.log(there)).sum()))
        numbers: dict[str, int] = {}
        ids = [numbers.setdefault(word, len(numbers)) for text in texts for word in text]
        offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        posteriors = np.minimum(word_posteriors(np.array(ids, dtype=np.int32), offsets, probabilities), 1.0)
        layouts, values = [], []
        for at in which:
            own = posteriors[offsets[at] : offsets[at + 1]].tolist()
            whole = min(float(probabilities[at]), 1.0)
            mean, least = (sum(own) / len(own), min(own)) if own else (whole, whole)
            spelled = [f"confidence:word[{i}]" for i in range(len(own))] if self._words else []
            layouts.append(("confidence", "confidence:entropy", "confidence:mean", "confidence:least", *spelled))
            values.append([whole, entropy, mean, least, *(own if self._words else [])])
        return Columns.from_rows(layouts, values)

    def _probabilities(self, candidates: Candidates) -> NDArray[np.float64]:
        """The probability of each hypothesis."""
        import numpy as np

        if self._column is not None:
            rows = [dict(zip(*row, strict=True)) for row in zip(candidates.layouts, candidates.values, strict=True)]
            lacking = next((i for i, row in enumerate(rows) if self._column not in row), None)
            if lacking is not None:
                raise UsageError(f"expected the feature {self._column!r}, found a hypothesis without it: {lacking + 1}")
            scores = np.array([row[self._column] for row in rows])
        elif candidates.totals is None:
            raise UsageError("expected totals, found none: rescore the list with weights, or name a feature by column=")
        else:
            scores = np.array(candidates.totals, dtype=np.float64)
        scaled = self._scale * scores
        top = scaled.max()
        if not np.isfinite(top):
            raise UsageError(f"expected scores with a finite maximum, found {top}")
        weights = np.exp(scaled - top)
        shares: NDArray[np.float64] = weights / weights.sum()
        return shares
