"""A synchronous grammar rule as it was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class NonTerminal:
    """A gap of a rule: its label, and its place among the source side's gaps, from 1."""

    label: str
    index: int


Symbol = str | NonTerminal
_EXTRAS = ("alignment", "tree", "level", "counts", "properties")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: words and gaps on both sides, features in file order, and what else its line carries.

    A name may stand twice in ``names``: the last one counts, as in :meth:`features`. A label that is not the same on
    both sides is ``SOURCE][TARGET``, as Moses writes the pair. ``level`` is how often the rule refines a coarser one
    before it. ``counts`` are how often target, source and both were seen, ``properties`` Moses' keys and values.
    ``raw`` is the line as read, blank ones around it included, and ``origin`` the format that read it: a writer of
    that format copies it. The methods that change a rule drop it.
    """

    lhs: str
    source: tuple[Symbol, ...]
    target: tuple[Symbol, ...]
    names: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    alignment: tuple[tuple[int, int], ...] = ()
    tree: str = ""
    level: int = 0
    counts: tuple[float, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    raw: str | None = None
    origin: str = ""
    file: str = ""
    line: int = 1

    @property
    def arity(self) -> int:
        """How many gaps the rule has."""
        return sum(isinstance(symbol, NonTerminal) for symbol in self.source)

    @property
    def extras(self) -> set[str]:
        """What the rule has beside sides and features, which not every format can carry."""
        return {name for name in _EXTRAS if getattr(self, name)}

    def without(self, extras: Iterable[str]) -> Rule:
        """The rule without some of these."""
        return replace(self, raw=None, **{name: type(getattr(self, name))() for name in extras})

    def features(self) -> dict[str, float]:
        """Each feature once, at the place of its first and with the value of its last occurrence."""
        return dict(zip(self.names, self.values, strict=True))

    def with_features(self, names: tuple[str, ...], values: tuple[float, ...]) -> Rule:
        """The rule with other features."""
        return replace(self, names=names, values=values, raw=None)
