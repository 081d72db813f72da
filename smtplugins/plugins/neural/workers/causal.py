"""Log probabilities under a causal language model of transformers: ``pip install torch transformers``.

Two numbers: the sum over the hypothesis' tokens, and the mean of a token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def load(
    model: str, prompt: str = "", eos: bool = True, batch: int = 16, device: str = "cpu", dtype: str = "float32"
) -> Callable[[list[Any]], list[list[float]]]:
    """``prompt`` is read before the hypothesis, ``{source}`` in it is the source. ``eos``: score the sentence's end."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    network: Any = AutoModelForCausalLM.from_pretrained(model)
    network = network.to(device, getattr(torch, dtype)).eval()
    first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    if first is None:
        raise ValueError(f"{model} has neither a bos_token nor an eos_token to begin with")
    last = [tokenizer.eos_token_id] if eos and tokenizer.eos_token_id is not None else []

    def ids(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    def score(items: list[Any]) -> list[list[float]]:
        rows, starts = [], []
        for item in items:
            if "{source}" in prompt and item.get("source") is None:
                raise ValueError("the prompt has {source}: add the sources")
            before = [first, *ids(prompt.replace("{source}", item.get("source") or ""))]
            rows.append([*before, *ids(item["hyp"]), *last])
            starts.append(len(before))
        found: list[list[float]] = [[0.0, 0.0]] * len(rows)
        order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
        for at in range(0, len(order), batch):
            chosen = order[at : at + batch]
            width = max(len(rows[i]) for i in chosen)
            numbers = torch.full((len(chosen), width), first, dtype=torch.long)
            mask = torch.zeros((len(chosen), width), dtype=torch.long)
            for k, i in enumerate(chosen):
                numbers[k, : len(rows[i])] = torch.tensor(rows[i], dtype=torch.long)
                mask[k, : len(rows[i])] = 1
            numbers, mask = numbers.to(device), mask.to(device)
            with torch.no_grad():
                logits = network(input_ids=numbers, attention_mask=mask).logits[:, :-1].float()
            scores = logits.log_softmax(-1).gather(-1, numbers[:, 1:, None])[..., 0].double().cpu()
            for k, i in enumerate(chosen):
                total = float(scores[k, starts[i] - 1 : len(rows[i]) - 1].sum())
                found[i] = [total, total / max(1, len(rows[i]) - starts[i])]
        return found

    return score
