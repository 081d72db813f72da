"""Decoders that a worker makes again from the configuration, once for all weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtformats.records import dataclass

if TYPE_CHECKING:
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.translator import Translator
    from smtplugins.host.host import Host

_MADE: dict[bytes, Translator] = {}


@dataclass(frozen=True)
class TranslatorRecipe:
    """What a decoder is made from besides its weights; ``cache`` is the folder of loaded tables that was asked for."""

    host: Host
    config: RunConfig
    cache: str | None

    def packed(self) -> bytes:
        """The recipe as bytes."""
        import pickle

        from smtplugins.host.spread.shipping import sent_config

        return pickle.dumps((self.host, sent_config(self.config), self.cache), pickle.HIGHEST_PROTOCOL)


def translator_again(recipe: bytes, changes: dict[str, Any]) -> Translator:
    """The translator of a recipe with its weights; of several recipes, a process keeps the last one."""
    import pickle

    from smtplugins.host.decode.translator import make_translator

    if recipe not in _MADE:
        _MADE.clear()
        host, config, cache = pickle.loads(recipe)
        _MADE[recipe] = make_translator(host, config, {}, cache)
    return replace(_MADE[recipe], **changes)
