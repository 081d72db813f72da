"""cdec's input for decoding and tuning: sentences with references, and ``<seg>`` lines with attributes.

    ein haus ||| a house ||| one house
    <seg id="7" grammar="grammars/grammar.7.gz">ein haus</seg>
    <seg id="8" grammar="grammars/grammar.8.gz">ein haus</seg> ||| a house

A sentence without an ``id`` gets the previous number plus one, from 0; cdec skips empty lines. References may stand
before ``</seg>``, where the decoder reads them, or after it, where the tuning scripts do; we write them after it. On
writing, sentences that are plain text get an ``id``.

Deliberately stricter than cdec: an ``id`` that is not a number (cdec reads it as 0), text after ``</seg>`` (cdec drops
it) and ``|||`` without blanks on both sides (cdec drops a character) are errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from smtformats.corpus.segments import Segment, attributes_of
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.tokens import BadField, blanks, is_id
from smtformats.writing import own, write_each

NAME = "cdec-corpus"
_TAG = re.compile(r"<seg(?=[ \t>])([^>]*)>")
_ATTRIBUTE = re.compile(r'[ \t]+([^\s="]+)[ \t]*=[ \t]*(?:"([^"]*)"|([^\s"]+))', re.ASCII)
_END = "</seg>"


def parse(lines: Lines) -> Iterator[Segment]:
    """Parse one sentence at a time; an empty line is a sentence without a number."""
    following = 0
    for line in lines:
        body = line.removesuffix("\n").removesuffix("\r")
        attributes, rest = _split_tag(body, lines)
        key = attributes.get("id", str(following))
        if not is_id(key):
            raise lines.error("an id (a whole number)", quote(key), 1)
        source, *references = _fields(rest, lines)
        number = int(key) if body else None
        following = int(key) + 1 if body else following
        yield Segment(source, tuple(references), attributes, number, line, NAME, lines.number)


def _split_tag(body: str, lines: Lines) -> tuple[dict[str, str], str]:
    """Split a line into the attributes of its tag and the text without the tag."""
    if body[:4].lower() != "<seg":
        return {}, body
    tag = _TAG.match(body)
    if tag is None:
        raise lines.error('`<seg name="value" ...>`', quote(body), 1)
    try:
        attributes = attributes_of(tag[1].rstrip(" \t"), _ATTRIBUTE, 'an attribute `name="value"`')
    except BadField as bad:
        raise lines.locate(bad) from None
    text, _, behind = body[tag.end() :].partition(_END)
    if behind.strip(" \t") and not re.match(r"[ \t]+\|\|\|", behind):
        raise lines.error("nothing or ` ||| ` and a reference after `</seg>`", quote(behind), 1)
    return attributes, text + behind if behind.strip(" \t") else text


def _fields(text: str, lines: Lines) -> list[str]:
    """Split a text into the sentence and its references; the blanks around ``|||`` belong to the separator."""
    if "|||" not in text:
        return [text]
    pieces = text.split("|||")
    for i, piece in enumerate(pieces):
        starts = i == 0 or piece[:1] in (" ", "\t") or (not piece and i == len(pieces) - 1)
        if not starts or (i < len(pieces) - 1 and piece[-1:] not in (" ", "\t")):
            raise lines.error("blanks around `|||`", quote(piece), i + 1)
    last = len(pieces) - 1
    return [piece[i > 0 : len(piece) - (i < last)] for i, piece in enumerate(pieces)]


def write(records: Iterable[str | Segment], out: TextIO, number: Number) -> int:
    """Write one sentence per line, unchanged if read by this format; returns their count."""
    return write_each(_number(records), out, lambda segment: own(segment, NAME) or _compose(segment))


def _number(records: Iterable[str | Segment]) -> Iterator[Segment]:
    """Turn plain strings into segments with the next number as id."""
    following = 0
    for line, segment in enumerate(records, 1):
        if isinstance(segment, str):
            segment = Segment(segment, (), {"id": str(following)}, following, line=line)
        if segment.id is not None:
            following = segment.id + 1
        yield segment


def _compose(segment: Segment) -> str:
    for field, text in enumerate((segment.source, *segment.references), 1):
        if "|||" in text or "\n" in text or text[-1:] == "\r" or _END in text or text[:4].lower() == "<seg":
            raise BadField("a text without `|||`, `<seg`, `</seg>` or a line break", quote(text), field)
    for name, value in segment.attributes.items():
        if blanks(name) != [name] or any(char in name + value for char in '">\n') or "=" in name:
            raise BadField('an attribute without `"`, `>` or a line break', quote(f"{name}={value}"), 1)
    tag = "".join(f' {name}="{value}"' for name, value in segment.attributes.items())
    source = f"<seg{tag}>{segment.source}{_END}" if tag else segment.source
    return " ||| ".join((source, *segment.references)) + "\n"


def matches(head: bytes) -> bool:
    """Match if the first line and half of all lines have a tag, or references that are words, not scores or links."""
    lines = first_lines(head)
    good = [_is_segment(line) for line in lines]
    return good[:1] == [True] and len(good) <= 2 * sum(good)


def _is_segment(line: str) -> bool:
    if _TAG.match(line):
        return True
    # A rule begins with its left-hand side in brackets, a lattice with three parentheses; references may be empty.
    if line.startswith(("[", "(((")):
        return False
    source, *references = [blanks(field) for field in line.split(" ||| ")]
    nonempty = [tokens for tokens in references if tokens]
    return bool(nonempty) and all(map(_has_words, [source, *nonempty]))


def _has_words(tokens: Sequence[str]) -> bool:
    # A feature is not a word: `LM=-1.5`, or `LM0=` before its values.
    return any("=" not in token and any(map(str.isalpha, token)) for token in tokens)


FORMAT = Format(
    name=NAME,
    kind="corpus",
    summary="cdec's input: sentences ||| references, and seg-tagged lines with attributes",
    matches=matches,
    parse=parse,
    write=write,
    fallback=1,
    example="ein haus ||| a house ||| one house\n",
)
