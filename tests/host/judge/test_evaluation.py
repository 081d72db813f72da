"""Evaluation of systems: joined by id, scored alike in any form, compared with the first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import smtplugins as smt
from smtformats import FormatError
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.host import Host
from smtplugins.host.judge.evaluation import Runs, evaluate
from smtplugins.host.judge.postprocess import Post

REFS = ["the cat sat on the mat .", "he went to the old house .", "we saw a red bird today .", "it rained all night ."]
GOOD = ["the cat sat on the mat .", "he went to the old house .", "we saw a red bird now .", "it rained all night ."]
POOR = ["the cat sat on a mat .", "he walked to the old home .", "we saw the red bird now .", "it rained the night ."]


class Seen:
    """A metric that keeps what it was given; its score is the number of segments."""

    name = "seen"
    higher_is_better = True

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
    ) -> NDArray[Any]:
        self.calls.append((list(hypotheses), [list(texts) for texts in references], sources))
        return np.ones((len(hypotheses), 1))

    def score(self, stats: NDArray[Any]) -> NDArray[Any]:
        return stats[..., 0]

    def sentence(self, stats: NDArray[Any]) -> NDArray[Any]:
        return stats[..., 0]

    def signature(self) -> str:
        return "seen"


def lines(path: Path, texts: Sequence[str]) -> str:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(path)


def nbest(path: Path, texts: dict[int, str]) -> str:
    """A list whose best hypothesis does not come first."""
    path.write_text(
        "".join(f"{i} ||| wrong ||| LM= 1 ||| -9\n{i} ||| {text} ||| LM= 2 ||| -1\n" for i, text in texts.items())
    )
    return str(path)


def test_text_and_lists_score_alike(host: Host, tmp_path: Path) -> None:
    refs = [lines(tmp_path / "ref", REFS)]
    text = lines(tmp_path / "good.txt", GOOD)
    listed = nbest(tmp_path / "good.nbest", dict(enumerate(GOOD)))
    systems: dict[str, Any] = {
        "text": text,
        "list": listed,
        "stream": smt.read(listed),
        "columns": smt.load(listed),
        "strings": GOOD,
        "candidates": [smt.candidates(["x", good], id=i, scores=[0.0, 1.0]) for i, good in enumerate(GOOD)],
    }
    result = host.evaluate(refs, systems, ["bleu", "ter"])
    assert [(score.system, score.metric) for score in result.scores] == [
        (system, metric) for metric in ("BLEU", "TER") for system in systems
    ]
    for metric in ("BLEU", "TER"):
        assert len({score.score for score in result.scores if score.metric == metric}) == 1


def test_metrics_are_given_all_references_and_sources() -> None:
    metric = Seen()
    evaluate({"a": ["x", "y"]}, [["r1", "r2"], ["s1", "s2"]], [metric], sources=["q1", "q2"])
    evaluate({"a": ["x", "y"]}, [], [metric])
    assert metric.calls == [(["x", "y"], [["r1", "r2"], ["s1", "s2"]], ["q1", "q2"]), (["x", "y"], [], None)]


def test_several_references_help(host: Host) -> None:
    score = host.evaluate([REFS], {"a": POOR}).scores[0]
    two = host.evaluate([REFS, POOR], {"a": POOR}).scores[0]
    assert score.score < 100
    assert two.score == pytest.approx(100)
    assert "nrefs:1" in score.signature
    assert "nrefs:2" in two.signature


@pytest.mark.parametrize(
    ("systems", "refs", "message"),
    [
        (
            {"a": {0: "x", 2: "y"}},
            3,
            r"a.nbest:3: expected id 1 \(line 2 of .*ref\), found id 2; allow_partial=True judges what all have",
        ),
        (
            {"a": {0: "x", 1: "y"}},
            3,
            r"a.nbest:3: expected id 2 \(line 3 of .*ref\) after this list, found the end; allow_partial=True",
        ),
        ({"a": {0: "x", 1: "y", 2: "z"}}, 2, "ref:3: expected a sentence for id 2, found the end; allow_partial=True"),
        ({"a": {0: "x", 1: "y"}, "b": {1: "y"}}, 2, "b.nbest:1: expected id 0 .*, found id 1"),
    ],
)
def test_missing_ids_are_errors(
    host: Host, tmp_path: Path, systems: dict[str, dict[int, str]], refs: int, message: str
) -> None:
    given = {name: nbest(tmp_path / f"{name}.nbest", texts) for name, texts in systems.items()}
    with pytest.raises(SmtError, match=message):
        host.evaluate([lines(tmp_path / "ref", REFS[:refs])], given)


def test_partial_judges_what_all_have_and_says_so(tmp_path: Path) -> None:
    metric = Seen()
    systems = {
        "a": nbest(tmp_path / "a", {0: "a0", 1: "a1", 3: "a3"}),
        "b": nbest(tmp_path / "b", {1: "b1", 2: "b2", 3: "b3", 9: "b9"}),
    }
    result = evaluate(systems, [REFS], [metric], sources=["s0", "s1", "s2", "s3"], allow_partial=True)
    assert [call[0] for call in metric.calls] == [["a1", "a3"], ["b1", "b3"]]
    assert metric.calls[0][1:] == ([[REFS[1], REFS[3]]], ["s1", "s3"])
    assert [score.signature for score in result.scores] == ["seen|segments:2"] * 2


def test_partial_with_everything_there_says_nothing() -> None:
    assert evaluate({"a": GOOD}, [REFS], [Seen()], allow_partial=True).scores[0].signature == "seen"


def test_partial_counts_missing_sources_too() -> None:
    metric = Seen()
    evaluate({"a": GOOD}, [REFS], [metric], sources=["s0", "s1"], allow_partial=True)
    assert metric.calls[0][0] == GOOD[:2]
    with pytest.raises(
        SmtError, match=r"<texts>:3: expected a sentence for id 2 \(line 3 of <texts>\), found the end$"
    ):
        evaluate({"a": GOOD}, [REFS], [metric], sources=["s0", "s1"])


def test_nothing_in_common_is_an_error(tmp_path: Path) -> None:
    systems = {"a": nbest(tmp_path / "a", {0: "x"}), "b": nbest(tmp_path / "b", {1: "x"})}
    with pytest.raises(SmtError, match="no sentence is in all files"):
        evaluate(systems, [REFS], [Seen()], allow_partial=True)
    with pytest.raises(SmtError, match="expected sentences to judge, found none"):
        evaluate({"a": []}, [[]], [Seen()])


def test_first_system_is_the_baseline(host: Host) -> None:
    result = host.evaluate([REFS], {"poor": POOR, "good": GOOD, "same": POOR}, ["bleu", "chrf"], bootstrap=100, seed=3)
    assert [(score.system, score.p is None) for score in result.scores] == [
        ("poor", True), ("good", False), ("same", False)
    ] * 2  # fmt: skip
    for score in result.scores:
        assert score.low is not None
        assert score.high is not None
        assert score.low <= score.score <= score.high
        assert score.signature.endswith("|bs:100|rs:3")
    same = result.scores[2]
    assert (same.score, same.low, same.high) == (result.scores[0].score, result.scores[0].low, result.scores[0].high)
    assert same.p == 1


def test_resampling_depends_on_the_seed_alone(host: Host) -> None:
    results = [host.evaluate([REFS], {"a": POOR, "b": GOOD}, bootstrap=50, seed=seed).rows() for seed in (1, 1, 2)]
    assert results[0] == results[1]
    assert results[0][0]["low"] != results[2][0]["low"] or results[0][0]["high"] != results[2][0]["high"]


def test_result_prints_and_tabulates(host: Host) -> None:
    result = host.evaluate([REFS], {"base": REFS, "new": GOOD}, bootstrap=20)
    first, second = str(result).splitlines()
    assert first.startswith("base\tBLEU 100.00 [100.00, 100.00]\tBLEU|nrefs:1|")
    assert " p=" in second
    assert result.rows()[0]["score"] == pytest.approx(100)
    assert list(result.rows()[0]) == [
        "system", "metric", "score", "runs", "deviation", "low", "high", "p", "tests", "signature"
    ]  # fmt: skip
    assert str(host.evaluate([REFS], {"base": REFS})).startswith("base\tBLEU 100.00\tBLEU|")


def test_several_tests_are_shown_by_name(host: Host) -> None:
    result = host.evaluate([REFS], {"base": POOR, "new": GOOD}, tests=["sign", "wilcoxon", "ar"], samples=30)
    base, new = result.scores
    assert (dict(base.tests), base.p, base.low) == ({}, None, None)
    assert list(new.tests) == ["sign", "wilcoxon", "ar"]
    assert new.p == new.tests["sign"]
    assert new.signature.endswith("|ar:30|test:sign,wilcoxon|rs:12345")
    assert f" p(sign)={new.p:.4f} p(wilcoxon)=" in str(result)


def test_intervals_alone(host: Host) -> None:
    wide, narrow = (
        host.evaluate([REFS], {"a": POOR}, confidence=level, samples=200).scores[0] for level in (0.95, 0.5)
    )
    assert wide.low is not None
    assert wide.high is not None
    assert narrow.low is not None
    assert narrow.high is not None
    assert wide.high - wide.low > narrow.high - narrow.low
    assert wide.signature.endswith("|bs:200|rs:12345")
    assert narrow.signature.endswith("|bs:200|ci:0.5|rs:12345")


def test_runs_are_judged_together(host: Host, tmp_path: Path) -> None:
    paths = tuple(lines(tmp_path / f"run{i}", texts) for i, texts in enumerate((GOOD, POOR, GOOD)))
    result = host.evaluate([REFS], {"base": POOR, "new": Runs(paths)}, tests=["bootstrap", "ar", "sign"], samples=50)
    base, new = result.scores
    single = [host.evaluate([REFS], {"a": path}).scores[0].score for path in paths]
    assert (base.runs, base.deviation) == (1, None)
    assert new.runs == 3
    assert new.score == pytest.approx(np.mean(single))
    assert new.deviation == pytest.approx(np.std(single, ddof=1))
    assert f" ±{new.deviation:.2f} [" in str(result)


def test_copies_are_no_runs(host: Host) -> None:
    with pytest.raises(UsageError, match="system 'a': expected different runs, found 'x' twice"):
        host.evaluate([REFS], {"a": Runs(("x", "x"))})
    with pytest.raises(UsageError, match="system 'a': expected at least one run, found none"):
        host.evaluate([REFS], {"a": Runs(())})


def test_hypotheses_are_posted_once_for_all_metrics() -> None:
    first, second = Seen(), Seen()
    asked: list[Sequence[str]] = []

    def change(texts: Sequence[str]) -> list[str]:
        asked.append(texts)
        return [text.upper() for text in texts]

    post = Post("upper", change)
    result = evaluate({"a": ["x", "y"], "b": ["u", "v"]}, [["r", "s"]], [first, second], post=post)
    assert asked == [["x", "y"], ["u", "v"]]
    for metric in (first, second):
        assert metric.calls == [(["X", "Y"], [["r", "s"]], None), (["U", "V"], [["r", "s"]], None)]
    assert {score.signature for score in result.scores} == {"seen|post:upper"}


def test_prepared_references_serve_all_systems() -> None:
    class Both(Seen):
        def prepare(self, references: Sequence[Sequence[str]]) -> Any:
            self.calls.append(("prepare", [list(texts) for texts in references]))
            return self

        def __len__(self) -> int:
            return 1

        def stats(self, hypotheses: Sequence[str], *more: Any) -> NDArray[Any]:
            self.calls.append((list(hypotheses), *more))
            return np.ones((len(hypotheses), 1))

        def matrix(self, hypotheses: Sequence[str], others: Sequence[str]) -> NDArray[Any]:
            raise NotImplementedError

    metric = Both()
    evaluate({"a": ["x"], "b": ["y"]}, [["r"]], [metric])
    assert metric.calls == [("prepare", [["r"]]), (["x"],), (["y"],)]
    metric.calls.clear()
    evaluate({"a": ["x"]}, [["r"]], [metric], sources=["s"])
    assert metric.calls == [(["x"], [["r"]], ["s"])]


def test_metric_gone_wrong_is_an_error(tmp_path: Path) -> None:
    class Wrong(Seen):
        def __init__(self, made: Any) -> None:
            super().__init__()
            self.made = made

        def stats(self, *texts: Any) -> NDArray[Any]:
            return np.array(self.made)

        def score(self, stats: NDArray[Any]) -> NDArray[Any]:
            return np.full(stats.shape[:-1], np.nan)

    path = lines(tmp_path / "sys", ["x", "y"])
    with pytest.raises(SmtError, match=r"sys:2: metric 'seen': expected finite statistics of id 1, found others"):
        evaluate({"a": path}, [["r", "s"]], [Wrong([[0.0, 1], [np.nan, 1]])])
    with pytest.raises(SmtError, match=r"expected statistics of 2 segments, a row each, found .* 1 x 2$"):
        evaluate({"a": path}, [["r", "s"]], [Wrong([[0.0, 1]])])
    with pytest.raises(SmtError, match="metric 'seen': expected a score of a, found nan"):
        evaluate({"a": path}, [["r", "s"]], [Wrong([[0.0], [1.0]])])


def test_ids_of_lists_are_line_numbers_each_once() -> None:
    with pytest.raises(SmtError, match="<lists>: expected line numbers of <texts> as ids, found 'doc1'"):
        evaluate({"a": [smt.candidates(["x"], id="doc1")]}, [["r"]], [Seen()])
    with pytest.raises(SmtError, match="<lists>: expected each id once, found 0 again"):
        evaluate({"a": [smt.candidates(["x"]), smt.candidates(["y"])]}, [["r", "s"]], [Seen()])


def test_wrong_calls(host: Host, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="systems: expected at least one, found none"):
        host.evaluate([REFS], {})
    with pytest.raises(UsageError, match="metric 'BLEU' needs references"):
        host.evaluate([], {"a": GOOD})
    with pytest.raises(UsageError, match="a system is read from a file, not from standard input"):
        host.evaluate([REFS], {"a": "-"})
    with pytest.raises(UsageError, match="seed: expected a whole number from 0 on, found -1"):
        host.evaluate([REFS], {"a": GOOD}, bootstrap=2, seed=-1)
    (tmp_path / "empty").touch()
    with pytest.raises(FormatError, match="empty:1: field 1: expected corpus or nbest data, found an empty file"):
        host.evaluate([tmp_path / "empty"], {"a": GOOD})
    with pytest.raises(FileNotFoundError):
        host.evaluate([tmp_path / "absent"], {"a": GOOD})
