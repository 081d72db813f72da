"""The shapes of JSON that hold candidates: how each is told from the others and read, with an example."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from smtformats.nbest.shared.json_answers import logged_prompt, reasons_in, set_reason
from smtformats.nbest.shared.json_completions import Record, read_batch, read_completions
from smtformats.nbest.shared.json_drafts import (
    CUMULATIVE,
    DraftList,
    DraftRow,
    Fields,
    answer,
    cumulative,
    is_conversation,
    joined,
    key_of,
    number,
    numbers,
    said,
    set_logprobs,
    sides,
    strings_in,
    text_of,
)
from smtformats.nbest.shared.json_lists import LISTS, SENTENCE_ID
from smtformats.nbest.shared.spans import clean, shown
from smtformats.tokens import BadField

TEXTS = ("text", "hyp", "translation", "output", "hypothesis")
SCORES = ("score", "scores", "logprob")

_ALIKE = 0.85


@dataclass(frozen=True)
class RecordShape:
    """A shape of records: its name, the test and the reader of a record, and what the format's page says of it.

    ``read`` takes a record and how its tokens are joined. A ``single`` record is one hypothesis: consecutive records
    of one id are a list, and with ``arrays`` the elements of an array are. ``names`` are members by which records that
    no shape fits are compared with it. A ``loose`` shape may also be that of a corpus. ``options`` are those of
    ``array`` and ``tokens`` that have an effect.
    """

    name: str
    fits: Callable[[Record], bool]
    read: Callable[[Record, str | None], DraftList]
    names: frozenset[str]
    example: str
    notes: str
    options: frozenset[str] = frozenset()
    single: bool = False
    arrays: bool = False
    loose: bool = False


def shape_of(value: Any) -> RecordShape | None:
    """The shape of a record, if it is one of these; lists of our own shape are none of them."""
    if not isinstance(value, Mapping) or is_own(value):
        return None
    return next((shape for shape in SHAPES if shape.fits(value)), None)


def is_own(value: Any) -> bool:
    """Whether a record is a list of the format's own shape, or parallel arrays as sockeye writes them."""
    return isinstance(value, Mapping) and any(isinstance(value.get(n), list) for n in LISTS) and not _is_tokens(value)


def nearest(names: Mapping[str, Any]) -> RecordShape | None:
    """The shape half of whose names a record has, spelled alike, and the most of them, if there is one."""
    from difflib import get_close_matches

    def shared(shape: RecordShape) -> float:
        return sum(bool(get_close_matches(name, list(names), 1, _ALIKE)) for name in shape.names) / len(shape.names)

    best = max(SHAPES, key=shared)
    return best if shared(best) >= 0.5 else None


def _has(*names: str) -> Callable[[Record], bool]:
    return lambda value: all(name in value for name in names)


def _is_chat(value: Record) -> bool:
    choices = value.get("choices")
    return isinstance(choices, list) and any(isinstance(choice, Mapping) and "message" in choice for choice in choices)


def _is_tokens(value: Record) -> bool:
    return any(
        isinstance(lists, list) and any(isinstance(tokens, list) for tokens in lists)
        for lists in (value.get("hypotheses"), value.get("sequences"))
    )


def _is_line(value: Record) -> bool:
    texts = [name for name in TEXTS if isinstance(value.get(name), str)]
    # Of two texts, one may be the source.
    text = texts[0] if len(texts) == 1 else None
    return text is not None and (text != "text" or any(name in value for name in (*SCORES, CUMULATIVE)))


