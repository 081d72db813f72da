"""Shapes of JSON that other programs write: each is read, a mangled or mixed one is an error, and none passes for text.

The files in ``shapes`` hold the same two candidates of three sentences as each program writes them.
"""

from __future__ import annotations

import io
import json
import random
import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smtformats import Candidates, Format, FormatError, ListColumns, all_formats, detect
from smtformats.files import HEAD_BYTES, Lines
from smtformats.format import shortest
from smtformats.nbest.jsonl import FORMAT, load, parse, write
from smtformats.nbest.shared.json_readers import SHAPES, examples

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fuzz"))

from harness import check

FOLDER = Path(__file__).resolve().parent / "shapes"
SOURCES = ["das haus ist klein .", "ein mann liest .", "wir gehen nach hause ."]
TEXTS = [
    ["the house is small .", "the home is little ."],
    ["a man is reading .", "a man reads ."],
    ["we are going home .", "we go home ."],
]
TOTALS = [[-0.75, -2.5], [-1.25, -1.5], [-1.0, -0.5]]
NUMBERS, SEGMENTS = ["0", "1", "2"], ["s-0", "s-1", "s-2"]
BATCH = "OpenAI batch output (also vLLM's run-batch)"
SEVERAL = "an array, or objects over several lines"
# The shape, the ids, whether there are sources and totals, the features, the further fields, one field left aside.
FILES: dict[str, tuple[str, list[str], bool, bool, str, str, str]] = {
    "openai-batch.jsonl": (BATCH, SEGMENTS, False, False, "", "index finish_reason", "response.body.usage"),
    "vllm-run-batch.jsonl": (BATCH, NUMBERS, False, False, "", "index finish_reason", "response.model"),
    "chat-completions.jsonl": (
        *("chat completions", NUMBERS, False, True, "logprob logprob_mean"),
        *("token_logprobs tokens index finish_reason", "choices.*.logprobs.content.*.bytes"),
    ),
    "text-completions.jsonl": (
        *("text completions", NUMBERS, True, True, "logprob logprob_mean"),
        *("token_logprobs tokens index finish_reason", "choices.*.logprobs.text_offset"),
    ),
    "lm-eval.jsonl": ("lm-eval samples", NUMBERS, True, False, "", "reference filter filtered", "doc_hash"),
    "ctranslate2.jsonl": ("CTranslate2 results", NUMBERS, False, True, "score", "", ""),
    "hf-generated.json": ("Hugging Face generated_text", NUMBERS, False, False, "", "", ""),
    "hf-arrays.jsonl": ("Hugging Face generated_text", NUMBERS, False, False, "", "", ""),
    "hf-translation.jsonl": ("Hugging Face translation_text", NUMBERS, False, False, "", "", ""),
    "hyporadise.json": ("HyPoradise lists", NUMBERS, False, False, "", "reference", ""),
    "trl-preferences.jsonl": ("TRL preferences", NUMBERS, True, True, "score", "preference", ""),
    "trl-completions.jsonl": ("TRL completions", NUMBERS, True, False, "", "label", ""),
    "messages.jsonl": (
        *("chat messages", NUMBERS, True, False, "", "", "messages (all but the last of user and assistant)"),
    ),
    "lines.jsonl": ("one hypothesis a line", SEGMENTS, True, True, "score", "rank", ""),
    "sockeye.jsonl": ("sockeye's single translations", NUMBERS, False, True, "score", "", ""),
    "vllm-outputs.jsonl": (
        *("vLLM's outputs", NUMBERS, True, True, "logprob logprob_mean"),
        *("request_id finished index token_ids logprobs finish_reason stop_reason", ""),
    ),
    "pretty.json": (SEVERAL, NUMBERS, True, True, "score", "", ""),
    "array.json": (SEVERAL, NUMBERS, True, False, "lm len", "", ""),
}


def content(name: str) -> str:
    return (FOLDER / name).read_text()


def read(text: str, /, **options: Any) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), **options))


def written(lists: Iterable[Candidates]) -> str:
    out = io.StringIO()
    write(list(lists), out, shortest)
    return out.getvalue()


