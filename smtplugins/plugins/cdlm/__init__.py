"""Discriminative language models from simulated confusion sets (Li, Wang, Khudanpur and Eisner, 2010)."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer

PAPER = "Li, Wang, Khudanpur and Eisner (2010)"


@hookimpl
def smt_features() -> Iterator[Offer]:
    """The model's features, and a trained model as a single feature."""
    from smtplugins.plugins.cdlm import trial
    from smtplugins.plugins.cdlm.features.blm import Baseline
    from smtplugins.plugins.cdlm.features.model import cdlm
    from smtplugins.plugins.cdlm.features.tsrb import Tsrb

    yield Offer(
        name="blm",
        make=Baseline,
        summary="log probability under the baseline language model, any n-gram model (ARPA text or KenLM binary)",
        needs=frozenset({"target"}),
        trial=trial.lm_trial,
        reference=PAPER,
    )
    yield Offer(
        name="cdlm",
        make=cdlm,
        summary="a trained discriminative language model: its features, weighted and summed",
        needs=frozenset({"target", "derivation"}),
        trial=trial.model_trial,
        reference=PAPER,
    )
    yield Offer(
        name="tsrb",
        make=Tsrb,
        summary="bigrams of word classes on the target sides of the rules of a derivation",
        needs=frozenset({"target", "derivation"}),
        trial=trial.classes_trial,
        reference=PAPER,
    )


@hookimpl
def smt_commands() -> Iterator[Command]:
    """``smt cdlm classes``, ``grammar``, ``confuse``, ``train``, ``pick`` and ``compare``."""
    from smtplugins.plugins.cdlm.features.classes_command import CLASSES
    from smtplugins.plugins.cdlm.grammar.grammar_command import GRAMMAR
    from smtplugins.plugins.cdlm.picking.pick_command import PICK
    from smtplugins.plugins.cdlm.sets.confuse_command import CONFUSE
    from smtplugins.plugins.cdlm.study.command import COMPARE
    from smtplugins.plugins.cdlm.training.train_command import TRAIN

    yield CLASSES
    yield GRAMMAR
    yield CONFUSE
    yield TRAIN
    yield PICK
    yield COMPARE
