"""N-best lists from what libraries of models return, told by its attributes: no such library is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from smtformats.candidates import Candidates
from smtformats.errors import FormatError
from smtformats.nbest.jsonl import from_values
from smtformats.nbest.shared.json_paths import names
from smtformats.nbest.shared.json_readers import is_own, shape_of

NAME = "<responses>"
_KEPT = (
    *("id", "object", "prompt", "text", "choices", "message", "role", "content", "refusal"),
    *("outputs", "index", "cumulative_logprob", "token_ids", "finish_reason", "stop_reason", "logprobs"),
    *("hypotheses", "sequences", "scores", "token_logprobs", "tokens", "token", "logprob"),
    *("generated_text", "translation_text"),
)
"""Attributes that are read, with vLLM's, OpenAI's and CTranslate2's names."""
_PIPELINES = ("generated_text", "translation_text")
_DEEPEST = 16
_KNOWN = "texts, or vLLM's, OpenAI's, CTranslate2's or a pipeline's response, or decoded JSON of a known shape"


def from_responses(responses: Any, source: str | Sequence[str] | None, **options: Any) -> Any:
    """The n-best list of a response, or those of a list of responses, with the options of ``from_values``."""
    several = isinstance(responses, (list, tuple))
    values = [_plain(response) for response in responses] if several else [_plain(responses)]
    if several and len(values) > 1 and all(_is_pipeline(value) for value in values):
        raise _error(
            "a list for each input ([results] if they are the candidates of one, [[result] for result in results] if "
            "each has its own)",
            f"one list of {len(values)} results of a pipeline",
        )
    if not values:
        return []
    _check_known(values[0])
    lists = from_values(values, NAME, **options)
    if source is not None:
        lists = _with_sources(lists, len(values), source, several)
    lists = [replace(nbest, line=1) for nbest in lists]
    if several:
        return lists
    if len(lists) != 1:
        raise _error("one list in a response", str(len(lists)))
    return lists[0]


def _check_known(value: Any) -> None:
    """Raise an error for a value of no known shape."""
    while isinstance(value, list) and value:
        value = value[0]
    if shape_of(value) is None and not is_own(value) and not (isinstance(value, Mapping) and value.get("error")):
        found = f"an object with {names(value)}" if isinstance(value, Mapping) else names(value)
        raise _error(f"{_KNOWN} (of anything else give the texts, with id=, scores= and source=)", found)


def _with_sources(
    lists: list[Candidates], responses: int, source: str | Sequence[str], several: bool
) -> list[Candidates]:
    texts = list(source) if several and not isinstance(source, str) else [source]
    if len(texts) == responses:
        # Responses that failed may have been left out.
        texts = [texts[nbest.line - 1] for nbest in lists]
    if len(texts) != len(lists) or not all(isinstance(text, str) for text in texts):
        raise _error(f"{len(lists)} sources", str(len(texts)))
    return [replace(nbest, source=str(text)) for nbest, text in zip(lists, texts, strict=True)]


def _is_pipeline(value: Any) -> bool:
    return isinstance(value, Mapping) and any(name in value for name in _PIPELINES)


def _plain(value: Any, depth: int = 0) -> Any:
    """A response as objects and arrays of JSON."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if depth > _DEEPEST:
        raise _error(f"a response nested at most {_DEEPEST} deep", "more")
    if isinstance(value, Mapping):
        return {str(name): _plain(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, depth + 1) for inner in value]
    if callable(getattr(value, "model_dump", None)):
        return _plain(value.model_dump(), depth + 1)
    if callable(getattr(value, "tolist", None)):
        return _plain(value.tolist(), depth + 1)
    if hasattr(value, "cumulative_logprob") and hasattr(value, "token_ids"):
        return _completion(value, depth)
    found = {name: getattr(value, name) for name in _KEPT if getattr(value, name, None) is not None}
    if not found:
        raise _error(_KNOWN, type(value).__name__)
    return {name: _plain(inner, depth + 1) for name, inner in found.items()}


def _completion(output: Any, depth: int) -> dict[str, Any]:
    """One output of vLLM, with the log probability of each token that was chosen."""
    names = ("index", "text", "cumulative_logprob", "finish_reason", "stop_reason")
    plain = {name: getattr(output, name, None) for name in names}
    plain["token_ids"] = ids = [int(token) for token in output.token_ids]
    steps = getattr(output, "logprobs", None)
    if steps is not None and len(steps) == len(ids):
        pairs = zip(steps, ids, strict=True)
        chosen: list[Any] = [step.get(token) if isinstance(step, Mapping) else None for step, token in pairs]
        if None not in chosen:
            plain["token_logprobs"] = [float(getattr(entry, "logprob", entry)) for entry in chosen]
    return {name: _plain(value, depth + 1) for name, value in plain.items() if value is not None}


def _error(expected: str, found: str) -> FormatError:
    return FormatError(expected, found, file=NAME, line=1)