def refused(text: str, /, **options: Any) -> str:
    with pytest.raises(FormatError) as caught:
        read(text, **options)
    return str(caught.value)


def without_field(message: str) -> str:
    return re.sub(r": field \d+: expected ", ": ", message, count=1)


def known(*kinds: str) -> list[Format]:
    return [record for record in all_formats() if record.kind in kinds]


def name_of(text: str, formats: Iterable[Format] = ()) -> str:
    try:
        return detect(text.encode()[:HEAD_BYTES], formats or all_formats(), "x").name
    except FormatError:
        return ""


@pytest.mark.parametrize("name", FILES)
def test_files(name: str) -> None:
    shape, ids, sourced, scored, features, extras, aside = FILES[name]
    lists = read(content(name))
    assert name_of(content(name)) == name_of(content(name), known("nbest")) == "jsonl-nbest"
    assert [nbest.id for nbest in lists] == ids
    assert [nbest.texts for nbest in lists] == TEXTS
    assert [nbest.source for nbest in lists] == (SOURCES if sourced else [None] * 3)
    assert [nbest.totals for nbest in lists] == (TOTALS if scored else [None] * 3)
    assert {name for nbest in lists for name in nbest.names()} == set(features.split())
    assert {name for nbest in lists for name in nbest.extras} == set(extras.split())
    assert [nbest.first for nbest in lists] == [0, 2, 4]
    assert {nbest.reading[0] for nbest in lists} == {shape}
    assert aside in (*lists[0].reading, "")
    assert lists[0].line == (2 if name in ("array.json", "hyporadise.json") else 1)


@pytest.mark.parametrize("name", FILES)
def test_lists_are_written_as_lines_with_all_fields(name: str) -> None:
    lists = read(content(name))
    text = written(lists)
    assert text.count("\n") == 3
    again = read(text)
    for old, new in zip(lists, again, strict=True):
        assert (new.id, new.source, list(new.rows())) == (old.id, old.source, list(old.rows()))
        assert {name: column for name, column in new.extras.items() if any(column)} == {
            name: column for name, column in old.extras.items() if any(column)
        }
    assert written(again) == text
    if name == "vllm-outputs.jsonl":
        assert text == content(name)


def test_log_probabilities() -> None:
    chat, text, vllm = (
        read(content(f"{name}.jsonl")) for name in ("chat-completions", "text-completions", "vllm-outputs")
    )
    for lists in (chat, text, vllm):
        assert lists[1][0][1] == {"logprob": -1.25, "logprob_mean": -0.25}
        assert lists[1][1][1] == {"logprob": -1.5, "logprob_mean": -0.375}
    assert json.loads(chat[1].extras["token_logprobs"][1]) == [-0.375] * 4
    assert json.loads(text[1].extras["tokens"][1]) == ["a", " man", " reads", " ."]
    assert text[0].extras["finish_reason"] == ["stop", "stop"]


def test_what_others_call_worse_is_lower() -> None:
    text = '{"sentence_id": 1, "translation": "a", "score": -0.5}'
    assert "expected a score of at least 0, as sockeye's negative log probabilities" in refused(text)
    (nbest,) = read(text, text="translation", score="score", id="sentence_id")
    assert (nbest.id, nbest.totals) == ("1", [-0.5])
    (first, *_) = read(content("sockeye.jsonl"))
    assert first.totals == [-0.75, -2.5]
    assert [features for _, features, _ in first.rows()] == [{"score": 0.75}, {"score": 2.5}]


@pytest.mark.parametrize(("name", "line", "notes"), examples(), ids=[name for name, _, _ in examples()])
def test_lines_of_the_page(name: str, line: str, notes: str) -> None:
    lists = read(line)
    assert lists[0].texts[0] == "a house"
    value = json.loads(line)
    variants = [line + "\n", json.dumps(value, indent=1), "\ufeff" + line, "\n \n" + line]
    for text in [*variants, json.dumps([value]), json.dumps([value], indent="\t")]:
        if isinstance(value, list) and text.startswith("[") and "hypotheses" in value[0]:
            continue
        assert name_of(text) == name_of(text, known("nbest")) == "jsonl-nbest"
        assert [nbest.texts for nbest in read(text)] == [nbest.texts for nbest in lists]
        assert [list(nbest.rows()) for nbest in read(text)] == [list(nbest.rows()) for nbest in lists]


