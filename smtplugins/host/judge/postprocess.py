"""Postprocess hypotheses before evaluation: join subwords, detokenise, or pipe them through a command."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence

from smtformats import Candidates
from smtformats.errors import quote
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.text.tokenizers import make_detokenizer

_BATCH = 20_000
_BYTES = re.compile(r"(?:<0x[0-9A-Fa-f]{2}>)+")


_PIECES = {"bpe": ("@@", re.compile(r"\S@@(?:\s|$)")), "spm": ("\u2581", re.compile(r"(?:^|\s)\u2581"))}


class Post:
    """A postprocessor of texts, made by :func:`make_post`; returns one text per input."""

    def __init__(self, spec: str, change: Callable[[Sequence[str]], list[str]], batch: int = 1) -> None:
        self.spec = spec
        self._change = change
        self._batch = batch

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Postprocess texts; duplicates are processed once."""
        distinct = list(dict.fromkeys(texts))
        changed = dict(zip(distinct, self._change(distinct), strict=True))
        return [changed[text] for text in texts]

    def lists(self, lists: Iterable[Candidates]) -> Iterator[tuple[Candidates, list[str]]]:
        """Iterate over (list, postprocessed texts); an external command is run once per batch of lists."""
        waiting: list[Candidates] = []
        count = 0
        for nbest in lists:
            waiting.append(nbest)
            count += len(nbest)
            if count >= self._batch:
                yield from self._changed(waiting)
                waiting, count = [], 0
        yield from self._changed(waiting)

    def _changed(self, lists: list[Candidates]) -> Iterator[tuple[Candidates, list[str]]]:
        texts = self([text for nbest in lists for text in nbest.texts])
        at = 0
        for nbest in lists:
            yield nbest, texts[at : at + len(nbest)]
            at += len(nbest)


def make_post(spec: str | Post | None) -> Post | None:
    """Parse a specification of postprocessing; ``None`` for ``none``, which changes nothing."""
    if spec is None or spec == "none":
        return None
    if isinstance(spec, Post):
        return spec
    simple = {"bpe": join_bpe, "spm": join_spm}
    if spec in simple:
        function = simple[spec]
        return Post(spec, lambda texts: list(map(function, texts)))
    name, colon, language = spec.partition(":")
    if name == "detok":
        if not colon or not language:
            raise UsageError(f"{argument('post')} {spec}: expected detok:LANG, such as detok:en")
        detokenize = make_detokenizer(language, f"{argument('post')} {spec}")
        return Post(spec, lambda texts: [detokenize(text.split()) for text in texts])
    try:
        arguments = shlex.split(spec)
    except ValueError as error:
        raise UsageError(f"{argument('post')} {spec}: {error}") from None
    if not arguments:
        raise UsageError(f"{argument('post')}: expected none, bpe, spm, detok:LANG or a command, found nothing")
    return Post(spec, lambda texts: _through(arguments, texts), _BATCH)


def check_pieces(who: str, texts: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Raise SmtError for texts whose words are in pieces, if those of the references are not."""
    for spec, (mark, piece) in _PIECES.items():
        found = next((text for text in texts if mark in text and piece.search(text)), None)
        if found is not None and references and not any(piece.search(text) for stream in references for text in stream):
            expected = f"whole words, as in the references ({argument('post')} {spec} joins them)"
            raise SmtError(f"{who}: expected {expected}, found pieces, {quote(found)}")


def join_bpe(text: str) -> str:
    """Join subword-nmt's pieces, which mark a continuation by ``@@``."""
    return re.sub(r"@@( |$)", "", text)


def join_spm(text: str) -> str:
    """Join SentencePiece's pieces: U+2581 is a space, ``<0xE2>`` a byte."""
    joined = _BYTES.sub(_decode_bytes, text.replace(" ", ""))
    return joined.replace("\u2581", " ").strip(" ")


def _decode_bytes(match: re.Match[str]) -> str:
    return bytes.fromhex(match[0].replace("<0x", "").replace(">", "")).decode("utf-8", "replace")


def _through(arguments: list[str], texts: Sequence[str]) -> list[str]:
    if not texts:
        return []
    for text in texts:
        if "\n" in text:
            raise SmtError(
                f"{argument('post')} {arguments[0]}: expected single-line texts, found a line break in {text[:60]!r}"
            )
    data = "".join(f"{text}\n" for text in texts).encode()
    try:
        done = subprocess.run(arguments, input=data, stdout=subprocess.PIPE, check=False)
    except OSError as error:
        raise UsageError(f"{argument('post')}: {arguments[0]!r} cannot be run: {error.strerror}") from None
    if done.returncode:
        raise SmtError(f"{argument('post')} {arguments[0]}: the command failed with exit code {done.returncode}")
    lines = done.stdout.decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    if len(lines) != len(texts):
        raise SmtError(
            f"{argument('post')} {arguments[0]}: expected {len(texts)} lines, one for each hypothesis, "
            f"found {len(lines)}"
        )
    return [line.removesuffix("\r") for line in lines]
