"""What is read from a record of a foreign shape: texts, scores, log probabilities of tokens, and fields left aside."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeGuard

from smtformats.nbest.shared.spans import clean, finite, id_text, plain, shown
from smtformats.records import dataclass
from smtformats.tokens import BadField

SOURCES = ("source", "src", "input", "prompt")
REFERENCES = ("reference", "ref", "target", "tgt")
KEYS = ("id", "sentence_id", "custom_id", "doc_id")
LIKE_KEYS = "example_id guid idx index sample_id seg_id segment_id sent_id uid utt_id utterance_id".split()
SEGMENT_KEYS = "seg_id segment_id sent_id utt_id utterance_id".split()
CUMULATIVE = "cumulative_logprob"
LOGPROB, MEAN = "logprob", "logprob_mean"
_TEXT_PARTS, _THOUGHTS = ("text", "output_text"), ("thinking", "redacted_thinking", "reasoning")
_MARKED = {"sentencepiece": "\u2581", "bpe": "@@"}


class Failed(BadField):
    """A record that holds no answer, because its request failed."""


@dataclass
class DraftRow:
    """A hypothesis: its text, features, total and further fields."""

    text: str
    features: dict[str, float] = field(default_factory=dict)
    total: float | None = None
    extras: dict[str, str] = field(default_factory=dict)


@dataclass
class DraftList:
    """The hypotheses of a record, its id and source, what holds for all of them, and the names of unused fields.

    ``prompt`` is what they were generated after, ``segment`` are the members that count sentences.
    """

    key: str | None = None
    source: str | None = None
    prompt: str | None = None
    segment: dict[str, str] = field(default_factory=dict)
    rows: list[DraftRow] = field(default_factory=list)
    shared: dict[str, str] = field(default_factory=dict)
    aside: dict[str, None] = field(default_factory=dict)


class Fields:
    """The members of an object; those that nobody takes are noted as left aside."""

    def __init__(self, value: Any, path: str, draft: DraftList) -> None:
        if not isinstance(value, Mapping):
            raise BadField(f"an object at {path.rstrip('.')}", shown(value))
        self.value: Mapping[str, Any] = value
        self._path = path
        self._aside = draft.aside
        self._taken: set[str] = set()

    def take(self, name: str) -> Any:
        """The value of a member, or None."""
        self._taken.add(name)
        return self.value.get(name)

    def close(self) -> None:
        """Note the members that were not taken."""
        for name, value in self.value.items():
            if name not in self._taken and value not in (None, [], {}, ""):
                self._aside[f"{self._path}{name}"] = None

    def text(self, name: str) -> str:
        """The text of a member."""
        return text_of(self.take(name), name)

    def extra(self, row: DraftRow, *names: str) -> None:
        """Keep members as further fields of a hypothesis."""
        for name in names:
            value = self.take(name)
            if value is not None:
                row.extras[name] = plain(value)

    def rest(self, row: DraftRow) -> None:
        """Keep all other members as further fields of a hypothesis."""
        self.extra(row, *[name for name in self.value if name not in self._taken])

    def scalars(self, row: DraftRow) -> None:
        """Keep all other members but objects and arrays."""
        left = [name for name in self.value if name not in self._taken]
        self.extra(row, *[name for name in left if not isinstance(self.value[name], (list, Mapping))])


def text_of(value: Any, name: str) -> str:
    """The text in a value: a string, a message's parts but for its thoughts, or the answer that ends a conversation."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        if all("role" in part for part in value):
            return answer(value, name)
        parts = [part for part in value if part.get("type") not in _THOUGHTS]
        kinds = [part.get("type") for part in parts]
        if parts and all(isinstance(part.get("text"), str) for part in parts):
            if any(kind is not None and kind not in _TEXT_PARTS for kind in kinds):
                raise BadField(f"parts of the type {_TEXT_PARTS[0]} as {name}", ", ".join(map(str, kinds)))
            return clean("".join(part["text"] for part in parts))
    raise BadField(f"a string as {name}", shown(value))


def said(messages: Sequence[Mapping[str, Any]], role: str, name: str) -> str:
    """The content of the last message of a role in a conversation."""
    for message in reversed(messages):
        if message.get("role") == role:
            return text_of(message.get("content"), f"{name}.content")
    raise BadField(f"a message of the role {role} in {name}", "none")


def answer(messages: Sequence[Mapping[str, Any]], name: str) -> str:
    """The answer that ends a conversation; those before it are parts of the prompt."""
    last = messages[-1].get("role")
    if last != "assistant":
        raise BadField(f"a last message of the role assistant in {name}", f"the role {shown(last)}")
    return said(messages, "assistant", name)


def is_conversation(value: Any) -> TypeGuard[list[Mapping[str, Any]]]:
    """Whether a value is a list of messages with their roles."""
    return isinstance(value, list) and bool(value) and all(isinstance(m, Mapping) and "role" in m for m in value)


def keys_in(record: Mapping[str, Any]) -> list[str]:
    """The members that may hold a sentence's id: beside an ``object``, ``id`` is that of the server's response."""
    return [name for name in KEYS if name != "id" or not {"object", "custom_id"} & set(record)]


def key_of(value: Any, name: str = "id") -> str | None:
    """An id as text."""
    return None if value is None else id_text(value, name)


def check_number(record: Mapping[str, Any], number: int, text: str) -> None:
    """Refuse a record without an id whose number in the file is not the value of a member that looks like an id.

    ``text`` is the path of its texts.
    """
    for name in LIKE_KEYS:
        value = record.get(name)
        if isinstance(value, (str, int, float)) and value not in ("", number, str(number)):
            options = f"--from jsonl-nbest,text={text},id={name} takes it from {name}"
            expected = f"an id named {', '.join(KEYS[:-1])} or {KEYS[-1]} ({options}), or {name}={number}, its place"
            raise BadField(expected, f"{name}={shown(value)}")


