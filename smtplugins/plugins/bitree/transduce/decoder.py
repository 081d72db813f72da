"""The decoder ``bitree``: the cheapest bitree of a sentence's tree, and the string that is read off (section 7.4.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.contracts.contracts import Decoding
from smtplugins.host.decode.forests import Times, added
from smtplugins.host.decode.threads import in_order
from smtplugins.host.errors import UsageError
from smtplugins.plugins.bitree.transduce.bitree_graphs import COLUMN, built, hypergraph, traced
from smtplugins.plugins.bitree.transduce.search import CELL_SIZE, THRESHOLD, SearchLimits, search
from smtplugins.plugins.bitree.transduce.transducer import Transducer
from smtplugins.plugins.bitree.trees.tree_making import branching
from smtplugins.plugins.bitree.words.word_model import MIXTURE

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.host.model import Model


class BitreeDecoder:
    """Bottom-up over a source tree: words become words or nothing, parts keep their order or change places.

    ``model_path`` is a folder that ``smt bitree train`` made, a discriminative model or a generative one. Source trees
    are in a sentence's attribute ``src_tree``, as cdec's have it, or in a file ``trees_path``, a tree for each
    sentence by its number; models learnt from trees without a parser make theirs. A sentence for which the file has
    none is translated with a right-branching one. ``configuration`` says which atoms words are translated by:
    ``mixture``, ``best`` or one of the word model's, such as ``W``.

    Items are pruned whose probability is less than ``threshold`` times the best one's in their cell of the chart, and
    all but the ``cell_size`` best ones (0: none). Words that were not in the training text become nothing.

    The column ``bitree`` is minus the cost of the bitree, ln(1 + exp(-h)) or -log of a probability summed over its
    inferences; its weight, that of the model's ``weights``, has to be positive.
    """

    def __init__(
        self,
        *,
        model_path: Path,
        trees_path: Path | None = None,
        configuration: str = MIXTURE,
        threshold: float = THRESHOLD,
        cell_size: int = CELL_SIZE,
    ) -> None:
        from smtplugins.plugins.bitree.trees.sentence_trees import SentenceTrees

        if not 0.0 <= threshold <= 1.0:
            raise UsageError(f"bitree: threshold: expected a probability, found {threshold}")
        if cell_size < 0:
            raise UsageError(f"bitree: cell_size: expected 0 or more, found {cell_size}")
        self._transducer = Transducer.load(model_path)
        words = self._transducer.words
        self._configuration = MIXTURE if words is None else words.configuration(configuration)
        self._trees = SentenceTrees(trees_path, needed=True, kind=self._transducer.trees)
        self._limits = SearchLimits(threshold, cell_size)

    @property
    def dense_names(self) -> tuple[str, ...]:
        """The column that each translation has."""
        return (COLUMN,)

    def decode(
        self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]:
        """Translations in the order of the input."""
        weight = model.weights.get(COLUMN, 0.0)
        if weight < 0:
            raise UsageError(f"bitree: expected a weight of {COLUMN!r} that is not negative, found {weight}")
        yield from in_order(lambda one: self._decoded(one, weight, graphs), sentences, threads)

    def _decoded(self, sentence: Sentence, weight: float, graphs: bool) -> Decoding:
        if sentence.lattice is not None:
            raise UsageError(f"sentence {sentence.id}: bitree: expected words, found a lattice")
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
