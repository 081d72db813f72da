"""What libraries of models return, as n-best lists: told by attributes, with none of the libraries."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtformats import FormatError
from smtplugins.contracts.errors import SmtError

SHAPES = Path(__file__).resolve().parents[2] / "formats/nbest/shapes"


@dataclass
class Logprob:
    """The log probability of a token, as vLLM has it."""

    logprob: float


class Model:
    """A response as pydantic makes it."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def model_dump(self) -> Any:
        return self._value


def vllm(*texts: str, prompt: str | None = "ein haus") -> Any:
    outputs = [
        SimpleNamespace(
            index=i,
            text=text,
            token_ids=(5, 7),
            cumulative_logprob=-0.5 - i,
            logprobs=[{5: Logprob(-0.25 - i), 9: Logprob(-9.0)}, {7: Logprob(-0.25)}],
            finish_reason="stop",
            stop_reason=None,
        )
        for i, text in enumerate(texts)
    ]  # fmt: skip
    return SimpleNamespace(request_id="17", prompt=prompt, outputs=outputs, finished=True, metrics=object())


def test_vllm() -> None:
    nbest = smt.candidates(vllm("a house", "house"))
    assert (nbest.id, nbest.source, nbest.texts, nbest.totals) == ("0", "ein haus", ["a house", "house"], [-0.5, -1.5])
    assert [features for _, features, _ in nbest.rows()] == [
        {"logprob": -0.5, "logprob_mean": -0.25},
        {"logprob": -1.5, "logprob_mean": -0.75},
    ]
    assert json.loads(nbest.extras["token_logprobs"][1]) == [-1.25, -0.25]
    assert nbest.extras["finish_reason"] == ["stop", "stop"]
    first, second = smt.candidates([vllm("a"), vllm("b", "c")], source=["x", "y"])
    assert [(nbest.id, nbest.source, nbest.texts) for nbest in (first, second)] == [
        ("0", "x", ["a"]),
        ("1", "y", ["b", "c"]),
    ]
    assert (first.raw, first.file, first.origin) == (None, "", "")
    bare = smt.candidates(vllm("a", prompt=None), source="z")
    assert (bare.source, bare.texts) == ("z", ["a"])


def test_openai() -> None:
    lines = (SHAPES / "chat-completions.jsonl").read_text().splitlines()
    chats = [json.loads(line) for line in lines]
    for responses in (chats, [Model(chat) for chat in chats], tuple(map(spaces, chats))):
        lists = smt.candidates(responses)
        assert [nbest.id for nbest in lists] == ["0", "1", "2"]
        assert lists[1].texts == ["a man is reading .", "a man reads ."]
        assert lists[1].totals == [-1.25, -1.5]
        assert smt.candidates(responses[0]).texts == lists[0].texts
    text = json.loads((SHAPES / "text-completions.jsonl").read_text().splitlines()[2])
    assert smt.candidates(Model(text)).totals == [-1.0, -0.5]


def spaces(value: Any) -> Any:
    """The value with attributes in place of members."""
    if isinstance(value, dict):
        return SimpleNamespace(**{name: spaces(inner) for name, inner in value.items()})
    return [spaces(inner) for inner in value] if isinstance(value, list) else value


def test_ctranslate2() -> None:
    result = SimpleNamespace(
        hypotheses=[["a", "house"], ["house"]], scores=np.array([-0.5, -0.75]), attention=[], logits=[]
    )
    nbest = smt.candidates(result, source="ein haus")
    assert list(nbest.rows()) == [("a house", {"score": -0.5}, -0.5), ("house", {"score": -0.75}, -0.75)]
    assert nbest.source == "ein haus"
    pieces = SimpleNamespace(hypotheses=[["\u2581a", "\u2581hou", "se"]], scores=[])
    with pytest.raises(FormatError, match="tokens=sentencepiece joins pieces"):
        smt.candidates(pieces)
    assert smt.candidates([pieces], tokens="sentencepiece")[0].texts == ["a house"]


def test_pipelines() -> None:
    results = [{"generated_text": "a house"}, {"generated_text": "house"}]
    assert [nbest.texts for nbest in smt.candidates([results, results[:1]])] == [["a house", "house"], ["a house"]]
    assert [nbest.texts for nbest in smt.candidates(results[:1])] == [["a house"]]
    assert smt.candidates(results[1]).texts == ["house"]
    with pytest.raises(
        FormatError, match=r"\[results\] if they are the candidates of one, .* found one list of 2 results"
    ):
        smt.candidates(results)


