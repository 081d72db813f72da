"""Another decoder in a configuration, which goes on saying how sentences are parsed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from smtplugins.host.spec import Spec, parameters

if TYPE_CHECKING:
    from smtplugins.host.config import RunConfig
    from smtplugins.host.host import Host


def with_decoder(host: Host, config: RunConfig, decoder: str) -> RunConfig:
    """The configuration with a decoder ``NAME[,key=value...]``: it keeps the options that this decoder has, too."""
    spec = Spec.parse(decoder)
    known = parameters(host.registry.entry("decoders", spec.name).record.make)
    old = config.decoder.options if config.decoder is not None else {}
    kept = {name: value for name, value in old.items() if name in known}
    return replace(config, decoder=Spec(spec.name, {**kept, **spec.options}))
