"""Which rules are confused, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from smtplugins.host.errors import UsageError

OOV_FEATURES = r"(?i)(pass-?through|oov|unknown-?word)"
"""What names of features begin with that mark rules minted for unknown words."""
MOST = 2**32 - 1


@dataclass(frozen=True)
class Choices:
    """Which rules are confused.

    Of each source side ``cap`` target sides at most, if it is not 0: those that are ``best``, which is the ``order``
    they come in, or their ``count`` in all that is read, or else a sum of features by these weights; the first of equal
    ones. ``identity``: sides are confused with themselves. ``same_lhs``: left-hand sides are the same as well.
    ``glue``: rules without source words count. ``wordless``: there are rules whose input is two or more gaps without a
    word. ``gaps``: rules have at most as many. ``same_rule``: in a graph a rule is confused with itself; otherwise
    identity comes from different rules alone. ``oov``: in a graph, rules minted for unknown words count; they are those
    of one word at most with a feature that begins as ``oov_features`` says.
    """

    cap: int = 0
    best: Literal["order", "count"] | Mapping[str, float] = "order"
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
            raise UsageError(f"cap: expected 1 or more, or 0 for none, found {self.cap}")
        if self.gaps is not None and not 0 <= self.gaps <= MOST:
            raise UsageError(f"gaps: expected 0 or more, found {self.gaps}")
        if isinstance(self.best, str) and self.best not in ("order", "count"):
            raise UsageError(f"best: expected order, count or weights, found {self.best!r}")


@dataclass(frozen=True)
class Report:
    """What was read and found: ``sources`` are source sides, or sets of edges that are confused."""

    rules: int
    """Read; of graphs, edges."""
    left_out: int
    """Of these, for what they are: glue, unknown words, too many gaps, refinements."""
    sources: int
    uncapped: int
    """Pairs of target sides, source by source."""
    capped: int
    """The same, with the cap."""
    no_input: int
    """Of these, pairs whose input side is empty or a gap alone: no rule can have it."""
    pairs: int
    """Different rules that were given out."""
    spilled: bool = False
