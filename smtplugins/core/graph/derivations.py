"""What inference gives: derivations, posteriors, moments."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from smtplugins.core.graph.hypergraph import Hypergraph

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Derivation:
    """A tree of edges, from the goal down: each edge before those of its tails, tails in their order."""

    graph: Hypergraph
    score: float
    edges: NDArray[np.int32]

    def __len__(self) -> int:
        """How many edges it has."""
        return len(self.edges)

    @property
    def text(self) -> str:
        """Its words, with a space between."""
        import numpy as np

        return Derivations(self.graph, np.array([self.score]), np.array([0, len(self)]), self.edges).texts()[0]

    def features(self) -> Floats:
        """The sums of its edges' features, by the graph's names."""
        import numpy as np

        return self.graph.feature_sums(np.bincount(self.edges, minlength=len(self.graph)).astype(np.float64))


@dataclass(frozen=True, eq=False)
class Derivations(Sequence[Derivation]):
    """Derivations as columns; the edges of number i are ``edges[offsets[i]:offsets[i+1]]``."""

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
        """The words of each, as offsets and numbers of ``graph.words``."""
        return self.graph.core.spell(self.offsets, self.edges, *self.graph.targets)

    def texts(self) -> list[str]:
        """The words of each, with a space between."""
        offsets, ids = self.word_ids()
        words = self.graph.words
        spelt = [words[one] for one in ids.tolist()]
        return [" ".join(spelt[a:b]) for a, b in itertools.pairwise(offsets.tolist())]


@dataclass(frozen=True)
class Posteriors:
    """For ``log`` how often edges and nodes are expected to occur, and log Z; for ``max`` the best scores with them."""

    total: float
    edges: Floats
    nodes: Floats


@dataclass(frozen=True)
class Expectation:
    """The mean of a sum over edges' values, and the mean below each node (0 where nothing can be derived)."""

    log_z: float
    mean: float
    nodes: Floats


@dataclass(frozen=True)
class Covariance:
    """How a sum over edges' values varies: with another such sum, by the product of its edges' values and these."""

    log_z: float
    mean: float
    edges: Floats

    def of(self, values: ArrayLike) -> float:
        """The covariance with the sum over other edges' values."""
        import numpy as np

        return float(self.edges @ np.asarray(values, dtype=np.float64))


@dataclass(frozen=True)
class Gradient:
    """A value and what the graph's features do to it, by the graph's names, when scores are their weighted sums.

    With scores ``gamma`` times as large, the derivative by the weights is ``gamma`` times as large, too.
    """

    value: float
    gradient: Floats
