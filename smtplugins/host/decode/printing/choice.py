"""Choose another translation than the best derivation's: minimum Bayes risk on an n-best list, as Moses defines it.

S. Kumar and W. Byrne, "Minimum Bayes-Risk Decoding for Statistical Machine Translation" (2004). The list has the best
derivation of each of ``size`` texts, of at most ``factor`` times as many derivations; a text's probability is that of
its best derivation alone. The gain is BLEU of a sentence up to 4-grams, with one more match and one more n-gram for
each order but the first. Of equal gains the text that comes first in the list is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.options import CheckedOptions, option
from smtplugins.contracts.spec import Spec, build, suggestion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.decoders import Decoding
    from smtplugins.core.graph.derivations import Derivations
    from smtplugins.core.graph.hypergraph import Hypergraph

_ORDER = 4
MBR, LATTICE_MBR, CONSENSUS = "mbr", "lattice-mbr", "consensus"


@dataclass(frozen=True)
class ChosenText:
    """The one derivation to print, or none if there is none; ``listed`` are lines of a list of other texts."""

    derivations: Derivations
    listed: tuple[str, ...] = ()


class TextChoice(Protocol):
    """Chooses a derivation of a graph; ``endings`` are those of the decoding (:class:`Decoding`)."""

    def choose(self, graph: Hypergraph, endings: Callable[[], Sequence[int]] | None) -> ChosenText: ...


@dataclass(frozen=True, kw_only=True)
class ListChoice(CheckedOptions):
    """Options of choices among the texts of an n-best list."""

    size: int = option(200, "texts of the list", least=1)
    scale: float = option(1.0, "factor of the scores before they become probabilities", least=0)
    factor: int = option(20, "derivations looked at for each text of the list, 0 for 1000", least=0)

    def distinct(self, graph: Hypergraph) -> tuple[Derivations, list[str], list[int]]:
        """Derivations, distinct texts and the first derivation of each."""
        from smtplugins.core.graph.inference import kbest

        most = self.size * (self.factor or 1000)
        count = min(4 * self.size, most)
        while True:
            derivations = kbest(graph, k=count)
            first: dict[str, int] = {}
            for i, text in enumerate(derivations.texts()):
                first.setdefault(text, i)
            if len(first) >= self.size or count == most or len(derivations) < count:
                texts = list(first)[: self.size]
                return derivations, texts, [first[text] for text in texts]
            count = min(5 * count, most)


@dataclass(frozen=True, kw_only=True)
class MinimumRisk(ListChoice):
    """Minimum Bayes risk on the list."""

    def choose(self, graph: Hypergraph, endings: Callable[[], Sequence[int]] | None = None) -> ChosenText:
        """The text of the lowest expected loss."""
        import numpy as np

        derivations, texts, firsts = self.distinct(graph)
        if not firsts:
            return ChosenText(derivations)
        scores = self.scale * derivations.scores[firsts]
        shares = np.exp(scores - scores.max())
        risks = expected_losses(texts, shares / shares.sum())
        return ChosenText(one_of(derivations, firsts[int(np.argmin(risks))]))


def with_choice(decoding: Decoding, choice: TextChoice) -> Decoding:
    """The decoding with the chosen translation as its best; its trace and building steps are not known."""
    if not decoding.found:
        return decoding
    if decoding.graph is None:
        raise UsageError("output.choice needs a decoder that returns graphs")
    graph = decoding.graph()
    derivations = choice.choose(graph, decoding.endings).derivations
    if not len(derivations):
        return decoding
    values = zip(graph.names, derivations[0].features().tolist(), strict=True)
    return replace(
        decoding,
        best=(decoding.shown or str)(derivations.texts()[0]),
        score=float(derivations.scores[0]),
        features={name: value for name, value in values if value},
        graph=lambda: graph,
        trace=None,
        built=None,
    )


def one_of(derivations: Derivations, number: int) -> Derivations:
    """One of the derivations."""
    import numpy as np

    from smtplugins.core.graph.derivations import Derivations

    chosen = derivations[number]
    offsets = np.array([0, len(chosen)])
    return Derivations(derivations.graph, np.array([chosen.score]), offsets, chosen.edges)


def choice_of(spec: Spec) -> TextChoice:
    """Make the choice that a configuration names."""
    from smtplugins.host.decode.printing.graph_choices import GraphConsensus, LatticeRisk

    known: dict[str, type[TextChoice]] = {MBR: MinimumRisk, LATTICE_MBR: LatticeRisk, CONSENSUS: GraphConsensus}
    if spec.name not in known:
        raise UsageError(f"unknown choice {spec.name!r}{suggestion(spec.name, known)}")
    made: TextChoice = build(f"choice {spec.name!r}", known[spec.name], spec.options, {})
    return made


def expected_losses(texts: Sequence[str], shares: NDArray[Any]) -> NDArray[Any]:
    """One minus BLEU of each text against each other text, weighted by the shares of those."""
    import numpy as np

    words = [text.split() for text in texts]
    sizes = np.array([len(own) for own in words], dtype=np.float64)
    logs = np.zeros((len(texts), len(texts)))
    some = np.ones(logs.shape, dtype=bool)
    for n in range(1, _ORDER + 1):
        matches = _overlaps(words, n)
        ngrams = np.maximum(sizes - n + 1, 0)[:, None]
        more = n > 1
        some &= (matches > 0) | more
        logs += np.log(np.where(some, matches + more, 1.0)) - np.log(np.maximum(ngrams + more, 1.0))
    brevity = np.minimum(0.0, 1 - sizes[None, :] / np.maximum(sizes, 1.0)[:, None])
    gains = np.where(some, np.exp(logs / _ORDER + brevity), 0.0)
    # A text costs nothing against itself, even one without words.
    np.fill_diagonal(gains, 1.0)
    losses: NDArray[Any] = (1 - gains) @ shares
    return losses


def _overlaps(words: Sequence[Sequence[str]], n: int) -> NDArray[Any]:
    """The number of n-grams that two texts have in common, each at most as often as the other has it."""
    import numpy as np

    numbers: dict[tuple[str, ...], int] = {}
    rows, columns = [], []
    for row, own in enumerate(words):
        for at in range(len(own) - n + 1):
            rows.append(row)
            columns.append(numbers.setdefault(tuple(own[at : at + n]), len(numbers)))
    counts = np.zeros((len(words), len(numbers)), dtype=np.float32)
    np.add.at(counts, (rows, columns), 1)
    total = np.zeros((len(words), len(words)), dtype=np.float64)
    for level in range(1, int(counts.max(initial=0)) + 1):
        # N-grams that no text has so often make no difference.
        at_least = (counts >= level)[:, (counts >= level).any(axis=0)].astype(np.float32)
        total += at_least @ at_least.T
    return total
