"""A stand-in for a learnt metric: one JSON object a line in, one number a line out.

With references it gives how many character trigrams a hypothesis shares with the most similar one, without any how few
of its words were copied from the source.
"""

from __future__ import annotations

import json
import sys
from collections import Counter


def trigrams(text: str) -> Counter[str]:
    padded = f"  {text} "
    return Counter(padded[i : i + 3] for i in range(len(padded) - 2))


def similarity(hyp: str, ref: str) -> float:
    own, other = trigrams(hyp), trigrams(ref)
    return 2 * sum((own & other).values()) / (sum(own.values()) + sum(other.values()))


def quality(hyp: str, source: str) -> float:
    words = hyp.split()
    return 1 - sum(len(word) > 1 and word in source.split() for word in words) / max(1, len(words))


for line in sys.stdin:
    one = json.loads(line)
    refs = one.get("refs")
    score = max(similarity(one["hyp"], ref) for ref in refs) if refs else quality(one["hyp"], one["source"] or "")
    print(json.dumps({"score": round(score, 4)}), flush=True)
