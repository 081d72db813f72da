"""A tiny random policy, with which the conformance kit makes the decoder and the feature."""

from __future__ import annotations

from pathlib import Path
from typing import Any


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


def tiny_history(folder: Path) -> dict[str, Any]:
    """Write the same policy, for the feature."""
    return {"path": tiny_policy(folder)["policy_path"]}
