"""Alternatives as section 3.2 says, features of each, the gradient of equation 9, and rows that say the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from smtplugins.core.lm.ngram_model import read_lm
from smtplugins.plugins.localized.events.collecting import collect
from smtplugins.plugins.localized.events.event_lists import LEFT, LETTERS, EventList
from smtplugins.plugins.localized.learning.problem import BigramPairs, BlockEvents, bigram_problem, neutral_problem
from smtplugins.plugins.localized.model.features import FLOATS, BoundaryLm, block_columns
from tests.plugins.localized.made import blocks_of, random_case, tiny_lm

KEEP = 2


def listed_of(folder: Path, seed: int = 2, sentences: int = 40) -> EventList:
    pairs, bitext = random_case(seed, sentences)
    return collect(blocks_of(pairs), [(" ".join(a), " ".join(b), None) for a, b in bitext], folder / "events")


def problem_of(folder: Path, listed: EventList, threshold: int = 1) -> BlockEvents:
    columns = block_columns(listed.blocks, listed.counts)
    lm = BoundaryLm(read_lm(tiny_lm(folder)), listed.blocks)
    first, second, _ = listed.bigrams(threshold)
    return bigram_problem(listed, columns, lm, BigramPairs(first, second), keep=KEEP)


def alternatives(listed: EventList, sentence: int, history: int, keep: int) -> Counter[tuple[str, int]]:
    """The union of section 3.2, slowly."""
    blocks, counts = listed.blocks, listed.counts.total.tolist()
    true = {(o, b) for before, o, b in listed.sentence(sentence) if before == history and o != "N"}
    found = set(true)
    for orientation, block in true:
        kin = [i for i in range(len(blocks)) if blocks.block(i)[0] == blocks.block(block)[0]]
        best = sorted(kin, key=lambda i: (-counts[i], i))[:keep]
        found |= {(orientation, i) for i in best}
    return Counter(found)


@pytest.mark.parametrize("seed", range(4))
def test_alternatives_are_those_of_the_definition(seed: int, tmp_path: Path) -> None:
    listed = listed_of(tmp_path, seed)
    problem = problem_of(tmp_path, listed)
    groups, right, _, _, _, block, orientation = problem.training.rows(0, len(problem.training))
    total = 0
    for sentence in range(len(listed)):
        for e in range(*listed.bigram_offsets[sentence : sentence + 2].tolist()):
            rows = range(groups[e], groups[e + 1])
            found = [(LETTERS[orientation[r]], int(block[r])) for r in rows]
            assert Counter(found) == alternatives(listed, sentence, int(listed.predecessor[e]), KEEP)
            assert found[right[e]] == (LETTERS[listed.orientation[e]], listed.successor[e])
            total += len(found)
    assert problem.training.alternatives == total
    # Some are beyond the most frequent ones, and some events have several true successors.
    assert problem.training.successors > len(problem.training)


def test_features_of_alternatives(tmp_path: Path) -> None:
    listed = listed_of(tmp_path)
    problem = problem_of(tmp_path, listed)
    columns = block_columns(listed.blocks, listed.counts)
    lm = BoundaryLm(read_lm(tiny_lm(tmp_path)), listed.blocks)
    rest = lm.rest()
    groups, _, offsets, ids, values, block, orientation = problem.training.rows(0, len(problem.training))
    pairs = {pair: k for k, pair in enumerate(zip(problem.bigrams.first, problem.bigrams.second, strict=True))}
    seen = 0
    for e in range(len(problem.training)):
        before = int(listed.predecessor[e])
        for r in range(groups[e], groups[e + 1]):
            b = int(block[r])
            side = columns.left if orientation[r] == LEFT else columns.right
            first = lm.first_words(lm.context_of[[before]], np.array([b]), np.array([1]))[0]
            wanted = dict(enumerate([columns.unigram[b], side[b], first, rest[b], columns.lexical[b]]))
            if (before, b) in pairs:
                wanted[len(FLOATS) + pairs[before, b]] = 1.0
                seen += 1
            part = slice(offsets[r], offsets[r + 1])
            assert dict(zip(ids[part].tolist(), values[part].tolist(), strict=True)) == pytest.approx(wanted)
    assert seen


def test_neutral_blocks_have_those_of_their_source_phrase(tmp_path: Path) -> None:
    listed = listed_of(tmp_path)
    columns = block_columns(listed.blocks, listed.counts)
    lm = BoundaryLm(read_lm(tiny_lm(tmp_path)), listed.blocks)
    problem = neutral_problem(listed, columns, lm, keep=KEEP)
    groups, right, _, ids, values, block, _ = problem.training.rows(0, len(problem.training))
    counts, blocks = listed.counts.total.tolist(), listed.blocks
    for e, own in enumerate(listed.neutral.tolist()):
        found = block[groups[e] : groups[e + 1]].tolist()
        kin = [i for i in range(len(blocks)) if blocks.block(i)[0] == blocks.block(own)[0]]
        best = sorted(kin, key=lambda i: (-counts[i], i))[:KEEP]
        assert found == (best if own in best else [*best, own])
        assert found[right[e]] == own
    assert not values[ids == 1].any()
    assert problem.names[0] == "neutral-unigram"


@pytest.mark.parametrize("seed", range(3))
def test_one_step_follows_the_gradient(seed: int, tmp_path: Path) -> None:
    """Equation 9 is the gradient of an event's term of equation 8: by finite differences of the loss."""
    listed = listed_of(tmp_path, seed)
    problem = problem_of(tmp_path, listed)
    native = problem.training
    random = np.random.default_rng(seed)
    floats = random.normal(size=5) / 3
    # Multiples of 1/64, so that a difference of 1/64 is exact.
    bigrams = (random.integers(-40, 40, size=len(problem.bigrams)) / 64).astype(np.float32)
    moved_floats, moved = floats.copy(), bigrams.astype(np.float32).copy()
    rate = 1e-3
    everything = np.arange(len(native), dtype=np.uint32)
    # All steps from the same weights, so that their sum is the gradient of the sum of losses.
    gradient = np.zeros(5 + len(bigrams))
    for one in everything:
        f, b = floats.copy(), bigrams.copy()
        native.descend(np.array([one], dtype=np.uint32), f, b, rate, 0.0, 0, "maxent", [True] * 5, True)
        gradient += np.concatenate([(f - floats) / rate, (b.astype(np.float64) - bigrams) / rate])
    step = 1 / 64
    for k in range(5 + len(bigrams)):
        losses = []
        for sign in (1, -1):
            f, b = floats.copy(), bigrams.copy()
            if k < 5:
                f[k] += sign * step
            else:
                b[k - 5] += sign * step
            losses.append(native.loss(f, b)[0])
        slope = (losses[0] - losses[1]) / (2 * step)
        assert -gradient[k] == pytest.approx(slope, rel=2e-3, abs=2e-2)
    assert (moved_floats == floats).all() and (moved == bigrams).all()


