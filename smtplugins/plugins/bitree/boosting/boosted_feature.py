"""``boosted``: the confidence of ``l1-boost`` trees in the hypotheses of a list, from the list's own features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from smtformats import Candidates
from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.bitree.boosting.binarising import Binarising
from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel, Trees, costs
from smtplugins.plugins.bitree.boosting.l1_boost import BoostedRows


class Boosted:
    """The confidence h of trees that ``l1-boost`` learnt from lists with the same features.

    ``path`` is a model of ``l1-boost``. ``penalty`` selects the model at this lambda, by default the end of the path.
    ``cost``: return -ln(1 + exp(-h)) instead, the negative cost of an inference of this confidence (equation 7.5).
    """

    def __init__(self, *, path: Path, penalty: float = 0.0, cost: bool = False) -> None:
        self._model = BoostedRows.load(path)
        if penalty < 0:
            raise UsageError(f"boosted: expected a penalty of 0 or more, found {penalty}")
        if penalty:
            cut = self._model.trees.cut(penalty)
            self._model = BoostedRows(cut, self._model.binarising)
        self._cost = cost

    def score_candidates(self, source: str | None, candidates: Candidates) -> Any:
        """Score each hypothesis."""
        import numpy as np

        if not len(candidates):
            return []
        features = candidates.features()
        bounds = np.array([0, len(candidates)])
        scores = self._model.trees.scores(0, self._model.binarising.examples(features, bounds))[:, 0]
        return -costs(scores) if self._cost else scores


def boosted_trial(folder: Path) -> dict[str, Any]:
    """Write a model over features of the kit's lists, for trials."""
    import numpy as np

    binarising = Binarising(("d",), {"LM0": (-2.0, 0.5), "LM": (0.0,)}, True)
    trees = Trees(
        np.array([0, 2]),
        np.array([3.0, 2.0]),
        np.array([0, 3, 8]),
        np.array([1, -1, -1, 2, -1, 0, -1, -1]),
        np.array([2, 0, 0, 2, 0, 4, 0, 0]),
        np.array([0, 0.5, -0.25, 0, 1.5, 0, -0.75, 0.125]),
    )
    model = BoostedModel(binarising.atoms, ("",), (("",),), trees, 1.0)
    BoostedRows(model, binarising).save(folder / "trees")
    return {"path": folder / "trees"}