# A change of a file's text, and the error.
MANGLED = [
    ("openai-batch.jsonl", '"status_code": 200', '"status_code": 429', "1: a response (the option failed=skip"),
    ("vllm-run-batch.jsonl", '"choices": [', '"choices": [], "x": [', "1: a choice (the option failed=skip"),
    (
        "chat-completions.jsonl",
        '"content": "a man reads ."',
        '"content": 5',
        "2: choice 2: a string as message.content, found 5",
    ),
    (
        "chat-completions.jsonl",
        '"content": "a man reads ."',
        '"content": null',
        "2: choice 2: an answer (the option failed=skip",
    ),
    (
        "chat-completions.jsonl",
        '"logprob": -0.375',
        '"logprob": -Infinity',
        "2: choice 2: a finite number as logprob, found",
    ),
    (
        "text-completions.jsonl",
        '"token_logprobs": [',
        '"token_logprobs": [null, ',
        "1: choice 1: log probabilities of the answer's tokens alone",
    ),
    (
        "text-completions.jsonl",
        '"token_logprobs": [',
        '"token_logprobs": [-1, ',
        "1: choice 1: an array of 5 token_logprobs, found 6",
    ),
    (
        "lm-eval.jsonl",
        '"resps": [["a man',
        '"resps": [[["-1", "False"]], ["a man',
        "2: generated texts as resps, of a task that generates",
    ),
    (
        "lm-eval.jsonl",
        '"doc_id": 2',
        '"doc_id": 0',
        "3: each id once, found '0' again (first at x:1), by the filter 'none'",
    ),
    ("ctranslate2.jsonl", '"scores": [-1.25, -1.5]', '"scores": [-1.25]', "2: an array of 2 scores, found 1"),
    ("ctranslate2.jsonl", '"reads"', '"\u2581reads"', "2: words as tokens (tokens=sentencepiece joins"),
    (
        "hf-generated.json",
        '"generated_text": "we go',
        '"text": "we go',
        "1: Hugging Face generated_text, as on line 1, found an object with text",
    ),
    ("hf-arrays.jsonl", '"a man reads ."', "7", "2: a string as generated_text, found 7"),
    ("hf-translation.jsonl", '"a man reads ."}]', '"a man reads ."}', "2: JSON, found expecting"),
    ("hyporadise.json", '"a man reads ."\n    ]', "3\n    ]", "9: generated texts as input, found 3"),
    (
        "trl-preferences.jsonl",
        '"role": "assistant", "content": "a man reads ."',
        '"role": "user", "content": "x"',
        "2: a last message of the role assistant in rejected, found",
    ),
    (
        "trl-completions.jsonl",
        '"completion": "a man reads ."',
        '"completion": ["a"]',
        "4: a string as completion, found",
    ),
    (
        "messages.jsonl",
        '"role": "assistant", "content": "a man reads ."',
        '"role": "tool", "content": "x"',
        "4: a last message of the role assistant in messages, found",
    ),
    ("lines.jsonl", '"score": -1.5', '"score": "x"', "4: a finite number as score, found 'x'"),
    (
        "lines.jsonl",
        ', "score": -1.5',
        "",
        "3: a total score for all candidates of a list or for none, found none for candidate 2",
    ),
    (
        "lines.jsonl",
        '"id": "s-2"',
        '"id": "s-0"',
        "5: each id once: only consecutive records of one id are a list, found 's-0' again (first at x:1)",
    ),
    (
        "lines.jsonl",
        '"source": "ein mann liest .", "hyp": "a man reads',
        '"source": "ein", "hyp": "a man reads',
        "4: the source of the list that it belongs to",
    ),
    (
        "sockeye.jsonl",
        '"sentence_id": 1,',
        '"sentence_id": 0,',
        "1: a sentence_id of at least 1, as sockeye counts, found 0",
    ),
    (
        "vllm-outputs.jsonl",
        '"cumulative_logprob": -1.5',
        '"cumulative_logprob": "x"',
        "2: candidate 2: a finite number as cumulative_logprob, found 'x'",
    ),
    (
        "pretty.json",
        '"score": -1.5\n',
        '"score": -1.5,\n',
        "26: JSON, found expecting property name enclosed in double quotes at column 5",
    ),
    ("array.json", '"text": "a man reads ."', '"txt": "a man reads ."', "22: candidate 2: a text named"),
]


