"""The hierarchical decoder: charts of any synchronous grammar, cube pruning with any stateful features."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Offer


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoder."""
    from smtplugins.plugins.hiero.decoder import Hiero

    yield Offer(
        name="hiero",
        make=Hiero,
        summary="hierarchical and syntax-based translation: cdec's, Moses' and Joshua's charts",
        reference="Chiang (2007); Huang and Chiang (2007); Gesmundo and Henderson (2010)",
    )
