"""BLEURT: ``pip install git+https://github.com/google-research/bleurt``.

A metric with one reference; reads no sources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def load(checkpoint: str, batch: int = 32) -> Callable[[list[Any]], list[float]]:
    """``checkpoint`` is a folder such as BLEURT-20."""
    from bleurt import score as library

    scorer = library.BleurtScorer(checkpoint)

    def score(items: list[Any]) -> list[float]:
        references = [item.get("refs") or [] for item in items]
        for one in references:
            if len(one) != 1:
                raise ValueError(f"BLEURT takes one reference, found {len(one)}: use it as a metric")
        candidates = [item["hyp"] for item in items]
        found = scorer.score(references=[one[0] for one in references], candidates=candidates, batch_size=batch)
        return [float(one) for one in found]

    return score
