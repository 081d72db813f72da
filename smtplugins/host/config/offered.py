"""Check that plugins offer what a configuration names, with its options, before any of it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtplugins.contracts.spec import Spec
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.host import Host

_OF_FEATURES = ("name", "tuneable")


def check_offers(host: Host, config: RunConfig) -> None:
    """Check the names and options of features, also those of later passes, of learner, metric and runner."""
    features: list[tuple[tuple[str, ...], Spec]]
    features = [(("model", "features", str(i)), spec) for i, spec in enumerate(config.model.features)]
    for i, later in enumerate(config.model.passes):
        features += [(("model", "passes", str(i), "features", str(j)), spec) for j, spec in enumerate(later.features)]
    for place, feature in features:
        with config.at(*place):
            host.registry.check("features", feature, without=_OF_FEATURES)
    others = ("learner", "learners", config.learner), ("metric", "metrics", config.metric)
    for key, kind, spec in (*others, ("runner", "runners", config.runner)):
        if spec is not None:
            with config.at(key):
                host.registry.check(kind, spec)
