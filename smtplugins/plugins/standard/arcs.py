"""What the arcs of a lattice cost."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from smtformats.tokens import BadField
from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core.grammar.rules import Rules

FLOOR = -100.0  # of logarithms, as Moses has it
_PART = re.compile(r"\[\d+\]")


class SourcePath:
    """What a lattice's arcs cost, under the name of this feature: ``scores`` numbers each.

    With ``log=true`` they are probabilities, whose natural logarithms count, at least -100, as Moses has it; then each
    arc has as many. ``real_words=1`` adds a column that counts -1 for each arc with a word.
    """

    def __init__(self, *, log: bool = False, scores: int = 1, real_words: int = 0) -> None:
        if scores < 0 or real_words not in (0, 1):
            raise UsageError(
                f"source-path: expected scores from 0 on and real_words 0 or 1, found {scores}, {real_words}"
            )
        self.arcs = scores
        self.components = scores + real_words
        self._log = log
        self._real_words = real_words

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Nothing: arcs have the values themselves."""
        import numpy as np

        return np.empty((len(rules), 0))

    def arc_features(self, label: str, features: Mapping[str, float], word: str | None) -> Mapping[str, float]:
        """The features of an arc in place of those read, ``word`` being ``None`` for one without; BadField if wrong."""
        if not self._log and not self._real_words:
            return features
        read = [name for name in features if name == label or _PART.fullmatch(name.removeprefix(label))]
        values = [features[name] for name in read]
        # A line of plain text has arcs without numbers: there is nothing to choose.
        if self._log and features and (read != list(_vector(label, len(read))) or len(read) != self.arcs):
            raise BadField(f"{self.arcs} numbers for each arc", f"{len(read)}")
        if self._log:
            values = [max(math.log(one), FLOOR) if one > 0 else FLOOR for one in values] or [0.0] * self.arcs
        values += [-1.0 if word is not None else 0.0] * self._real_words
        rest = {name: value for name, value in features.items() if name not in read}
        return dict(zip(_vector(label, len(values)), values, strict=True)) | rest


def _vector(label: str, count: int) -> tuple[str, ...]:
    """The columns of a feature with so many components."""
    return (label,) if count == 1 else tuple(f"{label}[{k}]" for k in range(count))
