"""Policies with something to say of all that tiny systems have, and the feature that tells of them."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from smtplugins.contracts.offers import Offer
from smtplugins.host.features.scoring import Active
from smtplugins.plugins.searn.decoding.history import ItgHistory
from smtplugins.plugins.searn.learning.policy import Policy

LABELS = ("S", "S,R+", "S,R-", "S,R+,R-", "S,R-,R+", "S,R-,R+,R-")


def random_policy(seed: int, templates: tuple[str, ...], labels: tuple[str, ...] = LABELS, policies: int = 3) -> Policy:
    """A policy that has something to say of all that there is."""
    draw = np.random.default_rng(seed)
    words = ["a", "b", "c", "a b", "b a", "c a", "<s>"]
    own = ("<s>", *labels)
    names = [f"source={one}" for one in words] + [f"previous={one}" for one in words]
    names += [f"target={one}" for one in ("A", "B", "C", "A B", "B C")] + ["bias"]
    names += [f"label={one}" for one in own] + [f"label2={a} {b}" for a, b in itertools.product(own, own)]
    names += [f"depth={k}" for k in range(5)] + [f"fragment={one}" for one in ("A", "B", "<s>", "")]
    weights = draw.normal(size=(policies, len(names), len(labels))).astype(np.float32)
    shares = draw.dirichlet(np.ones(policies))
    return Policy(labels, templates, tuple(names), weights, shares)


def history(policy: Policy, folder: Path) -> Active:
    policy.save(folder / "policy")
    offer = Offer(name="itg-history", make=ItgHistory, summary="of tests", needs=frozenset({"source", "segmentation"}))
    return Active("itg-history", offer, ItgHistory(folder))
