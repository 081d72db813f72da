"""Boosted regularised trees and translation with them (Wellington, Turian and Melamed, 2009)."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer

PAPER = "Wellington, Turian and Melamed (2009)"


@hookimpl
def smt_learners() -> Iterator[Offer]:
    """The learner."""
    from smtplugins.plugins.bitree.boosting.l1_boost import L1Boost

    yield Offer(
        name="l1-boost",
        make=L1Boost,
        summary="boosted trees of conjunctions under an l1 penalty, along its whole path: rows, and lists to rerank",
        trial=lambda folder: {"bins": 6, "steps": 6},
        reference=PAPER,
    )


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoders."""
    from smtplugins.plugins.bitree.transduce.decoder import BitreeDecoder
    from smtplugins.plugins.bitree.trial import transducer_trial
    from smtplugins.plugins.bitree.words.bag import Bag
    from smtplugins.plugins.bitree.words.word_trial import bag_trial

    yield Offer(
        name="bag",
        make=Bag,
        summary="each source word becomes the word its classifiers are most confident of, or nothing: a bag of words",
        trial=bag_trial,
        reference=PAPER,
    )
    yield Offer(
        name="bitree",
        make=BitreeDecoder,
        summary="a source tree is translated from its leaves up: words by classifiers, parts kept or swapped",
        trial=transducer_trial,
        reference=PAPER,
    )


@hookimpl
def smt_features() -> Iterator[Offer]:
    """What word transduction says of anybody's lists."""
    from smtplugins.plugins.bitree.boosting.boosted_feature import Boosted, boosted_trial
    from smtplugins.plugins.bitree.trial import words_trial
    from smtplugins.plugins.bitree.words.feature import AlignedWords, BitreeWords

    needs = frozenset({"source", "target"})
    yield Offer(
        name="bitree",
        make=BitreeWords,
        summary="how well source words become any of a candidate's words, by the classifiers of word transduction",
        needs=needs,
        trial=words_trial,
        reference=PAPER,
    )
    yield Offer(
        name="bitree-aligned",
        make=AlignedWords,
        summary="how well source words become the words they are linked to, by the classifiers of word transduction",
        needs=needs | {"alignment"},
        trial=words_trial,
        reference=PAPER,
    )
    yield Offer(
        name="boosted",
        make=Boosted,
        summary="what trees that l1-boost learnt from lists say of hypotheses, by the other features of the list",
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
