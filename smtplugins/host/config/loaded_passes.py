"""The features and weights of further passes (``model.passes``), loaded for a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtformats.records import dataclass
from smtplugins.contracts.errors import UsageError
from smtplugins.host.features.rule_columns import column_names, sorted_out
from smtplugins.host.features.scoring import Active, activate, check_label

if TYPE_CHECKING:
    import contextlib

    from smtplugins.contracts.decoders import Decoder
    from smtplugins.host.config.passes import ForestPass
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.host import Host
    from smtplugins.host.loading.registry import Registry


@dataclass(frozen=True)
class LoadedPass:
    """A pass with its features: those of rules, and those with states. ``weights`` is ``None`` if it has no own."""

    rule_features: tuple[Active, ...]
    stateful: tuple[Active, ...]
    options: Mapping[str, Any]
    weights: Mapping[str, float] | None = None

    @property
    def features(self) -> tuple[Active, ...]:
        """All features; one may be among those of rules and among those with states."""
        more = tuple(active for active in self.stateful if active not in self.rule_features)
        return (*self.rule_features, *more)

    @property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """The names of the columns of each feature."""
        return tuple(column_names(active, getattr(active.feature, "components", 1)) for active in self.features)


At = Callable[..., "contextlib.AbstractContextManager[None]"]


def load_passes(registry: Registry, passes: Iterable[ForestPass], taken: Iterable[str], at: At) -> list[LoadedPass]:
    """Make the features of passes; their names differ from those ``taken``. ``at`` is :meth:`RunConfig.at`."""
    labels = list(taken)
    loaded = []
    for number, one in enumerate(passes):

        def inside(*key: str, number: int = number) -> contextlib.AbstractContextManager[None]:
            return at("model", "passes", str(number), "features", *key)

        active = activate(registry, one.features, inside) if one.features else []
        for i, made in enumerate(active):
            with inside(str(i)):
                check_label(made.label, labels)
                if hasattr(made.feature, "arcs") or getattr(made.feature, "labelled_unknowns", False):
                    raise UsageError(f"feature {made.label!r} scores the input: expected it in model.features")
        with inside():
            rules, stateful = sorted_out(active)
        labels += [made.label for made in active]
        loaded.append(LoadedPass(tuple(rules), tuple(stateful), one.options()))
    return loaded


def with_weights(host: Host, loaded: Iterable[LoadedPass], passes: Iterable[ForestPass], at: At) -> list[LoadedPass]:
    """Read the weights that passes have of their own."""
    from smtplugins.host.config.weight_names import check_range

    complete = []
    for number, (one, record) in enumerate(zip(loaded, passes, strict=True)):
        if record.weights is not None:
            with at("model", "passes", str(number), "weights"):
                weights = host.read_weights(record.weights)
            check_range(weights)
            one = replace(one, weights=weights)
        complete.append(one)
    return complete


def check_summaries(config: RunConfig, names: Sequence[str]) -> None:
    """Refuse summaries of passes with the name of a feature; ``names`` has all features and, once, the summaries."""
    places: list[tuple[tuple[str, ...], object]] = []
    if config.decoder is not None:
        places.append((("decoder",), config.decoder.options.get("summary")))
    places += [(("model", "passes", str(i)), one.summary) for i, one in enumerate(config.model.passes)]
    for key, summary in places:
        if names.count(str(summary)) > 1:
            with config.at(*key):
                raise UsageError(f"summary: expected a name that no feature has, found {str(summary)!r}")


def check_decoder(decoder: Decoder, passes: int) -> None:
    """Refuse passes with a decoder that has none."""
    if passes and getattr(decoder, "passes", 0) != passes:
        raise UsageError("model.passes: expected a decoder with passes (hiero), found one without")