def _read_samples(record: Record, join: str | None) -> DraftList:
    draft = DraftList()
    fields = Fields(record, "", draft)
    draft.key = key_of(fields.take("doc_id"), "doc_id")
    try:
        texts = strings_in(fields.take("resps"), "resps")
    except BadField as bad:
        raise BadField(f"{bad.expected}, of a task that generates texts", bad.found) from None
    draft.rows = [DraftRow(text) for text in texts]
    filtered = fields.take("filtered_resps")
    if filtered is not None:
        kept = strings_in(filtered, "filtered_resps")
        if len(kept) == len(texts):
            for row, text in zip(draft.rows, kept, strict=True):
                row.extras["filtered"] = text
        elif len(kept) == 1:
            draft.shared["filtered"] = kept[0]
        else:
            draft.aside["filtered_resps"] = None
    draft.source = logged_prompt(fields.value.get("arguments"))
    if draft.source is not None:
        draft.prompt = draft.source
        fields.take("arguments")
    sides(fields, draft, keys=())
    if "filter" in record:
        draft.shared["filter"] = text_of(fields.take("filter"), "filter")
    fields.close()
    return draft


def _read_tokens(record: Record, join: str | None) -> DraftList:
    draft = DraftList()
    fields = Fields(record, "", draft)
    name = "hypotheses" if isinstance(record.get("hypotheses"), list) else "sequences"
    lists, scores = fields.take(name), fields.take("scores")
    sides(fields, draft)
    totals = numbers(scores, "scores", len(lists)) if scores not in (None, []) else None
    for i, tokens in enumerate(lists):
        if not isinstance(tokens, list):
            raise BadField(f"an array of tokens as hypothesis {i + 1}", shown(tokens))
        row = DraftRow(joined(tokens, join))
        if totals is not None:
            row.total = row.features["score"] = totals[i]
        draft.rows.append(row)
    fields.close()
    return draft


def _pipeline(name: str) -> Callable[[Record, str | None], DraftList]:
    """The reader of what a pipeline of Hugging Face returns."""

    def read(record: Record, join: str | None) -> DraftList:
        draft = DraftList()
        fields = Fields(record, "", draft)
        row = DraftRow(fields.text(name))
        sides(fields, draft)
        _scores(fields, row)
        fields.scalars(row)
        set_reason(row, reasons_in(record))
        draft.rows.append(row)
        fields.close()
        return draft

    return read


def _read_hyporadise(record: Record, join: str | None) -> DraftList:
    draft = DraftList()
    fields = Fields(record, "", draft)
    draft.rows = [DraftRow(text) for text in strings_in(fields.take("input"), "input")]
    output = fields.take("output")
    if output is not None:
        draft.shared["reference"] = text_of(output, "output")
    sides(fields, draft, sources=("source", "src"))
    fields.close()
    return draft


def _read_preference(record: Record, join: str | None) -> DraftList:
    draft = DraftList()
    fields = Fields(record, "", draft)
    scores = [record.get(f"score_{name}") for name in ("chosen", "rejected")]
    for name, score in zip(("chosen", "rejected"), scores, strict=True):
        row = DraftRow(fields.text(name), extras={"preference": name})
        if None not in scores:
            row.total = row.features["score"] = number(score, f"score_{name}")
            fields.take(f"score_{name}")
        draft.rows.append(row)
    sides(fields, draft)
    fields.close()
    return draft


def _read_completion(record: Record, join: str | None) -> DraftList:
    draft = DraftList()
    fields = Fields(record, "", draft)
    row = DraftRow(fields.text("completion"))
    fields.extra(row, "label")
    sides(fields, draft)
    _scores(fields, row)
    draft.rows.append(row)
    fields.close()
    return draft


def _read_messages(record: Record, join: str | None) -> DraftList:
    draft = DraftList()
    fields = Fields(record, "", draft)
    messages = fields.take("messages")
    row = DraftRow(answer(messages, "messages"))
    if any(message.get("role") == "user" for message in messages):
        draft.source = said(messages, "user", "messages")
    if len(messages) > 2:
        draft.aside["messages (all but the last of user and assistant)"] = None
    sides(fields, draft, sources=())
    draft.rows.append(row)
    fields.close()
    return draft


