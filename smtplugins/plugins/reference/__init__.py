"""Hierarchical and phrase-based decoding in readable Python: the test oracle of the faster decoders."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Offer


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoders `reference` and `reference-phrase`."""

    yield Offer(
        name="reference",
        make="smtplugins.plugins.reference.decoder:Reference",
        summary="hierarchical translation in plain Python: slow and short, for reading and for comparison",
        reference="Chiang (2007); Huang and Chiang (2007)",
    )
    yield Offer(
        name="reference-phrase",
        make="smtplugins.plugins.reference.phrases:ReferencePhrase",
        summary="phrase-based translation in plain Python: slow and short, for reading and for comparison",
        reference="Koehn, Och and Marcu (2003); Koehn (2004)",
    )
