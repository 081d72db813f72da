"""Distortion and reordering models against slow definitions that look at a derivation as a whole."""

from __future__ import annotations

import io
import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtformats import Candidates, FormatError
from smtformats.files import Lines
from smtformats.hypergraph import plf
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.offers import Offer
from smtplugins.core.grammar.lattice_distances import UNREACHABLE, distances
from smtplugins.core.grammar.rules import Edges, Rules
from smtplugins.host.features.scoring import Active
from smtplugins.plugins.standard.reordering import Distortion, LexicalReordering

Span = tuple[int, int]
CLASSES = {"msd": 3, "mslr": 4, "monotonicity": 2, "leftright": 2}
DIRECTIONS = {"backward": 1, "forward": 1, "bidirectional": 2}
SOURCE = "s0 s1 s2 s3 s4 s5 s6".split()
NEEDS = frozenset({"target", "source", "segmentation"})


def listed(*orders: Sequence[Span]) -> Candidates:
    """Hypotheses of phrases in target order; each is translated by a word made of its span."""
    texts = [" ".join(f"t{a}-{b}" for a, b in spans) for spans in orders]
    segments = [" ".join(f"{a}-{b - 1}={k}" for k, (a, b) in enumerate(spans)) for spans in orders]
    return replace(smt.candidates(texts, id=0, source=" ".join(SOURCE)), extras={"segmentation": segments})


def scored(feature: Any, one: Candidates) -> list[list[float]]:
    return Active("f", Offer(name="f", make=object, summary="s", needs=NEEDS), feature).score(one)[1]


def orders(rng: random.Random, pieces: int) -> list[tuple[Span, ...]]:
    """The source cut into phrases, in all orders."""
    cuts = [0, *sorted(rng.sample(range(1, len(SOURCE)), pieces - 1)), len(SOURCE)]
    return list(itertools.permutations(itertools.pairwise(cuts)))


def table(path: Path, rng: random.Random, spans: set[Span], width: int, condition: str) -> dict[Span, list[float]]:
    """A table of most of these phrases; with probability 0 here and there."""
    rows, lines = {}, []
    for a, b in sorted(spans):
        if rng.random() < 0.8:
            row = [rng.choice([0.0, round(rng.random(), 3)]) for _ in range(width)]
            pair = [" ".join(SOURCE[a:b]), f"t{a}-{b}"][: 1 + (condition == "fe")]
            lines.append(" ||| ".join([*pair, " ".join(map(str, row))]) + "\n")
            rows[a, b] = [max(math.log(one), -100.0) if one else -100.0 for one in row]
    path.write_text(
        "".join(lines) or f"{' ||| '.join(['x'] * (1 + (condition == 'fe')))} ||| {' '.join('1' * width)}\n"
    )
    return rows


def of_phrases(before: Sequence[Span], span: Span, after: set[int]) -> tuple[str, str]:
    """Backward and forward orientation of a phrase to the one before it."""
    if not before:
        return ("M" if span[0] == 0 else "R"), ""
    last = before[-1]
    found = "M" if last[1] == span[0] else "S" if span[1] == last[0] else "R" if span[0] > last[0] else "L"
    return found, found


def of_blocks(before: Sequence[Span], span: Span, open_words: set[int]) -> tuple[str, str]:
    """Backward: any block of the latest phrases may be the neighbour; forward: only open words count as between."""
    if not before:
        return ("M" if span[0] == 0 else "R"), ""
    last, side = before[-1], "R" if span[0] > before[-1][0] else "L"
    backward = side
    for k in range(len(before)):
        words = sorted(w for a, b in before[k:] for w in range(a, b))
        if words == list(range(words[0], words[-1] + 1)):
            backward = "M" if words[-1] + 1 == span[0] else "S" if span[1] == words[0] else backward
    ahead = side
    if side == "R" and (last[1] == span[0] or last[1] in open_words):
        ahead = "M"
    if side == "L" and (span[1] == last[0] or last[0] - 1 in open_words):
        ahead = "S"
    return backward, ahead


def column(orientation: str, model: str) -> int:
    return {
        "msd": {"M": 0, "S": 1, "L": 2, "R": 2},
        "mslr": {"M": 0, "S": 1, "L": 2, "R": 3},
        "monotonicity": {"M": 0, "S": 1, "L": 1, "R": 1},
        "leftright": {"M": 0, "S": 1, "L": 1, "R": 0},
    }[model][orientation]


