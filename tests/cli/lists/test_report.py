"""``smt report``: pages of lists and of runs, and missing inputs."""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smtplugins.contracts.learners import LearnerState, LearnerStep
from smtplugins.contracts.models import Model
from smtplugins.host import runs

Smt = Callable[..., Any]
LISTS = ("-i", "moses.nbest", "-r", "ref.en", "-m", "bleu,tokenize=none")


def data_of(text: str) -> Any:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert match is not None
    return json.loads(match[1])


def opened(block: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(block)))


def run_of(folder: Path, weights: dict[str, float], **record: Any) -> None:
    kept = runs.RunDirectory.create(folder, record)
    for number in (1, 2):
        scaled = {name: value * number for name, value in weights.items()}
        kept.save_step(number, LearnerStep(Model(scaled), 0.1 * number, {"BLEU": 10.0 * number}, LearnerState()))


def test_lists_with_weights_and_a_baseline(smt: Smt, example: Path) -> None:
    arguments = (*LISTS, "-s", "source.de", "-w", "weights.moses", "--missing-weight", "0", "--baseline", "moses.nbest")
    assert smt("report", *arguments, "-o", "page.html", "--manifest", "m.json").ok() == ""
    text = Path("page.html").read_text()
    assert text.startswith("<!doctype html>")
    data = data_of(text)
    assert (len(data["ids"]), data["baseline"], data["sign"]) == (20, "moses.nbest", 1)
    smt("rescore", "-i", "moses.nbest", "-w", "weights.moses", "-o", "new.nbest").ok()
    best = smt("best", "-i", "new.nbest").ok().splitlines()
    assert [opened(block)["texts"][0] for block in data["blocks"]] == best
    scores = json.loads(
        smt("evaluate", "-r", "ref.en", "-m", "bleu,tokenize=none", "moses.nbest", "new.nbest", "-f", "json").ok()
    )
    for row in scores:
        assert f"{row['score']:.4g}" in re.sub("<[^>]*>", " ", text.split('id="overview"')[1].split("</table>")[0])
    assert scores[0]["signature"] in text
    assert sorted(json.loads(Path("m.json").read_text())["inputs"]) == [
        "moses.nbest",
        "ref.en",
        "source.de",
        "weights.moses",
    ]
    assert smt("report", *arguments).ok() == text
    assert LISTS[0] == "-i"
    assert smt("report", *arguments[1:]).ok() == text
    twice = smt("report", *arguments, "moses.nbest")
    assert (twice.code, twice.err) == (2, "smt: expected one file of n-best lists, found moses.nbest, moses.nbest\n")


def test_fewer_candidates_make_a_smaller_page(smt: Smt, example: Path) -> None:
    whole = smt("report", *LISTS).ok()
    cut = smt("report", *LISTS, "--to", "html,candidates=3").ok()
    assert len(cut) < len(whole)
    assert max(len(opened(block)["texts"]) for block in data_of(cut)["blocks"]) == 4


def test_runs_alone_and_runs_with_lists(smt: Smt, example: Path) -> None:
    run_of(Path("a"), {"LM0": 0.5})
    run_of(Path("b"), {"LM0": 1.5})
    result = smt("report", "a", "b", "--title", "Two <runs>")
    assert result.err == (
        "smt: note: a: no lists in this report, as the run does not record its inputs; name them with -i and -r\n"
    )
    alone = result.out
    assert "<title>Two &lt;runs&gt;</title>" in alone
    assert "2 runs: a, b." in alone
    assert data_of(alone) is None
    both = data_of(smt("report", "a", "b", *LISTS, "--missing-weight", "0").ok())
    assert dict(zip(*opened(both["features"]).values(), strict=True))["LM0"] == 2.0
    given = data_of(smt("report", "a", *LISTS, "-w", "weights.moses").ok())
    assert dict(zip(*opened(given["features"]).values(), strict=True))["LM0"] == pytest.approx(0.0487)


def test_a_run_brings_its_lists(smt: Smt, example: Path) -> None:
    weights = {line.split()[0]: 0.1 for line in Path("weights.cdec").read_text().splitlines()}
    options = {"input": ["cdec.kbest"], "ref": ["ref.en"], "metric": "bleu,tokenize=none", "source": "source.de"}
    run_of(Path("run"), weights, options=options, inputs=runs.input_hashes(["cdec.kbest", "ref.en", "source.de"]))
    text = smt("report", "run").ok()
    assert len(data_of(text)["ids"]) == 20
    assert "|in-sample</bdi>" in text or "|in-sample</dd>" in text
    Path("ref.en").write_text("changed\n" * 20)
    result = smt("report", "run")
    assert result.code == 0
    assert (
        result.err
        == "smt: note: run: no lists in this report, as ref.en is missing or has changed; name others with -i and -r\n"
    )
    assert data_of(result.out) is None


def test_a_run_that_decodes_brings_its_last_lists_and_its_choice_of_weights(smt: Smt, example: Path) -> None:
    config = json.dumps(
        {"source": str(example / "source.de"), "references": [str(example / "ref.en")], "metric": "bleu,tokenize=none"}
    )
    run_of(Path("run"), {"LM0": 1.0}, options={"config": config}, inputs={})
    lines = smt("convert", "moses.nbest", "--to", "jsonl-nbest").ok().splitlines(keepends=True)
    for number in (1, 2):
        folder = Path(f"run/iteration-000{number}")
        folder.mkdir()
        with gzip.open(folder / "candidates.jsonl.gz", "wt") as out:
            out.writelines(lines[:number])
    smt("convert", "weights.moses", "--to", "cdec-weights", "-o", "run/weights").ok()
    data = data_of(smt("report", "run").ok())
    assert dict(zip(*opened(data["features"]).values(), strict=True))["LM0"] == pytest.approx(0.0487)
    assert opened(data["blocks"][0])["source"]
    assert len(data["ids"]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to report on: expected runs, lists (-i) or building steps of trees (--built)"),
        (["-i", "moses.nbest"], "lists need references (-r) to be judged; found none"),
        (["a", "--baseline", "ref.en"], "--baseline needs lists (-i)"),
        (["moses.nbest"], "lists need references (-r) to be judged; found none"),
        (["none"], "none: expected the folder of a run with finished steps"),
        ([*LISTS, "--to", "html,candidates=0"], "format 'html-report': candidates: expected 1 or more, found 0"),
        ([*LISTS, "--to", "pdf"], "unknown format 'pdf'; known: html-report"),
    ],
)
def test_wrong_calls(smt: Smt, example: Path, arguments: list[str], message: str) -> None:
    run_of(Path("a"), {"LM0": 0.5})
    result = smt("report", *arguments, "-o", "page.html")
    assert (result.code, result.out) == (2, "")
    assert f"smt: {message}" in result.err
    assert not Path("page.html").exists()


def test_lists_and_references_have_to_fit(smt: Smt, example: Path) -> None:
    Path("short").write_text("".join(Path("ref.en").read_text().splitlines(keepends=True)[:19]))
    result = smt("report", "-i", "moses.nbest", "-r", "short")
    assert result.code == 1
    assert "expected an id below 19, as short has 19 lines (the first is id 0), found '19'" in result.err
    result = smt("report", "-i", "moses.nbest", "-r", "ref.en", "-w", "weights.cdec")
    assert (result.code, result.out) == (1, "")
    assert "has no weight" in result.err
