"""Block orientation bigrams and a localized prediction model (Tillmann and Zhang, 2005)."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer

PAPER = "Tillmann and Zhang (2005)"


@hookimpl
def smt_features() -> Iterator[Offer]:
    """The model's features, for phrase decoders and for lists with a segmentation."""

    needs = frozenset({"target", "source", "segmentation"})
    yield Offer(
        name="block-model",
        make="smtplugins.plugins.localized.model.block_model:BlockModel",
        summary="all features of the localized prediction model: blocks, orientations and block bigrams",
        needs=needs,
        trial="smtplugins.plugins.localized.trial:model_trial",
        reference=PAPER,
    )
    yield Offer(
        name="orientation",
        make="smtplugins.plugins.localized.model.oriented:Orientation",
        summary="log probability that a phrase pair is right or left of the previous one",
        needs=needs,
        trial="smtplugins.plugins.localized.trial:orientation_trial",
        reference=PAPER,
    )
    yield Offer(
        name="block-bigram",
        make="smtplugins.plugins.localized.model.oriented:BlockBigram",
        summary="learnt weights of bigrams of phrase pairs",
        needs=needs,
        trial="smtplugins.plugins.localized.trial:bigram_trial",
        reference=PAPER,
    )


@hookimpl
def smt_learners() -> Iterator[Offer]:
    """The learner `local-maxent`."""

    yield Offer(
        name="local-maxent",
        make="smtplugins.plugins.localized.learning.maxent:LocalMaxent",
        summary="maximum entropy choice among alternatives by stochastic gradient descent, for millions of events",
        reference=PAPER,
    )


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoder `swap`."""

    yield Offer(
        name="swap",
        make="smtplugins.plugins.localized.decoding.swap:Swap",
        summary="left-to-right phrase-based translation in which neighbouring phrases may swap places",
        reference=f"{PAPER}; Tillmann (2004)",
    )


@hookimpl
def smt_commands() -> Iterator[Command]:
    """``smt localized events``, ``train`` and ``compare``."""
    yield Command(
        name="events",
        summary="collect orientation events of neighbouring phrase pairs from a bitext, the model's training data",
        configure="smtplugins.plugins.localized.events.events_command:configure",
        run="smtplugins.plugins.localized.events.events_command:run",
    )
    yield Command(
        name="train",
        summary="train a localized prediction model on events, with a configuration that decodes with it",
        configure="smtplugins.plugins.localized.learning.train_command:configure",
        run="smtplugins.plugins.localized.learning.train_command:run",
    )
    yield Command(
        name="compare",
        summary="the paper's nine systems for your bitext: orders of blocks, features, where weights are learnt",
        configure="smtplugins.plugins.localized.study.command:configure",
        run="smtplugins.plugins.localized.study.rows:run",
    )


@hookimpl
def smt_recipes() -> Iterator[Offer]:
    """The recipe ``localized``."""
    yield Offer(
        name="localized",
        make="smtplugins.plugins.localized.recipe:LocalizedRecipe",
        summary="blocks and their orientations, learnt from the training text; the decoder swap",
        reference="Tillmann and Zhang (2005)",
    )
