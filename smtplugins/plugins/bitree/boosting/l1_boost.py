"""``l1-boost``: boosted decision trees with a stepwise relaxed l1 penalty, Algorithm 7.1.

B. Wellington, J. Turian, I. D. Melamed, "Toward Purely Discriminative Training for Tree-Structured Translation Models"
(2009), section 7.3.3. Learning from lists is ours: the best hypotheses of a list against all others.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats import Columns
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import LearnerState, LearnerStep, ListProblem, RowProblem
from smtplugins.contracts.runners import Runner
from smtplugins.plugins.bitree._bitree import Boosting
from smtplugins.plugins.bitree.boosting.binarising import Binarising
from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel, Trees
from smtplugins.plugins.bitree.boosting.boosting import EPSILON, check_options

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.models import Model
    from smtplugins.contracts.tools.learning import Matrix
    from smtplugins.plugins.bitree.boosting.examples import Examples

    Array = NDArray[Any]

ARTEFACT = "boosted"
PATH = ("lambdas", "nodes", "splits", "others", "values")


@dataclass(frozen=True, eq=False)
class BoostedRows:
    """The learnt artefact: trees, and the binarising of the features they look at."""

    trees: BoostedModel
    binarising: Binarising

    def save(self, folder: Path) -> None:
        """Write the trees and the binarising."""
        self.trees.save(folder)
        self.binarising.save(folder)

    @classmethod
    def load(cls, folder: Path) -> BoostedRows:
        """Load from the artefact's folder, or from the folder of a model that has it."""
        folder = Path(folder)
        if (folder / ARTEFACT).is_dir():
            folder = folder / ARTEFACT
        trees, binarising = BoostedModel.load(folder), Binarising.load(folder)
        if tuple(trees.atoms) != binarising.atoms or len(trees.trees.starts) != 2:
            raise SmtError(f"{folder}: expected trees over the features of its binarising, found others")
        return cls(trees, binarising)

    def digest(self) -> str:
        """A hash of trees and binarising."""
        return hashlib.sha256(f"{self.trees.digest()} {self.binarising.record()}".encode()).hexdigest()


class L1Boost:
    """Boosted decision trees that minimise logistic loss plus lambda times the l1 norm of the parameters.

    A path of a tree is a conjunction of atoms and negated atoms; a conjunction has a single parameter, shared by all
    trees that contain it. Lambda starts at ``eta`` times the steepest gradient and is multiplied by ``eta`` whenever a
    tree lowers the risk by no more than ``epsilon`` times the risk. A step is reported when it falls below the next of
    ``steps`` values, each ``factor`` times the previous. ``trees`` and ``depth`` limit the number of trees and the
    literals of a conjunction (0: no limit). Real-valued features are split at ``bins`` quantiles. In a list, the
    hypotheses with the highest metric score are positive, all others negative, and both sides have equal weight; real
    values are ``relative`` to the list's mean.
    """

    accepts = frozenset({RowProblem, ListProblem})

    def __init__(
        self,
        *,
        eta: float = 0.9,
        epsilon: float = EPSILON,
        factor: float = 0.7,
        steps: int = 12,
        trees: int = 0,
        depth: int = 0,
        bins: int = 0,
        relative: bool = True,
    ) -> None:
        check_options(least=1.0, eta=eta, epsilon=epsilon, trees=trees, depth=depth)
        if not 0 < factor < 1 or steps < 1 or bins < 0:
            raise UsageError("l1-boost: expected a factor between 0 and 1, steps of 1 or more, and bins of 0 or more")
        self.eta, self.epsilon, self.factor, self.steps = eta, epsilon, factor, steps
        self.trees, self.depth, self.bins, self.relative = trees, depth, bins, relative

    def learn(
        self,
        problem: RowProblem | ListProblem,
        start: Model,
        *,
        resume: LearnerState | None = None,
        seed: int = 1,
        runner: Runner | None = None,
    ) -> Iterator[LearnerStep]:
        """Yield a step per value of lambda; deterministic and single-threaded."""
        material = _from_lists(problem, self) if isinstance(problem, ListProblem) else _from_rows(problem, self)
        rows = material.examples
        boosting = Boosting(rows.offsets, rows.ids, len(rows.atoms), material.labels, material.weights)
        values: Mapping[str, Any] = resume.values if resume is not None else {}
        if resume is not None:
            lambdas, nodes, splits, others, leaves = (resume.arrays[name] for name in PATH)
            boosting.replay(lambdas, nodes, splits, others, leaves, values["penalty"])
            if values["over"]:
                return
        first, done = values.get("first", boosting.first_penalty(self.eta)), values.get("done", 0)
        if not first > 0:
            raise SmtError("l1-boost: expected features that separate the labels, found none")
        over = False
        while done < self.steps and not over:
            grid = [first * self.factor**k for k in range(done + 1, self.steps + 1)]
            over = not boosting.advance(grid[0], self.eta, self.epsilon, self.trees, self.depth)
            passed = sum(boosting.penalty < penalty for penalty in grid)
            least = grid[max(passed, 1) - 1]
            done = self.steps if over else done + passed
            yield self._step(material, boosting, least, start, {"first": first, "done": done, "over": over})

    def _step(
        self, material: _Material, boosting: Boosting, least: float, start: Model, values: dict[str, Any]
    ) -> LearnerStep:
        import numpy as np

        path = boosting.path()
        ends = np.array([0, boosting.count])
        model = BoostedModel(material.examples.atoms, ("",), (("",),), Trees(ends, *path), least)
        artefacts = {**start.artefacts, ARTEFACT: BoostedRows(model, material.binarising)}
        updated = replace(start.with_weights(material.weights_of(start)), artefacts=artefacts)
        metrics = {
            "lambda": boosting.penalty,
            "trees": float(boosting.count),
            "parameters": float(boosting.parameters),
            **material.evaluate(boosting.scores()),
        }
        arrays: dict[str, Array] = dict(zip(PATH, path, strict=True))
        return LearnerStep(
            updated, boosting.risk, metrics, LearnerState(arrays, {**values, "penalty": boosting.penalty})
        )


