"""The decoder ``bag``: each source word becomes the word that its classifiers are most confident of, or nothing.

Section 7.4.3. Words are printed in the order of the source, and meant to be compared as a bag.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.options import option
from smtplugins.contracts.tools.decoding import in_order
from smtplugins.plugins.bitree.boosting.boosted_model import costs
from smtplugins.plugins.bitree.words.word_model import MIXTURE, WordModel

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.models import Model

COLUMN = "bag"


@dataclass(frozen=True, kw_only=True)
class BagOptions:
    """The options of the decoder ``bag``."""

    model_path: Path = option(doc="a folder that `smt bitree words` made")
    configuration: str = option(MIXTURE, "atoms of classifiers: `mixture`, `best`, or letters such as `W+C`")
    trees_path: Path | None = option(None, "source trees by sentence number (default: attributes `src_tree`)")


class Bag:
    """Words without an order, each chosen by the classifiers of a source word.

    A model with dependency atoms needs source trees. The column ``bag`` is minus the costs of equation 7.5,
    ln(1 + exp(-h)), summed over the words of the source.
    """

    start_weights: ClassVar[Mapping[str, float]] = {COLUMN: 1.0}

    def __init__(self, *, options: BagOptions) -> None:
        from smtplugins.plugins.bitree.trees.sentence_trees import SentenceTrees

        self._model = WordModel.load(options.model_path)
        self._configuration = self._model.configuration(options.configuration)
        needed = self._model.needs_trees(self._configuration)
        self._trees = SentenceTrees(options.trees_path, needed=needed, kind=self._model.trees)

    def decode(self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1) -> Iterator[Decoding]:
        """Translate each sentence into its words."""
        weight = model.weights.get(COLUMN, 0.0)

        def decoded(sentence: Sentence) -> Decoding:
            tree = self._trees.of(sentence)
            words, cost = [], 0.0
            for names, confidence in self._model.confidences(sentence.tokens, tree, self._configuration):
                best = int(confidence.argmax())
                cost += float(costs(confidence[best : best + 1])[0])
                words.append(names[best])
            return Decoding(sentence.id, " ".join(filter(None, words)), -weight * cost, {COLUMN: -cost})

        yield from in_order(decoded, sentences, threads)
