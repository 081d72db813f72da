"""Feature values of rules as columns, and the distinction of stateless, stateful and list-only features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smtformats import Columns
from smtformats.columns import spans
from smtformats.records import dataclass
from smtplugins.contracts.errors import SmtError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core.grammar.rules import Rules
    from smtplugins.host.features.scoring import Active


@dataclass(frozen=True)
class ColumnBlock:
    """A feature's values for rules: a dense column per name."""

    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]

    def add_scores(self, scores: NDArray[Any], weights: Mapping[str, float]) -> None:
        """Add each rule's weighted sum to ``scores``."""
        for name, column in zip(self.names, self.columns, strict=True):
            weight = weights.get(name, 0.0)
            if weight:
                scores += column * weight

    def of(self, rules: NDArray[Any]) -> ColumnBlock:
        """The values for some of the rules."""
        return ColumnBlock(self.names, tuple(column[rules] for column in self.columns))

    def entries(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The nonzero values as (rules, name ids, values), sorted by name, then by rule."""
        import numpy as np

        places = [np.flatnonzero(column) for column in self.columns]
        ids = np.repeat(np.arange(len(places)), list(map(len, places)))
        values = [column[at] for column, at in zip(self.columns, places, strict=True)]
        return np.concatenate(places), ids, np.concatenate(values)

    def sums(self, rules: Sequence[int]) -> dict[str, float]:
        """Sum the columns over these rules, counting repeated rules repeatedly."""
        at = list(rules)
        return {name: float(column[at].sum()) for name, column in zip(self.names, self.columns, strict=True)}


@dataclass(frozen=True)
class SparseBlock:
    """A feature's values for ``size`` rules with names in an open namespace: sparse entries sorted by rule."""

    names: tuple[str, ...]
    size: int
    rows: NDArray[Any]
    ids: NDArray[Any]
    values: NDArray[Any]

    @cached_property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """The entries as a dense column for each name."""
        import numpy as np

        table = np.zeros((self.size, len(self.names)))
        np.add.at(table, (self.rows, self.ids), self.values)
        return tuple(table.T)

    def add_scores(self, scores: NDArray[Any], weights: Mapping[str, float]) -> None:
        """Add each rule's weighted sum to ``scores``."""
        import numpy as np

        by = np.array([weights.get(name, 0.0) for name in self.names])
        if by.any():
            scores += np.bincount(self.rows, self.values * by[self.ids], self.size)

    def of(self, rules: NDArray[Any]) -> SparseBlock:
        """The values for some of the rules."""
        import numpy as np

        firsts, lasts = (np.searchsorted(self.rows, rules, side) for side in ("left", "right"))
        offsets, places = spans(firsts, lasts)
        rows = np.repeat(np.arange(len(rules)), np.diff(offsets))
        return SparseBlock(self.names, len(rules), rows, self.ids[places], self.values[places])

    def entries(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The values as (rules, name ids, values)."""
        return self.rows, self.ids, self.values

    def sums(self, rules: Sequence[int]) -> dict[str, float]:
        """Sum the values over these rules, without names that none of them has."""
        import numpy as np

        totals: dict[str, float] = {}
        at = np.asarray(rules, dtype=np.int64)
        firsts, lasts = np.searchsorted(self.rows, at), np.searchsorted(self.rows, at, "right")
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
            for number, value in zip(self.ids[first:last].tolist(), self.values[first:last].tolist(), strict=True):
                totals[self.names[number]] = totals.get(self.names[number], 0.0) + value
        return totals


def blocks_of(
    features: Sequence[Active], rules: Rules, nobodys: int | None = None
) -> Iterator[ColumnBlock | SparseBlock]:
    """Score the rules with each feature; the rule with the number ``nobodys`` gets 0 from all."""
    import numpy as np

    for active in features:
        try:
            result = active.feature.score_rules(rules)
            if isinstance(result, Columns) and result.names and all(":" in name for name in result.names):
                yield _sparse(active, result, len(rules), nobodys)
                continue
            if isinstance(result, Columns):
                names, table = _table(result)
                names = tuple(active.column(name, len(names)) for name in names)
            else:
                table = np.array(result, dtype=np.float64)
                table = table[:, None] if table.ndim == 1 else table
                names = column_names(active, table.shape[1])[-table.shape[1] :] if table.shape[1] else ()
            if table.shape != (len(rules), len(names)):
                raise ValueError(f"expected a row for each of {len(rules)} rules, found shape {table.shape}")
            if not np.isfinite(table).all():
                raise ValueError("expected finite scores")
        except (SmtError, UsageError):
            raise
        except (Exception, SystemExit) as error:
            from smtplugins.contracts.errors import FeatureError
            from smtplugins.host.errors import failure_text

            raise FeatureError(f"feature {active.label!r} on rules: {failure_text(error)}") from error
        if nobodys is not None:
            table[nobodys] = 0.0
        if names:
            yield ColumnBlock(names, tuple(table[:, i] for i in range(len(names))))


def _sparse(active: Active, columns: Any, size: int, nobodys: int | None) -> SparseBlock:
    """Keep sparse columns sparse."""
    import numpy as np

    if len(columns) != size:
        raise ValueError(f"expected a row for each of {size} rules, found {len(columns)}")
    names = tuple(active.column(name, len(columns.names)) for name in columns.names)
    rows = np.repeat(np.arange(size), np.diff(columns.offsets))
    ids, values = np.asarray(columns.ids), np.asarray(columns.values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("expected finite scores")
    if nobodys is not None:
        kept = rows != range(size)[nobodys]
        rows, ids, values = rows[kept], ids[kept], values[kept]
    return SparseBlock(names, size, rows, ids, values)


def _table(columns: Any) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Turn sparse columns into a dense table."""
    import numpy as np

    names = tuple(columns.names)
    table = np.zeros((len(columns), len(names)))
    for i in range(len(columns)):
        row = columns.row(i)
        for column, name in enumerate(names):
            table[i, column] = row.get(name, 0.0)
    return names, table


def column_names(active: Active, width: int) -> tuple[str, ...]:
    """The names of a feature's columns: its own ``column_names``, else its label, numbered if there are several."""
    own = getattr(active.feature, "column_names", None)
    if own is not None:
        names: tuple[str, ...] = own(active.label)
        return names
    return (active.label,) if width == 1 else tuple(f"{active.label}[{k}]" for k in range(width))


def declares_columns(feature: Any) -> bool:
    """Whether the names of a feature's columns are known before it scores: stateful ones have one unless they say."""
    return not hasattr(feature, "score_rules") or hasattr(feature, "column_names") or hasattr(feature, "components")


def is_stateful(feature: Any) -> bool:
    """Whether a feature has states, that is, depends on neighbouring words (in Python, C or core's native code)."""
    return any(hasattr(feature, name) for name in ("native", "start", "smt_feature_v1"))


def sorted_out(features: Sequence[Active]) -> tuple[list[Active], list[Active]]:
    """Split features into those that score rules and those with states; a feature may be both."""
    rules, stateful = [], []
    for active in features:
        feature = active.feature
        if hasattr(feature, "score_rules"):
            rules.append(active)
        if is_stateful(feature):
            stateful.append(active)
        elif not hasattr(feature, "score_rules"):
            raise UsageError(
                f"feature {active.label!r} scores whole hypotheses, which do not exist during search: write lists "
                "(`smt decode -k N`, or `smt mbr --samples N --lists` of forests), add it with `smt score` and sort "
                "them with `smt rescore`; a function of rule_source and rule_target takes part in the search"
            )
    return rules, stateful
