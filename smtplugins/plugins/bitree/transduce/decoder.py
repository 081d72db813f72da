"""The decoder ``bitree``: the cheapest bitree of a sentence's tree, and the string read off it (section 7.4.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.options import check_bounds, option
from smtplugins.contracts.tools.decoding import Times, added, in_order
from smtplugins.plugins.bitree.transduce.bitree_graphs import COLUMN, built, hypergraph, traced
from smtplugins.plugins.bitree.transduce.search import CELL_SIZE, THRESHOLD, SearchLimits, search
from smtplugins.plugins.bitree.transduce.transducer import Transducer
from smtplugins.plugins.bitree.trees.tree_making import branching
from smtplugins.plugins.bitree.words.word_model import MIXTURE

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.models import Model


@dataclass(frozen=True, kw_only=True)
class BitreeOptions:
    """The options of the decoder ``bitree``."""

    model_path: Path = option(doc="a folder that `smt bitree train` made, a discriminative or a generative model")
    trees_path: Path | None = option(None, "source trees by sentence number (default: attributes `src_tree`)")
    configuration: str = option(MIXTURE, "atoms of word classifiers: `mixture`, `best`, or letters such as `W`")
    threshold: float = option(
        THRESHOLD, "drop items less probable than this times the best of their cell of the chart", probability=True
    )
    cell_size: int = option(CELL_SIZE, "items kept in a cell, 0 for all", least=0)

    def __post_init__(self) -> None:
        check_bounds(self, "bitree")


class BitreeDecoder:
    """Bottom-up over a source tree: words become words or nothing, parts keep their order or change places.

    Models learnt from trees without a parser make the trees of sentences themselves. A sentence without a tree is
    translated with a right-branching one. Words that were not in the training text become nothing.

    The column ``bitree`` is minus the cost of the bitree, ln(1 + exp(-h)) or -log of a probability summed over its
    inferences; its weight must be positive.
    """

    start_weights: ClassVar[Mapping[str, float]] = {COLUMN: 1.0}

    def __init__(self, *, options: BitreeOptions) -> None:
        from smtplugins.plugins.bitree.trees.sentence_trees import SentenceTrees

        self._transducer = Transducer.load(options.model_path)
        words = self._transducer.words
        self._configuration = MIXTURE if words is None else words.configuration(options.configuration)
        self._trees = SentenceTrees(options.trees_path, needed=True, kind=self._transducer.trees)
        self._limits = SearchLimits(options.threshold, options.cell_size)

    @property
    def dense_names(self) -> tuple[str, ...]:
        """The column that each translation has."""
        return (COLUMN,)

    def table_names(self, own: Iterable[str] = ()) -> tuple[str, ...]:
        """The same column: there are no tables."""
        return (COLUMN,)

    def decode(
        self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]:
        """Translations in the order of the input."""
        weight = model.weights.get(COLUMN, 0.0)
        if weight < 0:
            raise UsageError(f"bitree: expected a weight of {COLUMN!r} that is not negative, found {weight}")
        yield from in_order(lambda sentence: self._decoded(sentence, weight, graphs), sentences, threads)

    def _decoded(self, sentence: Sentence, weight: float, graphs: bool) -> Decoding:
        times = Times()
        with times("parsing"):
            given = self._trees.of(sentence)
            tree = branching(sentence.tokens, "right-branching") if given is None else given
        with times("search"):
            costs = self._transducer.start(tree, self._configuration)
            found = search(tree, costs, self._limits, every=graphs)
            cost = found.cost if found.roots else 0.0
            best = " ".join(found.target())
        counts = {"items": found.items, "edges": found.edges, "without_tree": int(given is None)}
        return Decoding(
            id=sentence.id,
            best=best,
            score=-cost * weight,
            features={COLUMN: -cost},
            graph=(lambda: hypergraph(found, weight, sentence.id)) if graphs else None,
            trace=lambda: traced(found),
            built=lambda: built(found, weight),
            stats=added(counts, times.sums),
        )
