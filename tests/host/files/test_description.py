"""`smt info` on a file of each kind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from smtformats import FormatError
from smtplugins.contracts.errors import UsageError
from smtplugins.host.files.description import MAX_PROBLEMS, describe
from smtplugins.host.host import Host

LIST = """\
0 ||| a house  ||| LM0= -2 x= 1 ||| -2 ||| 0-0 1-1 \n\
0 ||| a house  ||| LM0= -1 x= 2 ||| -1 ||| 0-0 1-1 \n\
2 |||   ||| LM0= -6 ||| -0.5 ||| 0-0 \n\
2 ||| the\u00a0old house  ||| LM0= -3 ||| -0.7 ||| 0-0 \n\
"""


def test_lists(host: Host, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(LIST)
    description = describe(host, tmp_path / "x")
    assert description.facts == {
        "format": "moses-nbest",
        "kind": "nbest",
        "is": description.facts["is"],
        "lists": 2,
        "ids": "0 to 2",
        "hypotheses": 4,
        "per list": "2 to 2, 2.0 on average",
        "distinct texts": 3,
        "words per text": 1.5,
        "also has": "alignment",
        "escapes": None,
        "problems": 3,
    }
    assert description.features == [
        {"feature": "LM0", "hypotheses": 4, "min": -6.0, "mean": -3.0, "max": -1.0},
        {"feature": "x", "hypotheses": 2, "min": 1.0, "mean": 1.5, "max": 2.0},
    ]
    assert description.problems == [
        {"line": 1, "problem": "list 0 is not sorted by total"},
        {"line": 3, "problem": "the text has no words"},
        {"line": 4, "problem": "the text has a no-break space"},
    ]
    assert description.record()["hypotheses"] == 4
    assert description.record()["features"] == description.features


def test_order_is_a_fact_where_formats_leave_it_open(host: Host, tmp_path: Path) -> None:
    answer = '{"custom_id": "%d", "response": {"status_code": 200, "body": {"choices": [%s]}}}\n'
    choice = '{"message": {"role": "assistant", "content": "a house"}, "logprobs": %s}'
    tokens = '{"content": [{"token": "a", "logprob": %d}]}'
    lines = [answer % (key, ", ".join([choice % tokens % -2, choice % tokens % -1])) for key in (7, 2, 10)]
    (tmp_path / "batch.jsonl").write_text("".join(lines))
    description = describe(host, tmp_path / "batch.jsonl")
    assert description.facts["ids"] == "2 to 10, in another order (lists are joined by id)"
    assert description.facts["not sorted by total"] == "3 of 3 lists (the highest is the best)"
    assert (description.problems, description.facts.get("problems")) == ([], None)


def test_parquet(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.parquet"
    lists = host.read(Path(__file__).resolve().parents[3] / "examples/rescore-nbest/moses.nbest")
    host.write(lists, path, "parquet")
    facts = describe(host, path).facts
    assert (facts["rows"], facts["format"]) == (sum(map(len, lists)), "parquet")
    columns, _, names = facts["columns"].partition(": ")
    assert names.startswith("id (string), rank (int32), text (string), total (double), ")
    assert int(columns) == names.count("(")
    assert [list(nbest.rows()) for nbest in host.read(path)] == [list(nbest.rows()) for nbest in lists]
    assert describe(host, path, "parquet-nbest").facts["lists"] == len(list(lists))
    (tmp_path / "cut.parquet").write_bytes(path.read_bytes()[:100])
    with pytest.raises(FormatError, match=r"cut\.parquet:1: expected a whole Parquet file, found Parquet magic bytes"):
        describe(host, tmp_path / "cut.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"x.parquet: .* pyarrow, which is not installed: pip install 'smtplugins"):
        describe(host, path)


def test_weights(host: Host, tmp_path: Path) -> None:
    (tmp_path / "w").write_text("LM 0.5\nx 0\n")
    description = describe(host, tmp_path / "w")
    assert (description.facts["format"], description.facts["weights"], description.facts["zero"]) == (
        "cdec-weights",
        2,
        1,
    )
    assert description.features == [{"feature": "LM", "weight": 0.5}, {"feature": "x", "weight": 0.0}]
    assert description.problems == []
    (tmp_path / "w").write_text("LM 0\nx 0\n")
    assert describe(host, tmp_path / "w").problems == [{"line": 1, "problem": "all weights are 0"}]


def test_names_of_weights_that_look_like_others(host: Host, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("\ufeffLM 1\nTM 2\n")
    with pytest.raises(FormatError, match="x:1: expected a file without a byte order mark"):
        describe(host, tmp_path / "x")


def test_graphs_without_features(host: Host, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("ein haus\n")
    description = describe(host, tmp_path / "x", "plf-lattice")
    assert (description.facts["edges"], description.features) == (3, [])


def test_corpus(host: Host, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a b a\n\ncafé\u2028 b\n", encoding="utf-8")
    description = describe(host, tmp_path / "t")
    assert {name: description.facts[name] for name in ("lines", "words", "distinct words", "characters")} == {
        "lines": 3,
        "words": 5,
        "distinct words": 3,
        "characters": 12,
    }
    assert description.problems == [
        {"line": 2, "problem": "the line has no words"},
        {"line": 3, "problem": "the line has a line separator (U+2028)"},
    ]


def test_corpus_with_references_and_attributes(host: Host, tmp_path: Path) -> None:
    (tmp_path / "t").write_text('<seg id="1">ein haus</seg> ||| a house ||| one house\n<seg grammar="g">ja</seg>\n')
    description = describe(host, tmp_path / "t")
    assert (
        description.facts | {"lines": 2, "words": 3, "references": 2, "attributes": "id, grammar"} == description.facts
    )
    assert description.problems == []


def test_alignments(host: Host, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a b ||| c ||| 0-0 1-1\n\nc ||| 0-0 0-0\n")
    description = describe(host, tmp_path / "a")
    wanted = {"format": "pharaoh-alignment", "pairs": 3, "without links": 1, "links": 4, "links per pair": 1.33}
    assert description.facts | wanted == description.facts
    assert description.problems == [
        {"line": 1, "problem": "link to target word 1, expected below 1"},
        {"line": 3, "problem": "duplicate link"},
    ]
    (tmp_path / "a").write_text("1\n1 ALIGN_ERR # 1\n1 ALIGN_ERR # 1\n")
    problem = {"line": 1, "problem": "ALIGN_ERR: the two directions had different words"}
    assert describe(host, tmp_path / "a").problems == [problem]


def test_tuning_data(host: Host, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(
        "FEATURES_TXT_BEGIN_0 0 2 1 a\n-1\n2 s=1\nFEATURES_TXT_END_0\n"
        "FEATURES_TXT_BEGIN_0 1 0 1 b\nFEATURES_TXT_END_0\n"
    )
    description = describe(host, tmp_path / "f")
    wanted = {"sentences": 2, "hypotheses": 2, "per sentence": "0 to 2, 1.0 on average", "scorer": None}
    assert description.facts | wanted == description.facts
    assert description.features == [
        {"feature": "a", "hypotheses": 2, "min": -1.0, "mean": 0.5, "max": 2.0},
        {"feature": "s", "hypotheses": 1, "min": 1.0, "mean": 1.0, "max": 1.0},
    ]
    assert description.problems == [
        {"line": 5, "problem": "the features of 1 differ from those of the previous sentence"},
        {"line": 5, "problem": "no entries for 1"},
    ]
    (tmp_path / "s").write_text("SCORES_TXT_BEGIN_0 0 1 1 TER\n3\nSCORES_TXT_END_0\n")
    description = describe(host, tmp_path / "s")
    assert (description.facts["scorer"], description.problems) == ("TER", [])
    assert description.features == [{"feature": "TER[0]", "hypotheses": 1, "min": 3.0, "mean": 3.0, "max": 3.0}]


def test_all_problems_are_counted_and_some_are_shown(host: Host, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\n" + "\n" * 50)
    description = describe(host, tmp_path / "t")
    assert (description.facts["problems"], len(description.problems)) == (50, MAX_PROBLEMS)


def test_what_cannot_be_read_is_raised(host: Host, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("0 ||| a ||| LM0= 1 ||| 0\n0 ||| a ||| LM0= ||| 0\n")
    with pytest.raises(FormatError, match="x:2: field 3: expected a number after the label"):
        describe(host, tmp_path / "x")
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(FormatError, match="found an empty file"):
        describe(host, tmp_path / "x")


def test_grammar(host: Host, tmp_path: Path) -> None:
    text = "[X] ||| a [X] ||| [1] b ||| F=1 G=2 ||| 0-1\n [Y] ||| a [Y] ||| [1] b ||| F=3\n"
    text += "[S] ||| a ||| b ||| F=1 F=5\n"
    (tmp_path / "x").write_text(text)
    description = describe(host, tmp_path / "x")
    assert description.facts == {
        "format": "cdec-grammar",
        "kind": "grammar",
        "is": description.facts["is"],
        "rules": 3,
        "by non-terminals": "1 with 0, 2 with 1",
        "left-hand sides": "X (1), Y (1), S (1)",
        "distinct sources": 3,
        "with alignment": 1,
        "refinements": 1,
        "problems": 1,
    }
    assert description.features == [
        {"feature": "F", "rules": 3, "min": 1.0, "mean": 3.0, "max": 5.0},
        {"feature": "G", "rules": 1, "min": 2.0, "mean": 2.0, "max": 2.0},
    ]
    assert description.problems == [{"line": 3, "problem": "duplicate feature: the last value counts"}]


def test_escapes_are_told(host: Host, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("it &apos;s\nround -LRB- brackets\n a [X] b\n")
    description = describe(host, tmp_path / "x")
    assert description.facts["escapes"] == "&apos; (moses), -LRB- (ptb)"
    assert [problem["problem"] for problem in description.problems] == [
        "the line has [X], a non-terminal to a grammar",
        "the line has blanks at its ends or two in a row",
    ]


def test_configurations(host: Host, tmp_path: Path) -> None:
    (tmp_path / "cdec.ini").write_text("formalism=scfg\ngrammar=a\ngrammar=b\n")
    description = describe(host, tmp_path / "cdec.ini")
    assert (description.facts["kind"], description.facts["settings"], description.facts["keys"]) == (
        "config",
        3,
        "formalism, grammar",
    )


def test_mark_up_that_counts_as_words_is_a_problem(host: Host, tmp_path: Path) -> None:
    (tmp_path / "in").write_text('ein <n translation="x">haus</n>\nein <n translation="x">haus\n')
    description = describe(host, tmp_path / "in")
    assert (description.facts["format"], description.facts["words"]) == ("moses-xml", 5)
    assert description.problems == [{"line": 2, "problem": "markup treated as words: 'n' is not closed"}]
