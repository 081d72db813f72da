"""What features say of rules as columns, and which features are of rules, of neighbours' words, or of neither."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core.grammar.rules import Rules
    from smtplugins.host.features.scoring import Active


@dataclass(frozen=True)
class Block:
    """What a feature says of rules: a column for each name."""

    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]

    def add_scores(self, scores: NDArray[Any], weights: Mapping[str, float]) -> None:
        """Add the weighted sum of each rule."""
        for name, column in zip(self.names, self.columns, strict=True):
            weight = weights.get(name, 0.0)
            if weight:
                scores += column * weight

    def entries(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The values that are not 0: their rules, numbers of names, and they themselves; by name, then by rule."""
        import numpy as np

        places = [np.flatnonzero(column) for column in self.columns]
        ids = np.repeat(np.arange(len(places)), list(map(len, places)))
        values = [column[at] for column, at in zip(self.columns, places, strict=True)]
        return np.concatenate(places), ids, np.concatenate(values)

    def sums(self, rules: Sequence[int]) -> dict[str, float]:
        """The columns' sums over these rules, each as often as it is there."""
        at = list(rules)
        return {name: float(column[at].sum()) for name, column in zip(self.names, self.columns, strict=True)}


@dataclass(frozen=True)
class SparseBlock:
    """The same of names in an open namespace, of which a rule has few: entries by rule; ``size`` rules there are."""

    names: tuple[str, ...]
    size: int
    rows: NDArray[Any]
    ids: NDArray[Any]
    values: NDArray[Any]

    @cached_property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """All written out."""
        import numpy as np

        table = np.zeros((self.size, len(self.names)))
        np.add.at(table, (self.rows, self.ids), self.values)
        return tuple(table.T)

    def add_scores(self, scores: NDArray[Any], weights: Mapping[str, float]) -> None:
        """Add the weighted sum of each rule."""
        import numpy as np

        by = np.array([weights.get(name, 0.0) for name in self.names])
        if by.any():
            scores += np.bincount(self.rows, self.values * by[self.ids], self.size)

    def entries(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Rules, numbers of names, and values."""
        return self.rows, self.ids, self.values

    def sums(self, rules: Sequence[int]) -> dict[str, float]:
        """The sums over these rules, without names that none of them has."""
        import numpy as np

        found: dict[str, float] = {}
        at = np.asarray(rules, dtype=np.int64)
        firsts, lasts = np.searchsorted(self.rows, at), np.searchsorted(self.rows, at, "right")
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
            for number, value in zip(self.ids[first:last].tolist(), self.values[first:last].tolist(), strict=True):
                found[self.names[number]] = found.get(self.names[number], 0.0) + value
        return found


def blocks_of(features: Sequence[Active], rules: Rules, nobodys: int | None = None) -> Iterator[Block | SparseBlock]:
    """What features say of rules; the rule ``nobodys`` has 0 of all."""
    import numpy as np

    from smtformats import Columns

    for one in features:
        try:
            result = one.feature.score_rules(rules)
            if isinstance(result, Columns) and result.names and all(":" in name for name in result.names):
                yield _sparse(one, result, len(rules), nobodys)
                continue
            if isinstance(result, Columns):
                names, table = _table(result)
                names = tuple(one.column(name, len(names)) for name in names)
            else:
                table = np.array(result, dtype=np.float64)
                table = table[:, None] if table.ndim == 1 else table
                names = column_names(one, table.shape[1])[-table.shape[1] :] if table.shape[1] else ()
            if table.shape != (len(rules), len(names)):
                raise ValueError(f"expected a row for each of {len(rules)} rules, found shape {table.shape}")
            if not np.isfinite(table).all():
                raise ValueError("expected finite scores")
        except (SmtError, UsageError):
            raise
        except (Exception, SystemExit) as error:
            from smtplugins.host.errors import FeatureError, failure_text

            raise FeatureError(f"feature {one.label!r} on rules: {failure_text(error)}") from error
        if nobodys is not None:
            table[nobodys] = 0.0
        if names:
            yield Block(names, tuple(table[:, i] for i in range(len(names))))


def _sparse(one: Active, columns: Any, size: int, nobodys: int | None) -> SparseBlock:
    """Sparse columns as they are."""
    import numpy as np

    if len(columns) != size:
        raise ValueError(f"expected a row for each of {size} rules, found {len(columns)}")
    names = tuple(one.column(name, len(columns.names)) for name in columns.names)
    rows = np.repeat(np.arange(size), np.diff(columns.offsets))
    ids, values = np.asarray(columns.ids), np.asarray(columns.values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("expected finite scores")
    if nobodys is not None:
        kept = rows != range(size)[nobodys]
        rows, ids, values = rows[kept], ids[kept], values[kept]
    return SparseBlock(names, size, rows, ids, values)


def _table(columns: Any) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Sparse columns written out."""
    import numpy as np

    names = tuple(columns.names)
    table = np.zeros((len(columns), len(names)))
    for i in range(len(columns)):
        row = columns.row(i)
        for column, name in enumerate(names):
            table[i, column] = row.get(name, 0.0)
    return names, table


def column_names(one: Active, width: int) -> tuple[str, ...]:
    """The names of a feature's columns: what it calls them itself, else its label, by number if there are several."""
    own = getattr(one.feature, "column_names", None)
    if own is not None:
        names: tuple[str, ...] = own(one.label)
        return names
    return (one.label,) if width == 1 else tuple(f"{one.label}[{k}]" for k in range(width))


def is_stateful(feature: Any) -> bool:
    """Whether a feature needs the words of neighbours: in Python, in C, or in core's own code."""
    return any(hasattr(feature, name) for name in ("native", "start", "smt_feature_v1"))


def sorted_out(features: Sequence[Active]) -> tuple[list[Active], list[Active]]:
    """Features of rules, and those with states; one may be both."""
    rules, stateful = [], []
    for one in features:
        made = one.feature
        if hasattr(made, "score_rules"):
            rules.append(one)
        if is_stateful(made):
            stateful.append(one)
        elif not hasattr(made, "score_rules"):
            raise UsageError(
                f"feature {one.label!r} scores whole hypotheses, which a decoder does not have while it searches: "
                "write a list (-k) and use it in `smt score`"
            )
    return rules, stateful
