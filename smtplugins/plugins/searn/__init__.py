"""Translation as labels of source items, predicted by a policy that SEARN learns (Zhang, Sun and Li, 2008)."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.host.hookspecs import hookimpl
from smtplugins.host.offers import Command, Offer

PAPER = "Zhang, Sun and Li (2008)"


@hookimpl
def smt_learners() -> Iterator[Offer]:
    """The learner."""
    from smtplugins.plugins.searn.searn import Searn

    yield Offer(
        name="searn",
        make=Searn,
        summary="a policy for any search task: classifiers learnt from what actions cost where earlier ones lead",
        reference=f"Daume, Langford and Marcu (2009); {PAPER}",
    )


@hookimpl
def smt_commands() -> Iterator[Command]:
    """``smt searn label`` and ``train``."""
    from smtplugins.plugins.searn.label_command import LABEL
    from smtplugins.plugins.searn.train_command import TRAIN

    yield LABEL
    yield TRAIN
