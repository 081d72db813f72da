"""``Policy``: the mixture of linear label classifiers that SEARN learns, and how it chooses a label.

D. Zhang, L. Sun, W. Li, "A Structured Prediction Approach for Statistical Machine Translation" (IJCNLP 2008), 4;
H. Daume III, J. Langford, D. Marcu, "Search-based Structured Prediction" (2009): one policy of the mixture is drawn for
each decision. Voting is ours, and so are the features of the history.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import suggestion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

STATIC = ("source", "previous", "target", "bias")
"""Templates that look at the item alone; the first three are the paper's."""
HISTORY = ("label", "label2", "depth", "fragment")
"""Templates of the history: the last label, the last two, the number of fragments on the stack, and the last target
word of the topmost fragment."""
PAPER = STATIC[:3]
BEGIN = "<s>"
"""The word, the label and the fragment before the first item."""
DEEPEST = 5
"""Stack depths are capped here."""
Decide = Literal["vote", "draw", "last"]


def static_names(templates: Sequence[str], source: str, target: str, previous: str) -> list[str]:
    """The names of an item's static features, in template order.

    ``source`` and ``target`` are words joined by blanks, ``previous`` is the source word before the item.
    """
    known = {"source": source, "previous": previous, "target": target}
    return [
        "bias" if template == "bias" else f"{template}={known[template]}"
        for template in templates
        if template in STATIC
    ]


def operations(label: str) -> tuple[bool, ...]:
    """The reductions of a label in order, True for R+ and False for R-; empty for labels of another kind."""
    first, *rest = label.split(",")
    if first != "S" or not set(rest) <= {"R+", "R-"}:
        return ()
    return tuple(reduction == "R+" for reduction in rest)


@dataclass(frozen=True)
class History:
    """The state of history features: the last two labels, and the last word of each fragment on the stack.

    The last word of a fragment without target words is empty.
    """

    labels: tuple[str, str] = (BEGIN, BEGIN)
    stack: tuple[str, ...] = ()

    def after(self, label: str, target: str) -> History:
        """The history after an item with these target words, joined by blanks; skips reductions of a lone fragment."""
        stack = [*self.stack, target.rpartition(" ")[2]]
        for in_order in operations(label):
            if len(stack) < 2:
                break
            right = stack.pop()
            # If one fragment is empty, the last word is the other's.
            stack[-1] = (right or stack[-1]) if in_order else (stack[-1] or right)
        return History((self.labels[1], label), tuple(stack))

    def names(self, templates: Sequence[str]) -> list[str]:
        """The names of the history features, in template order."""
        known = {
            "label": self.labels[1],
            "label2": " ".join(self.labels),
            "depth": str(min(len(self.stack), DEEPEST)),
            "fragment": self.stack[-1] if self.stack else BEGIN,
        }
        return [f"{template}={known[template]}" for template in templates if template in HISTORY]


