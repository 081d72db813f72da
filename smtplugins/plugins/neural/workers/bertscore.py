"""BERTScore: ``pip install bert-score``. A metric: F of the best reference; reads no sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def load(
    lang: str = "en", model: str = "", rescale: bool = False, batch: int = 64, device: str = ""
) -> Callable[[list[Any]], list[float]]:
    """``lang`` chooses the library's model for a language, ``model`` another; ``rescale`` is with the baseline."""
    import bert_score

    options: dict[str, Any] = {"lang": lang, "rescale_with_baseline": rescale, "batch_size": batch}
    if model:
        options["model_type"] = model
    if device:
        options["device"] = device
    scorer = bert_score.BERTScorer(**options)

    def score(items: list[Any]) -> list[float]:
        references = [item.get("refs") or [] for item in items]
        if not all(references):
            raise ValueError("BERTScore needs references: use it as a metric")
        _, _, best = scorer.score([item["hyp"] for item in items], references)
        return [float(one) for one in best.tolist()]

    return score
