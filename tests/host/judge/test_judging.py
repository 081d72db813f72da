"""Judged lists: order, oracles, depths and baselines against plain loops over the candidates."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from smtformats import Candidates
from smtplugins.contracts.errors import SmtError
from smtplugins.host.files.lists import ListStream, as_stream
from smtplugins.host.judge.evaluation import Texts
from smtplugins.host.judge.judging import depths_of, judge


class Overlap:
    """Share of words that the first reference has, too; with ``errors`` the share of those that it lacks."""

    name = "overlap"

    def __init__(self, errors: bool = False) -> None:
        self.higher_is_better = not errors

    def stats(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Any = None) -> Any:
        rows = [(hyp.split(), set(refs[0].split())) for hyp, *refs in zip(hypotheses, *references, strict=True)]
        same = [(sum(word in ref for word in words), len(words)) for words, ref in rows]
        return np.array([(a if self.higher_is_better else b - a, b) for a, b in same], dtype=float)

    def score(self, stats: Any) -> Any:
        return 100 * stats[..., 0] / np.maximum(stats[..., 1], 1)

    sentence = score

    def signature(self) -> str:
        return "overlap"


def made(seed: int, count: int = 7) -> tuple[list[Candidates], Texts]:
    source = random.Random(seed)

    def text() -> str:
        return " ".join(source.choices("abcdef", k=source.randint(1, 5)))

    lists = []
    for k in range(count):
        size = source.randint(1, 9)
        layouts = [("x", "y") if source.random() < 0.7 else ("y",) for _ in range(size)]
        values = [[source.randint(-4, 4) / 2 for _ in layout] for layout in layouts]
        totals = [source.randint(-3, 3) / 1 for _ in range(size)]
        lists.append(Candidates(str(k), [text() for _ in range(size)], layouts, values, totals))
    return lists, Texts([text() for _ in range(count)], "ref", False)


@pytest.mark.parametrize("errors", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_everything_is_as_plain_loops_find_it(seed: int, errors: bool) -> None:
    lists, refs = made(seed)
    metric, weights = Overlap(errors), {"x": 0.5, "y": -1.25}
    judged = judge(as_stream(lists), [refs], metric, weights=weights)
    sign = -1 if errors else 1
    ordered, row = [], 0
    for k, nbest in enumerate(lists):
        rows = [dict(zip(*pair, strict=True)) for pair in zip(nbest.layouts, nbest.values, strict=True)]
        totals = [sum(weights[name] * value for name, value in each.items()) for each in rows]
        order = sorted(range(len(nbest)), key=lambda i: (-totals[i], i))
        texts = [nbest.texts[i] for i in order]
        scores = [float(metric.score(metric.stats([text], [[refs.texts[k] or ""]])[0])) for text in texts]
        assert judged.lists[k].texts == texts
        assert judged.scores[row : row + len(nbest)].tolist() == scores
        best = max(range(len(nbest)), key=lambda i: (sign * scores[i], -i))
        assert judged.oracles[k] - row == best
        assert nbest.totals is not None
        came = nbest.texts[max(range(len(nbest)), key=nbest.totals.__getitem__)]
        assert judged.baseline[k] == came
        ordered.append((texts, scores))
        row += len(nbest)
    longest = max(map(len, lists))
    assert [depth for depth, _ in judged.depths] == [*(2**k for k in range(9) if 2**k < longest), longest]
    for depth, score in judged.depths:
        chosen = [texts[max(range(len(texts[:depth])), key=lambda i: (sign * s[i], -i))] for texts, s in ordered]
        assert score == pytest.approx(float(metric.score(metric.stats(chosen, [refs.texts]).sum(axis=0))))
    assert judged.score == judged.depths[0][1]


def test_without_weights_the_order_of_the_totals_counts_and_without_totals_that_of_the_file() -> None:
    nbest = Candidates("0", ["a", "b", "c"], [("x",)] * 3, [[1.0], [2.0], [3.0]], [0.0, 2.0, 2.0])
    refs = Texts(["b"], "ref", False)
    judged = judge(as_stream([nbest]), [refs], Overlap())
    assert judged.lists[0].texts == ["b", "c", "a"]
    assert judged.weights is None
    bare = Candidates("0", ["a", "b"], [()] * 2, [[], []])
    judged = judge(as_stream([bare]), [refs], Overlap())
    assert judged.lists[0].texts == ["a", "b"]
    assert (judged.score, judged.depths) == (0.0, ((1, 0.0), (2, 100.0)))


def test_a_baseline_and_several_references() -> None:
    lists, refs = made(1, 3)
    base = Texts(["a", "b", "c"], "base.txt", False)
    judged = judge(as_stream(lists), [refs, base], Overlap(), baseline=base)
    assert judged.baseline == ("a", "b", "c")
    assert judged.baseline_name == "base.txt"
    assert judged.references == tuple((ref, text) for ref, text in zip(refs.texts, base.texts, strict=True))


def test_what_does_not_fit_is_named() -> None:
    lists, refs = made(2, 3)
    short = Texts(refs.texts[:2], "ref", False)
    with pytest.raises(SmtError, match=r"expected an id below 2, as ref has 2 lines .*, found '2'"):
        judge(as_stream(lists), [short], Overlap())
    with pytest.raises(SmtError, match="expected a list for id 2, line 3 of ref, found none"):
        judge(as_stream(lists[:2]), [refs], Overlap())
    assert len(judge(as_stream(lists[:2]), [refs], Overlap(), allow_partial=True).lists) == 2
    with pytest.raises(SmtError, match=r"<lists>: expected an id below 2, as base has 2 lines .*, found '2'"):
        judge(as_stream(lists), [refs], Overlap(), baseline=Texts(["a", "b"], "base", False))
    with pytest.raises(SmtError, match="expected n-best lists, found none"):
        judge(ListStream(lambda: iter(()), "none"), [refs], Overlap())
    with pytest.raises(SmtError, match="expected hypotheses in list 0, found none"):
        judge(as_stream([Candidates("0", [], [], [], [])]), [refs], Overlap())


def test_depths_are_powers_of_two_and_the_size() -> None:
    assert [depths_of(n) for n in (1, 2, 3, 8, 100)] == [
        [1], [1, 2], [1, 2, 3], [1, 2, 4, 8], [1, 2, 4, 8, 16, 32, 64, 100]
    ]  # fmt: skip
