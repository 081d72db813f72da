"""Modified weight training: events from the block sequences of good translations.

C. Tillmann and T. Zhang (ACL 2005), section 5.2 and equation 10: of the n best translations in a sentence's translation
graph (N. Ueffing, F. J. Och and H. Ney, 2002), the one with the highest sentence BLEU is the oracle, and the blocks of
the others are the alternatives.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smtplugins.plugins.localized.events.event_lists import BOUNDARY, LEFT, RIGHT, UNKNOWN, EventList
from smtplugins.plugins.localized.learning.material import BlockMaterial
from smtplugins.plugins.localized.learning.problem import BlockEvents, bigram_problem, neutral_problem
from smtplugins.plugins.localized.model.features import BoundaryLm
from smtplugins.plugins.localized.model.spans import orientation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.decoders import Decoding
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.tools.graphs import Hypergraph

    Array = NDArray[Any]

Step = tuple[tuple[int, int], int]
"""Source span of a block, and its number; -1 for copied words."""


@dataclass(frozen=True)
class Chosen:
    """The block sequence of a sentence's oracle translation, its words, and the blocks of the whole n-best list."""

    steps: tuple[Step, ...]
    words: tuple[str, ...]
    lengths: tuple[int, ...]
    allowed: frozenset[int]
    score: float


