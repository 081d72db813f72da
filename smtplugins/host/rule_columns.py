"""What features say of rules as columns, and which features are of rules, of neighbours' words, or of neither."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core.rules import Rules
    from smtplugins.host.scoring import Active


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


def blocks_of(features: Sequence[Active], rules: Rules, nobodys: int | None = None) -> Iterator[Block]:
    """What features say of rules; the rule ``nobodys`` has 0 of all."""
    import numpy as np

    from smtformats import Columns

    for one in features:
        try:
            result = one.feature.score_rules(rules)
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
        except Exception as error:
            from smtplugins.host.errors import FeatureError

            raise FeatureError(f"feature {one.label!r} on rules: {type(error).__name__}: {error}") from error
        if nobodys is not None:
            table[nobodys] = 0.0
        if names:
            yield Block(names, tuple(table[:, i] for i in range(len(names))))


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