@pytest.mark.parametrize("update", ["maxent", "perceptron"])
def test_native_events_and_their_rows_learn_the_same(update: str, tmp_path: Path) -> None:
    from smtplugins.contracts.learners import EventProblem
    from smtplugins.contracts.models import Model
    from smtplugins.plugins.localized.learning.maxent import LocalMaxent

    listed = listed_of(tmp_path, 1)
    problem = problem_of(tmp_path, listed)
    settings = {"passes": 3, "rate": 0.01, "update": update, "schedule": "inverse"}
    native = list(LocalMaxent(**settings).learn(problem, Model()))  # type: ignore[arg-type]
    rows = list(LocalMaxent(**settings).learn(EventProblem(problem.pieces), Model()))  # type: ignore[arg-type]
    for first, second in zip(native, rows, strict=True):
        assert first.objective == pytest.approx(second.objective, rel=1e-4)
        known = first.model.artefacts["block-bigram"]
        found = {name: first.model.weights[name] for name in FLOATS}
        found |= {problem.bigram_name(k): float(one) for k, one in enumerate(known.weights)}  # type: ignore[attr-defined]
        for name, value in second.model.weights.items():
            assert found[name] == pytest.approx(value, rel=1e-3, abs=1e-4)


def test_weights_that_lead_far(tmp_path: Path) -> None:
    """Scores that are hundreds apart: losses are right, steps are finite, and the right one gets all it can get."""
    problem = problem_of(tmp_path, listed_of(tmp_path))
    native = problem.training
    none = np.zeros(len(problem.bigrams), dtype=np.float32)
    for scale in (-300.0, 300.0):
        floats = np.array([0.0, 0.0, scale, 0.0, 0.0])
        order = np.arange(len(native), dtype=np.uint32)
        found = native.descend(order, floats.copy(), none.copy(), 0.0, 0.0, 0, "maxent", [True] * 5, True)
        assert found == pytest.approx(native.loss(floats, none)[0], rel=1e-5)
        after = floats.copy()
        native.descend(order, after, none.copy(), 1e-6, 0.0, 0, "maxent", [True] * 5, True)
        assert np.isfinite(after).all()


def test_pieces_can_be_made_again(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, listed_of(tmp_path))
    assert len(problem.pieces) == 1
    first, again = problem.pieces[0], problem.pieces[-1]
    assert first.features.names == again.features.names
    assert (first.features.values == again.features.values).all()
    assert len(first) == len(problem.training)
    bigram = problem.bigram_name(0)
    assert bigram.startswith("block-bigram:") and bigram in first.features.names
    with pytest.raises(IndexError):
        problem.pieces[1]
    assert replace(problem, neutral=True).names == tuple(f"neutral-{name}" for name in FLOATS)
