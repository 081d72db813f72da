"""Examples with binary features (atoms), and multi-class problems over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows of true atoms: row i has ``ids[offsets[i]:offsets[i + 1]]``, distinct and in ascending order.

    ``atoms`` are the names of the ids; several problems may share them.
    """

    offsets: Array
    ids: Array
    atoms: Sequence[str]

    def __post_init__(self) -> None:
        import numpy as np

        offsets, ids = np.ascontiguousarray(self.offsets, np.int64), np.ascontiguousarray(self.ids, np.int32)
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "ids", ids)
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(ids) or (np.diff(offsets) < 0).any():
            raise SmtError("examples: expected offsets that increase from 0 to the number of ids, found others")
        if len(ids) and not (ids.min() >= 0 and ids.max() < len(self.atoms)):
            raise SmtError(f"examples: expected ids from 0 to below {len(self.atoms)}, found others")
        inside = np.ones(max(len(ids) - 1, 0), dtype=bool)
        starts = offsets[1:-1]
        inside[starts[(starts > 0) & (starts < len(ids))] - 1] = False
        if (np.diff(ids)[inside] <= 0).any():
            raise SmtError("examples: expected the atoms of a row in ascending order, each once, found others")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, rows: Iterable[Iterable[str]], atoms: Sequence[str] | None = None) -> Examples:
        """Build from rows of atom names, numbered in order of first use; given ``atoms``, others are dropped."""
        import numpy as np

        numbers = {} if atoms is None else {name: at for at, name in enumerate(atoms)}
        offsets, ids = [0], []
        for row in rows:
            if atoms is None:
                own = {numbers.setdefault(name, len(numbers)) for name in row}
            else:
                own = {numbers[name] for name in row if name in numbers}
            ids.extend(sorted(own))
            offsets.append(len(ids))
        return cls(np.array(offsets), np.array(ids, dtype=np.int32), tuple(numbers) if atoms is None else atoms)

    def row(self, index: int) -> tuple[str, ...]:
        """The names of a row's atoms."""
        return tuple(self.atoms[i] for i in self.ids[self.offsets[index] : self.offsets[index + 1]].tolist())

    def take(self, rows: Array) -> Examples:
        """Select rows by number."""
        import numpy as np

        rows = np.asarray(rows, dtype=np.int64)
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        where = np.repeat(self.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Examples(offsets, self.ids[where], self.atoms)

    def named(self, atoms: Sequence[str]) -> Examples:
        """Renumber the rows by other atoms; atoms not among them are dropped."""
        import numpy as np

        if atoms is self.atoms:
            return self
        known = {name: at for at, name in enumerate(atoms)}
        number = np.array([known.get(name, -1) for name in self.atoms], dtype=np.int32)
        ids = number[self.ids] if len(self.ids) else self.ids
        row_of = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        kept = ids >= 0
        ids, row_of = ids[kept], row_of[kept]
        order = np.lexsort((ids, row_of))
        offsets = np.concatenate([[0], np.cumsum(np.bincount(row_of, minlength=len(self)))])
        return replace(self, offsets=offsets, ids=ids[order], atoms=atoms)


@dataclass(frozen=True, eq=False)
class Problem:
    """Examples with their classes: an index into ``names``, or -1 for none of them.

    For instance a source word: its tokens are the examples, its translations the classes.
    """

    name: str
    examples: Examples
    classes: Array
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        import numpy as np

        object.__setattr__(self, "classes", np.ascontiguousarray(self.classes, np.int32))
        if len(self.classes) != len(self.examples):
            raise SmtError(
                f"problem {self.name!r}: expected a class for each of {len(self.examples)} examples, "
                f"found {len(self.classes)}"
            )
        if len(self.classes) and not (self.classes.min() >= -1 and self.classes.max() < len(self.names)):
            raise SmtError(f"problem {self.name!r}: expected classes from -1 to below {len(self.names)}, found others")
