"""Reports for tests: data that would like to be markup, lists that are known to the last number, trees, runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from smtformats import Candidates
from smtplugins.host.files.lists import as_stream
from smtplugins.host.judge.evaluation import Texts
from smtplugins.host.judge.histories import RunHistory
from smtplugins.host.judge.judging import judge
from smtplugins.host.judge.reporting import Report

HOSTILE = [
    "<script>window.bad = 1</script>",
    "</script><script>window.bad = 2</script>",
    "<img src=x onerror=window.bad=3> <!-- ]]>",
    "&lt;b&gt; \"quoted\" 'so' \\u003c ${title} $title",
    "line\u2028separators\u2029here \x7f \x01",
    "\u05e9\u05dc\u05d5\u05dd \u202eesrever",
]


class Overlap:
    """Share of words that a reference has, too."""

    name = "overlap"
    higher_is_better = True

    def stats(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Any = None) -> Any:
        rows = [(hyp.split(), set(" ".join(refs).split())) for hyp, *refs in zip(hypotheses, *references, strict=True)]
        return np.array([(sum(word in ref for word in words), len(words)) for words, ref in rows], dtype=float)

    def score(self, stats: Any) -> Any:
        return 100 * stats[..., 0] / np.maximum(stats[..., 1], 1)

    sentence = score

    def signature(self) -> str:
        return "overlap|test"


def texts(given: Sequence[str], name: str = "<i>ref</i>") -> Texts:
    return Texts(given, name, False)


def hostile() -> Report:
    """Every text, name and fact there is holds markup."""
    name = "<b>feature</b>"
    lists = [
        Candidates("0", HOSTILE, [(name,)] * 6, [[-float(i)] for i in range(6)], source=HOSTILE[1]),
        Candidates("1", ["<b>", HOSTILE[0]], [(name,)] * 2, [[1.0], [0.0]], source="<i>"),
    ]
    judged = judge(
        as_stream(lists), [texts([HOSTILE[2], HOSTILE[0]])], Overlap(), weights={name: 1.0},
        baseline=texts([HOSTILE[1], "<u>"], "<s>base</s>"),
    )  # fmt: skip
    runs = (
        RunHistory("<b>run</b>", (1, 2), {"objective": (1.0, 2.0), "<b>BLEU</b>": (3.0, float("nan"))}, {name: 1.0}),
    )
    return Report(HOSTILE[1], ((HOSTILE[0], HOSTILE[1]),), runs, judged)


def pool() -> Report:
    """Two sentences of two systems; a name would like to be markup."""
    systems = [["<i>a</i>", "b", "<i>a</i>,b"], ["b"]]
    rows = [["a small house", "a house", "the small house"], ["good day"]]
    lists = [
        Candidates(str(k), row, [("lm",)] * len(row), [[-float(i)] for i in range(len(row))], extras={"system": names})
        for k, (row, names) in enumerate(zip(rows, systems, strict=True))
    ]
    judged = judge(
        as_stream(lists),
        [texts(["the small house", "good day"])],
        Overlap(),
        weights={"lm": 1.0},
        baseline=texts(["the house", "bad day"]),
    )
    return Report("Pool", (), (), judged)


def small() -> Report:
    """Three sentences: one won, one lost, one with the same words; the middle one has trees."""
    names = ("lm", "tm")
    first = Candidates(
        "0",
        ["a small house", "a little house", "the small house"],
        [names] * 3,
        [[-3.0, -1.0], [-2.0, -4.0], [-1.0, -9.0]],
        [-1.0, -2.0, -3.0],
        source="ein kleines haus",
    )
    second = Candidates(
        "1",
        ["he sees it", "he saw that it"],
        [names] * 2,
        [[-1.0, -1.0], [-2.0, -3.0]],
        [-2.0, -1.0],
        extras={"tree": ["(S (NP he) (VP sees (NP it)))", "(S (NP he) (VP saw (X that) (NP it)))"]},
        source="er sieht es",
    )
    third = Candidates("2", ["good day"], [(*names, "rare:x")], [[-1.0, -1.0, 2.0]], [0.0], source="guten tag")
    judged = judge(
        as_stream([first, second, third]),
        [texts(["the small house", "he sees it", "good day"])],
        Overlap(),
        weights={"lm": 1.0, "tm": 0.5, "rare:x": 0.25},
        baseline=texts(["the house", "he sees it", "good day"], "base.txt"),
    )
    runs = tuple(
        RunHistory(f"run-{k}", (1, 2, 3), {"objective": (0.1, 0.2 + k / 10, 0.4), "BLEU": (10.0, 20.0, 30.0 + k)},
            {"lm": 1.0, "tm": 0.5 * k})
        for k in (1, 2)
    )  # fmt: skip
    return Report("Small", (("lists", "small.nbest"),), runs, judged)