def _read_sockeye(record: Record, join: str | None) -> DraftList:
    draft = DraftList()
    fields = Fields(record, "", draft)
    row = DraftRow(fields.text("translation"))
    if "id" in record:
        draft.key = key_of(fields.take("id"))
    elif (place := fields.take(SENTENCE_ID)) is not None:
        if type(place) is int and place < 1:
            raise BadField(f"a {SENTENCE_ID} of at least 1, as sockeye counts", str(place))
        draft.key = str(place - 1) if type(place) is int else key_of(place, SENTENCE_ID)
    score = fields.take("score")
    if score is not None:
        row.features["score"] = number(score, "score")
        if row.features["score"] < 0:
            expected = (
                "a score of at least 0, as sockeye's negative log probabilities "
                "(text=translation,score=score,id=sentence_id reads scores whose highest is the best)"
            )
            raise BadField(expected, str(score))
        row.total = -row.features["score"] + 0.0
    sides(fields, draft, keys=())
    fields.rest(row)
    draft.rows.append(row)
    return draft


def _read_line(record: Record, join: str | None) -> DraftList:
    draft = DraftList()
    fields = Fields(record, "", draft)
    row = DraftRow(fields.text(next(name for name in TEXTS if isinstance(record.get(name), str))))
    sides(fields, draft)
    _scores(fields, row)
    fields.rest(row)
    draft.rows.append(row)
    return draft


def _scores(fields: Fields, row: DraftRow) -> None:
    """Read the scores of a single hypothesis, under the names that lists of our own shape have for them."""
    for name in SCORES:
        value = fields.value.get(name)
        if isinstance(value, Mapping):
            row.features |= {clean(key): number(score, key) for key, score in value.items()}
            fields.take(name)
        elif value is not None:
            total = number(fields.take(name), name)
            row.features["score" if name == "scores" else name] = total
            row.total = total if row.total is None else row.total
    if fields.value.get(CUMULATIVE) is not None:
        features = cumulative(fields.value)
        row.features |= features
        row.total = features["logprob"] if row.total is None else row.total
        fields.take(CUMULATIVE)
    found = fields.value.get("token_logprobs")
    if isinstance(found, list) and "logprob" not in row.features:
        fields.take("token_logprobs")
        before = row.total
        set_logprobs(row, numbers(found, "token_logprobs", len(found)), None, None)
        row.total = row.total if before is None else before


def _is_preference(value: Record) -> bool:
    return "chosen" in value and "rejected" in value


