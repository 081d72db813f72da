"""MetricX-24: a clone of github.com/google-research/metricx on PYTHONPATH, with its requirements.

Lower is better (0 to 25). With references it is a metric, without them quality estimation; hybrid models take both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def load(
    model: str = "google/metricx-24-hybrid-large-v2p6",
    tokenizer: str = "google/mt5-large",
    max_length: int = 1536,
    batch: int = 8,
    device: str = "cpu",
) -> Callable[[list[Any]], list[float]]:
    """``model`` and ``tokenizer`` are names of the Hugging Face Hub or folders, ``device`` is torch's."""
    import torch
    import transformers
    from metricx24 import models

    words = transformers.AutoTokenizer.from_pretrained(tokenizer)
    network = models.MT5ForRegression.from_pretrained(model).to(device).eval()

    def text(item: Any) -> str:
        if item.get("source") is None:
            raise ValueError("MetricX needs the sources")
        found = f"source: {item['source']} candidate: {item['hyp']}"
        references = item.get("refs") or []
        if len(references) > 1:
            raise ValueError(f"MetricX takes one reference, found {len(references)}")
        return found + (f" reference: {references[0]}" if references else "")

    def score(items: list[Any]) -> list[float]:
        rows = []
        for item in items:
            encoded = words(text(item), max_length=max_length, truncation=True, padding=False)
            rows.append(encoded["input_ids"][:-1])  # the model was trained without the token for the end
        found = [0.0] * len(rows)
        order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            width = max(len(rows[i]) for i in chosen)
            numbers = torch.zeros((len(chosen), width), dtype=torch.long)
            mask = torch.zeros((len(chosen), width), dtype=torch.long)
            for k, i in enumerate(chosen):
                numbers[k, : len(rows[i])] = torch.tensor(rows[i], dtype=torch.long)
                mask[k, : len(rows[i])] = 1
            with torch.no_grad():
                output = network(input_ids=numbers.to(device), attention_mask=mask.to(device))
            for i, one in zip(chosen, output.predictions.flatten().tolist(), strict=True):
                found[i] = float(one)
        return found

    return score
