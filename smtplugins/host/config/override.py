"""Replace the decoder of a configuration and keep its parsing options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.options import option_parameters
from smtplugins.contracts.spec import Spec, parameters
from smtplugins.host.arguments import argument
from smtplugins.host.decode.parsing_options import ParsingOptions

if TYPE_CHECKING:
    from smtplugins.host.config.run_yaml import Override, RunConfig
    from smtplugins.host.host import Host

PARSING = frozenset(option_parameters(ParsingOptions))
"""The options that mean the same to all decoders that parse; others, such as ``beam``, are each decoder's own."""


def kept_options(host: Host, config: RunConfig, name: str) -> dict[str, Any]:
    """The options that a decoder takes over from the configuration's: all if it is the same, else those of parsing."""
    old = config.decoder
    if old is None or old.name == name:
        return {} if old is None else dict(old.options)
    known: Mapping[str, Any] = parameters(host.registry.factory("decoders", name))
    return {key: value for key, value in old.options.items() if key in known and key in PARSING}


def with_own(decoder: Spec, overrides: Iterable[Override]) -> tuple[Spec, list[tuple[str, Any]]]:
    """Give a decoder the options that overrides set (``decoder.KEY``); return it and the other overrides.

    An option that is given twice raises UsageError.
    """
    from smtplugins.host.config.run_yaml import read_override

    own: dict[str, Any] = {}
    others: list[tuple[str, Any]] = []
    for override in overrides:
        key, value = read_override(override) if isinstance(override, str) else override
        section, _, name = key.partition(".")
        if section != "decoder":
            others.append((key, value))
        elif not name:
            raise UsageError(f"the decoder is given twice: {decoder.name!r} and {argument('overrides', '--set')} {key}")
        elif name in decoder.options:
            raise UsageError(f"option {name!r} of {decoder.name!r} is given twice")
        else:
            own[name] = value
    return Spec(decoder.name, {**decoder.options, **own}), others


def with_decoder(host: Host, config: RunConfig, decoder: str | Spec) -> RunConfig:
    """Replace the decoder of a configuration; the new one keeps the options that :func:`kept_options` names."""
    spec = Spec.of(decoder)
    host.registry.entry("decoders", spec.name)
    return config.with_decoder(Spec(spec.name, {**kept_options(host, config, spec.name), **spec.options}))
