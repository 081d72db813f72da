"""Scores of sentences are those of the metric, in the order of ids; files appear when they are complete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtformats.files import open_lines
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.host import Host
from smtplugins.host.judge.evaluation import Runs, evaluate
from smtplugins.host.judge.sentence_scores import SentenceScores

REFS = ["the cat sat on the mat .", "he went to the old house .", "we saw a red bird today .", "it rained all night ."]
GOOD = ["the cat sat on the mat .", "he went to the old house .", "we saw a red bird now .", "it rained all night ."]
POOR = ["the cat sat on a mat .", "he walked to the old home .", "we saw the red bird now .", "it rained the night ."]


def read(path: Path) -> tuple[list[str], list[str], np.ndarray[Any, Any]]:
    header, *rows = (line.split("\t") for line in path.read_text().splitlines())
    return header, [row[0] for row in rows], np.array([row[1:] for row in rows], dtype=np.float64)


def test_scores_are_the_metrics_own(host: Host, tmp_path: Path) -> None:
    metrics = ["bleu,tokenize=none", "chrf", "ter"]
    systems = {"poor": POOR, "tuned": Runs((GOOD, POOR))}
    result = host.evaluate([REFS], systems, metrics, sentences=tmp_path / "scores")
    header, ids, values = read(tmp_path / "scores")
    outputs = {"poor": POOR, "tuned[1]": GOOD, "tuned[2]": POOR}
    names = [(spec, output) for spec in metrics for output in outputs]
    assert header == ["id", *(f"{output}/{host.metric(spec).name}" for spec, output in names)]
    assert ids == ["0", "1", "2", "3"]
    for column, (spec, output) in zip(values.T, names, strict=True):
        metric = host.metric(spec)
        assert column.tolist() == metric.sentence(metric.stats(outputs[output], [REFS])).tolist()
    assert result.sentences is not None and result.sentences.ids == tuple(ids)
    plain = host.evaluate([REFS], systems, metrics)
    assert plain.sentences is None and plain.scores == result.scores


def test_means_agree_with_scores_that_are_means(host: Host, tmp_path: Path) -> None:
    class Mean:
        name, higher_is_better = "mean", True

        def stats(self, hypotheses: Any, references: Any, sources: Any = None) -> Any:
            return np.array([[float(len(text)), 1.0] for text in hypotheses])

        def score(self, stats: Any) -> Any:
            return stats[..., 0] / stats[..., 1]

        sentence = score

        def signature(self) -> str:
            return "mean"

    result = evaluate({"a": POOR, "b": Runs((GOOD, REFS))}, [REFS], [Mean()], sentences=True)
    assert result.sentences is not None
    columns = result.sentences.columns
    assert np.mean(columns["a/mean"]) == pytest.approx(result[0].score)
    assert np.mean([columns["b[1]/mean"], columns["b[2]/mean"]]) == pytest.approx(result[1].score)


def test_ids_are_kept_and_numbers_read_back(host: Host, tmp_path: Path) -> None:
    refs, lists = tmp_path / "ref.jsonl", tmp_path / "lists"
    refs.write_text("".join(json.dumps({"id": f"seg-{i}", "text": text}) + "\n" for i, text in enumerate(REFS)))
    made = [smt.candidates([text], id=f"seg-{i}") for i, text in reversed(list(enumerate(POOR)))][1:]
    result = host.evaluate(refs, {"a": made}, "chrf", sentences=lists, allow_partial=True)
    _, ids, values = read(lists)
    assert result.sentences is not None
    assert tuple(ids) == result.sentences.ids and set(ids) == {"seg-0", "seg-1", "seg-2"}
    metric = host.metric("chrf")
    for key, (value,) in zip(ids, values.tolist(), strict=True):
        at = int(key[4:])
        assert value == metric.sentence(metric.stats([POOR[at]], [[REFS[at]]]))[0]


def test_json_lines_by_suffix(host: Host, tmp_path: Path) -> None:
    for name in ("scores.jsonl", "scores.jsonl.gz"):
        result = host.evaluate([REFS], {"a": POOR}, "ter", sentences=tmp_path / name)
        assert result.sentences is not None
        with open_lines(tmp_path / name) as lines:
            assert [json.loads(line) for line in lines] == result.sentences.rows()


def test_metrics_of_one_name_are_numbered(host: Host) -> None:
    metrics = [host.metric("bleu"), host.metric("bleu,tokenize=none")]
    result = evaluate({"a": POOR}, [REFS], metrics, sentences=True)
    assert result.sentences is not None and list(result.sentences.columns) == ["a/BLEU(1)", "a/BLEU(2)"]
    with pytest.raises(UsageError, match=r"expected different columns, found 'a\[1\]/BLEU' twice"):
        evaluate({"a": Runs((POOR, GOOD)), "a[1]": POOR}, [REFS], metrics[:1], sentences=True)


def test_nothing_appears_after_an_error(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "scores"
    with pytest.raises(SmtError, match=r"names without tabs and line breaks .* found 'a\\tb/TER'"):
        host.evaluate([REFS], {"a\tb": POOR}, "ter", sentences=path)
    assert not list(tmp_path.iterdir())
    host.evaluate([REFS], {"a\tb": POOR}, "ter", sentences=tmp_path / "x.jsonl")
    with pytest.raises(FileNotFoundError):
        host.evaluate([REFS], {"a": POOR}, "ter", sentences=tmp_path / "absent" / "scores")
    with pytest.raises(UsageError, match="expected a file, found standard output"):
        host.evaluate([REFS], {"a": POOR}, "ter", sentences="-")


def test_scores_must_be_finite() -> None:
    class Bad:
        name, higher_is_better = "bad", True

        def stats(self, hypotheses: Any, references: Any, sources: Any = None) -> Any:
            return np.ones((len(hypotheses), 1))

        def score(self, stats: Any) -> Any:
            return stats[..., 0]

        def sentence(self, stats: Any) -> Any:
            return np.array([1.0, np.nan, 1.0, 1.0])

        def signature(self) -> str:
            return "bad"

    with pytest.raises(SmtError, match="metric 'bad': expected a score of id 1 of a, found nan"):
        evaluate({"a": POOR}, [REFS], [Bad()], sentences=True)


def test_rows_hold_the_columns() -> None:
    assert SentenceScores(("x",), {"a/M": (0.5,)}).rows() == [{"id": "x", "a/M": 0.5}]
