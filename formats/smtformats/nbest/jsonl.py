"""JSON lines with a source and its candidates on each line, as the outputs of large language models are stored.

    {"id": 0, "source": "ein Mann", "hypotheses": [{"text": "a man", "score": -1.5, "scores": {"lm": -3, "tm": -2}}]}

``scores`` holds the features and ``score`` is the total. A number alone is both the total and a feature of the same
name (``scores`` gives ``score``). Candidates may be strings. Aliases: ``candidates``, ``outputs``, ``nbest`` and
``translations`` for the list; ``hyp``, ``translation``, ``output`` and ``hypothesis`` for the text; ``logprob`` for the
number; ``src`` and ``input`` for the source; ``sentence_id`` for the id. Ids are strings or numbers in any order;
without ids, lines are counted from 0. All other members are kept and become extra fields of the hypotheses.

Native code reads and writes lines that have no members but these and those of the format's own extra fields; lines
with others are read in Python, five to fifteen times slower.

Errors: a duplicate name in an object, a duplicate id in the file, a number that is not finite, more than 64 levels of
nesting, lone surrogates, and vLLM's ``cumulative_logprob`` without a score under one of the names above. A line without
candidates is kept in the file but is not a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, TextIO

from smtformats.candidates import Candidates, Layout
from smtformats.files import MAX_LINE_BYTES, Lines
from smtformats.format import Format, Number
from smtformats.list_columns import ListColumns
from smtformats.nbest.shared.json_lists import IDS, LISTS, SOURCES, Taken, compose_id, lists_of, shape, write_json
from smtformats.nbest.shared.json_native import Names, change_natively, load_json, reader_of, spell_natively
from smtformats.nbest.shared.spans import (
    Array,
    Member,
    append_items,
    clean,
    finite,
    members,
    plain,
    replace_members,
    shown,
    spell_features,
    spell_number,
    string,
)
from smtformats.tokens import BadField, Layouts

NAME = "jsonl-nbest"
TEXTS = ("text", "hyp", "translation", "output", "hypothesis")
SCORES = ("score", "scores", "logprob")
_VLLM = "cumulative_logprob"
_EXTRAS = ("alignment", "detokenised", "input", "segmentation", "system", "target", "tokenised", "tree", "word_scores")
NAMES = Names(LISTS, TEXTS, IDS, SOURCES, _EXTRAS)
"""The members of the usual shape, which native code reads."""


def parse(lines: Lines) -> Iterator[Candidates]:
    """Parse one list at a time."""
    layouts = Layouts()

    def fill(nbest: Candidates, fields: dict[str, Member]) -> Sequence[str]:
        key = next((name for name in LISTS if name in fields and isinstance(fields[name].value, Array)), None)
        if key is None:
            raise BadField(f"an array named {', '.join(LISTS[:-1])} or {LISTS[-1]}", "none")
        items, field = fields[key].value.values, fields[key].field
        scores = fields.get("scores")
        if scores is not None and isinstance(scores.value, list) and items and isinstance(items[0], str):
            expected = "scores inside the candidates (--from sockeye-nbest reads parallel arrays)"
            raise BadField(expected, "an array of scores", scores.field)
        totals: list[float] = []
        for i, item in enumerate(items):
            try:
                total = _add(nbest, item, i, layouts)
                if i and (total is None) == bool(totals):
                    raise BadField("a total score for all candidates or for none", "none" if total is None else "one")
            except BadField as bad:
                raise BadField(f"candidate {i + 1}: {bad.expected}", bad.found, field) from None
            if total is not None:
                totals.append(total)
        nbest.totals = totals or None
        return [key]

    return lists_of(lines, NAME, LISTS, fill, read=reader_of(NAME, NAMES))


def load(stream: BinaryIO, name: str, max_bytes: int = MAX_LINE_BYTES) -> ListColumns:
    """Load all lists as columns. The stream may be gzip-compressed."""
    return load_json(stream, name, max_bytes, NAMES, parse)


def _add(nbest: Candidates, item: Any, i: int, layouts: Layouts) -> float | None:
    """Add a candidate to a list; returns its total."""
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict):
        raise BadField("a string or an object", shown(item))
    key = next((name for name in TEXTS if name in item), None)
    if key is None:
        raise BadField(f"a text named {', '.join(TEXTS[:-1])} or {TEXTS[-1]}", "none")
    if not isinstance(item[key], str):
        raise BadField(f"a string as {key}", shown(item[key]))
    layout, values, total = _scores(item)
    if _VLLM in item and not layout and total is None:
        raise BadField(f"a score named {', '.join(SCORES[:-1])} or {SCORES[-1]}", f"{_VLLM} alone (vLLM): rename it")
    nbest.texts.append(clean(item[key]))
    nbest.layouts.append(layouts.share(layout))
    nbest.values.append(values)
    if len(item) > 1:
        for name, value in item.items():
            if name != key and name not in SCORES:
                column = nbest.extras.setdefault(name, [])
                column += [""] * (i - len(column)) + [plain(value)]
    for column in nbest.extras.values():
        column += [""] * (i + 1 - len(column))
    return total


def _scores(item: dict[str, Any]) -> tuple[Layout, list[float], float | None]:
    """The features and the total of a candidate."""
    features: dict[str, Any] | None = None
    single: dict[str, float] = {}
    for key in SCORES:
        value = item.get(key)
        if isinstance(value, dict):
            if features is not None:
                raise BadField("one object with scores", "two")
            features = value
        elif value is not None:
            name = "score" if key == "scores" else key
            if name in single:
                raise BadField("a number as either score or scores", "both")
            single[name] = _number(key, value)
    total = next(iter(single.values()), None)
    if features is None:
        return tuple(single), list(single.values()), total
    return tuple(map(clean, features)), [_number(name, value) for name, value in features.items()], total


def _number(name: str, value: Any) -> float:
    try:
        return finite(value)
    except BadField as bad:
        raise BadField(f"{bad.expected} as {name}", bad.found) from None


def _change(nbest: Candidates, taken: Taken, number: Number) -> None:
    """Write new features and totals into the candidates."""
    ((name, old),) = taken.columns.items()
    if (changed := change_natively(nbest, old, number, NAMES)) is not None:
        taken.change(name, changed)
        return
    taken.change(name, [_change_candidate(nbest, i, text, number) for i, text in enumerate(old)])


def _change_candidate(nbest: Candidates, i: int, element: str, number: Number) -> str:
    text = element.rstrip(" \t\r\n,")
    if text[0] == '"':
        text = "{" + f'"text": {text}' + "}"
    fields = members(text)
    layout, values = nbest.layouts[i], nbest.values[i]
    kept = nbest.original[i] if nbest.original is not None else len(layout)
    total = spell_number(nbest.totals[i], number) if nbest.rescored and nbest.totals is not None else None
    if total is None and kept == len(layout):
        return element.rstrip(" \t\r\n,")
    new: dict[str, str] = {}
    single = next((key for key in SCORES if key in fields and isinstance(fields[key].value, (int, float))), None)
    features = next((key for key in SCORES if key in fields and isinstance(fields[key].value, dict)), None)
    if features is not None:
        written = text[fields[features].start : fields[features].end]
        new[features] = append_items(written, spell_features(layout[kept:], values[kept:], number))
    else:
        # The number was both feature and total: write them separately from now on.
        features = "scores"
        new[features] = spell_features(layout, values, number)
        if single == features:
            total = total or text[fields[single].start : fields[single].end]
            single = None
    if total is not None:
        new[single or next(key for key in SCORES if key != features)] = total
    return replace_members(text, new)


def _compose(nbest: Candidates, number: Number) -> str:
    source = "" if nbest.source is None else f'"source": {string(nbest.source)}, '
    head = "{" + f'"id": {compose_id(nbest)}, {source}"hypotheses": ['
    kept = [name for name in _EXTRAS if name in nbest.extras]
    spelled = spell_natively(nbest, head, kept, number)
    return spelled + "]}" if spelled is not None else f"{head}{', '.join(_spell_items(nbest, kept, number))}]}}"


def _spell_items(nbest: Candidates, kept: Sequence[str], number: Number) -> list[str]:
    """The hypotheses as JSON objects."""
    items = []
    for i, text in enumerate(nbest.texts):
        parts = {"text": string(text)}
        if nbest.totals is not None:
            parts["score"] = spell_number(nbest.totals[i], number)
        if nbest.totals is None or nbest.layouts[i] != ("score",) or nbest.values[i] != [nbest.totals[i]]:
            parts["scores"] = spell_features(nbest.layouts[i], nbest.values[i], number)
        parts |= {name: string(nbest.extras[name][i]) for name in kept if nbest.extras[name][i]}
        items.append("{" + ", ".join(f"{string(name)}: {value}" for name, value in parts.items()) + "}")
    return items


def write(lists: Iterable[Candidates], out: TextIO, number: Number) -> int:
    """Write lists as JSON lines; returns their count."""
    return write_json(lists, out, number, NAME, _change, _compose)


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary='JSON lines: {"id", "source", "hypotheses": [{"text", "score", "scores": {name: value}}]} and its aliases',
    matches=lambda head: shape(head) == "rows",
    parse=parse,
    load=load,
    write=write,
    suffixes=(".jsonl",),
    carries=frozenset(_EXTRAS),
    example='{"id": 0, "source": "ein haus", "hypotheses": [{"text": "a house", "scores": {"lm": -3.5}}]}\n',
)
