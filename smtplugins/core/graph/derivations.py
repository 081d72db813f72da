"""Results of inference: derivations, posteriors, moments."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from smtformats.columns import gathered
from smtformats.records import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from smtplugins.core.graph.hypergraph import Hypergraph

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Derivation:
    """A derivation: its edges in preorder from the goal, tails in order."""

    graph: Hypergraph
    score: float
    edges: NDArray[np.int32]

    def __len__(self) -> int:
        """The number of edges."""
        return len(self.edges)

    @property
    def text(self) -> str:
        """The words, joined by spaces."""
        return self._alone().texts()[0]

    def features(self) -> Floats:
        """The summed features of its edges, in the order of the graph's names."""
        row: Floats = self._alone().features()[0]
        return row

    def _alone(self) -> Derivations:
        import numpy as np

        return Derivations(self.graph, np.array([self.score]), np.array([0, len(self)]), self.edges)


@dataclass(frozen=True, eq=False)
class Derivations(Sequence[Derivation]):
    """Derivations as columns; derivation i has ``edges[offsets[i]:offsets[i+1]]``."""

    graph: Hypergraph
    scores: Floats
    offsets: NDArray[np.int64]
    edges: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, index: int) -> Derivation: ...
    @overload
    def __getitem__(self, index: slice) -> list[Derivation]: ...
    def __getitem__(self, index: int | slice) -> Derivation | list[Derivation]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        at = range(len(self))[index]
        return Derivation(self.graph, float(self.scores[at]), self.edges[self.offsets[at] : self.offsets[at + 1]])

    def word_ids(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The words of each derivation, as offsets and ids in ``graph.words``."""
        return self.graph.core.spell(self.offsets, self.edges, *self.graph.targets)

    def texts(self) -> list[str]:
        """The words of each derivation, joined by spaces."""
        offsets, ids = self.word_ids()
        numbers, words = ids.tolist(), self.graph.words
        known = {number: words[number] for number in set(numbers)}
        spelt = [known[number] for number in numbers]
        return [" ".join(spelt[a:b]) for a, b in itertools.pairwise(offsets.tolist())]

    def features(self) -> Floats:
        """The summed features of each derivation, a row each, in the order of the graph's names."""
        import numpy as np

        graph, width = self.graph, len(self.graph.names)
        owners = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        rules = graph.rules[self.edges]
        ruled = rules >= 0
        sums = np.zeros(len(self) * width)

        def add(cells: NDArray[np.int64], values: NDArray[Any]) -> None:
            nonlocal sums
            sums += np.bincount(cells.reshape(-1), values.reshape(-1), len(sums))

        for own, numbers, offsets, names, values in (
            (owners[ruled], rules[ruled], graph.rule_feature_offsets, graph.rule_feature_ids, graph.rule_values),
            (owners, self.edges, graph.feature_offsets, graph.features, graph.values),
        ):
            bounds, places = gathered(offsets, numbers)
            add(np.repeat(own, np.diff(bounds)) * width + names[places], values[places])
        add(owners[:, None] * width + graph.dense_names, graph.dense[self.edges])
        return sums.reshape(len(self), width)


@dataclass(frozen=True)
class Posteriors:
    """For ``log``, log Z and expected counts of edges and nodes; for ``max``, the best score and max-marginals."""

    total: float
    edges: Floats
    nodes: Floats


@dataclass(frozen=True)
class Expectation:
    """The mean of a sum of edge values, and the mean below each node (0 for nodes without a derivation)."""

    log_z: float
    mean: float
    nodes: Floats


@dataclass(frozen=True)
class Covariance:
    """Covariances with a sum of edge values: that of another sum is the dot product of its values and ``edges``."""

    log_z: float
    mean: float
    edges: Floats

    def of(self, values: ArrayLike) -> float:
        """The covariance with the sum of other edge values."""
        import numpy as np

        return float(self.edges @ np.asarray(values, dtype=np.float64))


@dataclass(frozen=True)
class Gradient:
    """A value and its gradient by the feature weights, in the order of the graph's names.

    Scores are taken to be weighted feature sums; if they are scaled by ``gamma``, multiply the gradient by ``gamma``.
    """

    value: float
    gradient: Floats