SHAPES = (
    RecordShape(
        "OpenAI batch output (also vLLM's run-batch)",
        _has("custom_id", "response"),
        read_batch,
        frozenset({"custom_id", "response", "error"}),
        '{"custom_id": "s-0", "response": {"status_code": 200, "body": {"choices": [{"index": 0, "message": '
        '{"role": "assistant", "content": "a house"}, "finish_reason": "stop"}]}}, "error": null}',
        "the texts of `response.body.choices` (older vLLM: `response.choices`), by `custom_id`",
    ),
    RecordShape(
        "chat completions",
        _is_chat,
        read_completions,
        frozenset({"choices", "usage", "model"}),
        '{"choices": [{"message": {"content": "a house"}, "logprobs": {"content": [{"token": "a", "logprob": -0.25}, '
        '{"token": " house", "logprob": -0.5}]}}]}',
        "`message.content`; log probabilities if they are there. An `id` beside an `object` is the response's, not "
        "the sentence's",
    ),
    RecordShape(
        "text completions",
        _has("choices"),
        read_completions,
        frozenset({"choices", "usage"}),
        '{"prompt": "ein haus", "choices": [{"text": "a house", "index": 0, "logprobs": {"tokens": ["a", " house"], '
        '"token_logprobs": [-0.25, -0.5]}}]}',
        "`text` (with `echo=true`: `echo=drop`); log probabilities if they are there, of the answer alone",
    ),
    RecordShape(
        "lm-eval samples",
        _has("doc_id", "resps"),
        _read_samples,
        frozenset({"doc_id", "resps", "filtered_resps", "arguments", "doc"}),
        '{"doc_id": 0, "target": "a house", "arguments": [["ein haus", {}]], "resps": [["a house", "house"]], '
        '"filtered_resps": ["a house"]}',
        "`resps`; `filtered_resps` become the field `filtered`, `target` the field `reference`, the prompt the source",
    ),
    RecordShape(
        "CTranslate2 results",
        _is_tokens,
        _read_tokens,
        frozenset({"hypotheses", "sequences", "scores", "attention"}),
        '{"hypotheses": [["a", "house"], ["house"]], "scores": [-0.5, -0.75]}',
        "arrays of tokens, joined by `tokens`; also `sequences` of a generator",
        options=frozenset({"tokens"}),
    ),
    RecordShape(
        "Hugging Face generated_text",
        _has("generated_text"),
        _pipeline("generated_text"),
        frozenset({"generated_text"}),
        '[[{"generated_text": "a house"}, {"generated_text": "house"}]]',
        "as pipelines return it; write the answer alone (`return_full_text=False`), or the `prompt` beside it for "
        "`echo=drop`",
        options=frozenset({"array"}),
        single=True,
        arrays=True,
    ),
    RecordShape(
        "Hugging Face translation_text",
        _has("translation_text"),
        _pipeline("translation_text"),
        frozenset({"translation_text"}),
        '{"translation_text": "a house"}',
        "as pipelines return it",
        options=frozenset({"array"}),
        single=True,
        arrays=True,
    ),
    RecordShape(
        "HyPoradise lists",
        lambda value: isinstance(value.get("input"), list) and not is_conversation(value["input"]),
        _read_hyporadise,
        frozenset({"input", "output"}),
        '{"input": ["a house", "a hose"], "output": "a house"}',
        "the texts of `input`; `output` becomes the field `reference`",
    ),
    RecordShape(
        "TRL preferences",
        _is_preference,
        _read_preference,
        frozenset({"chosen", "rejected", "prompt"}),
        '{"prompt": "ein haus", "chosen": "a house", "rejected": "house"}',
        "`chosen`, then `rejected`, strings or conversations, named in the field `preference`; `score_chosen` and "
        "`score_rejected` are scores",
    ),
    RecordShape(
        "TRL completions",
        _has("prompt", "completion"),
        _read_completion,
        frozenset({"prompt", "completion"}),
        '{"prompt": "ein haus", "completion": "a house", "label": true}',
        "`completion`, a string or a conversation; `label` is kept",
        single=True,
    ),
    RecordShape(
        "chat messages",
        lambda value: is_conversation(value.get("messages")),
        _read_messages,
        frozenset({"messages"}),
        '{"messages": [{"role": "user", "content": "ein haus"}, {"role": "assistant", "content": "a house"}]}',
        "the last message of the assistant; that of the user is the source",
        single=True,
    ),
    RecordShape(
        "sockeye's single translations",
        lambda value: SENTENCE_ID in value and isinstance(value.get("translation"), str),
        _read_sockeye,
        frozenset({SENTENCE_ID, "translation"}),
        '{"sentence_id": 1, "translation": "a house", "score": 0.5}',
        "as `sockeye-nbest`: the total is the negated score, and the first sentence has the id 0",
        single=True,
    ),
    RecordShape(
        "one hypothesis a line",
        _is_line,
        _read_line,
        frozenset({"hyp", "hypothesis", "text", "score"}),
        '{"id": "s-0", "source": "ein haus", "hyp": "a house", "score": -0.5}',
        "a text named as in a list (`text` only beside a score); all other members are kept",
        single=True,
        loose=True,
    ),
)
"""In this order a record is compared with them; the first that fits reads it."""

OWN = (
    (
        "vLLM's outputs",
        '{"prompt": "ein haus", "outputs": [{"text": "a house", "cumulative_logprob": -0.75, '
        '"token_ids": [64, 3795]}]}',
        "lines as above, with the names of vLLM's `RequestOutput`",
    ),
    (
        "an array over the whole file",
        '[{"id": 0, "hypotheses": ["a house", "house"]}, {"id": 1, "hypotheses": ["a man"]}]',
        "lists as above; written back as lines",
    ),
)
"""Lists of the format's own shape as others write them: name, example, notes."""


def examples() -> list[tuple[str, str, str]]:
    """The shapes by name, with a line of each and what is read of it."""
    return [*((shape.name, shape.example, shape.notes) for shape in SHAPES), *OWN]
