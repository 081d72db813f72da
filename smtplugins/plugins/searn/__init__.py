"""Translation as labels of source items, predicted by a policy that SEARN learns (Zhang, Sun and Li, 2008)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer

PAPER = "Zhang, Sun and Li (2008)"


@hookimpl
def smt_learners() -> Iterator[Offer]:
    """The learner ``searn``."""
    from smtplugins.plugins.searn.learning.searn import Searn

    yield Offer(
        name="searn",
        make=Searn,
        summary="a policy for any search task, learnt by reduction to cost-sensitive classification",
        reference=f"Daume, Langford and Marcu (2009); {PAPER}",
    )


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoder ``amasis``."""
    from smtplugins.plugins.searn.decoding.decoder import Amasis

    yield Offer(
        name="amasis",
        make=Amasis,
        summary="left-to-right beam search with a stack of fragments, which a policy's labels combine",
        trial=tiny_policy,
        reference=PAPER,
    )


@hookimpl
def smt_features() -> Iterator[Offer]:
    """The feature ``itg-history``."""
    from smtplugins.plugins.searn.decoding.history import ItgHistory

    yield Offer(
        name="itg-history",
        make=ItgHistory,
        summary="log-probability of a derivation's labels under a policy, counts of reversed and of forced reductions",
        needs=frozenset({"source", "target", "segmentation"}),
        trial=lambda folder: {"path": tiny_policy(folder)["policy_path"]},
    )


def tiny_policy(folder: Path) -> dict[str, Any]:
    """Write a policy with random weights and all labels of up to five reductions, for trials."""
    import itertools

    import numpy as np

    from smtplugins.plugins.searn.learning.policy import Policy

    labels = [
        "S",
        *(
            ",".join(("S", *reductions))
            for k in range(1, 6)
            for reductions in itertools.product(("R+", "R-"), repeat=k)
        ),
    ]
    names = ("source=a", "source=b", "previous=a", "target=A", "depth=1", "label=S")
    draw = np.random.default_rng(1)
    weights = draw.normal(size=(2, len(names), len(labels))).astype(np.float32)
    # Long labels are rare.
    weights -= np.array([label.count(",") for label in labels], dtype=np.float32)
    policy = Policy(tuple(labels), ("source", "previous", "target", "depth", "label"), names, weights, np.full(2, 0.5))
    policy.save(folder / "policy")
    return {"policy_path": folder / "policy"}


@hookimpl
def smt_commands() -> Iterator[Command]:
    """``smt searn label``, ``train`` and ``compare``."""
    from smtplugins.plugins.searn.labels.label_command import LABEL
    from smtplugins.plugins.searn.learning.train_command import TRAIN
    from smtplugins.plugins.searn.study.command import COMPARE

    yield LABEL
    yield TRAIN
    yield COMPARE
