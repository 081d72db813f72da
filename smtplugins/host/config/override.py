"""Another decoder in a configuration, which goes on saying how sentences are parsed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.spec import Spec, parameters
from smtplugins.host.decode.forests import Conventions

if TYPE_CHECKING:
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.host import Host

PARSING = frozenset({one.name for one in fields(Conventions)} | {"oov_list", "oov_path", "input"})
"""Options that mean the same to all decoders of grammars; a ``beam`` is one thing here and another there."""


def kept_options(host: Host, config: RunConfig, name: str) -> dict[str, Any]:
    """The options of the configuration's decoder that one called ``name`` takes over: all of its own, else parsing."""
    old = config.decoder
    if old is None or old.name == name:
        return {} if old is None else dict(old.options)
    known: Mapping[str, Any] = parameters(host.registry.entry("decoders", name).record.make)
    return {key: value for key, value in old.options.items() if key in known and key in PARSING}


def with_decoder(host: Host, config: RunConfig, decoder: str) -> RunConfig:
    """The configuration with a decoder ``NAME[,key=value...]``: it keeps what the old one has of its options."""
    spec = Spec.parse(decoder)
    host.registry.entry("decoders", spec.name)
    return config.with_decoder(Spec(spec.name, {**kept_options(host, config, spec.name), **spec.options}))
