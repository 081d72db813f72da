"""Decoding with a table of blocks and the model's features: translations and block sequences."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smtformats.files import open_write
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.models import Model
from smtplugins.contracts.offers import Offer
from smtplugins.contracts.tools.decoding import Resources, RuleTable
from smtplugins.contracts.tools.features import Active
from smtplugins.plugins.localized.decoding.swap import Swap, SwapOptions
from smtplugins.plugins.localized.events.blocks import BlockSet
from smtplugins.plugins.localized.learning.material import BlockMaterial
from smtplugins.plugins.localized.learning.problem import BIGRAM
from smtplugins.plugins.localized.model.bigrams import BigramWeights
from smtplugins.plugins.localized.model.block_model import BlockModel

_NEEDS = frozenset({"target", "source", "segmentation"})
_OFFER = Offer(name="block-model", make=BlockModel, summary="the features of a comparison", needs=_NEEDS)


def write_table(
    blocks: BlockSet, counts: Any, path: Path, keep: int, sentences: Iterable[Sentence] | None = None
) -> int:
    """Write the most frequent blocks of each source phrase as a phrase table; returns the number of entries.

    With ``sentences``, only blocks for their phrases. A block's score is its share of its source phrase's events.
    """
    words, longest = set(blocks.words), int((blocks.source_offsets[1:] - blocks.source_offsets[:-1]).max(initial=0))
    wanted = None if sentences is None else _phrases(sentences, longest, words)
    written = 0
    with open_write(path) as out:
        for p in range(len(blocks.starts) - 1):
            first, last = blocks.starts[p : p + 2].tolist()
            source = blocks.phrase("source", p)
            if first == last or (wanted is not None and source not in wanted):
                continue
            total = max(float(counts[first:last].sum()), 1.0)
            for b in range(first, min(last, first + keep)):
                target = blocks.phrase("target", int(blocks.target_of[b]))
                out.write(f"{source} ||| {target} ||| {max(float(counts[b]), 0.5) / total:.6g}\n")
                written += 1
    return written


def _phrases(sentences: Iterable[Sentence], longest: int, words: set[str]) -> set[str]:
    phrases = set()
    for sentence in sentences:
        for first, last in itertools.combinations(range(len(sentence.tokens) + 1), 2):
            if last - first <= longest and sentence.tokens[last - 1] in words:
                phrases.add(" ".join(sentence.tokens[first:last]))
    return phrases


@dataclass(frozen=True)
class BlockSystem:
    """The decoder ``swap`` with a table of blocks."""

    material: BlockMaterial
    table: Path
    min_left: int = 3
    stack_size: int = 100
    threads: int = 1

    def decode(
        self, model: Model, sentences: Sequence[Sentence], reordering: str, *, graphs: bool = False
    ) -> Iterator[Decoding]:
        """Translate with a model."""
        learnt = model.artefacts.get(BIGRAM)
        assert learnt is None or isinstance(learnt, BigramWeights)
        own, least = self.material, self.min_left
        feature = BlockModel.of(own.events, own.model, learnt, min_left=least, estimates=own.estimates)
        resources = Resources(
            (RuleTable(self.table, name="blocks"),), (Active("block-model", _OFFER, feature),), cache="off"
        )
        options: Any = {"reordering": reordering, "stack_size": self.stack_size, "max_options": 0}
        decoder = Swap(resources=resources, options=SwapOptions(**options))
        return decoder.decode(sentences, model, threads=self.threads, graphs=graphs)
