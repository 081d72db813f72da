"""Log probabilities from an OpenAI-compatible completions endpoint, such as vLLM's; needs no library.

Two numbers: the sum over the hypothesis' tokens, and the mean of a token. The endpoint has to return log probabilities
of prompts: by ``echo`` (OpenAI's own parameter, in vLLM and llama.cpp) or by vLLM's ``prompt_logprobs``. The key is
read from the environment variable OPENAI_API_KEY.
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

Token = tuple[str, "float | None"]

_BUSY = (408, 409, 429, 500, 502, 503, 504)


class Completions:
    """A completions endpoint that returns log probabilities of prompts; ``known`` are the tokens of these."""

    def __init__(self, url: str, model: str, api: str, tries: int, wait: float, timeout: float) -> None:
        if api not in ("echo", "prompt_logprobs"):
            raise ValueError(f"api: expected echo or prompt_logprobs, found {api!r}")
        self.url, self.model, self.api = url, model, api
        self.tries, self.wait, self.timeout = tries, wait, timeout
        self.known: dict[str, list[Token]] = {}

    def request(self, texts: list[str]) -> Any:
        """Ask for texts; a busy server is asked again."""
        asked = {"echo": True, "logprobs": 1} if self.api == "echo" else {"prompt_logprobs": 0}
        data = {"model": self.model, "prompt": texts, "max_tokens": 1, "temperature": 0, **asked}
        headers = {"Content-Type": "application/json"}
        if os.environ.get("OPENAI_API_KEY"):
            headers["Authorization"] = f"Bearer {os.environ['OPENAI_API_KEY']}"
        sent = urllib.request.Request(self.url.rstrip("/") + "/completions", json.dumps(data).encode(), headers)
        for attempt in range(self.tries):
            try:
                with urllib.request.urlopen(sent, timeout=self.timeout) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code not in _BUSY or attempt + 1 == self.tries:
                    told = error.read(500).decode("utf-8", "replace")
                    raise RuntimeError(f"{self.url}: HTTP {error.code}: {told}") from None
            except OSError as error:
                if attempt + 1 == self.tries:
                    raise RuntimeError(f"{self.url}: {getattr(error, 'reason', error)}") from None
            time.sleep(self.wait * 2**attempt)
        raise RuntimeError(f"{self.url}: no tries")

    def tokens(self, texts: list[str]) -> list[list[Token]]:
        """Each text's tokens with their log probabilities; None for the first, which nothing precedes."""
        choices = sorted(self.request(texts)["choices"], key=lambda choice: choice["index"])
        if len(choices) != len(texts):
            raise RuntimeError(f"{self.url}: expected {len(texts)} choices, found {len(choices)}")
        found = []
        for choice in choices:
            if self.api == "echo":
                if not choice.get("logprobs"):
                    raise RuntimeError(
                        f"{self.url}: expected logprobs with echo, found none; try --api prompt_logprobs"
                    )
                # The last token is the one generated.
                scores = choice["logprobs"]["token_logprobs"][:-1]
                names = choice["logprobs"].get("tokens") or [""] * len(scores)
                found.append(list(zip(names[: len(scores)], scores, strict=True)))
            else:
                if not choice.get("prompt_logprobs"):
                    raise RuntimeError(f"{self.url}: expected prompt_logprobs, found none")
                rows = [next(iter((one or {"": {"logprob": None}}).items())) for one in choice["prompt_logprobs"]]
                found.append([(name, one["logprob"]) for name, one in rows])
        return found

    def score(self, prompts: list[str], texts: list[str]) -> list[list[float]]:
        """Sum and mean of the log probabilities of the texts' tokens after the prompts."""
        missing = [text for text in dict.fromkeys(prompts) if text and text not in self.known]
        if missing:
            self.known.update(zip(missing, self.tokens(missing), strict=True))
        found = []
        for before, row in zip(prompts, self.tokens([a + b for a, b in zip(prompts, texts, strict=True)]), strict=True):
            begin = self.known.get(before, [])
            if [name for name, _ in row[: len(begin)]] != [name for name, _ in begin]:
                raise ValueError(f"a token spans the end of the prompt {before[-40:]!r}: end it with a line end")
            scores = [score for _, score in row[len(begin) :] if score is not None]
            found.append([sum(scores), sum(scores) / max(1, len(scores))])
        return found


def load(
    url: str,
    model: str,
    prompt: str = "",
    api: str = "echo",
    batch: int = 16,
    tries: int = 5,
    wait: float = 1.0,
    timeout: float = 300.0,
) -> Callable[[list[Any]], list[list[float]]]:
    """``url`` ends in /v1; ``{source}`` in ``prompt`` is the source; ``api`` is echo or prompt_logprobs.

    A request that fails because the server is busy is made again, ``tries`` times in all, after ``wait`` seconds, then
    twice that, and so on.
    """
    endpoint = Completions(url, model, api, tries, wait, timeout)

    def score(items: list[Any]) -> list[list[float]]:
        if "{source}" in prompt and any(item.get("source") is None for item in items):
            raise ValueError("the prompt has {source}: add the sources")
        found = []
        for start in range(0, len(items), batch):
            part = items[start : start + batch]
            prompts = [prompt.replace("{source}", item.get("source") or "") for item in part]
            found += endpoint.score(prompts, [item["hyp"] for item in part])
        return found

    return score