def check_error(record: Any) -> None:
    """Refuse a record with an error."""
    error = record.get("error") if isinstance(record, Mapping) else None
    if error is True or (error and isinstance(error, (str, Mapping))):
        message = error.get("message", error) if isinstance(error, Mapping) else error
        expected = "a hypothesis (the option failed=skip leaves out records with an error)"
        raise Failed(expected, f"the error {shown(message)}")


def sides(fields: Fields, draft: DraftList, *, keys: Iterable[str] = KEYS, sources: Iterable[str] = SOURCES) -> None:
    """Take the id, the source and the reference of a record from the members that hold them."""
    for name in keys:
        if draft.key is None and fields.value.get(name) is not None:
            draft.key = key_of(fields.take(name), name)
    for name in sources:
        value = fields.value.get(name)
        if draft.source is None and isinstance(value, str):
            draft.source = clean(fields.take(name))
        elif draft.source is None and is_conversation(value):
            if len(value) == 1:
                fields.take(name)
            draft.source = said(value, "user", name)
    for name in REFERENCES:
        if isinstance(fields.value.get(name), str) and "reference" not in draft.shared:
            draft.shared["reference"] = clean(fields.take(name))


def number(value: Any, name: str) -> float:
    """A finite number."""
    try:
        return finite(value)
    except BadField as bad:
        raise BadField(f"{bad.expected} as {name}", bad.found) from None


def numbers(value: Any, name: str, size: int) -> list[float]:
    """An array of finite numbers, one for each of ``size`` items."""
    if not isinstance(value, list) or len(value) != size:
        raise BadField(f"an array of {size} {name}", str(len(value)) if isinstance(value, list) else shown(value))
    return [number(element, name) for element in value]


def set_logprobs(
    row: DraftRow, values: Sequence[float] | None, tokens: Sequence[str] | None, total: float | None
) -> None:
    """Set the log probability of a hypothesis: its sum (given, or that of the tokens), its mean, and the tokens'."""
    if total is None and values is not None:
        total = math.fsum(values)
    if total is None:
        return
    row.features[LOGPROB] = row.total = total
    if values:
        row.features[MEAN] = total / len(values)
        row.extras["token_logprobs"] = json.dumps(list(values))
    if tokens is not None:
        row.extras["tokens"] = clean(json.dumps(list(tokens), ensure_ascii=False))


def take_logprobs(fields: Fields, row: DraftRow, path: str, draft: DraftList) -> None:
    """Read the log probabilities of a chat or text completion's tokens."""
    value = fields.take("logprobs")
    if value is None:
        return
    inner = Fields(value, f"{path}logprobs.", draft)
    content = inner.take("content")
    if isinstance(content, list):
        steps = [step if isinstance(step, Mapping) else {} for step in content]
        if any(step.get("top_logprobs") for step in steps):
            draft.aside[f"{path}logprobs.content.*.top_logprobs"] = None
        if any(step.get("bytes") for step in steps):
            draft.aside[f"{path}logprobs.content.*.bytes"] = None
        inner.close()
        values = [number(step.get("logprob"), "logprob") for step in steps]
        set_logprobs(row, values, [text_of(step.get("token"), "token") for step in steps], None)
        return
    found = inner.take("token_logprobs")
    tokens = inner.take("tokens")
    inner.close()
    if found is None:
        return
    if isinstance(found, list) and None in found:
        raise BadField("log probabilities of the answer's tokens alone", "null, as for a prompt that is echoed")
    size = len(tokens) if isinstance(tokens, list) else len(found) if isinstance(found, list) else 0
    names = None if not isinstance(tokens, list) else [text_of(token, "tokens") for token in tokens]
    set_logprobs(row, numbers(found, "token_logprobs", size), names, None)


def cumulative(item: Mapping[str, Any]) -> dict[str, float]:
    """The features of vLLM's cumulative log probability: the sum, and the mean by token if their ids are there."""
    total = number(item[CUMULATIVE], CUMULATIVE)
    ids = item.get("token_ids")
    return {LOGPROB: total} | ({MEAN: total / len(ids)} if isinstance(ids, list) and ids else {})


def joined(tokens: Sequence[Any], how: str | None) -> str:
    """The text of tokens: words, or the pieces of words that ``how`` names; pieces that nobody named are an error."""
    words = [text_of(token, "token") for token in tokens]
    if how == "sentencepiece":
        return "".join(words).replace(_MARKED[how], " ").removeprefix(" ")
    if how == "bpe":
        return " ".join(words).replace("@@ ", "").removesuffix("@@")
    if how is None:
        mark = next((name for name in _MARKED if any(_has_mark(word, name) for word in words)), None)
        if mark is not None:
            expected = f"words as tokens (tokens={mark} joins pieces of words, tokens=words keeps them as they are)"
            raise BadField(expected, shown(next(word for word in words if _has_mark(word, mark))))
    return " ".join(words)


def _has_mark(word: str, name: str) -> bool:
    return word.startswith(_MARKED[name]) if name == "sentencepiece" else word.endswith(_MARKED[name])


def strings_in(value: Any, name: str) -> list[str]:
    """The texts of an array of strings, or of arrays of strings."""
    if not isinstance(value, list):
        raise BadField(f"an array of strings as {name}", shown(value))
    return [clean(text) for text in _strings(value, name)]


def _strings(value: Sequence[Any], name: str) -> Iterator[str]:
    for element in value:
        for text in element if isinstance(element, list) else [element]:
            if not isinstance(text, str):
                raise BadField(f"generated texts as {name}", shown(text))
            yield text
