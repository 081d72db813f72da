"""``smt evaluate``: scores of text and lists in every style of table."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]

REF = ["the cat sat on the mat .", "he went to the old house .", "we saw a red bird today ."]
GOOD = ["the cat sat on the mat .", "he went to the old house .", "we saw a red bird now ."]
POOR = ["the cat sat on a mat .", "he walked to the old home .", "we saw the red bird now ."]


@pytest.fixture(autouse=True)
def _files(_own_folder: None) -> None:
    for name, texts in (("ref", REF), ("good", GOOD), ("poor", POOR)):
        Path(name).write_text("".join(f"{text}\n" for text in texts))
    Path("list").write_text("".join(f"{i} ||| {text} ||| f= 1 ||| 0\n" for i, text in enumerate(GOOD)))


def test_text_and_lists_of_several_metrics(smt: Smt) -> None:
    rows = json.loads(
        smt("evaluate", "-r", "ref", "-m", "bleu", "-m", "chrf,word_order=2", "good", "list", "-f", "json").ok()
    )
    assert [(row["system"], row["metric"]) for row in rows] == [
        ("good", "BLEU"), ("list", "BLEU"), ("good", "chrF2++"), ("list", "chrF2++")
    ]  # fmt: skip
    assert rows[0]["score"] == rows[1]["score"]
    assert rows[0]["low"] is None
    assert rows[0]["signature"].startswith("BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_baseline_comes_first_and_has_no_p(smt: Smt) -> None:
    header, base, new = smt("evaluate", "-r", "ref", "poor", "good", "--bootstrap", "50", "-f", "tsv").ok().splitlines()
    assert header == "system\tmetric\tscore\tlow\thigh\tp\tsignature"
    assert base.split("\t")[0] == "poor"
    assert base.split("\t")[5] == ""
    assert 0 < float(new.split("\t")[5]) <= 1
    assert new.endswith("|bs:50|rs:12345")


def test_tables_in_four_styles(smt: Smt) -> None:
    results = {
        style: smt("evaluate", "-r", "ref", "good", "-f", style).ok() for style in ("text", "json", "tsv", "latex")
    }
    score = f"{json.loads(results['json'])[0]['score']:.2f}"
    assert results["text"].splitlines()[0].split() == ["system", "metric", "score", "signature"]
    assert results["text"].splitlines()[1].split()[:3] == ["good", "BLEU", score]
    assert results["tsv"].splitlines()[1].split("\t")[:3] == ["good", "BLEU", score]
    assert results["latex"].splitlines()[0] == r"\begin{tabular}{llll}"
    assert rf"good & BLEU & {score} & BLEU|nrefs:1|" in results["latex"]


def test_several_references(smt: Smt) -> None:
    (row,) = json.loads(smt("evaluate", "-r", "ref", "-r", "good", "good", "-f", "json").ok())
    assert row["score"] == pytest.approx(100)
    assert "nrefs:2" in row["signature"]


def test_missing_sentences_need_permission(smt: Smt) -> None:
    Path("list").write_text("".join(f"{i} ||| {GOOD[i]} ||| f= 1 ||| 0\n" for i in (0, 2)))
    result = smt("evaluate", "-r", "ref", "list")
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "smt: list:2: expected id 1 (line 2 of ref), found id 2; --allow-partial judges what all have\n"
    )
    out = smt("evaluate", "-r", "ref", "list", "--allow-partial").ok()
    assert out.splitlines()[1].endswith("|segments:2")


def test_manifest_has_inputs_seed_and_signatures(smt: Smt) -> None:
    smt("evaluate", "-r", "ref", "good", "poor", "--bootstrap", "10", "--seed", "5", "--manifest", "m.json").ok()
    record = json.loads(Path("m.json").read_text())
    assert sorted(record["inputs"]) == ["good", "poor", "ref"]
    assert record["seed"] == 5
    assert [signature.rpartition("|")[2] for signature in record["signatures"]] == ["rs:5", "rs:5"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["good", "good"], "expected different system names, found 'good' twice"),
        (["good", "--bootstrap", "-1"], "bootstrap: expected a number of samples, found -1"),
        (["good", "--bootstrap", "9", "--seed", "-1"], "seed: expected a whole number from 0 on, found -1"),
        (["good", "--samples", "-1"], "samples: expected a number of samples, found -1"),
        (
            ["good", "--bootstrap", "5", "--samples", "5"],
            "expected bootstrap or samples as the number of samples, found both",
        ),
        (["good", "--confidence", "95"], "confidence: expected a level between 0 and 1, such as 0.95, found 95"),
        (["good", "--test", "ar", "--test", "ar"], "test 'ar' is named twice"),
        (["x=good", "x=poor"], "expected different system names, found 'x' twice"),
        (["x=good,good"], "system 'x': expected different runs, found 'good' twice"),
        (["x=good,"], "system 'x=good,': expected FILE, NAME=FILE or NAME=FILE,FILE,..."),
        (["=good"], "system '=good': expected FILE, NAME=FILE or NAME=FILE,FILE,..."),
        (["good", "--tuned-on", "."], ".: expected a file or a run with a manifest.json, found a folder without one"),
        (["good", "-m", "blue"], "unknown metric 'blue'; did you mean 'bleu'?"),
        (["good", "-m", "bleu,tokenize=x"], "metric 'bleu': tokenize: unknown tokenizer 'x'"),
        (["-"], "a system is read from a file, not from standard input"),
    ],
)
def test_wrong_calls(smt: Smt, arguments: list[str], message: str) -> None:
    result = smt("evaluate", "-r", "ref", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"smt: {message}")


def test_references_are_needed(smt: Smt) -> None:
    result = smt("evaluate", "good")
    assert (result.code, result.err) == (2, "smt: metric 'BLEU' needs references\n")


def test_spoilt_list_does_not_pass_for_text(smt: Smt) -> None:
    lines = [f"{i} ||| a b ||| L=1 ||| 0\n" for i in range(3)]
    Path("ref").write_text("a b\n" * 3)
    for name, first in (("bad", "x ||| a b ||| L=1 ||| 0\n"), ("bom", "\ufeff" + lines[0]), ("junk", "junk\n")):
        Path(name).write_text("".join([first, *lines[1:]]), encoding="utf-8")
        result = smt("evaluate", "-r", "ref", name)
        assert (result.code, result.out) == (1, "")
        expected = (
            "expected a file without a byte order mark" if name == "bom" else "field 1: expected the shape of a known"
        )
        assert result.err.startswith(f"smt: {name}:1: {expected}")


def test_every_test_has_its_column(smt: Smt) -> None:
    tests = [part for name in ("bootstrap", "ar", "sign", "wilcoxon") for part in ("--test", name)]
    header, base, new = (
        line.split("\t") for line in smt("evaluate", "-r", "ref", "poor", "good", *tests, "-f", "tsv").ok().splitlines()
    )
    names = ["system", "metric", "score", "low", "high", "p(bootstrap)", "p(ar)", "p(sign)", "p(wilcoxon)", "signature"]
    assert header == names
    assert base[5:9] == [""] * 4
    assert all(0 < float(p) <= 1 for p in new[5:9])
    assert new[-1].endswith("|bs:1000|ar:10000|test:sign,wilcoxon|rs:12345")
    rows = json.loads(smt("evaluate", "-r", "ref", "poor", "good", *tests, "-f", "json").ok())
    assert list(rows[1]["tests"]) == ["bootstrap", "ar", "sign", "wilcoxon"]
    assert rows[1]["p"] == rows[1]["tests"]["bootstrap"]


def test_pieces_are_joined_first(smt: Smt) -> None:
    Path("pieces").write_text("".join(f"{text.replace('at', 'a@@ t')}\n" for text in GOOD))
    good, pieces = json.loads(
        smt("evaluate", "-r", "ref", "good", "pieces", "--post", "bpe", "-f", "json", "--bootstrap", "9").ok()
    )
    assert good["score"] == pieces["score"]
    assert pieces["signature"].endswith("|post:bpe|bs:9|rs:12345")
    for spec, piece in (("bpe", "a@@ t"), ("spm", "\u2581at")):
        Path("pieces").write_text(f"{piece}\n" * len(GOOD))
        joins = f"expected whole words, as in the references (--post {spec} joins them), found pieces, '{piece}'"
        assert smt("evaluate", "-r", "ref", "good", "pieces").err == f"smt: system 'pieces': {joins}\n"
        assert smt("evaluate", "-r", "pieces", "pieces").ok()
    result = smt("evaluate", "-r", "ref", "good", "--post", "head -n 1")
    assert (result.code, result.err) == (1, "smt: --post head: expected 3 lines, one for each hypothesis, found 1\n")


def test_intervals_without_a_test(smt: Smt) -> None:
    out = smt("evaluate", "-r", "ref", "good", "--confidence", "0.9", "--samples", "20").ok()
    assert out.splitlines()[0].split() == ["system", "metric", "score", "low", "high", "signature"]
    assert out.rstrip().endswith("|bs:20|ci:0.9|rs:12345")


def test_runs_of_named_systems(smt: Smt) -> None:
    Path("a=b,c").write_text(Path("good").read_text())
    result = smt("evaluate", "-r", "ref", "base=poor", "new=good,list,poor", "a=b,c", "x=a=b,c", "-f", "json", "-v")
    rows = json.loads(result.ok())
    assert [(row["system"], row["runs"]) for row in rows] == [("base", 1), ("new", 3), ("a=b,c", 1), ("x", 1)]
    assert rows[1]["score"] == pytest.approx((2 * rows[2]["score"] + rows[0]["score"]) / 3)
    table = smt("evaluate", "-r", "ref", "poor", "new=good,poor", "--test", "ar", "--samples", "50").ok().splitlines()
    assert table[0].split() == ["system", "metric", "score", "runs", "deviation", "p", "signature"]
    assert table[2].split()[3] == "2"


def test_what_was_tuned_on_is_in_sample(smt: Smt) -> None:
    def signatures(*arguments: str) -> list[bool]:
        rows = json.loads(smt("evaluate", "-r", "ref", "good", "poor", "-f", "json", *arguments).ok())
        return [row["signature"].endswith("|in-sample") for row in rows]

    Path("copy.gz").write_bytes(gzip.compress(Path("ref").read_bytes()))
    assert signatures() == [False, False]
    assert signatures("--tuned-on", "ref") == [True, True]
    assert signatures("--tuned-on", "copy.gz") == [True, True]
    Path("other").write_text("a\nb\nc\n")
    assert signatures("--tuned-on", "other") == [False, False]
    smt("evaluate", "-r", "ref", "poor", "--manifest", "m.json").ok()
    assert signatures("--tuned-on", "other", "--tuned-on", "m.json") == [True, True]


def test_outputs_of_a_run_on_the_same_data_are_in_sample(smt: Smt) -> None:
    Path("run/step-0001").mkdir(parents=True)
    Path("run/step-0001/best").write_text(Path("good").read_text())
    smt("evaluate", "-r", "ref", "poor", "--manifest", "run/manifest.json").ok()
    rows = json.loads(smt("evaluate", "-r", "ref", "good", "new=run/step-0001/best", "-f", "json").ok())
    assert [row["signature"].endswith("|in-sample") for row in rows] == [False, True]
    Path("ref").write_text("x\ny\nz\n")
    rows = json.loads(smt("evaluate", "-r", "ref", "good", "run/step-0001/best", "-f", "json").ok())
    assert not any(row["signature"].endswith("|in-sample") for row in rows)


def test_a_text_too_short_is_named_with_its_line(smt: Smt) -> None:
    Path("two").write_text("a\nc\n")
    result = smt("evaluate", "-r", "ref", "two")
    assert (result.code, result.out) == (1, "")
    assert result.err == "smt: two:3: expected a sentence for id 2 (line 3 of ref), found the end\n"
    result = smt("evaluate", "-r", "two", "good")
    assert result.err == "smt: two:3: expected a sentence for id 2 (line 3 of good), found the end\n"


def test_partial_text_has_no_ids(smt: Smt) -> None:
    Path("ref").write_text("a\nb\nc\n")
    Path("two").write_text("a\nc\n")
    result = smt("evaluate", "-r", "ref", "two", "--allow-partial")
    assert result.code == 1
    assert result.err.startswith("smt: two: expected 3 lines, as ref has, found 2: a text has no ids")


def test_strings_as_ids(smt: Smt) -> None:
    ids = ["seg-2", "seg-0", "seg-1"]
    Path("refs.jsonl").write_text("".join(json.dumps({"id": f"seg-{i}", "ref": REF[i]}) + "\n" for i in (1, 0, 2)))
    Path("refs.tsv").write_text("id\tref\n" + "".join(f"seg-{i}\t{REF[i]}\n" for i in range(3)))
    Path("system").write_text("".join(json.dumps({"id": key, "nbest": [GOOD[int(key[-1])]]}) + "\n" for key in ids))
    expected = smt("evaluate", "-r", "ref", "-r", "poor", "-f", "json", "list").ok()
    score = json.loads(expected)[0]["score"]
    Path("poor.tsv").write_text("id\tref\n" + "".join(f"seg-{i}\t{POOR[i]}\n" for i in range(3)))
    for refs in (("refs.jsonl", "poor.tsv"), ("poor.tsv", "refs.tsv")):
        rows = json.loads(smt("evaluate", "-r", refs[0], "-r", refs[1], "-f", "json", "system").ok())
        assert rows[0]["score"] == score
    result = smt("evaluate", "-r", "ref", "system")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(
        "smt: system:1: expected line numbers of ref as ids, found 'seg-2': a text has no other"
    )
    assert smt("evaluate", "-r", "refs.jsonl", "good").code == 1


def test_json_of_others_is_no_text(smt: Smt) -> None:
    Path("batch").write_text('{"custom_id": "a", "answers": ["b"]}\n' * 3)
    for call in (("-r", "ref", "batch"), ("-r", "batch", "good"), ("-r", "ref", "-s", "batch", "good")):
        result = smt("evaluate", *call)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith("smt: batch:1: field 1: expected lists as JSON lines")
        assert "custom_id, answers; smt convert --from jsonl-nbest,text=answers.* reads" in result.err


def test_formats_of_the_systems(smt: Smt) -> None:
    answers = [json.dumps({"custom_id": str(i), "answers": [text]}) for i, text in enumerate(GOOD)]
    Path("answers").write_text("\n".join(reversed(answers)) + "\n")
    named = "jsonl-nbest,text=answers.*"
    rows = json.loads(smt("evaluate", "-r", "ref", "answers", "--from", named, "-f", "json").ok())
    assert [row["score"] for row in rows] == [
        json.loads(smt("evaluate", "-r", "ref", "good", "-f", "json").ok())[0]["score"]
    ]
    for system in ("new=answers", "answers"):
        name = system.partition("=")[0]
        rows = json.loads(smt("evaluate", "-r", "ref", "good", system, "--from", f"{name}={named}", "-f", "json").ok())
        assert rows[0]["score"] == rows[1]["score"]
    for given, error in (
        (("--from", named), "good:1: field 1: expected a JSON object or array"),
        (("--from", "other=text", "--from", "text"), "--from: expected NAME=FORMAT with the name of a system, found"),
        (("--from", "nothing"), "unknown format 'nothing'"),
    ):
        refused = smt("evaluate", "-r", "ref", "good", *given)
        assert (refused.code, error in refused.err) == (1 if ":1:" in error else 2, True), refused.err
    Path("odd").write_bytes(b"\x00\x01\n")
    assert "(name the format with --from)" in smt("evaluate", "-r", "ref", "odd").err


def _systems() -> list[str]:
    Path("mid").write_text("".join(f"{text}\n" for text in (*GOOD[:1], *POOR[1:])))
    return ["poor", "mid", "good"]


def test_all_pairs_in_every_style(smt: Smt) -> None:
    call = ["evaluate", "-r", "ref", "-m", "bleu", "-m", "ter", "--test", "ar", "--samples", "99", *_systems()]
    pairs = [*call, "--all-pairs"]
    before, result = smt(*call, "-f", "json").ok(), json.loads(smt(*pairs, "-f", "json").ok())
    assert result["scores"] == json.loads(before)
    names = [("poor", "mid"), ("poor", "good"), ("mid", "good")]
    rows = result["pairs"]
    assert [(row["metric"], row["first"], row["second"]) for row in rows] == [
        (metric, *pair) for metric in ("BLEU", "TER") for pair in names
    ]
    scores = {(row["metric"], row["system"]): row["score"] for row in result["scores"]}
    for row in rows:
        assert row["difference"] == scores[row["metric"], row["second"]] - scores[row["metric"], row["first"]]
        assert (row["correction"], row["corrected"]) == ("none", {})
    for style in ("text", "tsv", "latex"):
        text = smt(*pairs, "-f", style).ok()
        assert text.startswith(smt(*call, "-f", style).ok() + "\n")
    header, *lines = (line.split("\t") for line in smt(*pairs, "-f", "tsv").ok().split("\n\n")[1].splitlines())
    assert header == ["first", "second", "metric", "difference", "p", "correction"]
    assert [line[:3] for line in lines] == [[row["first"], row["second"], row["metric"]] for row in rows]
    assert [line[5] for line in lines] == ["none"] * 6


def test_p_values_are_corrected_by_metric_and_test(smt: Smt) -> None:
    tests = ["--test", "ar", "--test", "sign", "--correct", "holm", "--samples", "99"]
    call = ["evaluate", "-r", "ref", "-m", "bleu", "-m", "ter", *tests, *_systems()]
    rows = json.loads(smt(*call, "-f", "json").ok())
    for metric in ("BLEU", "TER"):
        for test in ("ar", "sign"):
            of_metric = [row for row in rows if row["metric"] == metric][1:]
            low, high = sorted(row["tests"][test] for row in of_metric)
            wanted = {low: min(1.0, 2 * low), high: min(1.0, max(2 * low, high))}
            assert [row["corrected"][test] for row in of_metric] == [wanted[row["tests"][test]] for row in of_metric]
    header = smt(*call, "-f", "tsv").ok().splitlines()[0].split("\t")
    assert header[3:] == ["p(ar)", "p(sign)", "corrected(ar)", "corrected(sign)", "signature"]
    assert "|correct:holm" in rows[0]["signature"]
    header = smt(*call, "--all-pairs", "-f", "tsv").ok().split("\n\n")[1].splitlines()[0].split("\t")
    assert header[3:] == [
        "difference", "p(ar)", "p(sign)", "corrected(ar)", "corrected(sign)", "correction"
    ]  # fmt: skip
    single = smt("evaluate", "-r", "ref", "--test", "ar", "--correct", "holm", "poor", "good", "-f", "tsv").ok()
    header, base, new = (line.split("\t") for line in single.splitlines())
    assert header[3:] == ["p", "corrected", "signature"]
    assert base[3:5] == ["", ""] and new[3] == new[4] != ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["poor", "good", "--correct", "holm"],
            "--correct: expected a test, found none; add --test, one of bootstrap,",
        ),
        (["poor", "good", "--all-pairs"], "--all-pairs: expected a test, found none; add --test, one of bootstrap,"),
        (["good", "--all-pairs", "--test", "ar"], "--all-pairs: expected at least two systems, found 1"),
        (["good", "--correct", "holm", "--test", "ar"], "--correct: expected at least two systems, found 1"),
        (["good", "--sentences", "-"], "--sentences: expected a file, found standard output"),
    ],
)
def test_wrong_pairs_and_sentences(smt: Smt, arguments: list[str], message: str) -> None:
    result = smt("evaluate", "-r", "ref", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"smt: {message}")


def test_sentences_of_systems_and_runs(smt: Smt) -> None:
    call = ["evaluate", "-r", "ref", "-m", "ter", "poor", "both=good,list"]
    assert smt(*call, "--sentences", "scores").ok() == smt(*call).ok()
    header, *rows = (line.split("\t") for line in Path("scores").read_text().splitlines())
    assert header == ["id", "poor/TER", "both[1]/TER", "both[2]/TER"]
    assert [row[0] for row in rows] == ["0", "1", "2"]
    assert [row[2] for row in rows] == [row[3] for row in rows] and rows[0][2] == "0"
    Path("scores").unlink()
    Path("poor").write_text("\n")
    assert smt(*call, "--sentences", "scores").code == 1
    assert not Path("scores").exists()