@dataclass(frozen=True)
class Policy:
    """A mixture of linear classifiers: policy k scores label l by the sum of values times ``weights[k, row, l]``.

    ``templates`` are names from :data:`STATIC` and :data:`HISTORY`, and specs of candidate features with real-valued
    columns. ``names`` name the rows; other features count 0. ``shares`` are the mixture weights without the initial
    policy; they sum to 1, and the newest policy is last.
    """

    labels: tuple[str, ...]
    templates: tuple[str, ...]
    names: tuple[str, ...]
    weights: Array
    shares: Array

    def __post_init__(self) -> None:
        import numpy as np

        wanted = (len(self.shares), len(self.names), len(self.labels))
        if self.weights.shape != wanted or not len(self.shares) or not self.labels:
            raise SmtError(
                f"policy: expected weights of policies x names x labels, {wanted}, found {self.weights.shape}"
            )
        if self.weights.dtype != np.float32 or not np.isfinite(self.weights).all():
            raise SmtError("policy: expected finite float32 weights, found NaN, infinity or another type")
        if not ((self.shares >= 0).all() and math.isclose(math.fsum(self.shares.tolist()), 1.0, abs_tol=1e-9)):
            raise SmtError(f"policy: expected shares that sum to 1, found {self.shares.tolist()}")

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each name."""
        return {name: row for row, name in enumerate(self.names)}

    @property
    def features(self) -> tuple[str, ...]:
        """The specs of candidate features among the templates."""
        return tuple(template for template in self.templates if template not in STATIC and template not in HISTORY)

    @property
    def history(self) -> tuple[str, ...]:
        """The templates of the history."""
        return tuple(template for template in self.templates if template in HISTORY)

    def scores(self, names: Sequence[str], values: Sequence[float] | None = None) -> Array:
        """Score each label (columns) by each policy (rows) on these features, in float64; values default to 1.

        Scores of parts of the features, such as those of an item and of its history, add up.
        """
        import numpy as np

        total = np.zeros((len(self.shares), len(self.labels)))
        for i, name in enumerate(names):
            row = self.rows.get(name)
            if row is not None:
                column = self.weights[:, row, :].astype(np.float64)
                total += column if values is None else column * values[i]
        return total

    def choose(self, scores: Array, decide: Decide = "vote", draw: float = 0.0) -> int:
        """Choose a label, by number; ``draw`` is a random number below 1, used if ``decide`` is ``draw``.

        Each policy prefers its highest-scoring label. ``vote``: the label with the largest sum of shares; ``draw``: the
        label of a policy drawn by share; ``last``: the label of the newest policy. Ties go to the first label.
        """
        import numpy as np

        best = scores.argmax(axis=1)
        if decide == "last":
            return int(best[-1])
        if decide == "draw":
            return int(best[draw_index(self.shares, draw)])
        if decide != "vote":
            raise UsageError(f"decide: unknown value {decide!r}{suggestion(decide, ('vote', 'draw', 'last'))}")
        votes = np.zeros(len(self.labels))
        for label, share in zip(best.tolist(), self.shares.tolist(), strict=True):
            votes[label] += share
        return int(votes.argmax())

    def log_probabilities(self, scores: Array) -> Array:
        """Log-softmax over labels of the policies' mean scores by share; ours, a perceptron has no probabilities."""
        mixed = self.shares @ scores
        mixed = mixed - mixed.max()
        result: Array = mixed - math.log(math.fsum(math.exp(score) for score in mixed.tolist()))
        return result

    def history_rows(self) -> HistoryRows:
        """The rows of all history features; -1 where the policy has none."""
        import numpy as np

        row, own = self.rows.get, (*self.labels, BEGIN)

        def of(template: str, keys: Sequence[str]) -> Array:
            used = template in self.templates
            return np.array([row(f"{template}={key}", -1) if used else -1 for key in keys], dtype=np.int32)

        pairs = of("label2", [f"{first} {second}" for first in own for second in own])
        begin = "fragment="
        words = {name[len(begin) :]: at for name, at in self.rows.items() if name.startswith(begin)}
        return HistoryRows(
            of("label", own),
            pairs.reshape(len(own), len(own)),
            of("depth", [str(depth) for depth in range(DEEPEST + 1)]),
            words if "fragment" in self.templates else {},
        )

    def digest(self) -> str:
        """A hash of the whole policy."""
        total = hashlib.sha256(json.dumps(self._record()).encode())
        total.update("\n".join(self.names).encode() + b"\0" + self.weights.astype("<f4").tobytes())
        return total.hexdigest()

    def _record(self) -> dict[str, Any]:
        return {"labels": self.labels, "templates": self.templates, "shares": self.shares.tolist()}

    def save(self, folder: Path) -> None:
        """Write ``policy.json``, ``names.txt`` and ``weights.npy``."""
        import numpy as np

        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "weights.npy", self.weights.astype("<f4"), allow_pickle=False)
        (folder / "names.txt").write_bytes("".join(f"{name}\n" for name in self.names).encode())
        text = json.dumps(self._record(), ensure_ascii=False, indent=1)
        (folder / "policy.json").write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Policy:
        """Load a policy written by save()."""
        import numpy as np

        try:
            record = json.loads((folder / "policy.json").read_text(encoding="utf-8"))
            names = (folder / "names.txt").read_bytes().decode().split("\n")[:-1]
            weights = np.load(folder / "weights.npy", allow_pickle=False).astype(np.float32)
        except FileNotFoundError as error:
            raise SmtError(f"{folder}: expected a policy, found no {Path(error.filename).name}") from None
        except ValueError as error:
            raise SmtError(f"{folder}: expected a policy, found {error}") from None
        try:
            labels, templates, shares = (record[key] for key in ("labels", "templates", "shares"))
        except (TypeError, KeyError):
            raise SmtError(f"{folder / 'policy.json'}: expected labels, templates and shares, found others") from None
        return cls(tuple(labels), tuple(templates), tuple(names), weights, np.array(shares, dtype=np.float64))


@dataclass(frozen=True)
class HistoryRows:
    """Rows of the history features, -1 where the policy has none; the label number after the last stands for no label.

    They are indexed as ``label[last]``, ``label2[second to last, last]``, ``depth[number]`` and ``fragment[word]``.
    """

    label: Array
    label2: Array
    depth: Array
    fragment: Mapping[str, int]


def draw_index(shares: Array, draw: float) -> int:
    """The index drawn from a distribution proportional to shares, for a random number ``draw`` from 0 to below 1."""
    import numpy as np

    ends = np.cumsum(shares)
    return min(int(np.searchsorted(ends, draw * ends[-1], side="right")), len(shares) - 1)
