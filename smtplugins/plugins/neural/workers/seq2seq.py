"""Log probabilities of hypotheses given sources under an encoder-decoder model: ``pip install torch transformers``.

Two numbers: the sum over the hypothesis' tokens and the end of the sentence, and the mean of a token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def load(
    model: str,
    prefix: str = "",
    source_language: str = "",
    target_language: str = "",
    batch: int = 16,
    device: str = "cpu",
    dtype: str = "float32",
) -> Callable[[list[Any]], list[list[float]]]:
    """``prefix`` is text before the source (T5); the languages are codes of the tokenizer (NLLB, mBART)."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    if source_language:
        tokenizer.src_lang = source_language
    if target_language:
        tokenizer.tgt_lang = target_language
    code = tokenizer.convert_tokens_to_ids(target_language) if target_language else None
    network: Any = AutoModelForSeq2SeqLM.from_pretrained(model)
    network = network.to(device, getattr(torch, dtype)).eval()

    def score(items: list[Any]) -> list[list[float]]:
        if any(item.get("source") is None for item in items):
            raise ValueError("a translation model needs the sources")
        found: list[list[float]] = [[0.0, 0.0]] * len(items)
        order = sorted(range(len(items)), key=lambda i: -len(items[i]["hyp"]))
        for start in range(0, len(order), batch):
            chosen = [items[i] for i in order[start : start + batch]]
            sources = tokenizer([prefix + item["source"] for item in chosen], padding=True, return_tensors="pt")
            targets = tokenizer(text_target=[item["hyp"] for item in chosen], padding=True, return_tensors="pt")
            kept = targets["attention_mask"].bool()
            if code is not None:
                kept[:, 0] &= targets["input_ids"][:, 0] != code
            # The model shifts the labels to the right for its decoder; -100 is what it does not score.
            labels = targets["input_ids"].masked_fill(targets["attention_mask"] == 0, -100)
            inputs = {name: sources[name].to(device) for name in ("input_ids", "attention_mask")}
            with torch.no_grad():
                logits = network(**inputs, labels=labels.to(device)).logits.float().cpu()
            scores = logits.log_softmax(-1).gather(-1, labels.clamp(min=0)[..., None])[..., 0].double()
            for row, mask, i in zip(scores, kept, order[start : start + batch], strict=True):
                total = float(row[mask].sum())
                found[i] = [total, total / max(1, int(mask.sum()))]
        return found

    return score