def test_decoded_json_of_any_shape() -> None:
    nbest = smt.candidates({"id": "s-1", "source": "x", "hypotheses": [{"text": "a", "scores": {"lm": 1}}]})
    assert (nbest.id, nbest.source, list(nbest.rows())) == ("s-1", "x", [("a", {"lm": 1.0}, None)])
    lists = json.loads((SHAPES / "hyporadise.json").read_text())
    assert smt.candidates(lists)[0].extras["reference"] == ["the house is small ."] * 2


def test_texts_stay_texts(tmp_path: Path) -> None:
    nbest = smt.candidates(["a", "b"], id=7, scores=[1, 2], source="x")
    assert (nbest.id, nbest.texts, nbest.totals, nbest.source) == ("7", ["a", "b"], [1, 2], "x")
    assert smt.candidates([]).texts == []
    assert smt.candidates(np.array(["a"])).texts == ["a"]
    lists = smt.rescore(smt.candidates([vllm("a", "b")]), {"logprob": 1.0}, missing=0)
    assert lists.best() == ["a"]
    assert lists.write(tmp_path / "x", "moses") == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smt.candidates("a b"), "expected a list of texts, found a single text"),
        (lambda: smt.candidates(object()), "expected texts, or vLLM's, OpenAI's, CTranslate2's .* found object"),
        (lambda: smt.candidates([1, 2]), "<responses>:1: expected texts, or .* of a known shape .* found 1"),
        (lambda: smt.candidates([vllm("a")], source="x y z".split()), "expected 1 sources, found 3"),
        (lambda: smt.candidates(vllm("a"), scores=[1]), "responses have their own scores"),
        (lambda: smt.candidates(["a"], tokens="bpe"), "thoughts, echo, wrapping and cut are for models' responses"),
        (lambda: smt.candidates(["a"], source=["x"]), "texts have one source"),
        (lambda: smt.candidates({"x": "y"}), "give the texts, with id=, scores= .* found an object with x"),
        (lambda: smt.candidates({"error": {"message": "no GPU"}}), "found an error instead of candidates, 'no GPU'"),
        (lambda: smt.candidates([vllm("a"), {"generated_text": "b"}]), ":2: .* found none, but Hugging Face"),
        (lambda: smt.candidates(Model({"choices": []})), "expected a choice"),
    ],
)  # fmt: skip
def test_errors(call: Any, message: str) -> None:
    with pytest.raises((SmtError, FormatError), match=message):
        call()


def answered(text: str | None) -> dict[str, Any]:
    """A chat completion."""
    return {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}


@pytest.mark.parametrize(
    ("response", "advice", "option", "texts"),
    [
        (answered("<think>hm</think>a house"), "thoughts=drop", {"thoughts": "drop"}, [["a"], ["a house"], ["b"]]),
        (answered(None), "failed=skip", {"failed": "skip"}, [["a"], ["b"]]),
    ],
)
def test_advice_names_own_parameters(response: Any, advice: str, option: Any, texts: list[list[str]]) -> None:
    responses = [answered("a"), response, answered("b")]
    with pytest.raises(FormatError, match=f"<responses>:2: .*the option {advice} ") as caught:
        smt.candidates(responses)
    assert "--" not in str(caught.value)
    lists = smt.candidates(responses, source=["x", "y", "z"], **option)
    assert [nbest.texts for nbest in lists] == texts
    assert [nbest.source for nbest in lists] == (["x", "y", "z"] if len(texts) == 3 else ["x", "z"])
    assert [nbest.id for nbest in lists] == (["0", "1", "2"] if len(texts) == 3 else ["0", "2"])


def test_a_prompt_in_its_answer() -> None:
    response = {
        "object": "text_completion",
        "choices": [{"text": "Translate: ein haus a house"}],
        "prompt": "Translate: ein haus",
    }
    with pytest.raises(FormatError, match="the option echo=drop leaves out the prompt"):
        smt.candidates(response)
    assert smt.candidates(response, echo="drop").texts == ["a house"]


def test_loops_end() -> None:
    loop: list[Any] = [{"generated_text": "a"}]
    loop.append(loop)
    with pytest.raises(FormatError, match="expected a response nested at most 16 deep"):
        smt.candidates(loop)
