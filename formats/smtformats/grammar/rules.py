"""A synchronous grammar rule as it was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class NonTerminal:
    """A gap of a rule: its label, and its number among the source-side gaps, from 1."""

    label: str
    index: int


Symbol = str | NonTerminal
_EXTRAS = ("alignment", "tree", "level", "counts", "properties")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: words and gaps on both sides, features in file order, and the other fields of its line.

    A name may occur twice in ``names``; the last value counts, see :meth:`features`. A label that differs between the
    sides is ``SOURCE][TARGET``, as in Moses. ``level`` is the depth of refinement, 0 for a rule that refines none.
    ``counts`` are target, source and joint counts, ``properties`` Moses' keys and values. ``raw`` is the line as read,
    with blank lines around it, and ``origin`` the format that read it; that format's writer copies the line. Methods
    that change a rule drop ``raw``.
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
        """The number of gaps."""
        return sum(isinstance(symbol, NonTerminal) for symbol in self.source)

    @property
    def extras(self) -> set[str]:
        """The names of the fields in use beside sides and features; not every format has them."""
        return {name for name in _EXTRAS if getattr(self, name)}

    def without(self, extras: Iterable[str]) -> Rule:
        """Return the rule without these extras."""
        return replace(self, raw=None, **{name: type(getattr(self, name))() for name in extras})

    def features(self) -> dict[str, float]:
        """Return features by name, each in the position of its first and with the value of its last occurrence."""
        return dict(zip(self.names, self.values, strict=True))

    def with_features(self, names: tuple[str, ...], values: tuple[float, ...]) -> Rule:
        """Return the rule with other features."""
        return replace(self, names=names, values=values, raw=None)
