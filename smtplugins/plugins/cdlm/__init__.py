"""Discriminative language models from simulated confusion sets (Li, Wang, Khudanpur and Eisner, 2010)."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer

PAPER = "Li, Wang, Khudanpur and Eisner (2010)"


@hookimpl
def smt_features() -> Iterator[Offer]:
    """The model's features, and a trained model as a single feature."""

    yield Offer(
        name="blm",
        make="smtplugins.plugins.cdlm.features.blm:Baseline",
        summary="log probability under the baseline language model, any n-gram model (ARPA text or KenLM binary)",
        needs=frozenset({"target"}),
        trial="smtplugins.plugins.cdlm.trial:lm_trial",
        reference=PAPER,
    )
    yield Offer(
        name="cdlm",
        make="smtplugins.plugins.cdlm.features.model:cdlm",
        summary="a trained discriminative language model: its features, weighted and summed",
        needs=frozenset({"target", "derivation"}),
        trial="smtplugins.plugins.cdlm.trial:model_trial",
        reference=PAPER,
    )
    yield Offer(
        name="tsrb",
        make="smtplugins.plugins.cdlm.features.tsrb:Tsrb",
        summary="bigrams of word classes on the target sides of the rules of a derivation",
        needs=frozenset({"target", "derivation"}),
        trial="smtplugins.plugins.cdlm.trial:classes_trial",
        reference=PAPER,
    )


@hookimpl
def smt_commands() -> Iterator[Command]:
    """``smt cdlm classes``, ``grammar``, ``confuse``, ``train``, ``pick`` and ``compare``."""
    yield Command(
        name="classes",
        summary="make a class map from a text: the most frequent words or their tags, and classes of other words",
        configure="smtplugins.plugins.cdlm.features.classes_command:configure",
        run="smtplugins.plugins.cdlm.features.classes_command:run",
    )
    yield Command(
        name="grammar",
        summary="make a confusion grammar from a system's grammar or its hypergraphs",
        configure="smtplugins.plugins.cdlm.grammar.grammar_command:configure",
        run="smtplugins.plugins.cdlm.grammar.grammar_command:run",
    )
    yield Command(
        name="confuse",
        summary="write the confusion set of each sentence: a hypergraph of texts a system may confuse with it",
        configure="smtplugins.plugins.cdlm.sets.confuse_command:configure",
        run="smtplugins.plugins.cdlm.sets.confuse_command:run",
    )
    yield Command(
        name="train",
        summary="train a discriminative language model on plain text with a confusion grammar",
        configure="smtplugins.plugins.cdlm.training.train_command:configure",
        run="smtplugins.plugins.cdlm.training.train_command:run",
    )
    yield Command(
        name="pick",
        summary="evaluate language models by the sentences they pick from the confusion sets of a text",
        configure="smtplugins.plugins.cdlm.picking.pick_command:configure",
        run="smtplugins.plugins.cdlm.picking.pick_command:run",
    )
    yield Command(
        name="compare",
        summary="the paper's tables for your system and texts: models learnt from confusion sets, and their effect",
        configure="smtplugins.plugins.cdlm.study.command:configure",
        run="smtplugins.plugins.cdlm.study.steps:run",
    )
