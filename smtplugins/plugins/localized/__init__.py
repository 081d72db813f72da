"""Block orientation bigrams and a localized prediction model (Tillmann and Zhang, 2005)."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer

PAPER = "Tillmann and Zhang (2005)"


@hookimpl
def smt_features() -> Iterator[Offer]:
    """The model's features, for phrase decoders and for lists with a segmentation."""
    from smtplugins.plugins.localized import trial
    from smtplugins.plugins.localized.model.block_model import BlockModel
    from smtplugins.plugins.localized.model.oriented import BlockBigram, Orientation

    needs = frozenset({"target", "source", "segmentation"})
    yield Offer(
        name="block-model",
        make=BlockModel,
        summary="all features of the localized prediction model: blocks, orientations and block bigrams",
        needs=needs,
        trial=trial.model_trial,
        reference=PAPER,
    )
    yield Offer(
        name="orientation",
        make=Orientation,
        summary="log probability that a phrase pair is right or left of the previous one",
        needs=needs,
        trial=trial.orientation_trial,
        reference=PAPER,
    )
    yield Offer(
        name="block-bigram",
        make=BlockBigram,
        summary="learnt weights of bigrams of phrase pairs",
        needs=needs,
        trial=trial.bigram_trial,
        reference=PAPER,
    )


@hookimpl
def smt_learners() -> Iterator[Offer]:
    """The learner `local-maxent`."""
    from smtplugins.plugins.localized.learning.maxent import LocalMaxent

    yield Offer(
        name="local-maxent",
        make=LocalMaxent,
        summary="maximum entropy choice among alternatives by stochastic gradient descent, for millions of events",
        reference=PAPER,
    )


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoder `swap`."""
    from smtplugins.plugins.localized.decoding.swap import Swap

    yield Offer(
        name="swap",
        make=Swap,
        summary="left-to-right phrase-based translation in which neighbouring phrases may swap places",
        reference=f"{PAPER}; Tillmann (2004)",
    )


@hookimpl
def smt_commands() -> Iterator[Command]:
    """``smt localized events``, ``train`` and ``compare``."""
    from smtplugins.plugins.localized.events.events_command import EVENTS
    from smtplugins.plugins.localized.learning.train_command import TRAIN
    from smtplugins.plugins.localized.study.command import COMPARE

    yield EVENTS
    yield TRAIN
    yield COMPARE
