"""Answers in the outputs of language models: whole, without a model's thoughts, an echoed prompt and special tokens.

``json/list_line.cpp`` leaves a line to the parsers in Python if it may hold thoughts or a prompt, ``json_native.py``
one that may hold special tokens or a code fence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from smtformats.candidates import Candidates
from smtformats.nbest.shared.json_drafts import DraftRow, Failed
from smtformats.nbest.shared.spans import clean, shown
from smtformats.tokens import BadField

PROMPT = "prompt"
_BLANK = " \t\r\n"
_TAGS = "think|thinking|thoughts?|reasoning|seed:think"
_BEGINS = re.compile(rf"\s*(?:<(?:{_TAGS})>|\[THINK\]|<\|channel\|>(?!final))")
_ENDS = re.compile(rf"</(?:{_TAGS})>|\[/THINK\]|<\|channel\|>final<\|message\|>")
_MARK = r"<\|[^|<>\s]+\|>|<\uff5c[^\uff5c<>\s]+\uff5c>|<(?:pad|bos|eos|start_of_turn|end_of_turn)>"
_ROLE = r"<\|im_start\|>\w+\n|<\|start_header_id\|>\w+<\|end_header_id\|>|<start_of_turn>\w+\n"
_FRONT = re.compile(rf"(?:(?:{_ROLE}|{_MARK}|<s>)\s*)+")
_BACK = re.compile(rf"{_MARK}|</s>")
_FENCE = "```"
_LANGUAGE = re.compile(r"[\w+-]*[ \t]*\n")
_WRAPS = "<(?:/?s>|pad>|[be]os>|[|]|\uff5c|(?:start|end)_of_turn>)"
_WRAPPED, _WRAPPED_BYTES = re.compile(_WRAPS), re.compile(_WRAPS.encode())
_ESCAPES = ("\\u003", "\\uff5c", "\\uFF5C")
REASON = "finish_reason"
REASONS = (REASON, "finishReason", "stop_reason", "done_reason", "stop_type", "status")
_CUT = frozenset("length model_length max_tokens limit incomplete content_filter abort".split())
_SKIPS = "(the option failed=skip leaves out records without one)"


@dataclass(frozen=True)
class Answers:
    """What becomes of thoughts before answers, echoed prompts, special tokens and code fences, and of cut answers."""

    thoughts: Literal["error", "drop"] = "error"
    echo: Literal["error", "drop", "keep"] = "error"
    wrapping: Literal["error", "drop", "keep"] = "error"
    cut: Literal["error", "drop", "keep"] = "error"

    def of(self, text: str, prompt: str | None) -> str:
        """The answer in a text that was generated after a prompt."""
        return self._bare(self._thought(self._prompted(text, prompt) if prompt or self.echo == "drop" else text))

    def whole(self, nbest: Candidates) -> Candidates:
        """A list without the answers that were cut, as a field with the reason for their end says."""
        if self.cut == "keep":
            return nbest
        columns = [nbest.extras[name] for name in REASONS if name in nbest.extras]
        kept = [i for i in range(len(nbest)) if not any(ended_early(column[i]) for column in columns)]
        if len(kept) == len(nbest):
            return nbest
        if self.cut == "error":
            i = next(i for i in range(len(nbest)) if i not in kept)
            options = "the option cut=drop leaves out those that were cut, cut=keep keeps them"
            reason = next(column[i] for column in columns if ended_early(column[i]))
            raise BadField(f"candidate {i + 1}: a whole answer ({options})", f"one with the finish reason {reason}")
        if not kept:
            raise Failed(f"an answer that was not cut {_SKIPS}", "none")
        return nbest.select(kept)

    def _prompted(self, text: str, prompt: str | None) -> str:
        """A text without its prompt; blanks around both do not count."""
        if self.echo == "keep":
            return text
        begin = (prompt or "").strip(_BLANK)
        if not begin and self.echo == "drop":
            raise BadField("a prompt (the option echo=drop takes it from the texts)", "none")
        body = text.lstrip(_BLANK)
        front = _FRONT.match(body)
        body = body[front.end() :] if front is not None and not body.startswith(begin) else body
        echoed = bool(begin) and body.startswith(begin)
        if self.echo == "error" and echoed:
            options = "the option echo=drop leaves out the prompt, echo=keep keeps a text that begins alike"
            raise BadField(f"an answer without its prompt ({options})", shown(text))
        if self.echo == "drop" and not echoed:
            raise BadField(f"a text that begins with its prompt, {shown(begin)}, as echo=drop says", shown(text))
        if not echoed:
            return text
        answer = body[len(begin) :].strip(_BLANK)
        if not answer:
            raise Failed(f"an answer behind the prompt {_SKIPS}", "none")
        return answer

    def _thought(self, text: str) -> str:
        """A text without the thoughts before the answer; only their end may be there, as templates write the begin."""
        if not has_thoughts(text):
            return text
        ends = list(_ENDS.finditer(text))
        if self.thoughts == "error":
            raise BadField("an answer (the option thoughts=drop leaves out thoughts)", f"thoughts, {shown(text)}")
        answer = text[ends[-1].end() :].strip().removesuffix("<|return|>") if ends else ""
        if not answer or _BEGINS.match(answer):
            raise Failed(f"an answer behind the thoughts {_SKIPS}", "none")
        return answer

    def _bare(self, text: str) -> str:
        """A text without special tokens and a code fence around it."""
        answer = text if self.wrapping == "keep" else bare(text)
        if answer != text and self.wrapping == "error":
            options = "the option wrapping=drop leaves them out, wrapping=keep keeps them"
            raise BadField(f"an answer without special tokens or a code fence around it ({options})", shown(text))
        return answer


AS_WRITTEN = Answers()


def has_thoughts(text: str) -> bool:
    """Whether a text has a model's thoughts before its answer, or their end."""
    return ("<" in text or "[" in text) and (_ENDS.search(text) or _BEGINS.match(text)) is not None


