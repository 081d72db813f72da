"""The phrase-based decoder: stacks of hypotheses, filled one by one or by cube pruning, as in Pharaoh and Moses."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Offer


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoder."""
    from smtplugins.plugins.phrase.decoder import Phrase

    yield Offer(
        name="phrase",
        make=Phrase,
        summary="phrase-based translation: the stacks and cubes of Pharaoh and Moses",
        reference="Koehn, Och and Marcu (2003); Koehn (2004); Huang and Chiang (2007)",
    )
