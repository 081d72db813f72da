"""The n-best list of one sentence, with its text as read and the changes made since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, TypeVar

from smtformats.columns import Columns
from smtformats.display import NAMES, ROWS, html_table
from smtformats.errors import FormatError, quote
from smtformats.nbest.shared.structure import Point, Segment, points_of, segments_of, tree_of
from smtformats.records import dataclass

if TYPE_CHECKING:
    from smtformats.tree.trees import Tree

Layout = tuple[str, ...]
_Part = TypeVar("_Part")


@dataclass
class Candidates:
    """The n-best list of one sentence, in the order of the file (best first).

    ``layouts[i]`` names the features of hypothesis i in file order and ``values[i]`` holds their values; hypotheses
    with the same features share one layout object. ``raw`` holds the lines as read (each with its newline) and
    ``origin`` names the format that read them. A writer of that format copies these lines and rewrites only what
    changed: the features from ``original[i]`` on and, if ``rescored``, the total. ``before`` and ``after`` are
    lines around the list that belong to no hypothesis; only that writer uses them, and ``places``: where the total
    begins in each raw line, empty if the format does not say. ``first`` is the position of the first hypothesis in
    the whole file, from 0. ``reading`` names the shape of JSON that the list was read from, if it is not the
    format's own, and then the fields that were left aside. Indexing gives text, features and total of a hypothesis.
    Methods return new lists and never modify one in place.
    """

    id: str
    texts: list[str] = field(default_factory=list)
    layouts: list[Layout] = field(default_factory=list)
    values: list[list[float]] = field(default_factory=list)
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
    places: list[int] = field(default_factory=list, compare=False, repr=False)
    reading: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"Candidates(id={self.id!r}, {len(self)} hypotheses, {len(self.names())} features)"

    def __getitem__(self, index: int) -> tuple[str, dict[str, float], float | None]:
        i = range(len(self))[index]
        total = self.totals[i] if self.totals is not None else None
        return self.texts[i], dict(zip(self.layouts[i], self.values[i], strict=True)), total

    def _repr_html_(self) -> str:
        names = self.names()
        rows = []
        for i in range(min(len(self), ROWS)):
            text, features, total = self[i]
            rows.append([i, text, total, *map(features.get, names[:NAMES])])
        more = len(self) > ROWS or len(names) > NAMES
        parts = [f"list {self.id}", self.source or "", f"{len(self)} hypotheses, {len(names)} features" * more]
        caption = ": ".join(part for part in parts if part)
        return html_table(["", "text", "total", *names[:NAMES]], rows, caption=caption)

    def names(self) -> tuple[str, ...]:
        """All feature names, in order of first occurrence."""
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
        """Iterate over text, features and total of each hypothesis."""
        for i in range(len(self)):
            yield self[i]

    @property
    def alignment(self) -> list[tuple[Point, ...]] | None:
        """The alignment points (source, target) of each hypothesis, if the list has alignments.

        Positions are those of the file. Moses' chart decoder counts ``<s>``, so its first word is at position 1.
        """
        return self._parts("alignment", points_of, "an alignment like 0-0 1-2")

    @property
    def segmentation(self) -> list[tuple[Segment, ...]] | None:
        """The phrases of each hypothesis, if the list has them: first and last position in source and target."""
        return self._parts("segmentation", segments_of, "a segmentation like 0-3=0-2 4=3")

    @property
    def derivations(self) -> list[Tree] | None:
        """The tree of each hypothesis, if the list has trees; a hypothesis without one has an empty tree."""
        return self._parts("tree", tree_of, "a tree in brackets, nested at most 1000 deep")

    def _parts(self, name: str, part_of: Callable[[str], _Part | None], expected: str) -> list[_Part] | None:
        column = self.extras.get(name)
        if column is None:
            return None
        parts: list[_Part] = []
        for i, text in enumerate(column):
            part = part_of(text)
            if part is None:
                line, number = self._place(i, text)
                raise FormatError(expected, quote(text), file=self.file, line=line, field=number)
            parts.append(part)
        return parts

    def _place(self, i: int, text: str) -> tuple[int, int | None]:
        """The line of a hypothesis and the number of the field that holds a text, if its raw line shows them."""
        fields = [field.strip(" \r\n") for field in self.raw[i].split("|||")] if self.raw is not None else []
        if len(fields) < 2:
            return self.line, None
        rank = i if self.ranks is None else self.ranks[i]
        return self.line + rank, fields.index(text) + 1 if text in fields else None

    def with_columns(self, layouts: Sequence[Layout], values: Sequence[Sequence[float]]) -> Candidates:
        """Add features: names and values for each hypothesis."""
        joined: dict[tuple[int, int], Layout] = {}
        longer = []
        for old, new in zip(self.layouts, layouts, strict=True):
            key = (id(old), id(new))
            if key not in joined:
                twice = set(old).intersection(new)
                if twice:
                    raise ValueError(f"expected new feature names, found {min(twice)!r}, which the list already has")
                joined[key] = old + new
            longer.append(joined[key])
        return replace(
            self,
            layouts=longer,
            values=[[*row, *more] for row, more in zip(self.values, values, strict=True)],
            original=self.original or list(map(len, self.layouts)),
        )

    def with_totals(self, totals: Sequence[float]) -> Candidates:
        """Replace the total scores."""
        return replace(self, totals=list(totals), rescored=True)

    def with_texts(self, texts: Sequence[str]) -> Candidates:
        """Replace the texts; the list is then written anew, without its raw lines."""
        return replace(self, texts=list(texts), raw=None, original=None)

    def select(self, order: Sequence[int]) -> Candidates:
        """Keep the hypotheses at the given positions, in that order."""
        ranks = self.ranks or range(len(self))
        return replace(
            self,
            texts=[self.texts[i] for i in order],
            layouts=[self.layouts[i] for i in order],
            values=[self.values[i] for i in order],
            totals=None if self.totals is None else [self.totals[i] for i in order],
            extras={name: [column[i] for i in order] for name, column in self.extras.items()},
            raw=None if self.raw is None else [self.raw[i] for i in order],
            places=[self.places[i] for i in order] if self.places else [],
            original=None if self.original is None else [self.original[i] for i in order],
            ranks=[ranks[i] for i in order],
        )
