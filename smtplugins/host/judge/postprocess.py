"""What is done to hypotheses before they are judged: pieces joined, text detokenised, or whatever a command does."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError, UsageError

if TYPE_CHECKING:
    from smtformats import Candidates

_BATCH = 20_000
_BYTES = re.compile(r"(?:<0x[0-9A-Fa-f]{2}>)+")


class Post:
    """Changes texts; made by :func:`make_post`. Called with texts it gives as many."""

    def __init__(self, spec: str, change: Callable[[Sequence[str]], list[str]], batch: int = 1) -> None:
        self.spec = spec
        self._change = change
        self._batch = batch

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """The texts after the change; one that comes again is changed once."""
        distinct = list(dict.fromkeys(texts))
        changed = dict(zip(distinct, self._change(distinct), strict=True))
        return [changed[text] for text in texts]

    def lists(self, lists: Iterable[Candidates]) -> Iterator[tuple[Candidates, list[str]]]:
        """Lists, each with the changed texts of its hypotheses; a command is started for many lists at once."""
        waiting: list[Candidates] = []
        count = 0
        for one in lists:
            waiting.append(one)
            count += len(one)
            if count >= self._batch:
                yield from self._changed(waiting)
                waiting, count = [], 0
        yield from self._changed(waiting)

    def _changed(self, lists: list[Candidates]) -> Iterator[tuple[Candidates, list[str]]]:
        texts = self([text for one in lists for text in one.texts])
        at = 0
        for one in lists:
            yield one, texts[at : at + len(one)]
            at += len(one)


def make_post(spec: str | None) -> Post | None:
    """What a specification says; ``None`` for ``none``, which leaves all as it is."""
    if spec is None or spec == "none":
        return None
    simple = {"bpe": joined_bpe, "spm": joined_spm}
    if spec in simple:
        function = simple[spec]
        return Post(spec, lambda texts: list(map(function, texts)))
    name, colon, language = spec.partition(":")
    if name == "detok":
        if not colon or not language:
            raise UsageError(f"--post {spec}: expected detok:LANG with a language, as detok:en")
        detokenize = _detokenizer(language)
        return Post(spec, lambda texts: list(map(detokenize, texts)))
    try:
        arguments = shlex.split(spec)
    except ValueError as error:
        raise UsageError(f"--post {spec}: {error}") from None
    if not arguments:
        raise UsageError("--post: expected none, bpe, spm, detok:LANG or a command, found nothing")
    return Post(spec, lambda texts: _through(arguments, texts), _BATCH)


def joined_bpe(text: str) -> str:
    """Words of subword-nmt's pieces, whose ends are marked by ``@@``."""
    return re.sub(r"@@( |$)", "", text)


def joined_spm(text: str) -> str:
    """Text of SentencePiece's pieces: U+2581 is a blank, ``<0xE2>`` a byte."""
    joined = _BYTES.sub(_decoded, text.replace(" ", ""))
    return joined.replace("\u2581", " ").strip(" ")


def _decoded(match: re.Match[str]) -> str:
    return bytes.fromhex(match[0].replace("<0x", "").replace(">", "")).decode("utf-8", "replace")


def _detokenizer(language: str) -> Callable[[str], str]:
    try:
        from sacremoses import MosesDetokenizer
    except ImportError:
        raise UsageError(
            f"--post detok:{language} needs the package sacremoses: pip install sacremoses (or give a command)"
        ) from None
    made: Any = MosesDetokenizer(lang=language)

    def detokenize(text: str) -> str:
        return str(made.detokenize(text.split()))

    return detokenize


def _through(arguments: list[str], texts: Sequence[str]) -> list[str]:
    if not texts:
        return []
    for text in texts:
        if "\n" in text:
            raise SmtError(f"--post {arguments[0]}: expected texts of one line, found a line break in {text[:60]!r}")
    given = "".join(f"{text}\n" for text in texts).encode()
    try:
        done = subprocess.run(arguments, input=given, stdout=subprocess.PIPE, check=False)
    except OSError as error:
        raise UsageError(f"--post: {arguments[0]!r} cannot be run: {error.strerror}") from None
    if done.returncode:
        raise SmtError(f"--post {arguments[0]}: ended with exit code {done.returncode}")
    lines = done.stdout.decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    if len(lines) != len(texts):
        raise SmtError(
            f"--post {arguments[0]}: expected {len(texts)} lines, one for each hypothesis, found {len(lines)}"
        )
    return [line.removesuffix("\r") for line in lines]
