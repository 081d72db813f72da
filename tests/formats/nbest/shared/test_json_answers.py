"""Thoughts, echoed prompts, special tokens and cut answers are no translations: an error, or left out."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from smtformats import Candidates, FormatError, ListColumns
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest.jsonl import load, parse, write

PROMPT = "Translate: ein haus\nEnglish:"
# Records with the text in the place of their hypothesis, and the path of that text.
SHAPES: dict[str, tuple[Any, str]] = {
    "strings": ({"id": 0, "prompt": PROMPT, "hypotheses": ["TEXT"]}, "hypotheses.*"),
    "objects": ({"id": 0, "prompt": PROMPT, "candidates": [{"score": 0.50, "text": "TEXT"}]}, "candidates.*.text"),
    "vllm": ({"prompt": PROMPT, "outputs": [{"text": "TEXT", "cumulative_logprob": -1}]}, "outputs.*.text"),
    "completions": ({"prompt": PROMPT, "choices": [{"text": "TEXT"}]}, "choices.*.text"),
    "prompts": ({"prompt": [PROMPT], "choices": [{"text": "TEXT"}]}, "choices.*.text"),
    "generated": ({"prompt": PROMPT, "generated_text": "TEXT"}, "generated_text"),
    "line": ({"id": 0, "source": "ein haus", "prompt": PROMPT, "hyp": "TEXT"}, "hyp"),
    "trl": ({"prompt": PROMPT, "completion": "TEXT"}, "completion"),
    "lm-eval": ({"doc_id": 0, "prompt": PROMPT, "arguments": [[PROMPT, {}]], "resps": [["TEXT"]]}, "resps.*.*"),
}
THOUGHTS = [
    "<think>\na b\n</think>\n\n%s",
    "  <thinking>a</thinking> %s ",
    "a b\n</think>\n\n%s",
    "<think>a</think><think>b</think>%s",
    "[THINK]a[/THINK]%s",
    "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>%s<|return|>",
    "<s><reasoning>a</reasoning>%s",
]


WRAPPED = [
    "%s</s>",
    "<s> %s </s>\n",
    "<pad> %s</s><pad><pad>",
    "%s<|im_end|>",
    "<|im_start|>assistant\n%s<|im_end|>\n",
    "<|start_header_id|>assistant<|end_header_id|>\n\n%s<|eot_id|>",
    "<start_of_turn>model\n%s<end_of_turn>",
    "%s<\uff5cend\u2581of\u2581sentence\uff5c>",
    "```\n%s\n```",
    "```text\n%s</s>\n```",
    "```%s```<|endoftext|>",
]
# As encoders of JSON that is safe in pages spell it.
SAFE = {"<": "\\u003c", ">": "\\u003e"}
# Records with the reason for the end of one of two answers in the place of REASON, and the path of their texts.
ENDS: dict[str, tuple[Any, str]] = {
    "own": ({"hypotheses": [{"text": "a", "finish_reason": "REASON"}, {"text": "b"}]}, "hypotheses.*.text"),
    "vllm": (
        {"outputs": [{"text": t, "finish_reason": r} for t, r in (("a", "REASON"), ("b", "x"))]},
        "outputs.*.text",
    ),
    "chat": (
        {"choices": [{"message": {"content": t}, "finish_reason": r} for t, r in (("a", "REASON"), ("b", "stop"))]},
        "choices.*.message.content",
    ),
    "transformers": (
        [[{"generated_text": "a", "details": {"finish_reason": "REASON"}}, {"generated_text": "b"}]],
        "",
    ),
}
FOREIGN: dict[str, tuple[Any, str]] = {
    "anthropic": ({"content": [{"text": "a"}], "stop_reason": "max_tokens"}, "content.*.text"),
    "gemini": (
        {"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "MAX_TOKENS"}]},
        "candidates.*.content.parts.*.text",
    ),
    "ollama": ({"message": {"content": "a"}, "done_reason": "length"}, "message.content"),
    "sglang": ({"text": "a", "meta_info": {"finish_reason": {"type": "length"}}}, "text"),
    "responses": ({"status": "incomplete", "output": [{"content": [{"text": "a"}]}]}, "output.*.content.*.text"),
}


def text_of(name: str, text: str, *, escaped: bool = False) -> str:
    return json.dumps(SHAPES[name][0], ensure_ascii=escaped).replace('"TEXT"', json.dumps(text, ensure_ascii=escaped))


def read(text: str, /, **options: Any) -> list[Candidates]:
    """The lists, read as columns as well."""
    lists = list(parse(Lines(io.BytesIO(text.encode()), "x"), **options))
    columns = load(io.BytesIO(text.encode()), "x", **options)
    assert columns.texts[:] == ListColumns.from_lists(lists).texts[:]
    return lists


def refused(text: str, /, **options: Any) -> str:
    messages = set()
    for function in (
        lambda: list(parse(Lines(io.BytesIO(text.encode()), "x"), **options)),
        lambda: load(io.BytesIO(text.encode()), "x", **options),
    ):
        with pytest.raises(FormatError) as caught:
            function()
        messages.add(str(caught.value))
    assert len(messages) == 1
    return messages.pop()


def written(lists: list[Candidates]) -> str:
    out = io.StringIO()
    write(lists, out, shortest)
    return out.getvalue()


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("thoughts", THOUGHTS)
def test_thoughts(name: str, thoughts: str) -> None:
    for escaped in (False, True):
        text = text_of(name, thoughts % "ein „haus“", escaped=escaped)
        assert "an answer (the option thoughts=drop leaves out thoughts), found thoughts" in refused(text)
        for options in ({}, {"text": SHAPES[name][1]}):
            lists = read(text, thoughts="drop", **options)
            assert [nbest.texts for nbest in lists] == [["ein „haus“"]]
            assert read(written(lists))[0].texts == ["ein „haus“"]
            assert written([nbest.with_totals([1.0]) for nbest in lists]).count("think") == 0


@pytest.mark.parametrize("name", SHAPES)
def test_echoed_prompts(name: str) -> None:
    for escaped in (False, True):
        text = text_of(name, f" {PROMPT} a „house“\n", escaped=escaped)
        message = "an answer without its prompt (the option echo=drop leaves out the prompt, echo=keep keeps"
        assert message in refused(text)
        for options in ({}, {"text": SHAPES[name][1]}):
            lists = read(text, echo="drop", **options)
            assert [nbest.texts for nbest in lists] == [["a „house“"]]
            assert read(written(lists))[0].texts == ["a „house“"]
            assert read(text, echo="keep", **options)[0].texts == [f" {PROMPT} a „house“\n"]
    assert read(text_of(name, f"a house, {PROMPT}"))[0].texts == [f"a house, {PROMPT}"]
    assert "a text that begins with its prompt, 'Translate: ein haus\\nEnglish:'" in refused(
        text_of(name, "a house"), echo="drop"
    )


def test_a_prompt_before_thoughts() -> None:
    text = text_of("generated", f"{PROMPT}<think>a</think> a house")
    assert read(text, echo="drop", thoughts="drop")[0].texts == ["a house"]
    assert "thoughts=drop" in refused(text, echo="drop")


def test_texts_without_a_prompt_are_not_cut() -> None:
    assert "a prompt (the option echo=drop takes it from the texts), found none" in refused(
        '{"hypotheses": ["a"]}', echo="drop"
    )
    assert read('{"source": "Berlin", "hypotheses": ["Berlin ."]}')[0].texts == ["Berlin ."]
    assert read('{"prompt": "", "hypotheses": ["a"]}')[0].texts == ["a"]
    assert read('{"prompt": [1, 2], "choices": [{"text": "a"}]}')[0].texts == ["a"]


@pytest.mark.parametrize("text", ["<think>a", "<think>a</think> \n", "a</think>", "<think>a</think><think>b"])
@pytest.mark.parametrize("name", ["strings", "vllm", "generated"])
def test_thoughts_without_an_answer(name: str, text: str) -> None:
    record = text_of(name, text).replace('"id": 0, ', "")
    good = text_of(name, "a house").replace('"id": 0, ', "")
    message = "an answer behind the thoughts (the option failed=skip leaves out records without one), found none"
    assert message in refused(f"{record}\n{good}\n", thoughts="drop")
    lists = read(f"{record}\n{good}\n", thoughts="drop", failed="skip")
    assert [(nbest.id, nbest.texts) for nbest in lists] == [("1", ["a house"])]
    assert "think" not in written(lists)
    prompts = text_of(name, PROMPT).replace('"id": 0, ', "")
    assert "an answer behind the prompt" in refused(prompts, echo="drop")


@pytest.mark.parametrize("text", ["a < b [c]", "I think> so", "<thinker> a", "a <think> b", "a</s> b", "channel|>"])
def test_other_texts_stay(text: str) -> None:
    for name in SHAPES:
        assert read(text_of(name, text))[0].texts == [text]
        assert read(text_of(name, text), thoughts="drop")[0].texts == [text]


def test_only_lists_with_thoughts_change() -> None:
    """Those of others are copied byte for byte."""
    lines = [
        '{"id": 1, "hypotheses": [ {"score" : 1.50, "text":"a"},{"hyp": "<think>d</think>e", "score":2e0}]}\n',
        '{"id": 2,"hypotheses": [ "a\\u0062" ]}\n',
    ]
    wanted = [lines[0].replace("<think>d</think>", ""), lines[1]]
    assert written(read("".join(lines), thoughts="drop")) == "".join(wanted)
    mixed = '{"hypotheses": [ "<think>b</think> c" , {"text": "d"}]}\n'
    assert written(read(mixed, thoughts="drop")) == mixed.replace("<think>b</think> ", "")


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_special_tokens_and_code_fences(name: str, wrapped: str) -> None:
    whole = wrapped % "ein „haus“"
    safe = text_of(name, whole)
    for mark, escape in SAFE.items():
        safe = safe.replace(mark, escape)
    for text in (text_of(name, whole), text_of(name, whole, escaped=True), safe):
        assert "an answer without special tokens or a code fence around it (the option wrapping=drop" in refused(text)
        for options in ({}, {"text": SHAPES[name][1]}):
            assert read(text, wrapping="keep", **options)[0].texts == [whole]
            lists = read(text, wrapping="drop", **options)
            assert [nbest.texts for nbest in lists] == [["ein „haus“"]]
            assert read(written(lists))[0].texts == ["ein „haus“"]


def test_tags_and_code_inside_a_text_stay() -> None:
    for text in ("now <s>10 €</s>", "use ```a``` or ```b```", "a <|x|> b", "a </s> b", "<b>a</b>", "<s>a b", " a\n"):
        assert read(json.dumps({"hypotheses": [text]}), wrapping="drop")[0].texts == [text.removeprefix("<s>")]
    assert read('{"hypotheses": ["</s>", ""]}', wrapping="drop")[0].texts == ["", ""]


def test_a_prompt_between_special_tokens() -> None:
    text = text_of("generated", f"<s> {PROMPT} ```a house```</s>")
    assert "echo=drop" in refused(text) and "echo=drop" in refused(text, wrapping="drop")
    assert read(text, echo="drop", wrapping="drop")[0].texts == ["a house"]
    thought = text_of("strings", "<think>a</think> a house<|im_end|>")
    assert read(thought, thoughts="drop", wrapping="drop")[0].texts == ["a house"]


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_answers_that_were_cut(name: str, reason: str) -> None:
    record, path = ENDS[name]
    text = json.dumps(record).replace("REASON", reason) + "\n"
    message = "candidate 1: a whole answer (the option cut=drop leaves out those that were cut, cut=keep keeps them)"
    for options in ({}, *([{"text": path}] if path else [])):
        assert f"{message}, found one with the finish reason {reason}" in refused(text, **options)
        assert read(text, cut="keep", **options)[0].texts == ["a", "b"]
        lists = read(text * 2, cut="drop", **options)
        assert [(nbest.id, nbest.texts, nbest.first) for nbest in lists] == [("0", ["b"], 0), ("1", ["b"], 1)]
        assert [nbest.texts for nbest in read(written(lists))] == [["b"], ["b"]]
        assert read(text.replace(reason, "stop"), **options)[0].texts == ["a", "b"]


@pytest.mark.parametrize("name", FOREIGN)
def test_answers_that_were_cut_by_path(name: str) -> None:
    record, path = FOREIGN[name]
    assert "candidate 1: a whole answer" in refused(json.dumps(record), text=path)
    kept = read(json.dumps(record), text=path, cut="keep")
    assert kept[0].texts == ["a"] and "finish_reason" in kept[0].extras
    good = json.dumps(record)
    for reason in ("max_tokens", "MAX_TOKENS", "length", "incomplete"):
        good = good.replace(f'"{reason}"', '"stop"')
    both = f"{json.dumps(record)}\n{good}\n"
    assert "an answer that was not cut (the option failed=skip" in refused(both, text=path, cut="drop")
    lists = read(both, text=path, cut="drop", failed="skip")
    assert [(nbest.id, nbest.texts, nbest.first) for nbest in lists] == [("1", ["a"], 0)]
    assert "no hypothesis in the file" in refused(json.dumps(record), text=path, cut="drop", failed="skip")
