"""Block orientation bigrams and a localized prediction model (Tillmann and Zhang, 2005)."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer

PAPER = "Tillmann and Zhang (2005)"


@hookimpl
def smt_features() -> Iterator[Offer]:
    """The model's features in decoders of phrases and on lists that carry a segmentation."""
    from smtplugins.plugins.localized import trial
    from smtplugins.plugins.localized.model.block_model import BlockModel
    from smtplugins.plugins.localized.model.oriented import BlockBigram, Orientation

    needs = frozenset({"target", "source", "segmentation"})
    yield Offer(
        name="block-model",
        make=BlockModel,
        summary="all features of the localized prediction model: blocks, their orientations, and pairs of them",
        needs=needs,
        trial=trial.model_trial,
        reference=PAPER,
    )
    yield Offer(
        name="orientation",
        make=Orientation,
        summary="how probable it is that a phrase pair stands right or left of the one before",
        needs=needs,
        trial=trial.orientation_trial,
        reference=PAPER,
    )
    yield Offer(
        name="block-bigram",
        make=BlockBigram,
        summary="weights learnt for pairs of neighbouring phrase pairs",
        needs=needs,
        trial=trial.bigram_trial,
        reference=PAPER,
    )


@hookimpl
def smt_learners() -> Iterator[Offer]:
    """The learner."""
    from smtplugins.plugins.localized.learning.maxent import LocalMaxent

    yield Offer(
        name="local-maxent",
        make=LocalMaxent,
        summary="choices among alternatives: stochastic gradient descent over millions of events and features",
        reference=PAPER,
    )


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoder."""
    from smtplugins.plugins.localized.decoding.swap import Swap

    yield Offer(
        name="swap",
        make=Swap,
        summary="phrase-based translation from left to right in which neighbouring phrases may change places",
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
