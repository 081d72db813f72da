"""Undirected machine translation with discriminative reinforcement learning (Gesmundo and Henderson, 2014)."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer

PAPER = "Gesmundo and Henderson (2014)"


@hookimpl
def smt_features() -> Iterator[Offer]:
    """Features that only an undirected decoder can use."""

    yield Offer(
        name="cff",
        make="smtplugins.plugins.umt.features.cff:Cff",
        summary="bounds on the missing branches of a growing tree, for the decoder umt; not part of scores",
        needs=frozenset({"target", "grammar"}),
        reference=PAPER,
    )
    yield Offer(
        name="undirected-lm",
        make="smtplugins.plugins.umt.features.language_model:UndirectedLm",
        summary="a language model (ARPA or KenLM file) that scores words as soon as their neighbours are known",
        needs=frozenset({"target"}),
        trial="smtplugins.plugins.umt.trial:tiny_arpa",
        reference=PAPER,
    )
    yield Offer(
        name="undirected-shape",
        make="smtplugins.plugins.umt.features.shape:UndirectedShape",
        summary="attachment (above, below) and number of gaps of rules, for the decoder umt; not in the paper",
        needs=frozenset({"target", "grammar"}),
    )


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoder `umt`."""

    yield Offer(
        name="umt",
        make="smtplugins.plugins.umt.growing.decoder:Umt",
        summary="hierarchical translation by greedily growing a tree in any order: fast, with any features",
        reference=PAPER,
    )


@hookimpl
def smt_learners() -> Iterator[Offer]:
    """The learner `drl`."""

    yield Offer(
        name="drl",
        make="smtplugins.plugins.umt.learning.drl:Drl",
        summary="discriminative reinforcement learning of a decoder's policy: tries other actions, compares rewards",
        reference=PAPER,
    )


@hookimpl
def smt_commands() -> Iterator[Command]:
    """``smt umt compare`` and ``smt umt sensitivity``."""
    yield Command(
        name="compare",
        summary="the paper's tables for your data: umt with drl beside hiero with mert; times and translations",
        configure="smtplugins.plugins.umt.study.command:configure",
        run="smtplugins.plugins.umt.study.runs:run",
    )
    yield Command(
        name="sensitivity",
        summary="the effect of options (exponent, smoothing, bounds, epochs) on scores, each with several seeds",
        configure="smtplugins.plugins.umt.study.command:configure_sensitivity",
        run="smtplugins.plugins.umt.study.sensitivity:run",
    )


@hookimpl
def smt_recipes() -> Iterator[Offer]:
    """The recipe ``umt``."""
    yield Offer(
        name="umt",
        make="smtplugins.plugins.umt.recipe:UmtRecipe",
        summary="hierarchical rules, translated in any order; the decoder umt",
    )
