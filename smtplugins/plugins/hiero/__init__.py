"""The hierarchical decoder: chart parsing with any synchronous grammar, cube pruning with any stateful features."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Offer


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoder `hiero`."""

    yield Offer(
        name="hiero",
        make="smtplugins.plugins.hiero.decoder:Hiero",
        summary="hierarchical and syntax-based translation, as in cdec and the chart decoders of Moses and Joshua",
        reference="Chiang (2007); Huang and Chiang (2007); Gesmundo and Henderson (2010)",
    )
