"""The weights that tuning starts from where a configuration has none: decoders, features and tables know their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from smtformats.errors import first_of
from smtformats.format import shortest
from smtplugins.contracts.errors import PluginError
from smtplugins.host.features.rule_columns import column_names

if TYPE_CHECKING:
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.features.scoring import Active

SHOWN = 20
"""The number of weights that a note lists."""


def start_weights(decoder: Any, given: Resources) -> dict[str, float]:
    """The start weights of a decoder, its features and its tables, by name; what is not there starts at 0.

    Features have theirs as ``start_weights`` (``contracts.features.StartWeights``), a decoder those of features of its
    own (``contracts.decoders.StartingDecoder``). In tables, those are known that are probabilities by the format.
    """
    weights: dict[str, float] = {}
    for table in given.tables:
        weights |= table.start_weights(given.formats)
    for active in (*given.features, *(active for one in given.passes for active in one.features)):
        weights |= _of_feature(active)
    return weights | dict(getattr(decoder, "start_weights", {}))


def _of_feature(active: Active) -> dict[str, float]:
    values = tuple(getattr(active.feature, "start_weights", ()))
    if not values:
        return {}
    names = column_names(active, getattr(active.feature, "components", 1))
    values = values * len(names) if len(values) == 1 else values
    if len(values) != len(names):
        raise PluginError(
            f"feature {active.label!r}: expected start_weights for its {len(names)} columns, or one for all, found "
            f"{len(values)}"
        )
    return dict(zip(names, values, strict=True))


def listed_weights(weights: Mapping[str, float]) -> str:
    """The weights in one line, only the first of many."""
    return first_of([f"{name} {shortest(value)}" for name, value in weights.items()], SHOWN)
