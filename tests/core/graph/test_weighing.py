"""Features under other numbers: the graph's own functions say the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.core.graph.weighing import Weighing
from tests.core.graphs import random_case


@given(st.integers(0, 1 << 30), st.integers(0, 3))
def test_as_the_graph_says(seed: int, more: int) -> None:
    graph, _ = random_case(seed)
    rng = np.random.default_rng(seed)
    names = len(graph.names)
    width = names + more
    own = rng.permutation(width)[:names]
    # A name that nobody learns counts nothing.
    lost = rng.random(names) < 0.2
    own[lost] = width
    made = Weighing(graph, own, width)
    weights = rng.normal(size=width)
    np.testing.assert_allclose(made.scores(weights), graph.scores(np.append(weights, 0.0)[own]), atol=1e-12)
    mass = rng.normal(size=len(graph))
    wanted = np.zeros(width + 1)
    np.add.at(wanted, own, graph.feature_sums(mass))
    np.testing.assert_allclose(made.sums(mass), wanted[:-1], atol=1e-12)
