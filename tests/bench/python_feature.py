"""A stateful feature in Python inside the decoder hiero: a bigram model against the native one, on cdec's sentences.

This file is the plugin, too: it offers the feature ``bigram``.
"""

from __future__ import annotations

import gzip
import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from smtplugins import Offer, hookimpl
from smtplugins.contracts.adapters import SimpleStateful

KINDS = {
    "none": [],
    "native": ["lm,path={lm},base=10,name=LanguageModel"],
    "python": ["bigram,path={lm},name=LanguageModel"],
}
REST = ["glue,name=Glue", "pass-through,name=PassThrough", "word-penalty,value=cdec,name=WordPenalty"]
Ends = tuple[str, str] | None


class Bigram(SimpleStateful):
    """Log10 probabilities of neighbouring words, as an ARPA file has them; a state is the first and the last word."""

    def __init__(self, path: Path) -> None:
        self._scores: dict[tuple[str, ...], float] = {}
        self._backoffs: dict[str, float] = {}
        opened: Any = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                cells = line.rstrip("\n").split("\t")
                if len(cells) > 1:
                    self._scores[tuple(cells[1].split(" "))] = float(cells[0])
                    if len(cells) > 2:
                        self._backoffs[cells[1]] = float(cells[2])

    def _pair(self, left: str, right: str) -> float:
        found = self._scores.get((left, right))
        return found if found is not None else self._backoffs.get(left, 0.0) + self._single(right)

    def _single(self, word: str) -> float:
        found = self._scores.get((word,))
        return found if found is not None else self._scores["<unk>",]

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Ends]) -> tuple[float, Ends]:
        """The pairs that meet at an edge."""
        total, ends = 0.0, None
        for symbol in target:
            new: Ends = tails[symbol] if isinstance(symbol, int) else (symbol, symbol)
            if new is not None:
                total += 0.0 if ends is None else self._pair(ends[1], new[0])
                ends = new if ends is None else (ends[0], new[1])
        return total, ends

    def finish_one(self, state: Ends) -> float:
        """Both ends of the sentence."""
        return (
            self._pair("<s>", "</s>") if state is None else self._pair("<s>", state[0]) + self._pair(state[1], "</s>")
        )

    def estimate_one(self, target: Sequence[str | int]) -> float:
        """Pairs inside the rule; a first word counts alone."""
        total, last = 0.0, None
        for symbol in target:
            if isinstance(symbol, str):
                total += self._single(symbol) if last is None else self._pair(last, symbol)
            last = symbol if isinstance(symbol, str) else None
        return total


@hookimpl
def smt_features() -> Iterator[Offer]:
    """The bigram model."""
    yield Offer(name="bigram", make=Bigram, summary="a bigram model in Python", needs=frozenset({"target"}))


def python_feature(shared: Path, limits: Sequence[int] = (30, 200), rounds: int = 2) -> dict[str, Any]:
    """CPU ms a sentence of parsing and search, by pop limit and by who scores the bigrams; and whether scores agree."""
    from smtplugins import load_plugins
    from smtplugins.core.lm.ngram_model import read_lm
    from smtplugins.host.config.run_yaml import load_config
    from smtplugins.host.decode.sentences import read_sentences
    from smtplugins.host.decode.translator import make_translator

    gold = shared / "gold/cdec"
    if not gold.exists():
        return {}
    native: Any = read_lm(gold / "exact_lm/en.2.arpa.gz")
    off = float("nan")
    host = load_plugins([__file__])
    weights = host.read_weights(gold / "weights.tuned")
    before = os.getcwd()
    # The corpus names grammars as seen from its folder.
    os.chdir(gold)
    try:
        sentences = list(read_sentences(host, "test300.in"))
        found: dict[str, Any] = {}
        for limit in limits:
            cpu = dict.fromkeys(KINDS, float("inf"))
            bests: dict[str, list[str]] = {}
            means: dict[str, float] = {}
            pops: dict[str, float] = {}
            for _, (kind, features) in itertools.product(range(rounds), KINDS.items()):
                named = [*REST, *(one.format(lm=gold / "exact_lm/en.2.arpa.gz") for one in features)]
                overrides = [f"model.features={named}", f"decoder.pop_limit={limit}"]
                system = make_translator(host, load_config("cdec.ini", overrides), weights)
                decoded = list(system.decode(sentences))
                seconds = sum(one.stats["cpu.parsing"] + one.stats["cpu.search"] for one in decoded)
                cpu[kind] = min(cpu[kind], 1000 * seconds / len(decoded))
                bests[kind] = [one.best for one in decoded]
                means[kind] = sum(one.score or 0.0 for one in decoded) / len(decoded)
                if kind == "python":
                    texts = bests[kind]
                    scored = native.score_sentences(texts)[0].tolist()
                    pairs = zip(decoded, scored, strict=True)
                    off = max(abs(one.features["LanguageModel"] - score) for one, score in pairs)
                pops[kind] = sum(one.stats["lm_queries"] for one in decoded) / len(decoded)
            found[str(limit)] = {
                "ms_per_sentence": cpu,
                "edges_scored": pops,
                "python_over_native": cpu["python"] / cpu["native"],
                "mean_score": means,
                "python_column_against_native_model": off,
                "same_translations": sum(a == b for a, b in zip(texts, bests["native"], strict=True)),
            }
    finally:
        os.chdir(before)
    return found
