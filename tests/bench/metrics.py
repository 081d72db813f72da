"""Metrics on Moses' 100-best lists of 50 sentences: hypotheses a second, and how that compares with sacrebleu."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from judging import forget
from measure import interleaved

SPECS = [
    "bleu,tokenize=none",
    "bleu",
    "chrf",
    "chrf,word_order=2",
    "ter",
    "wer",
    "wer,unit=char",
    "gtm",
    "gtm,exponent=2",
]


def over_sacrebleu(host: Any, texts: list[str], references: list[str]) -> dict[str, float]:
    """CPU time of sacrebleu for the scores of sentences over ours; each has a reference of its own, as there."""
    import sacrebleu.metrics as theirs

    own: dict[str, Any] = {
        "bleu,tokenize=none": theirs.BLEU(tokenize="none", effective_order=True),
        "bleu": theirs.BLEU(effective_order=True),
        "chrf": theirs.CHRF(),
        "ter": theirs.TER(),
    }
    ours = {name: host.metric(name) for name in own}
    runs: dict[str, Any] = {}

    def scored(metric: Any) -> list[float]:
        forget()
        return [metric.sentence_score(text, [ref]).score for text, ref in zip(texts, references, strict=True)]

    for name in own:
        runs[f"sacrebleu {name}"] = lambda n=name: scored(own[n])
        runs[name] = lambda n=name: ours[n].sentence(ours[n].stats(texts, [references]))
    cpu = interleaved(runs, rounds=7)
    return {name: cpu[f"sacrebleu {name}"] / cpu[name] for name in own}


def metrics(shared: Path) -> dict[str, Any]:
    """Statistics and sentence scores of each hypothesis; corpus scores of many sums; a matrix for consensus."""
    import numpy as np

    import smtplugins as smt

    host = smt.load_plugins()
    with gzip.open(shared / "gold/moses/pb/nbest100.labeled.txt.gz", "rt", encoding="utf-8") as lines:
        rows = [line.split(" ||| ")[:2] for line in lines]
    segments = np.array([int(key) for key, _ in rows], dtype=np.int32)
    texts = [text for _, text in rows]
    # The last of each list stands for a reference.
    references = [texts[int(np.flatnonzero(segments == k)[-1])] for k in range(int(segments[-1]) + 1)]
    count, found = len(texts), dict[str, Any]()
    for spec in SPECS:
        metric: Any = host.metric(spec)
        held = metric.prepare([references])

        def scored(metric: Any = metric, held: Any = held) -> Any:
            return metric.sentence(held.stats(texts, segments))

        stats = held.stats(texts, segments)
        cpu = interleaved({"all": scored, "sentence": lambda m=metric, s=stats: m.sentence(s)}, rounds=9)  # type: ignore[misc]
        found[spec] = {
            "stats_and_score_m_per_s": count / cpu["all"] / 1e6,
            "score_m_per_s": count / cpu["sentence"] / 1e6,
        }

    metric = host.metric(SPECS[0])
    native = metric.prepare([references]).native
    ids = [native.numbers(text.split()) for text in texts]
    offsets, flat = np.cumsum([0, *map(len, ids)]).astype(np.int64), np.concatenate(ids)
    runs: dict[str, Any] = {"ids": lambda: metric.sentence(native.stats_of_ids(offsets, flat, segments))}
    runs["matrix 100 x 100"] = lambda: metric.sentence(metric.matrix(texts[:100], texts[:100]))
    cpu = interleaved(runs, rounds=7)
    return {
        "hypotheses": count,
        "words": int(offsets[-1]) / count,
        "metrics": found,
        "bleu_of_ids_m_per_s": count / cpu["ids"] / 1e6,
        "sacrebleu_over_ours": over_sacrebleu(host, texts[::10], [references[k] for k in segments[::10]]),
        "sacrebleu_over_ours_1_best": over_sacrebleu(
            host,
            (shared / "gold/cdec/decode/k30.out").read_text("utf-8").splitlines(),
            (shared / "gold/cdec/test300.ref").read_text("utf-8").splitlines(),
        ),
        "matrix_m_per_s": 0.01 / cpu["matrix 100 x 100"],
    }
