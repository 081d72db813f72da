"""One sentence's n-best list as it was read, with what was done to it since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from smtformats.columns import Columns

Layout = tuple[str, ...]


@dataclass
class Candidates:
    """One sentence's hypotheses, best first as the toolkit wrote them.

    ``layouts[i]`` names the features of hypothesis i in file order and ``values[i]`` holds their values; lists of
    one toolkit share one layout object. ``raw`` are the lines as read (each with its newline) and ``origin`` the
    format that read them: a writer of that format copies them and changes only what was changed, which is the
    features past ``original[i]`` and, if ``rescored``, the total. ``before`` and ``after`` are lines around the list
    that belong to no hypothesis, for that writer alone. ``first`` numbers the hypotheses through the whole file.
    Nothing here is changed in place: the methods give new lists.
    """

    id: str
    texts: list[str]
    layouts: list[Layout]
    values: list[list[float]]
    totals: list[float] | None = None
    extras: dict[str, list[str]] = field(default_factory=dict)
    raw: list[str] | None = None
    origin: str = ""
    file: str = ""
    line: int = 1
    first: int = 0
    original: list[int] | None = None
    rescored: bool = False
    before: str = ""
    after: str = ""
    ranks: list[int] | None = None
    source: str | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"Candidates(id={self.id!r}, {len(self)} hypotheses, {len(self.names())} features)"

    def names(self) -> tuple[str, ...]:
        """The feature names that occur, in order of first occurrence."""
        seen: dict[str, None] = {}
        last: Layout | None = None
        for layout in self.layouts:
            if layout is not last:
                seen.update(dict.fromkeys(layout))
                last = layout
        return tuple(seen)

    def features(self) -> Columns:
        """The features as sparse columns."""
        return Columns.from_rows(self.layouts, self.values)

    def rows(self) -> Iterator[tuple[str, dict[str, float], float | None]]:
        """Text, features and total of each hypothesis."""
        for i, text in enumerate(self.texts):
            total = self.totals[i] if self.totals is not None else None
            yield text, dict(zip(self.layouts[i], self.values[i], strict=True)), total

    def with_columns(self, layouts: Sequence[Layout], values: Sequence[Sequence[float]]) -> Candidates:
        """The list with more features: names and values for each hypothesis."""
        joined: dict[tuple[int, int], Layout] = {}
        longer = []
        for old, new in zip(self.layouts, layouts, strict=True):
            key = (id(old), id(new))
            if key not in joined:
                twice = set(old).intersection(new)
                if twice:
                    raise ValueError(f"expected new feature names, found {min(twice)!r}, which is there already")
                joined[key] = old + new
            longer.append(joined[key])
        return replace(
            self,
            layouts=longer,
            values=[[*row, *more] for row, more in zip(self.values, values, strict=True)],
            original=self.original or list(map(len, self.layouts)),
        )

    def with_totals(self, totals: Sequence[float]) -> Candidates:
        """The list with new total scores."""
        return replace(self, totals=list(totals), rescored=True)

    def with_texts(self, texts: Sequence[str]) -> Candidates:
        """The list with other texts: its lines are written anew."""
        return replace(self, texts=list(texts), raw=None, original=None)

    def select(self, order: Sequence[int]) -> Candidates:
        """The hypotheses at the given positions, in that order."""
        ranks = self.ranks or range(len(self))
        return replace(
            self,
            texts=[self.texts[i] for i in order],
            layouts=[self.layouts[i] for i in order],
            values=[self.values[i] for i in order],
            totals=None if self.totals is None else [self.totals[i] for i in order],
            extras={name: [column[i] for i in order] for name, column in self.extras.items()},
            raw=None if self.raw is None else [self.raw[i] for i in order],
            original=None if self.original is None else [self.original[i] for i in order],
            ranks=[ranks[i] for i in order],
        )
