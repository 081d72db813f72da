"""Answers in the outputs of language models: without a model's thoughts, and without a prompt that was echoed.

``json/list_line.cpp`` leaves a line to the parsers in Python if it may hold either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from smtformats.nbest.shared.json_drafts import Failed
from smtformats.nbest.shared.spans import clean, shown
from smtformats.tokens import BadField

PROMPT = "prompt"
_BLANK = " \t\r\n"
_TAGS = "think|thinking|thoughts?|reasoning|seed:think"
_BEGINS = re.compile(rf"\s*(?:<(?:{_TAGS})>|\[THINK\]|<\|channel\|>(?!final))")
_ENDS = re.compile(rf"</(?:{_TAGS})>|\[/THINK\]|<\|channel\|>final<\|message\|>")
_SKIPS = "(the option failed=skip leaves out records without one)"


@dataclass(frozen=True)
class Answers:
    """What becomes of thoughts before an answer, and of a prompt that a text begins with."""

    thoughts: Literal["error", "drop"] = "error"
    echo: Literal["error", "drop", "keep"] = "error"

    def of(self, text: str, prompt: str | None) -> str:
        """The answer in a text that was generated after a prompt."""
        return self._thought(self._prompted(text, prompt) if prompt or self.echo == "drop" else text)

    def _prompted(self, text: str, prompt: str | None) -> str:
        """A text without its prompt; blanks around both do not count."""
        if self.echo == "keep":
            return text
        begin = (prompt or "").strip(_BLANK)
        if not begin and self.echo == "drop":
            raise BadField("a prompt (the option echo=drop takes it from the texts)", "none")
        echoed = bool(begin) and text.lstrip(_BLANK).startswith(begin)
        if self.echo == "error" and echoed:
            options = "the option echo=drop leaves out the prompt, echo=keep keeps a text that begins alike"
            raise BadField(f"an answer without its prompt ({options})", shown(text))
        if self.echo == "drop" and not echoed:
            raise BadField(f"a text that begins with its prompt, {shown(begin)}, as echo=drop says", shown(text))
        if not echoed:
            return text
        answer = text.lstrip(_BLANK)[len(begin) :].strip(_BLANK)
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


AS_WRITTEN = Answers()


def has_thoughts(text: str) -> bool:
    """Whether a text has a model's thoughts before its answer, or their end."""
    return ("<" in text or "[" in text) and (_ENDS.search(text) or _BEGINS.match(text)) is not None


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
