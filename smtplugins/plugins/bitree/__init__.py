"""Boosted regularised trees and translation with them (Wellington, Turian and Melamed, 2009)."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer

PAPER = "Wellington, Turian and Melamed (2009)"


@hookimpl
def smt_learners() -> Iterator[Offer]:
    """The learner ``l1-boost``."""

    yield Offer(
        name="l1-boost",
        make="smtplugins.plugins.bitree.boosting.l1_boost:L1Boost",
        summary="boosted decision trees with an l1 penalty and its whole regularisation path, on rows or n-best lists",
        trial=lambda folder: {"bins": 6, "steps": 6},
        reference=PAPER,
    )


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoders ``bag`` and ``bitree``."""

    yield Offer(
        name="bag",
        make="smtplugins.plugins.bitree.words.bag:Bag",
        summary="word by word: each source word becomes its classifiers' most confident translation, or nothing",
        trial="smtplugins.plugins.bitree.words.word_trial:bag_trial",
        reference=PAPER,
    )
    yield Offer(
        name="bitree",
        make="smtplugins.plugins.bitree.transduce.decoder:BitreeDecoder",
        summary="bottom-up tree transduction: words translated by classifiers, constituents kept in order or swapped",
        trial="smtplugins.plugins.bitree.trial:transducer_trial",
        reference=PAPER,
    )


@hookimpl
def smt_features() -> Iterator[Offer]:
    """The features ``bitree``, ``bitree-aligned`` and ``boosted``."""

    needs = frozenset({"source", "target"})
    yield Offer(
        name="bitree",
        make="smtplugins.plugins.bitree.words.feature:BitreeWords",
        summary="score of the best word transduction from the source into a candidate's bag of words",
        needs=needs,
        trial="smtplugins.plugins.bitree.trial:words_trial",
        reference=PAPER,
    )
    yield Offer(
        name="bitree-aligned",
        make="smtplugins.plugins.bitree.words.feature:AlignedWords",
        summary="score of the word transductions along a candidate's alignment",
        needs=needs | {"alignment"},
        trial="smtplugins.plugins.bitree.trial:words_trial",
        reference=PAPER,
    )
    yield Offer(
        name="boosted",
        make="smtplugins.plugins.bitree.boosting.boosted_feature:Boosted",
        summary="confidence of trees that l1-boost learnt from lists, given a hypothesis' other features",
        needs=frozenset({"target", "list"}),
        trial="smtplugins.plugins.bitree.boosting.boosted_feature:boosted_trial",
        reference=PAPER,
    )


@hookimpl
def smt_commands() -> Iterator[Command]:
    """``smt bitree words``, ``trees``, ``train`` and ``compare``."""
    yield Command(
        name="words",
        summary="learn word transduction from aligned text: boosted trees per configuration, for the decoder bag",
        configure="smtplugins.plugins.bitree.words.words_command:configure",
        run="smtplugins.plugins.bitree.words.words_command:run",
    )
    yield Command(
        name="trees",
        summary="parse English text by Link Grammar's link-parser (installed separately) into source trees",
        configure="smtplugins.plugins.bitree.trees.trees_command:configure",
        run="smtplugins.plugins.bitree.trees.trees_command:run",
    )
    yield Command(
        name="train",
        summary="train a tree transducer on aligned text, with a run.yaml that decodes with it",
        configure="smtplugins.plugins.bitree.transduce.train_command:configure",
        run="smtplugins.plugins.bitree.transduce.train_command:run",
    )
    yield Command(
        name="compare",
        summary="the paper's tables for your bitext: l1, l2 and SVM classifiers of words, bags, transducers of trees",
        configure="smtplugins.plugins.bitree.study.command:configure",
        run="smtplugins.plugins.bitree.study.steps:run",
    )


@hookimpl
def smt_recipes() -> Iterator[Offer]:
    """The recipe ``bitree``."""
    yield Offer(
        name="bitree",
        make="smtplugins.plugins.bitree.recipe:BitreeRecipe",
        summary="a generative transducer of trees without a parser; the decoder bitree",
        reference="Wellington, Turian and Melamed (2009)",
    )