def expected(
    spans: Sequence[Span], rows: dict[Span, list[float]], model: str, direction: str, collapsed: bool, orient: Any
) -> list[float]:
    classes = CLASSES[model]
    sums = np.zeros((DIRECTIONS[direction], classes))
    zero = [0.0] * sums.size
    for k, span in enumerate(spans):
        covered = {w for a, b in spans[: k + 1] for w in range(a, b)}
        backward, forward = orient(spans[:k], span, set(range(len(SOURCE))) - covered)
        if direction != "forward":
            at = column(backward, model)
            sums[0, at] += rows.get(span, zero)[at]
        if direction != "backward" and k:
            at = column(forward, model)
            # The fault of Moses with one weight for each of two directions.
            skipped = 1 if collapsed and direction == "bidirectional" else (len(sums) - 1) * classes
            sums[-1, at] += rows.get(spans[k - 1], zero)[skipped + at]
    return [float(one) for one in (sums.sum(axis=1) if collapsed else sums.reshape(-1))]


@pytest.mark.parametrize("extraction", ["wbe", "phrase", "hier"])
@pytest.mark.parametrize("model", CLASSES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_models(tmp_path: Path, extraction: str, model: str, direction: str) -> None:
    rng = random.Random(f"{extraction}{model}{direction}")
    for condition, collapsed, pieces in itertools.product(("f", "fe"), (False, True), (1, 3, 4)):
        every = orders(rng, pieces)
        path = tmp_path / "table"
        width = CLASSES[model] * DIRECTIONS[direction]
        rows = table(path, rng, {span for order in every for span in order}, width, condition)
        name = f"{extraction}-{model}-{direction}-{condition}-{'collapseff' if collapsed else 'allff'}"
        feature = LexicalReordering(path, model=name)
        assert feature.positional == ("" if extraction == "hier" else "orientation")
        orient = of_blocks if extraction == "hier" else of_phrases
        found = scored(feature, listed(*every))
        for order, values in zip(every, found, strict=True):
            wanted = expected(order, rows, model, direction, collapsed, orient)
            assert values == pytest.approx(wanted, abs=1e-4), (name, order)
            assert len(values) == feature.components


def walk(feature: Any, spans: Sequence[Span]) -> Any:
    """The state behind some phrases."""
    scorer = feature.start(Sentence("0", tuple(SOURCE)))
    state = ()
    for place in ((0, 0), *spans):
        target = [0, f"t{place[0]}-{place[1]}"] if state else []
        edges = Edges(Rules.from_targets([target]), *(np.array([end], dtype=np.int32) for end in place))
        _, state = scorer.combine(edges, [state])
    return state[0]


def test_states_are_as_equal_as_those_of_moses(tmp_path: Path) -> None:
    path = tmp_path / "table"
    lines = ["s0 ||| t0-1 ||| 0.5 0.5 0.2 0.8", "s1 ||| t1-2 ||| 0.1 0.9 0.2 0.8", "s0 s1 ||| t0-2 ||| 0.5 0.5 0.2 0.8"]
    path.write_text("\n".join([*lines, "s2 ||| t2-3 ||| 0.5 0.5 0.2 0.8"]) + "\n")

    def same(model: str, first: Sequence[Span], second: Sequence[Span]) -> bool:
        feature = LexicalReordering(path, model=model)
        one, other = walk(feature, first), walk(feature, second)
        assert (one == other) == (hash(one) == hash(other))
        return bool(one == other)

    # The last range counts, its other end too; the row where there is a forward direction, by its values.
    both = "phrase-monotonicity-bidirectional-fe"
    assert same(both, [(0, 1), (1, 2), (2, 3)], [(0, 2), (2, 3)])
    assert not same(both, [(0, 2)], [(0, 1), (1, 2)])
    assert same(both, [(2, 3), (0, 1)], [(1, 2), (0, 1)])
    hier = "hier-monotonicity-bidirectional-fe"
    assert same(hier, [(0, 1), (1, 2), (2, 3)], [(1, 2), (0, 1), (2, 3)])
    assert not same(hier, [(0, 2), (2, 3)], [(2, 3), (0, 2)])


def test_missing_pairs(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text("s0 ||| t0-1 ||| 0.5 0.25 0.25\n")
    one = listed([(1, 2), (0, 1), (2, 7)])
    assert scored(LexicalReordering(path, model="msd"), one) == [pytest.approx([0.0, math.log(0.25), 0.0])]
    feature = LexicalReordering(path, model="msd", scores=3, default_scores="0.5,0,0.1")
    assert scored(feature, one) == [pytest.approx([0.0, math.log(0.25), 2 * math.log(0.1)])]
    assert feature.table_rows(["s0", "s1"], ["t0-1", "t"]).tolist() == [
        pytest.approx([math.log(0.5), math.log(0.25), math.log(0.25)]),
        pytest.approx([math.log(0.5), -100.0, math.log(0.1)]),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "msd-backwards"}, "expected a model name like"),
        ({"model": "msd", "scores": 6}, "expected 3 scores, as msd has, found 6"),
        ({"model": "msd", "default_scores": "0.1,0.2"}, r"default_scores: expected 3 probabilities, found 0\.1,0\.2"),
        ({"model": "msd", "default_scores": "0.1,0.2,x"}, "default_scores: expected a probability, found 'x'"),
        ({"model": "msd", "default_scores": "0.1,0.2,-1"}, "default_scores: expected 3 probabilities"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, options: Any, message: str) -> None:
    path = tmp_path / "table"
    path.write_text("s0 ||| t0-1 ||| 0.5 0.25 0.25\n")
    with pytest.raises(UsageError, match=message):
        LexicalReordering(path, **options)


def test_a_table_of_another_model(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text("s0 ||| t0-1 ||| 0.5 0.25 0.25\n")
    with pytest.raises(FormatError, match="6 probabilities"):
        LexicalReordering(path, model="msd-bidirectional-fe")


def test_distortion() -> None:
    every = orders(random.Random(3), 4)
    found = scored(Distortion(), listed(*every, []))
    for spans, (value,) in zip([*every, ()], found, strict=False):
        ends = [0, *(b for _, b in spans)]
        assert value == -sum(abs(a - end) for (a, _), end in zip(spans, ends, strict=False))


def test_distortion_counts_arcs_on_lattices() -> None:
    text = "((('a',1,1),('b',1,3),),(('c',1,1),),(('d',1,1),('e',1,2),),(('f',1,1),),(('g',1,1),),)\n"
    (lattice,) = plf.parse(Lines(io.BytesIO(text.encode()), "in.plf"))
    wanted = np.full((6, 6), UNREACHABLE)
    arcs = [(0, 1), (0, 3), (1, 2), (2, 3), (2, 4), (3, 4), (4, 5)]
    wanted[range(6), range(6)] = 0
    for _ in range(6):
        for a, b in arcs:
            for end in range(6):
                wanted[a, end] = min(wanted[a, end], wanted[b, end] + 1)
    assert distances(lattice).tolist() == np.minimum(wanted, UNREACHABLE).tolist()
    scorer = Distortion().start(Sentence("0", (), lattice=lattice))
    places = [(0, 0), (3, 4), (0, 3), (4, 5)]
    edges = Edges(Rules.from_targets([[], [0, "f"], [0, "b"], [0, "g"]]), *np.array(places, dtype=np.int32).T)
    assert scorer.combine(edges, [(), (0,), (4,), (3,)]) == ([0.0, -1.0, -2.0, -1.0], [0, 4, 3, 5])


def test_features_of_places_say_when_there_are_none() -> None:
    scorer = Distortion().start(Sentence("0", ("a",)))
    with pytest.raises(UsageError, match="expected edges with source spans"):
        scorer.combine(Edges(Rules.from_targets([["a"]])), [()])
    one = np.ones(1, dtype=np.int32)
    with pytest.raises(UsageError, match="found rules with several children"):
        scorer.combine(Edges(Rules.from_targets([[0, 1]]), one, one), [(0, 1)])
    path = LexicalReordering.__new__(LexicalReordering)
    with pytest.raises(UsageError, match="expected a plain sentence, found a lattice"):
        path.start(Sentence("0", (), lattice=object()))  # type: ignore[arg-type]
