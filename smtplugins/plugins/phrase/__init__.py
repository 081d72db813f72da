"""The phrase-based decoder: stack decoding, exhaustive or with cube pruning, as in Pharaoh and Moses."""

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
