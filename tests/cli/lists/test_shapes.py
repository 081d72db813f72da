"""Lists of foreign shapes through the commands that read lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.formats.nbest.test_shapes import FILES, FOLDER, TEXTS, TOTALS

Smt = Callable[..., Any]


@pytest.mark.parametrize("name", FILES)
def test_commands(smt: Smt, name: str) -> None:
    shape, ids, _, scored, features, extras, aside = FILES[name]
    path = str(FOLDER / name)
    references = str(FOLDER / ("references.jsonl" if ids[0] == "s-0" else "references.txt"))
    facts = json.loads(smt("info", path, "-f", "json").ok())
    assert (facts["format"], facts["shape"], facts["lists"]) == ("jsonl-nbest", shape, 3)
    assert aside in (facts["left aside"] or "")
    assert facts["also has"] == (", ".join(sorted(extras.split())) or None)

    smt("convert", path, "lists.jsonl", "-q").ok()
    lines = [json.loads(line) for line in Path("lists.jsonl").read_text().splitlines()]
    assert [line.get("id", i) for i, line in enumerate(lines)] == [int(key) if key.isdigit() else key for key in ids]

    best = [texts[row.index(max(row))] for texts, row in zip(TEXTS, TOTALS if scored else [[1, 0]] * 3, strict=True)]
    assert smt("best", path).ok().splitlines() == best
    Path("best").write_text("".join(f"{text}\n" for text in best))
    score, wanted = (
        json.loads(smt("evaluate", "-r", reference, system, "-f", "json").ok())[0]["score"]
        for reference, system in ((references, path), (str(FOLDER / "references.txt"), "best"))
    )
    assert score == wanted

    arguments = ["--dev", path, "--dev-ref", references, "--test", path, "--test-ref", references, "-o", "run"]
    added = [] if features else ["--feature", "length"]
    rows = json.loads(smt("rerank", *arguments, *added, "--bootstrap", "0", "-f", "json", "-q").ok())
    assert [row["score"] for row in rows if row["system"] == "baseline"] == [score] * 2
    assert len(Path("run/best.txt").read_text().splitlines()) == 3
    sorted_lists = smt("info", next(str(file) for file in Path("run").glob("rescored*")), "-f", "json").ok()
    assert {"lists": 3, "hypotheses": 6}.items() <= json.loads(sorted_lists).items()


def test_a_path_names_the_texts(smt: Smt) -> None:
    path = str(FOLDER / "by-path.jsonl")
    refused = smt("info", path)
    assert refused.code == 1
    assert "--from jsonl-nbest,text=generations.*.out.string" in refused.err
    form = "jsonl-nbest,text=generations.*.out.string,score=generations.*.quality,id=segment,source=input.text"
    assert smt("best", "--from", form, path).ok().splitlines() == [
        texts[i] for texts, i in zip(TEXTS, [0, 0, 1], strict=True)
    ]
    facts = json.loads(smt("info", "--from", form, path, "-f", "json").ok())
    assert (facts["shape"], facts["ids"]) == ("texts by path", "s-0 to s-2")


def score(smt: Smt, reference: str, system: str) -> float:
    rows = json.loads(smt("evaluate", "-r", reference, system, "-f", "json").ok())
    return float(rows[0]["score"])


def test_lists_with_references_are_references(smt: Smt) -> None:
    system = str(FOLDER / "ctranslate2.jsonl")
    wanted = score(smt, str(FOLDER / "references.txt"), system)
    assert 0 < wanted < 99
    for name in ("hyporadise.json", "lm-eval.jsonl"):
        assert score(smt, str(FOLDER / name), system) == wanted
    references = (FOLDER / "references.txt").read_text().splitlines()
    rows = [{"id": i, "source": "x", "reference": text, "hyp": "y"} for i, text in enumerate(references)]
    Path("both").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert score(smt, "both", system) == wanted
    assert smt("best", "both").ok() == "y\n" * 3
    for row in rows:
        row["references"] = [row.pop("reference"), "z"]
    Path("both").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert score(smt, "both", system) >= wanted
    two = [{"text": "a", "reference": "b"}, {"text": "c", "reference": "d"}]
    Path("mixed").write_text(json.dumps({"hypotheses": two}) + "\n")
    assert "expected one reference in list 0, found 2" in smt("evaluate", "-r", "mixed", system).err
    own = '{"id": %d, "hypotheses": [{"text": "a"%s}]}\n'
    Path("mixed").write_text(own % (0, "") + own % (1, ', "reference": "b"') + own % (2, ""))
    assert "mixed:2: expected a reference in each list or in none" in smt("evaluate", "-r", "mixed", system).err


def test_json_is_no_text_to_evaluate(smt: Smt) -> None:
    path = str(FOLDER / "by-path.jsonl")
    result = smt("evaluate", "-r", str(FOLDER / "references.txt"), path)
    assert (result.code, result.out) == (1, "")
    assert "found JSON objects with segment, input, generations" in result.err