@pytest.mark.parametrize(("name", "old", "new", "message"), MANGLED)
def test_mangled_files(name: str, old: str, new: str, message: str) -> None:
    assert old in content(name)
    assert without_field(refused(content(name).replace(old, new))).startswith(f"x:{message}")
    assert name in FILES


def test_every_shape_has_a_file_and_a_mangled_one() -> None:
    assert {FILES[name][0] for name, *_ in MANGLED} == {row[0] for row in FILES.values()}
    assert {shape.name for shape in SHAPES} < {row[0] for row in FILES.values()}


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith("l")])
def test_shapes_do_not_mix(name: str) -> None:
    for other in ("lines.jsonl", "chat-completions.jsonl", "vllm-outputs.jsonl"):
        if FILES[other][0] == FILES[name][0]:
            continue
        count = content(name).count("\n") + 1
        message = refused(content(name) + content(other))
        assert message.startswith(f"x:{count}: field ")
        assert FILES[name][0] in message or "an array named hypotheses" in message
        assert FILES[other][0] in message or "our own shape" in message


@pytest.mark.parametrize("name", FILES)
def test_nothing_that_begins_so_is_text(name: str) -> None:
    chance = random.Random(name)
    text = content(name)
    broken = [text.replace('"', "'"), text.replace('": ', '" '), text[:-2], text[: len(text) // 2]]
    broken += [text[: chance.randrange(20, len(text))] for _ in range(20)]
    broken += [text + "a sentence\n", *([text.split("\n")[0] + "\na sentence\n" * 9] if name.endswith("l") else [])]
    for part in broken:
        for formats in ([], known("nbest", "corpus"), known("corpus")):
            assert name_of(part, formats) in ("", "jsonl-nbest", "jsonl-corpus")


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_refused_with_their_place(name: str) -> None:
    chance = random.Random(name)
    pieces = [b'"', b"{", b"}", b"[", b"]", b",", b":", b"\n", b"null", b"1e999", b"\xff", b"\\", b"[[[[[[[", b""]
    for _ in range(60):
        data = bytearray(content(name).encode())
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(data) + 1)
            data[at : at + chance.randrange(4)] = chance.choice(pieces)
        check(FORMAT, bytes(data))


def test_lone_surrogates_stay_escapes() -> None:
    value = '[{"id": 0, "more": {"x": "\\ud800"}, "hypotheses": ["a"]}]'
    assert written(read(value)).encode() == b'{"id": 0, "more": {"x": "\\ud800"}, "hypotheses": ["a"]}\n'
    assert "expected a text without lone surrogates" in refused('{"input": ["\\ud800"], "output": "a"}')


def test_requests_that_failed() -> None:
    text = content("openai-batch.jsonl").replace('"status_code": 200', '"status_code": 500', 1)
    assert [nbest.id for nbest in read(text, failed="skip")] == ["s-1", "s-2"]
    lines = content("text-completions.jsonl").split("\n")
    empty = '{"choices": []}'
    text = "\n".join([lines[0].replace('"id": 0, ', ""), empty, lines[2].replace('"id": 2, ', "")])
    assert [nbest.id for nbest in read(text, failed="skip")] == ["0", "2"]
    error = '{"custom_id": "a", "response": null, "error": {"message": "too long"}}'
    assert refused(error).endswith("found the error 'too long'")


def test_tokens_are_joined_as_asked() -> None:
    pieces = '{"hypotheses": [["\u2581the", "\u2581hou", "se"]]}'
    assert read(pieces, tokens="sentencepiece")[0].texts == ["the house"]
    assert read(pieces, tokens="words")[0].texts == ["\u2581the \u2581hou se"]
    assert read('{"sequences": [["the", "hou@@", "se"]]}', tokens="bpe")[0].texts == ["the house"]
    assert "tokens=bpe joins" in refused('{"hypotheses": [["the", "hou@@", "se"]]}')


def test_numbers_of_records_are_not_taken_for_other_ids() -> None:
    rows = [{"segment_id": f"s-{i}", "hyp": "x"} for i in range(2)]
    assert "text=hyp,id=segment_id takes it from segment_id" in refused("".join(json.dumps(row) + "\n" for row in rows))
    places = [{"index": i, "hyp": "x"} for i in range(2)]
    assert [nbest.id for nbest in read("".join(json.dumps(row) + "\n" for row in places))] == ["0", "1"]
    swapped = "".join(json.dumps(row) + "\n" for row in places[::-1])
    assert "or index=0, its place, found index=1" in refused(swapped)
    assert [nbest.id for nbest in read(swapped, text="hyp", id="index")] == ["1", "0"]
    for name in ("custom_id", "doc_id"):
        assert read(json.dumps({name: "a", "hypotheses": ["x"]}))[0].id == "a"


def test_segments_of_a_document_are_no_list() -> None:
    rows = [{"doc_id": "d", "seg_id": i, "hyp": text} for i, text in enumerate("ab")]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    message = (
        "records of one sentence with the id 'd' (--from jsonl-nbest,text=PATH,id=seg_id takes the id from seg_id)"
    )
    assert f"{message}, found seg_id=1 after 0" in refused(text)
    assert [(nbest.id, nbest.texts) for nbest in read(text, text="hyp", id="seg_id")] == [("0", ["a"]), ("1", ["b"])]
    same = "".join(json.dumps(row | {"seg_id": 4}) + "\n" for row in rows)
    assert [nbest.texts for nbest in read(same)] == [["a", "b"]]


def test_ranks_that_do_not_fit_the_order() -> None:
    rows = [{"id": 0, "hyp": "b", "rank": 2}, {"id": 0, "hyp": "a", "rank": 1}]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    assert refused(text).endswith("expected totals, or hypotheses in the order of their ranks, found 2, 1")
    scored = "".join(json.dumps(row | {"score": row["rank"]}) + "\n" for row in rows)
    assert read(scored)[0].totals == [2, 1]
    own = json.dumps({"hypotheses": [{"text": row["hyp"], "rank": row["rank"]} for row in rows]})
    for function in (read, lambda text: load(io.BytesIO(text.encode()), "x")):
        with pytest.raises(FormatError, match="hypotheses in the order of their ranks"):
            function(own)


def test_parallel_scores_of_objects() -> None:
    text = '{"hypotheses": [{"text": "a"}, {"text": "b"}], "scores": [1, 2]}'
    path = "text=hypotheses.*.text,score=scores.*"
    assert path in refused(text)
    assert read(text, **dict(part.split("=") for part in path.split(",")))[0].totals == [1, 2]


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ({"content": "", "refusal": "no"}, "the refusal 'no'"),
        ({"content": "a", "refusal": "no"}, "the refusal 'no'"),
        ({"content": "Let me see", "tool_calls": [{"id": "t"}]}, "tool_calls"),
        ({"content": None, "tool_calls": []}, "null as message.content"),
    ],
)
def test_calls_and_refusals_are_no_answers(message: dict[str, Any], found: str) -> None:
    record = json.dumps({"custom_id": "a", "response": {"body": {"choices": [{"message": message}]}}})
    assert refused(record).endswith(f"leaves out records without one), found {found}")
    good = json.dumps({"custom_id": "b", "response": {"body": {"choices": [{"message": {"content": "x"}}]}}})
    assert [nbest.id for nbest in read(f"{record}\n{good}\n", failed="skip")] == ["b"]


