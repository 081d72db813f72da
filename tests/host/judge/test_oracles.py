"""Oracle scores against a plain search for every size."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from smtplugins.contracts.errors import SmtError
from smtplugins.host.files.lists import ListStream, candidates
from smtplugins.host.host import Host
from smtplugins.host.judge.oracles import oracles
from smtplugins.host.judge.postprocess import make_post

METRICS = ["bleu,tokenize=none", "chrf,word_order=2", "ter", "wer", "gtm,exponent=2"]


def random_lists(seed: int) -> tuple[list[Any], list[str]]:
    rng = random.Random(seed)

    def text() -> str:
        return " ".join(rng.choice("abcd") for _ in range(rng.randint(1, 8)))

    sizes = [3, 1, 13, 8, 2]
    lists = [
        candidates([text() for _ in range(size)], id=key, scores=[rng.choice([0.0, rng.random()]) for _ in range(size)])
        for key, size in enumerate(sizes)
    ]
    return lists, [text() for _ in sizes]


def by_hand(metric: Any, lists: list[Any], refs: list[str], size: int) -> tuple[float, list[str]]:
    sign = 1 if metric.higher_is_better else -1
    rows, texts = [], []
    for nbest, ref in zip(lists, refs, strict=True):
        order = sorted(range(len(nbest)), key=lambda i: (-nbest.totals[i], i))[:size]
        scored = [(sign * float(metric.sentence(metric.stats([nbest.texts[i]], [[ref]]))[0]), i) for i in order]
        best = max(scored, key=lambda pair: pair[0])[1]
        rows.append(metric.stats([nbest.texts[best]], [[ref]])[0])
        texts.append(nbest.texts[best])
    return float(metric.score(np.sum(rows, axis=0))), texts


@pytest.mark.parametrize("spec", METRICS)
@pytest.mark.parametrize("seed", range(4))
def test_best_of_the_first_by_total(host: Host, spec: str, seed: int) -> None:
    lists, refs = random_lists(seed)
    metric = host.metric(spec)
    result = oracles(ListStream(lambda: iter(lists), "lists"), [refs], [metric])
    assert [row.best_at for row in result.rows] == [1, 2, 4, 8, 13]
    for row in result.rows:
        wanted, texts = by_hand(metric, lists, refs, row.best_at)
        assert row.score == pytest.approx(wanted)
        gain = row.score - result.rows[0].score
        assert row.gain == pytest.approx(gain if metric.higher_is_better else -gain)
    assert [text for _, text in result.texts] == texts
    assert result.rows[0].signature == f"{metric.signature()}|oracle:sentence"


def test_several_metrics_references_and_posts(host: Host) -> None:
    lists = [candidates(["x y", "a@@ b"], id=0), candidates(["a@@ b c"], id=1)]
    stream = ListStream(lambda: iter(lists), "lists")
    refs = [["ab", "q"], ["z", "ab c"]]
    result = oracles(stream, refs, [host.metric("wer"), host.metric("chrf")], post=make_post("bpe"))
    assert [(row.metric, row.best_at) for row in result.rows] == [("WER", 1), ("WER", 2), ("chrF2", 1), ("chrF2", 2)]
    assert (result.rows[1].score, result.rows[3].score) == (0, 100)
    assert result.texts == (("0", "a@@ b"), ("1", "a@@ b c"))
    assert "|post:bpe|oracle:sentence" in result.rows[0].signature


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a"], "lists: expected line numbers of <texts> as ids, found 'a': a text has no other ids"),
        (["0", "2"], r"lists: expected an id below 2, as <texts> has 2 lines \(the first is id 0\), found '2'"),
        (["0"], "lists: expected a list for id 1, line 2 of <texts>, found none; allow_partial=True judges"),
        (["0", "0"], "lists: expected each id once, found 0 again"),
        ([], "lists: expected lists, found none"),
    ],
)
def test_ids_are_lines_of_the_references(host: Host, ids: list[str], message: str) -> None:
    lists = [candidates(["a"], id=key) for key in ids]
    with pytest.raises(SmtError, match=message):
        oracles(ListStream(lambda: iter(lists), "lists"), [["a", "b"]], [host.metric("wer")])


def test_part_of_the_references(host: Host) -> None:
    lists = [candidates(["a"], id=1)]
    result = oracles(ListStream(lambda: iter(lists), "x"), [["b", "a"]], [host.metric("wer")], allow_partial=True)
    assert result.rows[0].signature.endswith("|oracle:sentence|segments:1")
