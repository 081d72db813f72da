"""Mixtures of policies with the one that SEARN begins with, and random numbers for their decisions.

H. Daume III, J. Langford, D. Marcu, "Search-based Structured Prediction" (2009), figure 1: h becomes
beta h' + (1 - beta) h, and at the end the optimal policy is taken out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Roll = Literal["sampled", "policy", "optimal"]
"""Who decides: a policy drawn for each decision, the one that SEARN begins with among them; the policies learnt so far
by their votes; or the one that it begins with."""


@dataclass(frozen=True)
class Mixture:
    """Policies, each an array of weights, and shares: that of the policy of the beginning first."""

    weights: Array
    shares: Array

    @classmethod
    def begun(cls, size: int) -> Mixture:
        """Nothing is learnt yet."""
        import numpy as np

        return cls(np.empty((0, size), dtype=np.float32), np.ones(1))

    def __len__(self) -> int:
        """How many policies were learnt."""
        return len(self.weights)

    @property
    def voting(self) -> Array:
        """The shares without the policy of the beginning."""
        learnt = self.shares[1:]
        return learnt / learnt.sum() if len(learnt) else learnt

    def grown(self, size: int) -> Mixture:
        """With weights of 0 for features that came later."""
        import numpy as np

        return Mixture(np.pad(self.weights, ((0, 0), (0, size - self.weights.shape[1]))), self.shares)

    def joined(self, weights: Array, beta: float) -> Mixture:
        """With a new policy, whose share is beta."""
        import numpy as np

        shares = np.append(self.shares * (1.0 - beta), beta)
        return Mixture(np.vstack([self.weights, weights.astype(np.float32)[None]]), shares)

    def judging(self, decide: str) -> tuple[Mixture, Roll]:
        """The mixture without the policy of the beginning, and who decides in it."""
        import numpy as np

        if decide == "last":
            return Mixture(self.weights[-1:], np.array([0.0, 1.0])), "policy"
        without = Mixture(self.weights, np.concatenate([[0.0], self.voting]))
        return without, "sampled" if decide == "draw" else "policy"