def test_records_with_an_error_are_failures_in_all_shapes() -> None:
    records: list[dict[str, Any]] = [{"hypotheses": ["a"]}, {"generated_text": "a"}, {"prompt": "p", "completion": "a"}]
    for record in records:
        text = "".join(json.dumps({**record, "id": i} | more) + "\n" for i, more in enumerate([{}, {"error": "late"}]))
        assert refused(text).endswith("leaves out records with an error), found the error 'late'")
        assert [nbest.id for nbest in read(text, failed="skip")] == ["0"]
        assert read(json.dumps(record | {"error": None}))[0].texts == ["a"]


def test_options_without_effect_are_refused() -> None:
    values: dict[str, str] = {"tokens": "bpe", "array": "list"}
    for name in FILES:
        shape = next((shape for shape in SHAPES if shape.name == FILES[name][0]), None)
        for option, value in values.items():
            if shape is not None and option in shape.options:
                continue
            assert f"expected no option {option}, which has no effect on " in refused(content(name), **{option: value})
            assert f"), found {option}={value}" in refused(content(name), **{option: value})
            with pytest.raises(FormatError, match="which has no effect on"):
                load(io.BytesIO(content(name).encode()), "x", **{option: value})
    own = refused('{"id": 0, "hypotheses": ["a"]}\n', tokens="bpe")
    assert "on lists of our own shape (it is for CTranslate2 results), found tokens=bpe" in own
    assert "on texts by path" in refused(content("by-path.jsonl"), text="generations.*.out.string", array="list")
    assert len(read(content("array.json"), failed="skip", thoughts="drop")) == 3


