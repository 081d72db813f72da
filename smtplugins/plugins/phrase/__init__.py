"""The phrase-based decoder, exhaustive or with cube pruning as in Pharaoh and Moses, and the recipe of its systems."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Offer


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoder `phrase`."""

    yield Offer(
        name="phrase",
        make="smtplugins.plugins.phrase.decoder:StackDecoder",
        summary="phrase-based translation: stack decoding with cube pruning, as in Pharaoh and Moses",
        reference="Koehn, Och and Marcu (2003); Koehn (2004); Huang and Chiang (2007)",
    )


@hookimpl
def smt_recipes() -> Iterator[Offer]:
    """The recipe `phrase`."""

    yield Offer(
        name="phrase",
        make="smtplugins.plugins.phrase.recipe:PhraseRecipe",
        summary="phrases with a lexicalised reordering model, as Moses' train-model makes them",
        reference="Koehn, Och and Marcu (2003); Koehn et al. (2005)",
    )
