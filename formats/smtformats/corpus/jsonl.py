"""JSON lines with a sentence and its id on each line: sources, references or both (read only).

    {"id": "seg-0", "source": "ein Haus", "reference": "a house"}
    {"id": "seg-1", "source": "das Haus", "references": ["the house", "that house"]}

The source is named ``source`` or ``src``; a reference ``reference``, ``ref``, ``target`` or ``tgt``; an array of
references ``references``, ``refs`` or ``targets``; ``text`` and ``sentence`` may be either side. An ``id`` is a string
or number, unique in the file. Either all lines have one or none; without ids, lines are counted from 0. N-best lists
are joined with these sentences by id, in any order. All other members are kept as attributes.

Errors: an ``error`` that is not empty, a ``text`` beside its translation, a duplicate name in an object, more than 64
levels of nesting, lone surrogates, and a line whose number of references or kind of text differs from the first line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smtformats.corpus.segments import Ids, Segment, Side
from smtformats.files import BOM, Lines
from smtformats.format import Format, first_lines
from smtformats.nbest.shared.json_lists import LISTS, SENTENCE_ID, id_of
from smtformats.nbest.shared.spans import Member, clean, members, plain, shown
from smtformats.tokens import BadField

NAME = "jsonl-corpus"
SOURCES = ("source", "src")
REFERENCES = ("reference", "ref", "target", "tgt", "references", "refs", "targets")
TEXTS = ("text", "sentence")
_HYPOTHESES = ("hyp", "translation", "output", "hypothesis")


def parse(lines: Lines) -> Iterator[Segment]:
    """Parse one sentence at a time."""
    ids = Ids(lines)
    first: tuple[Side, int] | None = None
    for row in lines:
        line = row.removeprefix(BOM) if lines.number == 1 else row
        if not line.strip(" \t\r\n"):
            continue
        try:
            fields = members(line)
            texts, side, used = _texts(fields)
            key = _id(fields)
        except BadField as bad:
            raise lines.locate(bad, 1) from None
        first = first or (side, len(texts))
        if (side, len(texts)) != first:
            expected = f"{first[1]} texts, the first a {first[0]}, as on the first line"
            raise lines.error(expected, f"{len(texts)}, the first a {side}", 1)
        number, own = ids.place(key)
        rest = {name: plain(member.value) for name, member in fields.items() if name not in used}
        yield Segment(texts[0], tuple(texts[1:]), rest, number, line, NAME, lines.number, own, side)


def _texts(fields: Mapping[str, Member]) -> tuple[list[str], Side, set[str]]:
    """The source (if any) and the references, the side of the first text, and the names of the members used."""
    source = next((name for name in SOURCES if name in fields), None)
    references = next((name for name in REFERENCES if name in fields), None)
    text = next((name for name in TEXTS if name in fields), None) if source is None and references is None else None
    side: Side = "source" if source is not None else "reference" if references is not None else "text"
    other = next((name for name in _HYPOTHESES if name in fields), None)
    if text is not None and other is not None:
        raise BadField(f"a text named source, as {other} is its translation", text, fields[text].field)
    if "error" in fields and fields["error"].value:
        raise BadField("a sentence", f"the error {shown(fields['error'].value)}", fields["error"].field)
    texts = []
    for name in (source, references, text):
        if name is not None:
            value, field = fields[name].value, fields[name].field
            values = value if name == references and isinstance(value, list) and value else [value]
            for text in values:
                if not isinstance(text, str):
                    raise BadField(f"a string as {name}", shown(text), field)
            texts += [clean(text) for text in values]
    if not texts:
        raise BadField(f"a text named {', '.join((*SOURCES, *TEXTS, *REFERENCES[:-1]))} or {REFERENCES[-1]}", "none")
    return texts, side, {name for name in (source, references, text, "id") if name is not None}


def _id(fields: Mapping[str, Member]) -> str | None:
    if "id" not in fields and SENTENCE_ID in fields:
        expected = "an id (the sentence_id of sockeye's lists counts from 1, but their ids from 0)"
        raise BadField(expected, SENTENCE_ID, fields[SENTENCE_ID].field)
    return id_of(fields["id"]) if "id" in fields and fields["id"].value is not None else None


def matches(head: bytes) -> bool:
    """Match objects with a source or reference but without a list of hypotheses."""
    head = head.removeprefix(BOM.encode())
    lines = first_lines(head)
    if not lines or not head.lstrip().startswith(b"{"):
        return False
    try:
        fields = members(lines[0])
        _texts(fields)
    except BadField:
        return False
    from smtformats.json_shapes import foreign_shape

    values = {name: member.value for name, member in fields.items()}
    return not any(isinstance(values.get(name), list) for name in LISTS) and foreign_shape(values) is None


FORMAT = Format(
    name=NAME,
    kind="corpus",
    summary='JSON lines: {"id", "source", "reference"}, a sentence on each',
    matches=matches,
    parse=parse,
    suffixes=(".jsonl",),
    example='{"id": "seg-0", "source": "ein haus", "reference": "a house"}\n',
)