def test_ids_are_of_all_records_or_of_none() -> None:
    rows = [{"id": "a", "hyp": "x"}, {"hyp": "y"}]
    for order in (rows, rows[::-1]):
        text = "".join(json.dumps(row) + "\n" for row in order)
        assert "2: an id for each list or for none, found" in without_field(refused(text))
    numbers = "".join(json.dumps({"id": key, "hyp": "x"}) + "\n" for key in (1, 1.0, 12345678901234567891, -0.5, -0.0))
    assert [(nbest.id, len(nbest)) for nbest in read(numbers)] == [
        *[("1", 2), ("12345678901234567891", 1), ("-0.5", 1), ("0", 1)],
    ]


def test_one_array_of_results_says_too_little() -> None:
    for indent in (None, 1):
        text = json.dumps([{"translation_text": text} for text in ("a", "b")], indent=indent)
        assert "array=sentences (each element is a sentence) or array=list" in refused(text)
        assert [nbest.texts for nbest in read(text, array="sentences")] == [["a"], ["b"]]
        assert [nbest.texts for nbest in read(text, array="list")] == [["a", "b"]]
    assert [nbest.texts for nbest in read('[{"generated_text": "a"}]')] == [["a"]]
    nested = [[[{"generated_text": "a"}]], [[{"generated_text": "b"}]]]
    assert [nbest.texts for nbest in read(json.dumps(nested))] == [["a"], ["b"]]


def test_paths() -> None:
    text = content("by-path.jsonl")
    path = "generations.*.out.string"
    assert f"--from jsonl-nbest,text={path} reads" in refused_by_detection(text)
    lists = read(text, text=path, score="generations.*.quality", id="segment", source="input.text")
    assert [nbest.texts for nbest in lists] == TEXTS
    assert [nbest.totals for nbest in lists] == TOTALS
    assert ([nbest.id for nbest in lists], [nbest.source for nbest in lists]) == (SEGMENTS, SOURCES)
    assert lists[0].reading == ("texts by path", "input")
    assert [nbest.texts for nbest in read(text, text="generations.1.out.string")] == [[two] for _, two in TEXTS]
    flat = "".join(json.dumps({"n": i // 2, "t": f"t{i}", "s": {"a": i, "b": 1}}) + "\n" for i in range(4))
    first, second = read(flat, text="t", id="n", score="s")
    assert list(second.rows()) == [("t2", {"a": 2, "b": 1}, None), ("t3", {"a": 3, "b": 1}, None)]
    assert first.texts == ["t0", "t1"]
    completions = content("trl-completions.jsonl").replace('"id"', '"n"')
    assert [nbest.texts for nbest in read(completions, id="prompt")] == TEXTS
    assert len(read(completions)) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "generations.*.txt"}, "1: a text at generations.*.txt, found none among segment, input"),
        ({"text": "generations"}, "1: a string as generations, found"),
        ({"text": "generations.*.out.string", "score": "quality"}, "1: a score at quality for each of 2"),
        ({"text": "segment", "id": "generations.*.quality"}, "1: one value at generations.*.quality, found 2"),
        ({"text": "segment", "source": "nothing"}, "1: a value at nothing, found none among segment"),
        ({"id": "segment"}, "1: the option text=PATH, which the other paths go with, found none"),
    ],
)
def test_bad_paths(options: dict[str, str], message: str) -> None:
    assert without_field(refused(content("by-path.jsonl"), **options)).startswith(f"x:{message}")


