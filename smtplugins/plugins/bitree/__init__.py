"""Boosted regularised trees and translation with them (Wellington, Turian and Melamed, 2009)."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer

PAPER = "Wellington, Turian and Melamed (2009)"


@hookimpl
def smt_learners() -> Iterator[Offer]:
    """The learner ``l1-boost``."""
    from smtplugins.plugins.bitree.boosting.l1_boost import L1Boost

    yield Offer(
        name="l1-boost",
        make=L1Boost,
        summary="boosted decision trees with an l1 penalty and its whole regularisation path, on rows or n-best lists",
        trial=lambda folder: {"bins": 6, "steps": 6},
        reference=PAPER,
    )


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoders ``bag`` and ``bitree``."""
    from smtplugins.plugins.bitree.transduce.decoder import BitreeDecoder
    from smtplugins.plugins.bitree.trial import transducer_trial
    from smtplugins.plugins.bitree.words.bag import Bag
    from smtplugins.plugins.bitree.words.word_trial import bag_trial

    yield Offer(
        name="bag",
        make=Bag,
        summary="word by word: each source word becomes its classifiers' most confident translation, or nothing",
        trial=bag_trial,
        reference=PAPER,
    )
    yield Offer(
        name="bitree",
        make=BitreeDecoder,
        summary="bottom-up tree transduction: words translated by classifiers, constituents kept in order or swapped",
        trial=transducer_trial,
        reference=PAPER,
    )


@hookimpl
def smt_features() -> Iterator[Offer]:
    """The features ``bitree``, ``bitree-aligned`` and ``boosted``."""
    from smtplugins.plugins.bitree.boosting.boosted_feature import Boosted, boosted_trial
    from smtplugins.plugins.bitree.trial import words_trial
    from smtplugins.plugins.bitree.words.feature import AlignedWords, BitreeWords

    needs = frozenset({"source", "target"})
    yield Offer(
        name="bitree",
        make=BitreeWords,
        summary="score of the best word transduction from the source into a candidate's bag of words",
        needs=needs,
        trial=words_trial,
        reference=PAPER,
    )
    yield Offer(
        name="bitree-aligned",
        make=AlignedWords,
        summary="score of the word transductions along a candidate's alignment",
        needs=needs | {"alignment"},
        trial=words_trial,
        reference=PAPER,
    )
    yield Offer(
        name="boosted",
        make=Boosted,
        summary="confidence of trees that l1-boost learnt from lists, given a hypothesis' other features",
        needs=frozenset({"target", "list"}),
        trial=boosted_trial,
        reference=PAPER,
    )


@hookimpl
def smt_commands() -> Iterator[Command]:
    """``smt bitree words``, ``trees``, ``train`` and ``compare``."""
    from smtplugins.plugins.bitree.study.command import COMPARE
    from smtplugins.plugins.bitree.transduce.train_command import TRAIN
    from smtplugins.plugins.bitree.trees.trees_command import TREES
    from smtplugins.plugins.bitree.words.words_command import WORDS

    yield WORDS
    yield TREES
    yield TRAIN
    yield COMPARE
