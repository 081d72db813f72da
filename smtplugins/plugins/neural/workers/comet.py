"""COMET and CometKiwi: ``pip install unbabel-comet``. A metric with references, or quality estimation without.

Models such as Unbabel/wmt22-comet-da (with references) and Unbabel/wmt22-cometkiwi-da (without).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


def load(
    model: str = "Unbabel/wmt22-cometkiwi-da", batch: int = 16, gpus: int = 0
) -> Callable[[list[Any]], list[float]]:
    """``model`` is a name of the Hugging Face Hub or a checkpoint file, ``gpus`` the number of GPUs."""
    import comet

    network = comet.load_from_checkpoint(model if os.path.exists(model) else comet.download_model(model))

    def score(items: list[Any]) -> list[float]:
        data = []
        for item in items:
            if item.get("source") is None:
                raise ValueError("COMET needs the sources")
            row = {"src": item["source"], "mt": item["hyp"]}
            references = item.get("refs") or []
            if len(references) > 1:
                raise ValueError(f"COMET takes one reference, found {len(references)}")
            if network.requires_references():
                if not references:
                    raise ValueError(
                        f"{model} needs references: use it as a metric, or a model without, such as CometKiwi"
                    )
                row["ref"] = references[0]
            data.append(row)
        found = network.predict(data, batch_size=batch, gpus=gpus, progress_bar=False)
        return [float(one) for one in found.scores]

    return score
