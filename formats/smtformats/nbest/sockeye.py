"""sockeye's n-best lists: a JSON object per line with parallel arrays of texts and scores.

    {"sentence_id": 1, "translations": ["a man", "the man"], "scores": [0.5, 0.7]}

A score is a negative log probability divided by the length penalty, so the lowest is the best and comes first. The
total is the negated score, because higher totals are better; the feature ``score`` is the number in the file. An array
of scores (sockeye 3 with target factors) gives ``score[0]``, ``score[1]``, ...; the first is the score of the words.
The ``sentence_id`` is the line of the source and counts from 1; the first sentence gets the id 0.

For sockeye the first translation is the best, whatever its score: ``sockeye.translate`` takes it as the translation,
and ``sockeye.rerank --output-best`` prints it. ``sockeye.rerank`` sorts by BLEU or chrF and keeps the model scores;
with ``--return-score`` it replaces them by the metric, where higher is better. The file does not say which, so a list
whose first score is not the lowest is an error unless the option ``better`` says what is best: ``lower`` or
``higher`` scores, or ``first``, the order of the file (lists then have no totals). Lists of long sentences, which
``sockeye.translate`` splits, may need it, too. With the option ``first=0`` the ``sentence_id`` counts from 0.

The texts may also be named ``hypotheses``, ``candidates``, ``outputs`` or ``nbest``. New features are written to a
further parallel array ``features`` of objects, which then holds all features. An ``id`` may replace the ``sentence_id``
and is kept as it is. Other members are kept, and the errors are the same, as in ``jsonl-nbest``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TextIO

from smtformats.candidates import Candidates
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.nbest.shared.json_lists import LISTS, Taken, array_of, compose_id, lists_of, shape, write_json
from smtformats.nbest.shared.spans import (
    Array,
    Member,
    append_items,
    array,
    clean,
    finite,
    shown,
    spell_features,
    spell_number,
    string,
)
from smtformats.tokens import BadField, Layouts, vector

NAME = "sockeye-nbest"
_LOWEST = (
    "the lowest score first, as scores are negative log probabilities (set the option better=first for the output of "
    "sockeye.rerank, better=higher with --return-score, better=lower for lists in another order)"
)
_ARRAYS = (*LISTS, "scores", "features")


def parse(
    lines: Lines, *, better: Literal["lower", "higher", "first"] | None = None, first: int = 1
) -> Iterator[Candidates]:
    """Parse one list at a time; ``better`` says which is best, ``first`` is the first ``sentence_id``."""
    layouts = Layouts()
    # Options that the writer needs are part of the origin.
    origin = " ".join([NAME, *["higher"] * (better == "higher"), *["0"] * (first == 0)])
    if first not in (0, 1):
        raise lines.error("first=0 or first=1", str(first))

    def fill(nbest: Candidates, fields: dict[str, Member]) -> Sequence[str]:
        key = array_of(fields)
        if key is None:
            raise BadField("an array named translations", "none")
        used = [key, "scores"] + ["features"] * ("features" in fields)
        size = len(fields[key].value.values)
        for name in used[1:]:
            what = f"an array of {size} {name}"
            if name not in fields:
                raise BadField(what, "none")
            if not isinstance(fields[name].value, Array):
                raise BadField(what, shown(fields[name].value), fields[name].field)
            if len(fields[name].value.values) != size:
                raise BadField(what, str(len(fields[name].value.values)), fields[name].field)
        nbest.totals = []
        for i, row in enumerate(zip(*(fields[name].value.values for name in used), strict=True)):
            _add(nbest, i, [(value, fields[name].field) for value, name in zip(row, used, strict=True)], layouts)
        lowest = min(nbest.totals, default=0.0)
        if better is None and nbest.totals and nbest.totals[0] > lowest:
            found = f"{nbest.totals[0]:g} before {lowest:g}"
            raise BadField(_LOWEST, found, fields["scores"].field)
        nbest.totals = [_sign(nbest) * total + 0.0 for total in nbest.totals] if better != "first" else None
        return used

    return lists_of(lines, origin, _ARRAYS, fill, first=first)


def _sign(nbest: Candidates) -> float:
    """The factor that turns scores into totals."""
    return 1.0 if nbest.origin.startswith(f"{NAME} higher") else -1.0


def _count_from(nbest: Candidates) -> int:
    """The ``sentence_id`` of the first sentence."""
    return 0 if nbest.origin.startswith(NAME) and nbest.origin.endswith(" 0") else 1


def _add(nbest: Candidates, i: int, row: list[tuple[Any, int]], layouts: Layouts) -> None:
    """Add a hypothesis to a list: its text, its score and its features, if any."""
    (text, field), (score, score_field), *more = row
    try:
        if not isinstance(text, str):
            raise BadField("a string", shown(text))
        nbest.texts.append(clean(text))
        field = score_field
        scores = score if isinstance(score, list) else [score]
        values = list(map(finite, scores))
        if not values:
            raise BadField("a number or an array of numbers", "[]")
        layout = vector("score", len(values))
        assert nbest.totals is not None
        nbest.totals.append(values[0])
        for features, place in more:
            field = place
            if not isinstance(features, dict):
                raise BadField("an object of numbers", shown(features))
            layout, values = tuple(map(clean, features)), list(map(finite, features.values()))
    except BadField as bad:
        raise BadField(f"hypothesis {i + 1}: {bad.expected}", bad.found, field) from None
    nbest.layouts.append(layouts.share(layout))
    nbest.values.append(values)


def _change(nbest: Candidates, taken: Taken, number: Number) -> None:
    """Write new features and totals into their arrays."""
    if "features" not in taken.columns:
        # The scores were the features too: write the features to their own array from now on.
        rows = zip(nbest.layouts, nbest.values, strict=True)
        taken.change("features", [spell_features(layout, values, number) for layout, values in rows])
    elif nbest.original is not None:
        rest = [
            spell_features(layout[kept:], values[kept:], number)
            for layout, values, kept in zip(nbest.layouts, nbest.values, nbest.original, strict=True)
        ]
        old = (element.rstrip(" \t\r\n,") for element in taken.columns["features"])
        taken.change("features", [append_items(written, new) for written, new in zip(old, rest, strict=True)])
    if nbest.rescored and nbest.totals is not None:
        totals = [spell_number(_sign(nbest) * total + 0.0, number) for total in nbest.totals]
        taken.change("scores", [_first(*pair) for pair in zip(taken.columns["scores"], totals, strict=True)])


def _first(written: str, total: str) -> str:
    """Replace the first number of a score."""
    written = written.rstrip(" \t\r\n,")
    if not written.startswith("["):
        return total
    start, end = array(written, 0)[0].spans[0]
    return written[:start] + total + written[end:]


def _compose(nbest: Candidates, number: Number) -> str:
    if nbest.totals is None:
        raise BadField("total scores (rescore the list with weights first)", "none")
    totals = [_sign(nbest) * total + 0.0 for total in nbest.totals]
    parts = {"sentence_id": compose_id(nbest, _count_from(nbest))}
    if nbest.source is not None:
        parts["source"] = string(nbest.source)
    parts["translations"] = f"[{', '.join(map(string, nbest.texts))}]"
    parts["scores"] = f"[{', '.join(spell_number(total, number) for total in totals)}]"
    if any(layout != ("score",) for layout in nbest.layouts) or nbest.values != [[total] for total in totals]:
        rows = zip(nbest.layouts, nbest.values, strict=True)
        parts["features"] = f"[{', '.join(spell_features(layout, values, number) for layout, values in rows)}]"
    return "{" + ", ".join(f'"{name}": {value}' for name, value in parts.items()) + "}"


def write(lists: Iterable[Candidates], out: TextIO, number: Number) -> int:
    """Write lists as JSON lines; returns their count."""
    return write_json(lists, out, number, NAME, _change, _compose)


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary='sockeye n-best list: {"translations": [text, ...], "scores": [number, ...]} on each line',
    matches=lambda head: shape(head) == "columns",
    parse=parse,
    write=write,
    suffixes=(".jsonl", ".json"),
    example='{"sentence_id": 1, "translations": ["a house", "house"], "scores": [0.5, 0.7]}\n',
)