@dataclass(frozen=True)
class _Material:
    """Examples with labels 1 and -1, and the lists they come from, if any."""

    examples: Examples
    labels: Array
    weights: Array | None
    binarising: Binarising
    problem: ListProblem | None = None
    matrix: Matrix | None = None

    def weights_of(self, start: Model) -> dict[str, float]:
        """The model's weights; on lists, the trees are one feature among others, with weight 1."""
        return dict(start.weights) if self.problem is None else {**start.weights, ARTEFACT: 1.0}

    def evaluate(self, scores: Array) -> dict[str, float]:
        """The accuracy on rows, or the metric of the 1-best hypotheses on lists."""
        import numpy as np

        if self.problem is None or self.matrix is None:
            return {"accuracy": float(((scores > 0) == (self.labels > 0)).mean())}
        stats, lists = self.matrix.stats, self.matrix.lists.tolist()
        best = [a + int(np.argmax(scores[a:b])) for a, b in itertools.pairwise(lists)]
        return {self.problem.metric.name: float(self.problem.metric.score(stats[best].sum(axis=0)))}


def _from_rows(problem: RowProblem, learner: L1Boost) -> _Material:
    import numpy as np

    labels = np.asarray(problem.labels)
    if not len(labels) or len(labels) != len(problem.features):
        raise SmtError(f"l1-boost: expected rows and a label for each, found {len(problem.features)} and {len(labels)}")
    if not (np.isin(labels, (-1, 1)).all() or np.isin(labels, (0, 1)).all()):
        raise SmtError("l1-boost: expected labels 1 and -1, or 1 and 0, found others")
    weights = None if problem.weights is None else np.ascontiguousarray(problem.weights, dtype=np.float64)
    if weights is not None and not (
        len(weights) == len(labels) and (weights >= 0).all() and np.isfinite(weights).all()
    ):
        raise SmtError("l1-boost: expected a weight of 0 or more for each row, found others")
    binarising = Binarising.of(problem.features, None, learner.bins, False)
    signs = np.where(labels > 0, 1, -1).astype(np.int8)
    return _Material(binarising.examples(problem.features), signs, weights, binarising)


def _from_lists(problem: ListProblem, learner: L1Boost) -> _Material:
    import numpy as np

    from smtplugins.contracts.tools.learning import matrix_of

    matrix = matrix_of(problem)
    scores = np.asarray(problem.metric.sentence(matrix.stats), dtype=np.float64)
    gains = scores if problem.metric.higher_is_better else -scores
    bounds = matrix.lists
    sizes = np.diff(bounds)
    top, bottom = (np.repeat(extreme.reduceat(gains, bounds[:-1]), sizes) for extreme in (np.maximum, np.minimum))
    right = gains == top
    # Lists whose hypotheses all have the same score carry no information.
    tells = top > bottom
    if not tells.any():
        raise SmtError("l1-boost: expected lists whose hypotheses differ in the metric, found none")
    count = np.repeat(np.add.reduceat(right.astype(np.float64), bounds[:-1]), sizes)
    weights = np.where(right, 0.5 / count, 0.5 / np.maximum(np.repeat(sizes, sizes) - count, 1.0)) * tells
    features = Columns(matrix.names, matrix.offsets, matrix.ids, matrix.values)
    binarising = Binarising.of(features, bounds, learner.bins, learner.relative)
    examples = binarising.examples(features, bounds)
    return _Material(examples, np.where(right, 1, -1).astype(np.int8), weights, binarising, problem, matrix)