def test_paths_keep_the_ids_of_known_shapes() -> None:
    batch = content("openai-batch.jsonl").splitlines(keepends=True)
    lists = read("".join(batch[::-1]), text="response.body.choices.*.message.content")
    assert [(nbest.id, nbest.texts) for nbest in lists] == list(zip(SEGMENTS, TEXTS, strict=True))[::-1]
    assert "custom_id" not in lists[0].reading
    # Not that of a server's response.
    assert [nbest.id for nbest in read(content("chat-completions.jsonl"), text="choices.*.message.content")] == NUMBERS
    assert [nbest.id for nbest in read(content("sockeye.jsonl"), text="translation")] == list("012345")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            {"custom_id": "a", "result": {"message": {"content": [{"type": "text", "text": "a house"}]}}},
            "--from jsonl-nbest,text=result.message.content.*.text reads",
        ),
        (
            {"model": "m", "created_at": "2024-05-01T10:00:00Z", "message": {"role": "assistant", "content": "a"}},
            "--from jsonl-nbest,text=message.content reads",
        ),
        ({"prompt": "Translate: ein haus", "predict": "a house", "label": "a"}, "text=predict reads"),
        ({"error": {"message": "rate limit", "type": "x"}}, "found an error instead of candidates, 'rate limit'"),
    ],
)
def test_the_path_of_a_message_is_that_of_texts(record: dict[str, Any], message: str) -> None:
    assert message in refused_by_detection(json.dumps(record) + "\n")


def test_answers_are_told_from_prompts_thoughts_and_failures() -> None:
    examples = [{"role": role, "content": "x"} for role in ("user", "assistant", "user")]
    for record in ({"messages": examples}, {"generated_text": examples}, {"prompt": "y", "completion": examples}):
        assert "a last message of the role assistant" in refused(json.dumps(record))
    prompts = {"prompt": ["x", "y"], "choices": [{"text": "a"}, {"text": "b"}]}
    assert "expected one prompt," in refused(json.dumps(prompts))
    assert read(json.dumps(prompts | {"prompt": [11, 12]}))[0].texts == ["a", "b"]
    parts = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": " b"}]
    assert read(json.dumps({"choices": [{"message": {"content": parts}}]}))[0].texts == ["a b"]
    parts[0]["type"] = "note"
    assert "parts of the type text" in refused(json.dumps({"choices": [{"message": {"content": parts}}]}))
    for reason in ("length", "content_filter", "tool_calls"):
        cut = json.dumps({"choices": [{"message": {"content": ""}, "finish_reason": reason}]})
        assert f"found an empty one with the finish_reason {reason}" in refused(cut)
    whole = json.dumps({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]})
    assert [(nbest.id, nbest.texts) for nbest in read(f"{cut}\n{whole}", failed="skip")] == [("1", ["a"])]


def test_a_text_beside_its_translation_is_not_judged() -> None:
    record = {"id": 0, "text": "ein haus", "translation": "a house"}
    for more in ({}, {"score": -1.0}):
        assert "found JSON objects with id, text, translation" in refused_by_detection(json.dumps(record | more) + "\n")
    assert read(json.dumps(record), text="translation", source="text")[0].texts == ["a house"]


