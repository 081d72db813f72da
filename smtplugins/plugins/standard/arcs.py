"""Scores of lattice arcs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from smtformats.tokens import BadField
from smtplugins.contracts.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.tools.grammars import Rules

FLOOR = -100.0  # of log probabilities, as in Moses
_PART = re.compile(r"\[\d+\]")


class SourcePath:
    """The scores of lattice arcs, ``scores`` numbers for each arc.

    With ``log=true`` they are probabilities and become natural logarithms of at least -100, as in Moses; each arc must
    then have all of them. ``real_words=1`` adds a column of -1 for each arc with a word.
    """

    def __init__(self, *, log: bool = False, scores: int = 1, real_words: int = 0) -> None:
        if scores < 0 or real_words not in (0, 1):
            raise UsageError(
                f"source-path: expected scores of 0 or more and real_words of 0 or 1, found {scores}, {real_words}"
            )
        self.arcs = scores
        self.components = scores + real_words
        self.start_weights = (0.1,) if log else ()
        self._log = log
        self._real_words = real_words

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Return no columns: the values are on arcs, not rules."""
        import numpy as np

        return np.empty((len(rules), 0))

    def arc_features(self, label: str, features: Mapping[str, float], word: str | None) -> Mapping[str, float]:
        """Convert the features of an arc with ``word`` (``None``: no word); raises BadField for a wrong number."""
        if not self._log and not self._real_words:
            return features
        read = [name for name in features if name == label or _PART.fullmatch(name.removeprefix(label))]
        values = [features[name] for name in read]
        # Arcs of plain text have no numbers.
        if self._log and features and (read != list(_vector(label, len(read))) or len(read) != self.arcs):
            raise BadField(f"{self.arcs} numbers for each arc", f"{len(read)}")
        if self._log:
            values = [max(math.log(value), FLOOR) if value > 0 else FLOOR for value in values] or [0.0] * self.arcs
        values += [-1.0 if word is not None else 0.0] * self._real_words
        rest = {name: value for name, value in features.items() if name not in read}
        return dict(zip(_vector(label, len(values)), values, strict=True)) | rest


def _vector(label: str, count: int) -> tuple[str, ...]:
    """Return the column names of a feature with ``count`` components."""
    return (label,) if count == 1 else tuple(f"{label}[{k}]" for k in range(count))
