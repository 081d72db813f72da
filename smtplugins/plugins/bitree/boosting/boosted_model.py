"""``BoostedModel``: ensembles of confidence-rated trees for each class of each problem, with the whole path of lambda.

B. Wellington, J. Turian, I. D. Melamed, "Toward Purely Discriminative Training for Tree-Structured Translation Models"
(2009), section 7.3.3: the model for a lambda consists of the trees added before lambda fell below it.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.plugins.bitree._bitree import evaluate_trees, tree_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.bitree.boosting.examples import Examples

    Array = NDArray[Any]

RECORD, VERSION = "boosted.json", 1


@dataclass(frozen=True, eq=False)
class Trees:
    """The trees of many classifiers, as arrays.

    Classifier c has the trees from ``starts[c]`` up to ``starts[c + 1]``. Tree t was added at ``lambdas[t]``, which
    never rises within a classifier, and has the nodes from ``nodes[t]`` up to ``nodes[t + 1]``. A node splits on the
    atom ``splits``: examples with the atom continue at the next node, others at node ``others``, counted from the
    tree's first node. A leaf has the split -1 and the tree's output in ``values``.
    """

    starts: Array
    lambdas: Array
    nodes: Array
    splits: Array
    others: Array
    values: Array

    def __post_init__(self) -> None:
        import numpy as np

        for name, kind in KINDS.items():
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=kind))

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array, Array, Array]:
        """All arrays, in the order of the fields."""
        return self.starts, self.lambdas, self.nodes, self.splits, self.others, self.values

    def counts(self, least: float) -> Array:
        """The number of trees per classifier that were added at lambda ``least`` or above."""
        import numpy as np

        kept = np.concatenate([[0], np.cumsum(self.lambdas >= least)])
        counts: Array = kept[self.starts[1:]] - kept[self.starts[:-1]]
        return counts

    def cut(self, least: float) -> Trees:
        """The trees added at lambda ``least`` or above."""
        import numpy as np

        kept = self.lambdas >= least
        sizes = np.diff(self.nodes)
        inside = np.repeat(kept, sizes)
        starts = np.concatenate([[0], np.cumsum(self.counts(least))])
        nodes = np.concatenate([[0], np.cumsum(sizes[kept])])
        own = (self.splits, self.others, self.values)
        return Trees(starts, self.lambdas[kept], nodes, *(column[inside] for column in own))


KINDS = {
    "starts": "<i8",
    "lambdas": "<f8",
    "nodes": "<i8",
    "splits": "<i4",
    "others": "<i4",
    "values": "<f8",
}


@dataclass(frozen=True, eq=False)
class BoostedModel:
    """Trees by problem and class: problem p has a classifier for each of ``classes[p]``, in this order.

    The path ends where lambda falls below ``least``: the model can be cut at any lambda of ``least`` or more.
    """

    atoms: Sequence[str]
    problems: tuple[str, ...]
    classes: tuple[tuple[str, ...], ...]
    trees: Trees
    least: float

    def __post_init__(self) -> None:
        if len(self.problems) != len(self.classes) or len(self.trees.starts) != self.firsts[-1] + 1:
            raise SmtError("boosted model: expected trees for each class of each problem, found others")

    @cached_property
    def firsts(self) -> list[int]:
        """The first classifier of each problem, and the total number of classifiers."""
        return [0, *itertools.accumulate(map(len, self.classes))]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each problem by its name."""
        return {name: at for at, name in enumerate(self.problems)}

    def number(self, problem: str | int) -> int:
        """A problem's number, given its name or number."""
        if isinstance(problem, int):
            return problem
        if problem not in self.numbers:
            raise UsageError(f"boosted model: no problem is called {problem!r}{suggestion(problem, self.problems)}")
        return self.numbers[problem]

    def scores(self, problem: str | int, examples: Examples, least: float | None = None, *, threads: int = 1) -> Array:
        """The confidence h of each class (rows x classes) at lambda ``least`` (by default the end of the path)."""
        at = self.number(problem)
        first, last = self.firsts[at], self.firsts[at + 1]
        rows = examples.named(self.atoms)
        counts = self.counts(least)[first:last]
        return evaluate_trees(*self.trees.arrays, first, counts, rows.offsets, rows.ids, len(self.atoms), threads)

    def counts(self, least: float | None = None) -> Array:
        """The number of trees of each classifier at lambda ``least``."""
        self._check(least)
        return self._all_counts if least is None else self.trees.counts(least)

    @cached_property
    def _all_counts(self) -> Array:
        return self.trees.counts(self.least)

    def cut(self, least: float) -> BoostedModel:
        """The model at lambda ``least``: the path up to where lambda fell below it."""
        self._check(least)
        return replace(self, trees=self.trees.cut(least), least=least)

    def _check(self, least: float | None) -> None:
        if least is not None and not least >= self.least:
            raise UsageError(f"lambda: expected {self.least:g} or more, where the path ends, found {least:g}")

    def parameters(
        self, problem: str | int, name: str | int, least: float | None = None
    ) -> dict[tuple[int, ...], float]:
        """The non-zero parameters: that of a conjunction is the sum over the trees that have it as a leaf.

        A conjunction is a sorted tuple of literals: twice the number of an atom, plus 1 if the atom is negated.
        """
        at = self.number(problem)
        which = name if isinstance(name, int) else self.classes[at].index(name)
        return self._parameters(self.firsts[at] + which, least)

    def _parameters(self, classifier: int, least: float | None) -> dict[tuple[int, ...], float]:
        count = int(self.counts(least)[classifier])
        offsets, literals, values = tree_parameters(*self.trees.arrays, classifier, count)
        bounds = itertools.pairwise(offsets.tolist())
        flat = literals.tolist()
        return {tuple(flat[a:b]): value for (a, b), value in zip(bounds, values.tolist(), strict=True)}

    def sizes(self, least: float | None = None) -> Array:
        """The number of non-zero parameters of each classifier."""
        import numpy as np

        counts = self.counts(least).tolist()
        sizes = [len(tree_parameters(*self.trees.arrays, at, count)[2]) for at, count in enumerate(counts)]
        return np.array(sizes, dtype=np.int64)

    def describe(self, conjunction: Sequence[int]) -> str:
        """A conjunction as readable text."""
        parts = [("not " if literal % 2 else "") + self.atoms[literal // 2] for literal in conjunction]
        return " and ".join(parts) or "always"

    def digest(self) -> str:
        """A hash of the whole model."""
        total = hashlib.sha256(repr((VERSION, self.least, self.problems, self.classes)).encode())
        total.update("\n".join(self.atoms).encode() + b"\0")
        for array in self.trees.arrays:
            total.update(array.tobytes() + b"\0")
        return total.hexdigest()

    def save(self, folder: Path) -> None:
        """Write ``boosted.json``, names line by line, and arrays."""
        import json

        from smtplugins.contracts.tools.files import write_arrays

        folder.mkdir(parents=True, exist_ok=True)
        names = [name for classes in self.classes for name in classes]
        for file, lines in (("atoms", self.atoms), ("problems", self.problems), ("classes", names)):
            bad = next((line for line in lines if "\n" in line), None)
            if bad is not None:
                raise SmtError(f"boosted model: expected names without line breaks, found {bad!r}")
            (folder / f"{file}.txt").write_bytes("".join(f"{line}\n" for line in lines).encode())
        write_arrays(folder, dict(zip(KINDS, self.trees.arrays, strict=True)))
        record = {"version": VERSION, "least": self.least, "classes": [len(classes) for classes in self.classes]}
        (folder / RECORD).write_text(json.dumps(record) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> BoostedModel:
        """Load a model written by save()."""
        import numpy as np

        from smtplugins.contracts.tools.files import read_array, read_record

        folder = Path(folder)
        record = read_record(folder, RECORD, "boosted trees", VERSION)
        arrays = [np.array(read_array(folder, name, kind[1])) for name, kind in KINDS.items()]
        try:
            atoms, problems, names = (
                (folder / f"{name}.txt").read_bytes().decode().split("\n")[:-1]
                for name in ("atoms", "problems", "classes")
            )
        except FileNotFoundError as error:
            raise SmtError(f"{folder}: expected {Path(error.filename).name}, found none") from None
        try:
            bounds = [0, *itertools.accumulate(map(int, record["classes"]))]
            least = float(record["least"])
        except (TypeError, KeyError, ValueError):
            raise SmtError(f"{folder / RECORD}: expected `least` and `classes`, found others") from None
        if bounds[-1] != len(names):
            raise SmtError(f"{folder}: expected names of {bounds[-1]} classes, found {len(names)}")
        classes = tuple(tuple(names[a:b]) for a, b in itertools.pairwise(bounds))
        return cls(tuple(atoms), tuple(problems), classes, Trees(*arrays), least)


def costs(scores: Array) -> Array:
    """The cost ln(1 + exp(-h)) of an inference with confidence h, equation 7.5."""
    import numpy as np

    result: Array = np.logaddexp(0.0, -scores)
    return result
