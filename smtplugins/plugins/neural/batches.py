"""Token sequences in padded batches of similar length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOKENS = 1 << 14
"""The most tokens in a batch, padding included."""


def batches(lengths: Sequence[int], most: int, tokens: int = TOKENS) -> Iterator[list[int]]:
    """Yield positions in ``lengths``, at most ``most`` in a batch, the longest first; ``tokens`` bounds padded size."""
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    start = 0
    while start < len(order):
        longest = max(1, lengths[order[start]])
        size = max(1, min(most, tokens // longest))
        yield order[start : start + size]
        start += size


def encode(tokenizer: Any, texts: Sequence[str | tuple[str, str]], special: bool = True) -> list[Any]:
    """The encodings of texts or pairs of them, with the tokens that the model's frame adds if ``special``."""
    # Releases before 0.20 have no method that leaves out the offsets.
    method = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)
    found: list[Any] = method(list(texts), add_special_tokens=special)
    return found


def padded(rows: Sequence[Sequence[int]], pad: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """The rows as an array with padding on the right, and a mask with 1 for tokens; at least one column."""
    import numpy as np

    width = max([1, *map(len, rows)])
    numbers = np.full((len(rows), width), pad, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for i, row in enumerate(rows):
        numbers[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return numbers, mask


def log_probabilities(logits: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
    """Natural log probabilities of the tokens ``numbers`` under rows of unnormalised scores."""
    import numpy as np

    found = np.empty(len(numbers))
    # In pieces: the exponentials of all rows would take as much memory again as the model's output.
    step = max(1, (1 << 22) // max(1, logits.shape[-1]))
    for start in range(0, len(numbers), step):
        rows = logits[start : start + step]
        top = rows.max(axis=-1, keepdims=True)
        sums = np.exp(rows - top).sum(axis=-1, dtype=np.float64)
        chosen = rows[np.arange(len(rows)), numbers[start : start + step]]
        found[start : start + step] = chosen.astype(np.float64) - top[:, 0] - np.log(sums)
    return found
