"""Options that select the rules of a confusion grammar, and counts of what was read and written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from smtplugins.contracts.errors import UsageError

OOV_FEATURES = r"(?i)(pass-?through|oov|unknown-?word)"
"""Regular expression for the beginning of feature names that mark unknown-word rules."""
MOST = 2**32 - 1


Best = Literal["order", "count"] | Mapping[str, float]


def read_best(text: str) -> Best:
    """Read the value of --best: order, count, or a feature, whose lowest values are the best with ``-`` before it."""
    if text == "order":
        return "order"
    return "count" if text == "count" else {text.removeprefix("-"): -1.0 if text.startswith("-") else 1.0}


@dataclass(frozen=True)
class Choices:
    """Options that select confusion rules.

    ``cap``: use at most so many target sides of each source side (0: all), chosen by ``best``: the first in ``order``
    of reading, those with the highest ``count`` in all grammars, or those with the highest weighted sum of features;
    ties go to the first. ``identity``: confuse target sides with themselves. ``same_lhs``: confuse only rules with the
    same left-hand side. ``glue``: include rules without source words. ``wordless``: include rules whose input side has
    two or more gaps and no word. ``gaps``: maximum number of gaps. For graphs: ``same_rule``: confuse a rule with
    itself (otherwise identity rules come from different rules only); ``oov``: include unknown-word rules, which have
    at most one word and a feature whose name begins with a match of ``oov_features``.
    """

    cap: int = 0
    best: Best = "order"
    identity: bool = True
    same_lhs: bool = False
    glue: bool = False
    wordless: bool = True
    gaps: int | None = None
    same_rule: bool = True
    oov: bool = False
    oov_features: str = OOV_FEATURES

    def __post_init__(self) -> None:
        if not 0 <= self.cap <= MOST:
            raise UsageError(f"cap: expected 1 or more, or 0 for no limit, found {self.cap}")
        if self.gaps is not None and not 0 <= self.gaps <= MOST:
            raise UsageError(f"gaps: expected 0 or more, found {self.gaps}")
        if isinstance(self.best, str) and self.best not in ("order", "count"):
            raise UsageError(f"best: expected order, count or weights, found {self.best!r}")


@dataclass(frozen=True)
class GrammarCounts:
    """Counts of what was read and written."""

    rules: int
    """Rules read; for graphs, edges."""
    left_out: int
    """Rules left out: glue, unknown words, too many gaps, refinements."""
    sources: int
    """Source sides; for graphs, sets of competing edges."""
    uncapped: int
    """Pairs of target sides, summed over sources."""
    capped: int
    """The same after applying the cap."""
    no_input: int
    """Capped pairs whose input side is empty or a single gap, which no rule can have."""
    pairs: int
    """Distinct rules written."""
    spilled: bool = False
    """Whether data beyond the memory limit were kept in a file."""
