"""Translation as labels of source items, predicted by a policy that SEARN learns (Zhang, Sun and Li, 2008)."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer

PAPER = "Zhang, Sun and Li (2008)"


@hookimpl
def smt_learners() -> Iterator[Offer]:
    """The learner ``searn``."""

    yield Offer(
        name="searn",
        make="smtplugins.plugins.searn.learning.searn:Searn",
        summary="a policy for any search task, learnt by reduction to cost-sensitive classification",
        reference=f"Daume, Langford and Marcu (2009); {PAPER}",
    )


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoder ``amasis``."""

    yield Offer(
        name="amasis",
        make="smtplugins.plugins.searn.decoding.decoder:Amasis",
        summary="left-to-right beam search with a stack of fragments, which a policy's labels combine",
        trial="smtplugins.plugins.searn.trial:tiny_policy",
        reference=PAPER,
    )


@hookimpl
def smt_features() -> Iterator[Offer]:
    """The feature ``itg-history``."""

    yield Offer(
        name="itg-history",
        make="smtplugins.plugins.searn.decoding.history:ItgHistory",
        summary="log-probability of a derivation's labels under a policy, counts of reversed and of forced reductions",
        needs=frozenset({"source", "target", "segmentation"}),
        trial="smtplugins.plugins.searn.trial:tiny_history",
    )


@hookimpl
def smt_commands() -> Iterator[Command]:
    """``smt searn label``, ``train`` and ``compare``."""
    yield Command(
        name="label",
        summary="extract items with labels, and a translation table, from word-aligned text",
        configure="smtplugins.plugins.searn.labels.label_command:configure",
        run="smtplugins.plugins.searn.labels.label_command:run",
    )
    yield Command(
        name="train",
        summary="learn a policy from the output of `smt searn label`, with a run.yaml that decodes with it",
        configure="smtplugins.plugins.searn.learning.train_command:configure",
        run="smtplugins.plugins.searn.learning.train_command:run",
    )
    yield Command(
        name="compare",
        summary="the paper's table for your bitext: amasis beside phrases of up to one, two and three words, tuned",
        configure="smtplugins.plugins.searn.study.command:configure",
        run="smtplugins.plugins.searn.study.steps:run",
    )


@hookimpl
def smt_recipes() -> Iterator[Offer]:
    """The recipe ``amasis``."""
    yield Offer(
        name="amasis",
        make="smtplugins.plugins.searn.recipe:AmasisRecipe",
        summary="a policy of labels learnt by SEARN; the decoder amasis",
        reference=PAPER,
    )
