"""Mixtures of learnt policies with SEARN's initial policy.

H. Daume III, J. Langford, D. Marcu, "Search-based Structured Prediction" (2009), figure 1: h becomes
beta h' + (1 - beta) h, and the optimal policy is removed at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Roll = Literal["sampled", "policy", "optimal"]
"""Who decides: a policy drawn for each decision, the initial one included; a vote of the learnt policies; or the
initial policy."""


@dataclass(frozen=True)
class PolicyMixture:
    """Weights of the learnt policies, a row each, and shares, the initial policy's first."""

    weights: Array
    shares: Array

    @classmethod
    def initial(cls, size: int) -> PolicyMixture:
        """The initial policy alone."""
        import numpy as np

        return cls(np.empty((0, size), dtype=np.float32), np.ones(1))

    def __len__(self) -> int:
        """The number of learnt policies."""
        return len(self.weights)

    @property
    def voting(self) -> Array:
        """The shares of the learnt policies, normalised."""
        learnt = self.shares[1:]
        return learnt / learnt.sum() if len(learnt) else learnt

    def resized(self, size: int) -> PolicyMixture:
        """Pad with zero weights for features that were added later."""
        import numpy as np

        return PolicyMixture(np.pad(self.weights, ((0, 0), (0, size - self.weights.shape[1]))), self.shares)

    def with_policy(self, weights: Array, beta: float) -> PolicyMixture:
        """Add a new policy with share beta."""
        import numpy as np

        shares = np.append(self.shares * (1.0 - beta), beta)
        return PolicyMixture(np.vstack([self.weights, weights.astype(np.float32)[None]]), shares)

    def learnt_only(self, decide: str) -> tuple[PolicyMixture, Roll]:
        """The mixture without the initial policy, and how it decides."""
        import numpy as np

        if decide == "last":
            return PolicyMixture(self.weights[-1:], np.array([0.0, 1.0])), "policy"
        without = PolicyMixture(self.weights, np.concatenate([[0.0], self.voting]))
        return without, "sampled" if decide == "draw" else "policy"