@dataclass
class Numbers:
    """Maps phrase pairs to block numbers."""

    material: BlockMaterial
    _sources: dict[str, int] = field(default_factory=dict)
    _known: dict[int, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        blocks = self.material.events.blocks
        self._sources = {blocks.phrase("source", i): i for i in range(len(blocks.starts) - 1)}

    def number(self, source: str, target: str) -> int:
        """Return the number of a block, -1 if there is none."""
        at = self._sources.get(source)
        if at is None:
            return -1
        if at not in self._known:
            blocks = self.material.events.blocks
            span = range(*blocks.starts[at : at + 2].tolist())
            self._known[at] = {blocks.phrase("target", int(blocks.target_of[b])): b for b in span}
        return self._known[at].get(target, -1)


def choose(
    decodings: Iterable[Decoding], references: Sequence[Sequence[str]], metric: Metric, numbers: Numbers, count: int
) -> list[Chosen]:
    """Choose each sentence's oracle: of its ``count`` best translations the one with the highest metric score."""
    import numpy as np

    from smtplugins.contracts.tools.graphs import kbest

    oracles = []
    for at, decoding in enumerate(decodings):
        if not decoding.found or decoding.graph is None:
            oracles.append(Chosen((), (), (), frozenset(), 0.0))
            continue
        graph = decoding.graph()
        best = kbest(graph, k=count)
        texts = best.texts()
        different = dict.fromkeys(texts)
        stats = metric.stats(list(different), [[stream[at]] * len(different) for stream in references])
        scores = metric.sentence(stats) * (1 if metric.higher_is_better else -1)
        score = dict(zip(different, np.asarray(scores).tolist(), strict=True))
        # Ties go to the highest model score.
        chosen = max(range(len(texts)), key=lambda k: (score[texts[k]], -k))
        names = _Edges(graph, numbers)
        allowed = frozenset(names.block(int(edge)) for edge in np.unique(best.edges)) - {-1}
        # Edges go from the goal down, so the last block comes first.
        edges = [edge for edge in reversed(best[chosen].edges.tolist()) if names.translates(edge)]
        steps = tuple((names.span(edge), names.block(edge)) for edge in edges)
        words = [names.words(edge) for edge in edges]
        flat = tuple(itertools.chain.from_iterable(words))
        oracles.append(Chosen(steps, flat, tuple(map(len, words)), allowed, float(score[texts[chosen]])))
    return oracles


class _Edges:
    """Spans, blocks and words of the edges of a phrase graph."""

    def __init__(self, graph: Hypergraph, numbers: Numbers) -> None:
        self._graph, self._numbers = graph, numbers
        self._rules: dict[int, tuple[int, tuple[str, ...]]] = {}

    def span(self, edge: int) -> tuple[int, int]:
        first, last = self._graph.spans[edge].tolist()
        return first, last

    def translates(self, edge: int) -> bool:
        first, last = self.span(edge)
        return first < last

    def _rule(self, edge: int) -> tuple[int, tuple[str, ...]]:
        number = int(self._graph.rules[edge])
        if number not in self._rules:
            rule = self._graph.grammar.rule(number)
            source = [symbol for symbol in rule.source if isinstance(symbol, str)]
            target = [symbol for symbol in rule.target if isinstance(symbol, str)]
            self._rules[number] = self._numbers.number(" ".join(source), " ".join(target)), tuple(target)
        return self._rules[number]

    def block(self, edge: int) -> int:
        return self._rule(edge)[0] if self.translates(edge) else -1

    def words(self, edge: int) -> tuple[str, ...]:
        return self._rule(edge)[1]


def events_of(chosen: Sequence[Chosen], material: BlockMaterial) -> tuple[EventList, Array]:
    """Return the events of block sequences over per-sentence block sets, and the original number of each block.

    Separate block sets restrict an event's alternatives to blocks of the sentence's own translations. Copied words
    form no events with their neighbours.
    """
    import numpy as np

    blocks = material.events.blocks
    words = {word: number for number, word in enumerate(blocks.words)}
    rows: list[int] = []
    starts, sources = [0], []
    columns: dict[str, list[int]] = {
        name: [] for name in ("predecessor", "successor", "orientation", "neutral", "before")
    }
    ends: dict[str, list[int]] = {"bigrams": [0], "neutral": [0]}
    for sequence in chosen:
        own = sorted(sequence.allowed)
        number = {block: len(rows) + k for k, block in enumerate(own)}
        for source, kin in itertools.groupby(own, key=lambda block: int(blocks.source_of[block])):
            sources.append(source)
            starts.append(starts[-1] + len(list(kin)))
        rows += own
        at, last = 0, None
        for (span, block), length in zip(sequence.steps, sequence.lengths, strict=True):
            side = "N" if last is None else orientation(last[0], span)
            if block >= 0 and side == "N":
                columns["neutral"].append(number[block])
                columns["before"] += [
                    words.get(sequence.words[at - back], UNKNOWN) if at >= back else BOUNDARY for back in (2, 1)
                ]
            elif block >= 0 and last is not None and last[1] >= 0:
                columns["predecessor"].append(number[last[1]])
                columns["successor"].append(number[block])
                columns["orientation"].append(RIGHT if side == "R" else LEFT)
            at, last = at + length, (span, block)
        ends["bigrams"].append(len(columns["successor"]))
        ends["neutral"].append(len(columns["neutral"]))
    own_blocks = blocks.gathered(
        np.array(sources, dtype=np.int64), np.array(starts, dtype=np.int64), np.array(rows, dtype=np.int64)
    )
    kinds = {"orientation": np.uint8}
    arrays = {name: np.array(values, dtype=kinds.get(name, np.int32)) for name, values in columns.items()}
    listed = EventList(
        own_blocks,
        np.array(ends["bigrams"], dtype=np.int64),
        arrays["predecessor"],
        arrays["successor"],
        arrays["orientation"],
        np.array(ends["neutral"], dtype=np.int64),
        arrays["neutral"],
        arrays["before"],
    )
    return listed, np.array(rows, dtype=np.int64)


@dataclass(frozen=True)
class Modified:
    """The learning problems of block sequences, for float weights."""

    floats: BlockEvents
    neutral: BlockEvents

    @classmethod
    def of(cls, chosen: Sequence[Chosen], material: BlockMaterial) -> Modified:
        """Make the problems from block sequences."""
        listed, rows = events_of(chosen, material)
        columns = material.columns.chosen(rows)
        lm = BoundaryLm(material.model, listed.blocks)
        return cls(
            bigram_problem(listed, columns, lm, keep=material.keep),
            neutral_problem(listed, columns, lm, keep=material.keep),
        )
