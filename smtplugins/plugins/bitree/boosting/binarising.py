"""Convert features to binary atoms: features with values 0 and 1 are atoms, others are compared with thresholds.

Thresholds at quantiles, and values relative to the list's mean, are ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError
from smtplugins.plugins.bitree.boosting.examples import Examples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Columns

    Array = NDArray[Any]

RECORD = "atoms.json"


@dataclass(frozen=True)
class Binarising:
    """``plain`` features are atoms themselves; others have an atom ``NAME>=T`` for each of their ``thresholds``.

    If ``relative``, the mean of the list is subtracted from values first.
    """

    plain: tuple[str, ...]
    thresholds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    relative: bool = False

    @cached_property
    def atoms(self) -> tuple[str, ...]:
        """The names of all atoms."""
        return (
            *self.plain,
            *(f"{name}>={threshold!r}" for name, values in self.thresholds.items() for threshold in values),
        )

    @classmethod
    def of(cls, features: Columns, lists: Array | None, bins: int, relative: bool) -> Binarising:
        """Choose thresholds for these features: at most ``bins`` - 1 quantiles for each real-valued feature.

        ``lists`` are the bounds of lists of rows, needed if values are ``relative``.
        """
        import numpy as np

        _check(features)
        odd = np.unique(features.ids[(features.values != 0) & (features.values != 1)])
        if len(odd) and not bins:
            value = features.values[(features.ids == odd[0]) & (features.values != 0) & (features.values != 1)][0]
            raise SmtError(
                f"l1-boost: expected features of the values 0 and 1, found {features.names[odd[0]]!r} with {value:g}; "
                "set the option `bins` to split real values by thresholds"
            )
        others = set(odd.tolist())
        plain = tuple(sorted(name for at, name in enumerate(features.names) if at not in others))
        table = _table(features, odd, lists if relative else None)
        thresholds = {}
        for at, column in sorted(zip(odd.tolist(), table.T, strict=True), key=lambda pair: features.names[pair[0]]):
            ends = np.unique(np.quantile(column, np.arange(1, bins) / bins, method="higher"))
            # A threshold at the minimum is always true.
            thresholds[features.names[at]] = tuple(ends[ends > column.min()].tolist())
        return cls(plain, thresholds, relative)

    def examples(self, features: Columns, lists: Array | None = None) -> Examples:
        """Convert rows to examples; unknown features are dropped."""
        import numpy as np

        _check(features)
        number = {name: at for at, name in enumerate(self.plain)}
        known = np.array([number.get(name, -1) for name in features.names], dtype=np.int64)
        rows = np.repeat(np.arange(len(features)), np.diff(features.offsets))
        at = known[features.ids] if len(features.names) else np.zeros(0, dtype=np.int64)
        true = (at >= 0) & (features.values != 0)
        pairs = [np.stack([rows[true], at[true]])]
        place = {name: column for column, name in enumerate(features.names)}
        columns = np.array([place.get(name, -1) for name in self.thresholds], dtype=np.int64)
        table = _table(features, columns, lists if self.relative else None)
        first = len(self.plain)
        for column, ends in zip(table.T, self.thresholds.values(), strict=True):
            row, which = np.nonzero(column[:, None] >= np.array(ends)[None, :])
            pairs.append(np.stack([row, first + which]))
            first += len(ends)
        cells = np.concatenate(pairs, axis=1)
        order = np.lexsort((cells[1], cells[0]))
        counts = np.bincount(cells[0], minlength=len(features))
        return Examples(np.concatenate([[0], np.cumsum(counts)]), cells[1][order].astype(np.int32), self.atoms)

    def record(self) -> str:
        """The binarising as JSON text."""
        values = {"plain": self.plain, "thresholds": dict(self.thresholds), "relative": self.relative}
        return json.dumps(values, ensure_ascii=False)

    def save(self, folder: Path) -> None:
        """Write ``atoms.json``."""
        (folder / RECORD).write_text(self.record() + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Binarising:
        """Load what save() wrote."""
        path = folder / RECORD
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            thresholds = {str(name): tuple(map(float, each)) for name, each in values["thresholds"].items()}
            return cls(tuple(map(str, values["plain"])), thresholds, bool(values["relative"]))
        except FileNotFoundError:
            raise SmtError(f"{folder}: expected trees over features, found no {RECORD}") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SmtError(f"{path}: expected plain features and thresholds, found others ({error})") from None


def _check(features: Columns) -> None:
    import numpy as np

    if not np.isfinite(features.values).all():
        raise SmtError("l1-boost: expected finite features, found inf or nan")
    rows = np.repeat(np.arange(len(features)), np.diff(features.offsets))
    keys = rows * max(len(features.names), 1) + features.ids
    if len(np.unique(keys)) != len(keys):
        raise SmtError("l1-boost: expected each feature once in a row, found one twice")


def _table(features: Columns, columns: Array, lists: Array | None) -> Array:
    """Some columns as a dense table, 0 for missing values and columns (-1), minus the means of the lists if given."""
    import numpy as np

    place = np.full(len(features.names) + 1, -1, dtype=np.int64)
    there = columns >= 0
    place[columns[there]] = np.flatnonzero(there)
    rows = np.repeat(np.arange(len(features)), np.diff(features.offsets))
    at = place[features.ids] if len(features.ids) else np.zeros(0, dtype=np.int64)
    inside = at >= 0
    table = np.zeros((len(features), len(columns)))
    table[rows[inside], at[inside]] = features.values[inside]
    if lists is not None and len(table):
        sizes = np.diff(lists)
        means = np.add.reduceat(table, lists[:-1], axis=0) / sizes[:, None]
        table -= np.repeat(means, sizes, axis=0)
    return table