def test_a_hypothesis_with_an_error_is_a_failure() -> None:
    rows = [{"id": 0, "hyp": "a house"}, {"id": 1, "hyp": "", "error": "timeout"}, {"id": 2, "hyp": "a", "error": None}]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    assert without_field(refused(text)).startswith("x:2: a hypothesis (the option failed=skip")
    assert [nbest.id for nbest in read(text, failed="skip")] == ["0", "2"]
    refusal = {"choices": [{"message": {"content": None, "refusal": "no"}}]}
    assert refused(json.dumps(refusal)).endswith("found the refusal 'no'")


def test_requests_that_failed_are_left_out_by_path_too() -> None:
    first, second, third = content("openai-batch.jsonl").splitlines()
    record = json.loads(second)
    record["response"]["body"] = {"error": {"message": "late"}}
    text = "\n".join([first, json.dumps(record), third])
    assert "2: a response (the option failed=skip" in without_field(refused(text))
    assert refused(text).endswith("found the status 200, 'late'")
    for path in (None, "response.body.choices.*.message.content"):
        assert [nbest.id for nbest in read(text, text=path, failed="skip")] == ["s-0", "s-2"]
    assert "no hypothesis in the file" in refused(text, text="response.nothing", failed="skip")


def refused_by_detection(text: str) -> str:
    with pytest.raises(FormatError) as caught:
        detect(text.encode(), all_formats(), "x")
    return str(caught.value)


def test_long_records_are_told_by_their_beginning() -> None:
    choice = json.loads(content("chat-completions.jsonl").split("\n")[0])["choices"][0]
    choice["logprobs"]["content"] *= 2000
    for record in ({"choices": [choice]}, [{"custom_id": "a", "response": {"body": {"choices": [choice] * 2}}}]):
        text = json.dumps(record)
        assert len(text) > HEAD_BYTES
        assert name_of(text) == "jsonl-nbest"
        assert len(read(text)) == 1


def test_lists_of_other_shapes_change_like_any() -> None:
    (nbest, *_) = read(content("hyporadise.json"))
    wider = nbest.with_columns([("len",)] * 2, [[5.0], [5.0]]).with_totals([1.0, 2.0]).select([1, 0])
    (again,) = read(written([wider]))
    assert list(again.rows()) == list(wider.rows())
    assert again.extras == {"reference": ["the house is small ."] * 2}
    assert replace(again, reading=()).texts == nbest.texts[::-1]


@pytest.mark.parametrize("name", [*FILES, "by-path.jsonl"])
def test_columns(name: str) -> None:
    options = {"text": "generations.*.out.string", "id": "segment"} if name == "by-path.jsonl" else {}
    assert FORMAT.load is not None
    columns = FORMAT.load(io.BytesIO(content(name).encode()), "x", **options)
    wanted = ListColumns.from_lists(read(content(name), **options))
    assert (columns.ids[:], columns.texts[:], columns.sources) == (wanted.ids[:], wanted.texts[:], wanted.sources)
    assert columns.features.values.tolist() == wanted.features.values.tolist()
    assert (columns.totals is None) == (wanted.totals is None)


def test_thoughts_before_an_answer() -> None:
    """They are no translation: an error, or left out on request."""
    record = {"choices": [{"message": {"content": content}} for content in ("<think>\na b\n</think>\n\na house", "b")]}
    text = json.dumps(record) + "\n"
    assert "choice" not in refused(text)
    assert "1: field 1: expected an answer (the option thoughts=drop leaves out thoughts), found thoughts" in refused(
        text
    )
    (nbest,) = read(text, thoughts="drop")
    assert nbest.texts == ["a house", "b"]
    (by_path,) = read(text, text="choices.*.message.content", thoughts="drop")
    assert by_path.texts == nbest.texts
    lines = '{"id": 1, "generated_text": "<think>a"}\n{"id": 2, "generated_text": "a <think>"}\n'
    assert "an answer behind the thoughts" in refused(lines, thoughts="drop")
    assert [(one.id, one.texts) for one in read(lines, thoughts="drop", failed="skip")] == [("2", ["a <think>"])]
