"""Marian n-best lists, ``marian-decoder --n-best``.

    0 ||| a man with a hat ||| 0-0 1-1 ||| WordScores= -0.2 -0.1 ||| F0= -8.157 ||| -1.545

As Moses' lists, but the optional word alignment (hard or soft) and word scores come before the features, and nothing
follows the total. The total may be normalized by length while ``F0`` is not. ``F0=-1.2`` without a blank and
``WordScores`` among the features are read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from smtformats.candidates import Candidates, Layout
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.nbest.moses import FeatureField, spell_labelled
from smtformats.nbest.shared.fields import (
    BAR,
    Dialect,
    Grouper,
    add_items,
    compose_text,
    compose_total,
    cut_at_bars,
    first_shape,
    split_line,
)
from smtformats.tokens import BadField, blanks, is_number, numbers, total_of

NAME = "marian-nbest"
_WORDS = "WordScores="
_FIRST = re.compile(r"F\d+=|WordScores=", re.ASCII)
_GLUED = re.compile(r"(?<=[^ \t])=(?=[-+]?[.\d]+(?:[eE][-+]?\d+)?(?:[ \t]|$))", re.ASCII)
_ALIGNMENT = re.compile(r"[-\d.,:e ]*", re.ASCII)
_SHAPE = "`id ||| text [||| alignment] [||| WordScores= ...] ||| features ||| total`"


def parse(lines: Lines) -> Iterator[Candidates]:
    """Parse one list at a time."""
    feature_field = FeatureField()
    group = Grouper(lines, NAME)
    for line in lines:
        key, fields = split_line(line)
        if not 3 <= len(fields) <= 5:
            at = min(len(fields) + 2, 7) if fields else 1
            raise lines.error(f"4 to 6 fields, {_SHAPE}", str(len(fields) + 1), at)
        if done := group.place(key):
            yield from done
        extras: dict[str, str] = {}
        field = 3
        try:
            for text in fields[1:-2]:
                _add_extra(extras, text.strip(" "))
                field += 1
            features = _GLUED.sub("= ", fields[-2])
            if _WORDS in features and _WORDS in (tokens := blanks(features)):
                features, words = _split_words(tokens)
                _add_extra(extras, words)
            layout, values = feature_field(features)
            field += 1
            total = total_of(fields[-1])
        except BadField as bad:
            raise lines.locate(bad, field) from None
        group.add(fields[0].strip(" "), layout, values, total, line, extras)
    yield from group.finish()


def _add_extra(extras: dict[str, str], text: str) -> None:
    """Add an alignment or word scores, recognized by shape, to the extra fields."""
    name = "word_scores" if text.startswith(_WORDS) else "alignment"
    if name == "word_scores":
        text = text.removeprefix(_WORDS).strip(" ")
        numbers(blanks(text))
    elif not _ALIGNMENT.fullmatch(text):
        raise BadField("an alignment or WordScores=", quote(text))
    if name in extras:
        raise BadField("at most one alignment and one WordScores=", quote(text))
    extras[name] = text


def _split_words(tokens: list[str]) -> tuple[str, str]:
    """Split the tokens of a feature field into the features and the word scores."""
    start = tokens.index(_WORDS)
    end = next((i for i in range(start + 1, len(tokens)) if not is_number(tokens[i])), len(tokens))
    return " ".join(tokens[:start] + tokens[end:]), " ".join(tokens[start:end])


def _spell(layout: Layout, values: Sequence[float], number: Number) -> str:
    if any(name.partition("[")[0] + "=" == _WORDS for name in layout):
        raise BadField("a feature name other than WordScores", "WordScores")
    return spell_labelled(layout, values, number)


def _compose(nbest: Candidates, i: int, number: Number) -> str:
    fields = [nbest.id, compose_text(nbest, i)]
    if "alignment" in nbest.extras:
        fields.append(nbest.extras["alignment"][i])
        if not _ALIGNMENT.fullmatch(fields[-1]):
            raise BadField("an alignment like 0-0 1-1", quote(fields[-1]))
    if "word_scores" in nbest.extras:
        fields.append(f"{_WORDS} {nbest.extras['word_scores'][i]}".rstrip(" "))
    fields += [_spell(nbest.layouts[i], nbest.values[i], number), compose_total(nbest, i, number)]
    return BAR.join(fields) + "\n"


write = Dialect(
    NAME,
    _compose,
    append=lambda body, *features: add_items(body, _spell(*features)),
    cut=lambda raw, origin: cut_at_bars(raw, -2),
).write


def matches(head: bytes) -> bool:
    """Match features that begin with ``F0=``, or a field with an alignment or word scores before labelled features."""
    shape = first_shape(head)
    if shape is None or (shape.whole and len(shape.fields) < 3):
        return False
    if shape.items and _FIRST.match(shape.items[0]):
        return True
    labels = blanks(shape.fields[2])[:1] if len(shape.fields) > 2 else []
    labelled = any(label[-1] == "=" or _FIRST.match(label) for label in labels)
    return labelled and _ALIGNMENT.fullmatch(shape.fields[1]) is not None


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="Marian n-best list: id ||| text [||| alignment] [||| WordScores= v v] ||| F0= v ||| total",
    matches=matches,
    parse=parse,
    ordered=True,
    write=write,
    carries=frozenset({"alignment", "word_scores"}),
    example="0 ||| a house ||| 0-0 1-1 ||| F0= -8.157 ||| -1.545\n",
)
