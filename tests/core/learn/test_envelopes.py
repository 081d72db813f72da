"""Envelopes against brute force: every line, every derivation."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings

from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.learn.envelopes import (
    ListSearch,
    Surfaces,
    graph_envelope,
    summed_surface,
    upper_envelope,
)
from tests.core.graphs import SEEDS, all_paths, random_columns, score_of


def random_lines(rng: random.Random, count: int, parabola: bool = False):
    """Lines, some equal or parallel, of small whole numbers or of any; or tangents that are all on the envelope."""
    if parabola:
        slopes = [rng.uniform(-3, 3) for _ in range(count)]
        return np.array([-slope * slope / 2 for slope in slopes]), np.array(slopes)
    if rng.random() < 0.5:
        return np.array([rng.randint(-4, 4) for _ in range(count)], float), np.array(
            [rng.randint(-3, 3) for _ in range(count)], float
        )
    scale = 10.0 ** rng.randint(-6, 6)
    values = [rng.gauss(0, 1) for _ in range(count)]
    slopes = [rng.choice((0.0, rng.gauss(0, scale))) for _ in range(count)]
    for _ in range(count // 4):
        i, j = rng.randrange(count), rng.randrange(count)
        slopes[i] = slopes[j]
        if rng.random() < 0.5:
            values[i] = values[j]
    return np.array(values), np.array(slopes)


def brute_thresholds(values, slopes):
    """Where the maximum of the lines has its kinks."""
    places = set()
    for i in range(len(values)):
        # With each later line that is not parallel, at once.
        later = np.flatnonzero(slopes[i + 1 :] != slopes[i]) + i + 1
        t = (values[i] - values[later]) / (slopes[later] - slopes[i])
        top = (values[:, None] + t * slopes[:, None]).max(axis=0)
        places.update(t[values[i] + t * slopes[i] >= top - 1e-9 * np.maximum(1.0, abs(top))].tolist())
    return sorted(places)


def assert_envelope(starts, lines, values, slopes):
    """The lines named are highest between their starts, and no interval is missing or empty."""
    assert starts[0] == -np.inf
    assert (np.diff(starts) > 0).all()
    assert (np.diff(slopes[lines]) > 0).all()
    ends = np.append(starts[1:], np.inf)
    for start, end, line in zip(starts, ends, lines, strict=True):
        for t in within(start, end):
            scores = values + t * slopes
            assert scores[line] >= scores.max() - 1e-9 * max(1.0, np.abs(scores).max())
    same = brute_thresholds(values, slopes)
    for place in starts[1:]:
        assert any(abs(place - start) <= 1e-6 * max(1.0, abs(start)) for start in same)
    for place in same:
        assert any(abs(place - start) <= 1e-6 * max(1.0, abs(start)) for start in starts[1:])


def within(start, end):
    if start == -np.inf and end == np.inf:
        return [-1e3, 0.0, 1e3]
    if start == -np.inf:
        return [end - 10 * abs(end) - 1, end]
    if end == np.inf:
        return [start, start + 10 * abs(start) + 1]
    return [start, (start + end) / 2, end]


@settings(max_examples=300)
@given(SEEDS)
def test_envelope_is_brute_force(seed):
    rng = random.Random(seed)
    values, slopes = random_lines(rng, rng.randint(1, 12))
    envelope = upper_envelope(values, slopes)
    assert_envelope(envelope.starts, envelope.lines, values, slopes)
    for line in envelope.lines.tolist():  # of equal lines the first
        equal = np.flatnonzero((values == values[line]) & (slopes == slopes[line]))
        assert line == equal[0]


@settings(max_examples=20)
@given(SEEDS)
def test_long_envelopes_too(seed):
    rng = random.Random(seed)
    values, slopes = random_lines(rng, rng.randint(30, 90), parabola=True)
    values = np.concatenate([values, values - 1, values])
    slopes = np.concatenate([slopes, slopes, slopes])
    envelope = upper_envelope(values, slopes)
    assert len(envelope) == len(slopes) // 3
    assert_envelope(envelope.starts, envelope.lines, values, slopes)


def random_graph(rng: random.Random) -> Hypergraph:
    return Hypergraph.from_columns(random_columns(rng))


@settings(max_examples=250)
@given(SEEDS)
def test_graph_envelope_is_enumeration(seed):
    rng = random.Random(seed)
    graph = random_graph(rng)
    whole = rng.random() < 0.4

    def draw():
        return np.array([rng.randint(-3, 3) if whole else rng.gauss(0, 1) for _ in range(len(graph))], float)

    values, slopes = draw(), draw()
    paths = all_paths(graph)[-1]
    at = np.array([score_of(path, values) for path, _ in paths])
    by = np.array([score_of(path, slopes) for path, _ in paths])
    envelope = graph_envelope(graph, values, slopes)
    known = {path: k for k, (path, _) in enumerate(paths)}
    lines = np.array([known[tuple(derivation.edges.tolist())] for derivation in envelope.derivations])
    assert envelope.derivations.texts() == [" ".join(paths[k][1]) for k in lines]
    assert np.allclose(envelope.values, at[lines])
    assert np.allclose(envelope.slopes, by[lines])
    assert_envelope(envelope.starts, lines, at, by)


def test_graph_without_nodes():
    graph = Hypergraph.from_columns(random_columns(random.Random(1)))
    empty = graph.restricted(np.zeros(len(graph), dtype=bool)).graph
    assert not empty.nodes
    assert len(graph_envelope(empty, [], [])) == 0


@settings(max_examples=150)
@given(SEEDS)
def test_surfaces_are_the_sums_of_what_wins(seed):
    rng = random.Random(seed)
    sizes = [rng.randint(1, 9) for _ in range(rng.randint(1, 6))]
    lists = np.concatenate([[0], np.cumsum(sizes)])
    values, _ = random_lines(rng, int(lists[-1]))
    slopes = np.array([random_lines(rng, int(lists[-1]))[1] for _ in range(3)])
    stats = np.array([[rng.randint(0, 9) for _ in range(4)] for _ in range(int(lists[-1]))], float)
    # The columns as features: along axes, or along both slopes and something of the first.
    table = np.array([values, *slopes])
    directions = np.eye(4)[1:]
    directions[2] = [0.0, 0.5, -2.0, 0.0]
    slopes[2] = 0.5 * slopes[0] - 2 * slopes[1]
    surfaces = ListSearch(lists, table, stats).surfaces([1.0, 0.0, 0.0, 0.0], directions)
    assert len(surfaces) == 3
    firsts = [first + int(np.argmax(values[first:last])) for first, last in itertools.pairwise(lists.tolist())]
    assert np.array_equal(surfaces.present, stats[firsts].sum(axis=0))
    for direction, part in enumerate(surfaces.parts()):
        starts, sums = surfaces.starts[part], surfaces.sums[part]
        assert starts[0] == -np.inf
        assert (np.diff(starts) > 0).all()
        ends = np.append(starts[1:], np.inf)
        for start, end, row in zip(starts, ends, sums, strict=True):
            t = np.clip((np.clip(start, -1e9, 1e9) + np.clip(end, -1e9, 1e9)) / 2, start, end)
            scores = values + t * slopes[direction]
            possible = []
            for first, last in itertools.pairwise(lists.tolist()):
                top = scores[first:last].max()
                near = scores[first:last] >= top - 1e-9 * max(1.0, abs(top))
                possible.append({tuple(row_of_stats) for row_of_stats in stats[first:last][near].tolist()})
            if all(len(choices) == 1 for choices in possible):
                assert np.array_equal(row, np.sum([next(iter(choices)) for choices in possible], axis=0))
            elif len(possible) < 4:
                assert tuple(row.tolist()) in {
                    tuple(np.sum(combination, axis=0).tolist()) for combination in itertools.product(*possible)
                }


@settings(max_examples=100)
@given(SEEDS)
def test_what_is_out_of_reach_is_left_out(seed):
    rng = random.Random(seed)
    sizes = [rng.choice((1, 5, 60)) for _ in range(rng.randint(1, 4))]
    lists = np.concatenate([[0], np.cumsum(sizes)])
    values, slopes = random_lines(rng, int(lists[-1]), rng.random() < 0.3)
    stats = np.array([[rng.randint(0, 9) for _ in range(3)] for _ in values], float)
    search = ListSearch(lists, [values, slopes], stats)
    directions = [[0.0, 1.0], [0.0, -0.5]]
    whole = search.surfaces([1.0, 0.0], directions)
    places = np.unique(np.abs(whole.starts[np.isfinite(whole.starts)]))
    near = [0.0, *places.tolist(), np.inf]
    low, high = -np.array(rng.choices(near, k=2)), np.array(rng.choices(near, k=2))
    part = search.surfaces([1.0, 0.0], directions, (low, high))
    assert np.array_equal(part.present, whole.present)
    for d, (ours, all_) in enumerate(zip(part.parts(), whole.parts(), strict=True)):
        assert part.starts[ours][0] == -np.inf
        assert (part.starts[ours][1:] >= low[d]).all() and (part.starts[ours] <= high[d]).all()
        inside = (whole.starts[all_] >= low[d]) & (whole.starts[all_] <= high[d])
        kept = np.isin(part.starts[ours], whole.starts[all_][inside])
        assert np.array_equal(part.starts[ours][kept], whole.starts[all_][inside])
        assert np.array_equal(part.sums[ours][kept], whole.sums[all_][inside])
        # What is before the first of them is what the whole has at the end of the reach.
        before = int(np.searchsorted(whole.starts[all_], low[d], side="left")) - 1
        assert kept[0] or np.array_equal(part.sums[ours][0], whole.sums[all_][max(before, 0)])


@settings(max_examples=50)
@given(SEEDS)
def test_known_envelopes_sum_up_the_same(seed):
    rng = random.Random(seed)
    sizes = [rng.randint(1, 9) for _ in range(rng.randint(1, 6))]
    lists = np.concatenate([[0], np.cumsum(sizes)])
    values, slopes = random_lines(rng, int(lists[-1]))
    stats = np.array([[rng.random() for _ in range(3)] for _ in values])
    whole = ListSearch(lists, [values, slopes], stats).surfaces([1.0, 0.0], [[0.0, 1.0]])
    each = [upper_envelope(values[a:b], slopes[a:b]) for a, b in itertools.pairwise(lists.tolist())]
    items = np.concatenate([[0], np.cumsum([len(envelope) for envelope in each])])
    rows = np.concatenate([envelope.lines + first for envelope, first in zip(each, lists, strict=False)])
    surfaces = summed_surface(items, np.concatenate([envelope.starts for envelope in each]), rows, stats)
    assert np.array_equal(surfaces.starts, whole.starts)
    assert np.array_equal(surfaces.sums, whole.sums)
    twice = Surfaces.joined([surfaces, whole])
    assert [(part.start, part.stop) for part in twice.parts()] == [
        (0, len(surfaces.starts)),
        (len(surfaces.starts), 2 * len(surfaces.starts)),
    ]


def test_what_is_no_line_is_refused():
    with pytest.raises(ValueError, match="none"):
        upper_envelope([], [])
    with pytest.raises(ValueError, match="finite"):
        upper_envelope([np.nan], [1.0])
    with pytest.raises(ValueError, match="finite"):
        upper_envelope([1.0], [np.inf])
    with pytest.raises(ValueError, match="one slope"):
        upper_envelope([1.0], [1.0, 2.0])
    ones = np.ones((2, 1))
    with pytest.raises(ValueError, match="without hypotheses"):
        ListSearch([0, 0, 2], [[1.0, 2.0]], ones)
    with pytest.raises(ValueError, match="offsets"):
        ListSearch([0, 3], [[1.0, 2.0]], ones)
    with pytest.raises(ValueError, match="each hypothesis"):
        ListSearch([0, 2], [[1.0, 2.0]], ones[:1])
    with pytest.raises(ValueError, match="features"):
        ListSearch([0, 2], np.ones((0, 2)), ones)
    with pytest.raises(ValueError, match="each feature"):
        ListSearch([0, 2], [[1.0, 2.0]], ones).surfaces([1.0, 2.0], [[1.0]])
    for low, high in ((0.5, 1.0), (-1.0, -0.5), (np.nan, 1.0)):
        with pytest.raises(ValueError, match="holds 0"):
            ListSearch([0, 2], [[1.0, 2.0]], ones).surfaces([1.0], [[1.0]], ([low], [high]))
    with pytest.raises(ValueError, match="reach for each"):
        ListSearch([0, 2], [[1.0, 2.0]], ones).surfaces([1.0], [[1.0]], ([], []))
    with pytest.raises(OverflowError, match="1e150"):
        ListSearch([0, 2], [[1e100, 2.0]], ones).surfaces([1e100], [[1.0]])
    with pytest.raises(ValueError, match="no such row"):
        summed_surface([0, 1], [-np.inf], [2], ones)
    with pytest.raises(ValueError, match="one value"):
        graph_envelope(random_graph(random.Random(2)), [1.0], [1.0])