def may_wrap(line: str) -> bool:
    """Whether a text, or a line of JSON with texts, may hold what ``bare`` takes away."""
    # Single characters are found much faster than longer marks.
    if "<" in line and _WRAPPED.search(line):
        return True
    return ("`" in line and _FENCE in line) or ("\\" in line and any(mark in line for mark in _ESCAPES))


def may_wrap_any(blob: bytes) -> bool:
    """Whether any text in UTF-8 may hold what ``bare`` takes away."""
    wrapped = b"<" in blob and _WRAPPED_BYTES.search(blob) is not None
    return wrapped or (b"`" in blob and _FENCE.encode() in blob)


def bare(text: str) -> str:
    """A text without special tokens at its start and end, such as ``</s>``, and without a code fence around it.

    ``</s>`` stays if ``<s>`` stands inside: these are tags of HTML.
    """
    if not may_wrap(text):
        return text
    answer, before = text.strip(), ""
    while answer != before:
        before = answer
        front = _FRONT.match(answer)
        answer = answer[front.end() :] if front is not None else answer
        at = answer.rfind("<")
        if at >= 0 and _BACK.fullmatch(answer, at) and not (answer.endswith("</s>") and "<s>" in answer):
            answer = answer[:at].rstrip()
        inside = answer[len(_FENCE) : -len(_FENCE)]
        if answer == f"{_FENCE}{inside}{_FENCE}" and _FENCE not in inside:
            language = _LANGUAGE.match(inside)
            answer = inside[language.end() if language is not None else 0 :].strip()
    return text if answer == text.strip() else answer


def ended_early(reason: Any) -> bool:
    """Whether an answer ended before its end, by the reason that a server gives."""
    return isinstance(reason, str) and reason.lower() in _CUT


def reasons_in(record: Mapping[str, Any]) -> Iterator[Any]:
    """Why an answer ended, as its record says, also in the details that servers of transformers and SGLang add."""
    for holder in (record, record.get("details"), record.get("meta_info")):
        if isinstance(holder, Mapping):
            values = map(holder.get, REASONS)
            yield from (value.get("type") if isinstance(value, Mapping) else value for value in values)


def set_reason(row: DraftRow, reasons: Iterable[Any]) -> None:
    """Keep the reason why an answer was cut as a field, if one of these says that it was."""
    reason = next(filter(ended_early, reasons), None)
    if reason is not None:
        row.extras[REASON] = reason


def prompt_of(record: Any) -> str | None:
    """The prompt in a record, if it is a text."""
    value = record.get(PROMPT) if isinstance(record, Mapping) else None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) else None


def logged_prompt(arguments: Any) -> str | None:
    """The prompt among the arguments of an lm-eval request, as older and newer versions log them."""
    first = arguments
    if isinstance(first, Mapping):
        first = first.get("gen_args_0")
        first = first.get("arg_0") if isinstance(first, Mapping) else None
    for _ in range(2):
        first = first[0] if isinstance(first, list) and first else first
    return clean(first) if isinstance(first, str) else None
