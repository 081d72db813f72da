"""The language model in Python is the native one, whatever the order in which a tree grows."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from smtplugins.contracts.data import Sentence
from smtplugins.core.search.stateful_search import lm_scorer
from smtplugins.core.vocabulary import Vocabulary
from smtplugins.plugins.umt.features.carries import Carries, ScorerPart
from smtplugins.plugins.umt.features.language_model import UndirectedLm
from smtplugins.plugins.umt.growing.search import Searcher, lm_part, python_part
from tests.plugins.umt.made import bound_options, language_model, random_forest
from tests.seeds import seeds


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_python_and_native_agree_on_every_action(order: int, tmp_path: Path) -> None:
    rng = random.Random(order)
    for _ in seeds(25):
        plain = random_forest(rng)
        model = language_model(rng, order, tmp_path)
        path = max(tmp_path.glob("*.arpa"), key=lambda one: one.stat().st_mtime_ns)
        feature = UndirectedLm(path, base="10")
        carries = Carries(Vocabulary(plain.words), [ScorerPart(feature.undirected(Sentence("0", ("x",))))])
        both = Searcher([lm_part(lm_scorer(model, plain.words)), python_part(carries, 1)], bound_options("sum", 2.0))
        both.begin(plain.native(), plain.scores, plain.bounds, [1.0, 0.5, 0.25])
        found = both.follow()
        assert len(found) > 0
        assert np.allclose(found.values[:, 1], found.values[:, 2], atol=1e-5)
        for length in range(len(found)):
            # With one of them or the other all candidates have the same scores: also where places were told as changed.
            each = []
            for weights in ([1.0, 0.5, 0.0], [1.0, 0.0, 0.5]):
                both.begin(plain.native(), plain.scores, plain.bounds, weights)
                actions, scores = both.ranked(found.actions[:length])
                each.append(dict(zip(map(tuple, actions.tolist()), scores.tolist(), strict=True)))
            assert each[0] == pytest.approx(each[1], abs=1e-4)
