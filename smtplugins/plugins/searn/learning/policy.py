"""``Policy``: linear classifiers of labels in a mixture, as SEARN leaves them, and which label they choose.

D. Zhang, L. Sun, W. Li, "A Structured Prediction Approach for Statistical Machine Translation" (IJCNLP 2008), 4;
H. Daume III, J. Langford, D. Marcu, "Search-based Structured Prediction" (2009): a mixture of policies of which one is
drawn for each decision. That all of them vote is ours, and so are all features of the history.
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

from smtplugins.contracts.spec import suggestion
from smtplugins.host.errors import SmtError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

STATIC = ("source", "previous", "target", "bias")
"""Templates of an item by itself; the first three are the paper's."""
HISTORY = ("label", "label2", "depth", "fragment")
"""Templates of what was chosen before: the last label, the last two, how many fragments the stack has, and the last
target word of the fragment on top."""
PAPER = STATIC[:3]
BEGIN = "<s>"
"""The word, the label and the fragment before the first item."""
DEEPEST = 5
"""More fragments than these count as these."""
Decide = Literal["vote", "draw", "last"]


def static_names(templates: Sequence[str], source: str, target: str, previous: str) -> list[str]:
    """The names of an item's own features, in the order of the templates.

    ``source`` and ``target`` are words joined by blanks, ``previous`` is the source word before the item.
    """
    known = {"source": source, "previous": previous, "target": target}
    return ["bias" if one == "bias" else f"{one}={known[one]}" for one in templates if one in STATIC]


def operations(label: str) -> tuple[bool, ...]:
    """The reductions behind the S of a label, in order: whether each is R+, not R-. Other labels have none."""
    first, *rest = label.split(",")
    if first != "S" or not set(rest) <= {"R+", "R-"}:
        return ()
    return tuple(one == "R+" for one in rest)


@dataclass(frozen=True)
class History:
    """What features of the history look at: the last two labels and, of each fragment on the stack, the last word.

    An item without target words is a fragment of which the last word is empty.
    """

    labels: tuple[str, str] = (BEGIN, BEGIN)
    stack: tuple[str, ...] = ()

    def after(self, label: str, target: str) -> History:
        """Behind an item with these target words, joined by blanks; reductions of a lone fragment are left out."""
        stack = [*self.stack, target.rpartition(" ")[2]]
        for in_order in operations(label):
            if len(stack) < 2:
                break
            right = stack.pop()
            # What is empty has no last word: the other one's stands.
            stack[-1] = (right or stack[-1]) if in_order else (stack[-1] or right)
        return History((self.labels[1], label), tuple(stack))

    def names(self, templates: Sequence[str]) -> list[str]:
        """The names of its features, in the order of the templates."""
        known = {
            "label": self.labels[1],
            "label2": " ".join(self.labels),
            "depth": str(min(len(self.stack), DEEPEST)),
            "fragment": self.stack[-1] if self.stack else BEGIN,
        }
        return [f"{one}={known[one]}" for one in templates if one in HISTORY]


@dataclass(frozen=True)
class Policy:
    """Classifiers in a mixture: policy k scores label l by the sum of values times ``weights[k, row, l]``.

    ``templates`` say which features there are: names of :data:`STATIC` and :data:`HISTORY`, and specs of candidate
    features, whose columns are real values. ``names`` name the rows; a feature that is not among them counts 0.
    ``shares`` are those of the mixture, without the policy that SEARN began with, and sum to 1. The last is the newest.
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
            raise SmtError("policy: expected weights that are finite and 32 bits each, found others")
        if not ((self.shares >= 0).all() and math.isclose(math.fsum(self.shares.tolist()), 1.0, abs_tol=1e-9)):
            raise SmtError(f"policy: expected shares that sum to 1, found {self.shares.tolist()}")

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each name."""
        return {name: row for row, name in enumerate(self.names)}

    @property
    def features(self) -> tuple[str, ...]:
        """The specs of candidate features among the templates."""
        return tuple(one for one in self.templates if one not in STATIC and one not in HISTORY)

    @property
    def history(self) -> tuple[str, ...]:
        """The templates that look at what was chosen before."""
        return tuple(one for one in self.templates if one in HISTORY)

    def scores(self, names: Sequence[str], values: Sequence[float] | None = None) -> Array:
        """What each policy gives to each label for these features, of the value 1 or the ones given; float64.

        Sums are over any part of the features: those of an item and of its history may be added up.
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
        """The number of the label chosen; ``draw`` is a random number below 1 for ``draw``.

        Each policy is for its best label, the first of equally good ones. ``vote``: the label with the largest sum of
        shares, the first of these; ``draw``: that of a policy as likely as its share; ``last``: that of the newest.
        """
        import numpy as np

        best = scores.argmax(axis=1)
        if decide == "last":
            return int(best[-1])
        if decide == "draw":
            return int(best[drawn(self.shares, draw)])
        if decide != "vote":
            raise UsageError(f"decide: there is none called {decide!r}{suggestion(decide, ('vote', 'draw', 'last'))}")
        votes = np.zeros(len(self.labels))
        for label, share in zip(best.tolist(), self.shares.tolist(), strict=True):
            votes[label] += share
        return int(votes.argmax())

    def log_probabilities(self, scores: Array) -> Array:
        """A log-softmax over labels of the policies' scores summed by share; ours, as a perceptron gives none."""
        mixed = self.shares @ scores
        mixed = mixed - mixed.max()
        found: Array = mixed - math.log(math.fsum(math.exp(one) for one in mixed.tolist()))
        return found

    def history_rows(self) -> HistoryRows:
        """The rows of all features of the history, -1 where there is none."""
        import numpy as np

        row, own = self.rows.get, (*self.labels, BEGIN)

        def of(template: str, keys: Sequence[str]) -> Array:
            used = template in self.templates
            return np.array([row(f"{template}={one}", -1) if used else -1 for one in keys], dtype=np.int32)

        pairs = of("label2", [f"{first} {second}" for first in own for second in own])
        begin = "fragment="
        words = {one[len(begin) :]: at for one, at in self.rows.items() if one.startswith(begin)}
        return HistoryRows(
            of("label", own),
            pairs.reshape(len(own), len(own)),
            of("depth", [str(depth) for depth in range(DEEPEST + 1)]),
            words if "fragment" in self.templates else {},
        )

    def digest(self) -> str:
        """A hash of all there is."""
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
        """Read what was saved."""
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
    """Rows of features of the history, -1 where there is none; the number behind the last label is that of no label.

    ``label[last]``, ``label2[before last, last]``, ``depth[number]``, and of ``fragment`` those words that have one.
    """

    label: Array
    label2: Array
    depth: Array
    fragment: Mapping[str, int]


def drawn(shares: Array, draw: float) -> int:
    """Which one of several with these shares, of any sum, a number from 0 to below 1 draws."""
    import numpy as np

    ends = np.cumsum(shares)
    return min(int(np.searchsorted(ends, draw * ends[-1], side="right")), len(shares) - 1)
