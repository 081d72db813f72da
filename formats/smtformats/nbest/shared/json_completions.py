"""Readers of OpenAI's responses: chat and text completions, and the output of batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smtformats.nbest.shared.json_drafts import (
    DraftList,
    DraftRow,
    Failed,
    Fields,
    key_of,
    keys_in,
    sides,
    take_logprobs,
    text_of,
)
from smtformats.nbest.shared.spans import shown
from smtformats.tokens import BadField

Record = Mapping[str, Any]

_EXPECTED = "an answer (the option failed=skip leaves out records without one)"
_CALLS = ("tool_calls", "function_call")
_UNANSWERED = ("length", "content_filter", "tool_calls", "function_call", "error", "abort")


def read_batch(record: Record, join: str | None) -> DraftList:
    draft = DraftList()
    fields = Fields(record, "", draft)
    draft.key = key_of(fields.take("custom_id"), "custom_id")
    response, error = fields.take("response"), fields.take("error")
    expected = "a response (the option failed=skip leaves out requests that failed)"
    if error or response is None:
        raise Failed(expected, f"the error {_message(error)}" if error else "none")
    inner = Fields(response, "response.", draft)
    status = inner.take("status_code")
    body, path = (inner.take("body"), "response.body.") if "body" in response else (response, "response.")
    inner_error = body.get("error") if isinstance(body, Mapping) else None
    if status not in (None, 200) or inner_error:
        raise Failed(expected, f"the status {shown(status)}, {_message(inner_error)}")
    _choices(Fields(body, path, draft), path, draft)
    if body is not response:
        inner.close()
    fields.close()
    return draft


def _message(error: Any) -> str:
    return shown(error.get("message", error) if isinstance(error, Mapping) else error)


def read_completions(record: Record, join: str | None) -> DraftList:
    draft = DraftList()
    fields = Fields(record, "", draft)
    sides(fields, draft, keys=keys_in(record))
    prompts = record.get("prompt")
    if isinstance(prompts, list) and len(prompts) > 1 and not all(type(token) is int for token in prompts):
        raise BadField("one prompt, whose choices are hypotheses of one sentence", f"{len(prompts)} prompts")
    _choices(fields, "", draft)
    return draft


def _choices(fields: Fields, path: str, draft: DraftList) -> None:
    """Read the choices of a chat or text completion."""
    choices = fields.take("choices")
    if not isinstance(choices, list):
        raise BadField(f"an array as {path}choices", shown(choices))
    if not choices:
        raise Failed("a choice (the option failed=skip leaves out records without one)", "none")
    for i, choice in enumerate(choices):
        try:
            draft.rows.append(_choice(Fields(choice, f"{path}choices.*.", draft), f"{path}choices.*.", draft))
        except BadField as bad:
            raise type(bad)(f"choice {i + 1}: {bad.expected}", bad.found) from None
    fields.close()


def _choice(fields: Fields, path: str, draft: DraftList) -> DraftRow:
    message = fields.take("message")
    if message is None:
        row = DraftRow(fields.text("text"))
    else:
        inner = Fields(message, f"{path}message.", draft)
        inner.take("role")
        content, why = inner.take("content"), message.get("refusal")
        calls = next((name for name in _CALLS if message.get(name)), None)
        if content is None or why or calls:
            found = f"the refusal {shown(why)}" if why else calls or "null as message.content"
            raise Failed(_EXPECTED, found)
        row = DraftRow(text_of(content, "message.content"))
        inner.take("refusal")
        inner.close()
    reason = fields.value.get("finish_reason")
    if not row.text and reason in _UNANSWERED:
        raise Failed(_EXPECTED, f"an empty one with the finish_reason {reason}")
    take_logprobs(fields, row, path, draft)
    fields.extra(row, "index", "finish_reason", "stop_reason")
    fields.close()
    return row
