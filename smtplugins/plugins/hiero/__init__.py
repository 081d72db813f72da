"""The hierarchical decoder: chart parsing and cube pruning with any grammar and features; the recipe of its systems."""

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


@hookimpl
def smt_recipes() -> Iterator[Offer]:
    """The recipe `hiero`."""

    yield Offer(
        name="hiero",
        make="smtplugins.plugins.hiero.recipe:HieroRecipe",
        summary="hierarchical rules of up to two gaps, as Moses, cdec or Joshua extract them",
        reference="Chiang (2007)",
    )
