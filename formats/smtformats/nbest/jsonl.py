"""JSON lines with a source and its candidates on each line, and the outputs of large language models as they come.

    {"id": 0, "source": "ein Mann", "hypotheses": [{"text": "a man", "score": -1.5, "scores": {"lm": -3, "tm": -2}}]}

``scores`` holds the features and ``score`` is the total. A number alone is both the total and a feature of the same
name (``scores`` gives ``score``). Candidates may be strings. Aliases: ``candidates``, ``outputs``, ``nbest`` and
``translations`` for the list; ``hyp``, ``translation``, ``output`` and ``hypothesis`` for the text; ``logprob`` for the
number; ``src``, ``input`` and ``prompt`` for the source; ``sentence_id``, ``custom_id`` and ``doc_id`` for the id. Ids
are strings or numbers in any order, and ``1.0`` is ``1``; if no list has one, lists are counted from 0. All other
members are kept and become extra fields of the hypotheses. vLLM's ``cumulative_logprob`` is the total and the feature
``logprob``; with ``token_ids``, ``logprob_mean`` is the mean by token.

Other shapes are told by the first record (see the table); all records of a file must have one shape. They are written
back as the lines above, with the fields that were kept. ``smt info`` names the shape and the fields left aside. Records
may be lines, pretty-printed objects, or the elements of an array that holds the file. A source or prompt becomes the
source (of a conversation: the last message of the user), a ``reference`` or ``target`` the field ``reference``, and
``-r`` takes the references of a file whose lists have that field. Log probabilities of tokens become the total and
feature ``logprob`` (their sum), the feature ``logprob_mean`` and the field ``token_logprobs``, beside ``tokens``.
Consecutive records of one id are one list; without ids, each record is a sentence. A prompt is no id: ``id=prompt``
joins records of one prompt.

Options name what lies elsewhere by path, names and positions between dots, ``*`` for every element: ``--from
jsonl-nbest,text=choices.*.message.content,score=choices.*.score,id=meta.segment,source=meta.src`` (also
``reference=``); without ``id=``, members named ``id``, ``custom_id`` or ``doc_id`` hold it. Scores are matched with
texts by their stars; an object of numbers gives features. Beside a known shape, paths replace what the shape has.
``tokens=words``, ``tokens=sentencepiece`` or ``tokens=bpe`` says how tokens are joined, which is needed for pieces of
words. A file that is one array of pipeline results needs ``array=sentences`` (each element is a sentence) or
``array=list`` (all are candidates of one). ``failed=skip`` leaves out requests that failed and records with an
``error``. An option that has no effect on the shape of the file is an error.

In all shapes, ``thoughts=drop`` leaves out a model's thoughts before an answer (``<think>..</think>`` and the like;
their end alone is enough), ``echo=drop`` the prompt that all texts begin with, which is the member ``prompt`` of
their record (as of ``echo=true`` and ``return_full_text=True``), and ``wrapping=drop`` special tokens and a code fence
around an answer (``</s>``, ``<|im_end|>``, three backquotes). Log probabilities stay those of the whole output.
``cut=drop`` leaves out answers that were cut, as their ``finish_reason`` says (``length``, ``content_filter``; by path,
also ``stop_reason`` and the like beside or around a text). All are errors otherwise; ``echo=keep`` keeps a text that
begins like its prompt, such as a name, ``wrapping=keep`` and ``cut=keep`` keep texts as they are.

Native code reads and writes lines in the first shape whose hypotheses have no other members than strings and numbers;
all others are read in Python, five to fifteen times slower.

Errors: a duplicate name in an object, a duplicate id in the file, a number that is not finite, more than 64 levels of
nesting, lone surrogates, a mix of shapes, ids of some lists alone, a member such as ``segment_id`` in a file without
ids unless it counts the lists from 0, ranks in another order without totals, scores in an array beside the hypotheses,
and two members that may both be the hypotheses (``hypotheses`` and ``candidates``) or the text (``text`` and
``translation``). A line without candidates is kept in the file but is not a list.
"""

from __future__ import annotations

import functools
import inspect
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, BinaryIO, Literal, TextIO

from smtformats.candidates import Candidates, Layout
from smtformats.errors import quote
from smtformats.files import MAX_LINE_BYTES, Lines
from smtformats.format import Format, Number
from smtformats.list_columns import ListColumns
from smtformats.nbest.shared.json_answers import AS_WRITTEN, PROMPT, Answers, prompt_of
from smtformats.nbest.shared.json_drafts import (
    CUMULATIVE,
    KEYS,
    LOGPROB,
    SOURCES,
    Failed,
    check_error,
    cumulative,
    number,
)
from smtformats.nbest.shared.json_foreign import Mapped, lists_in, lists_of_values
from smtformats.nbest.shared.json_lists import (
    LISTS,
    Taken,
    array_of,
    compose_id,
    lists_of,
    shape,
    write_json,
)
from smtformats.nbest.shared.json_native import Names, change_natively, load_json, reader_of, spell_natively
from smtformats.nbest.shared.json_paths import ValuePath
from smtformats.nbest.shared.json_readers import SCORES, TEXTS, is_own, shape_of
from smtformats.nbest.shared.json_values import Value, first_value
from smtformats.nbest.shared.spans import (
    Member,
    append_items,
    clean,
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
_EXTRAS = ("alignment", "detokenised", "input", "segmentation", "system", "target", "tokenised", "tree", "word_scores")
_BESIDE = ("scores", "score", "logprobs", "logprob", "log_probs", "cumulative_logprobs", "sequences_scores")
NAMES = Names(LISTS, TEXTS, KEYS, SOURCES, (CUMULATIVE, "error"))
"""The members of the usual shape, which native code reads."""


def parse(
    lines: Lines,
    *,
    text: str | None = None,
    score: str | None = None,
    id: str | None = None,
    source: str | None = None,
    reference: str | None = None,
    tokens: Literal["words", "sentencepiece", "bpe"] | None = None,
    array: Literal["list", "sentences"] | None = None,
    failed: Literal["error", "skip"] = "error",
    thoughts: Literal["error", "drop"] = "error",
    echo: Literal["error", "drop", "keep"] = "error",
    wrapping: Literal["error", "drop", "keep"] = "error",
    cut: Literal["error", "drop", "keep"] = "error",
) -> Iterator[Candidates]:
    """Parse one list at a time; the first five options are paths, the others say what a shape leaves open."""
    paths = ValuePath.of(text), ValuePath.of(score), ValuePath.of(id), ValuePath.of(source), ValuePath.of(reference)
    answers = Answers(thoughts, echo, wrapping, cut)
    wanted = Mapped(*paths, tokens, array, failed, answers)
    own = functools.partial(parse_own, answers=answers, failed=failed)
    yield from _whole(lists_in(lines, NAME, wanted, own), lines, answers, failed)


def parse_own(
    lines: Lines, answers: Answers = AS_WRITTEN, failed: Literal["error", "skip"] = "error"
) -> Iterator[Candidates]:
    """Parse lines of the format's own shape."""
    layouts = Layouts()

    def fill(nbest: Candidates, fields: dict[str, Member]) -> Sequence[str]:
        key = array_of(fields)
        if key is None:
            raise BadField(f"an array named {', '.join(LISTS[:-1])} or {LISTS[-1]}", _instead(fields))
        array, field = fields[key].value, fields[key].field
        items = array.values
        prompt = prompt_of({PROMPT: fields[PROMPT].value}) if PROMPT in fields else None
        beside = next((name for name in _BESIDE if name in fields and isinstance(fields[name].value, list)), None)
        if beside is not None and len(fields[beside].value) == len(items) > 0:
            text = f"text={key}.*{'' if isinstance(items[0], str) else '.text'},score={beside}.*"
            lower = " or --from sockeye-nbest" if beside == "scores" and isinstance(items[0], str) else ""
            expected = f"scores inside the candidates (--from jsonl-nbest,{text}{lower} reads parallel arrays)"
            raise BadField(expected, f"an array of {beside}", fields[beside].field)
        totals: list[float] = []
        for i, item in enumerate(items):
            try:
                name, total = _add(nbest, item, i, key, layouts)
                answer = answers.of(nbest.texts[-1], prompt)
                if answer != nbest.texts[-1]:
                    nbest.texts[-1], array.changed[i] = answer, {name: answer}
                if i and (total is None) == bool(totals):
                    raise BadField("a total score for all candidates or for none", "none" if total is None else "one")
            except BadField as bad:
                raise type(bad)(f"candidate {i + 1}: {bad.expected}", bad.found, field) from None
            if total is not None:
                totals.append(total)
        nbest.totals = totals or None
        if items and isinstance(items[0], dict) and CUMULATIVE in items[0]:
            nbest.reading = ("vLLM's outputs",)
        return [key]

    # Native code drops nothing: lines to change are left to this parser, but those without a prompt are not.
    read = reader_of(NAME, NAMES) if answers.echo == "error" else lambda line: None
    return lists_of(lines, NAME, LISTS, fill, skip=failed == "skip", read=read)


def load(stream: BinaryIO, name: str, max_bytes: int = MAX_LINE_BYTES, **options: Any) -> ListColumns:
    """Load all lists as columns, with the options of ``parse``. The stream may be gzip-compressed."""
    inspect.signature(parse).bind(None, **options)
    names = NAMES if options.keys() <= {"thoughts", "wrapping", "cut"} else None
    return load_json(stream, name, max_bytes, names, functools.partial(parse, **options))


def from_values(
    values: Iterable[Any],
    name: str,
    *,
    tokens: Literal["words", "sentencepiece", "bpe"] | None = None,
    failed: Literal["error", "skip"] = "error",
    thoughts: Literal["error", "drop"] = "error",
    echo: Literal["error", "drop", "keep"] = "error",
    wrapping: Literal["error", "drop", "keep"] = "error",
    cut: Literal["error", "drop", "keep"] = "error",
) -> list[Candidates]:
    """The lists in decoded JSON, with the position of each value as its line; the options are those of ``parse``."""
    lines = Lines(io.BytesIO(), name)
    items = (Value(value, i + 1) for i, value in enumerate(values))
    answers = Answers(thoughts, echo, wrapping, cut)
    own = functools.partial(parse_own, answers=answers, failed=failed)
    wanted = Mapped(tokens=tokens, failed=failed, answers=answers)
    lists = _whole(lists_of_values(items, lines, "", wanted, own), lines, answers, failed)
    return [replace(nbest, raw=None, origin="", file="", before="", after="", reading=()) for nbest in lists]


def _whole(lists: Iterator[Candidates], lines: Lines, answers: Answers, failed: str) -> Iterator[Candidates]:
    """Lists without answers that were cut, or an error for them."""
    count, known = 0, False
    for nbest in lists:
        try:
            kept = answers.whole(nbest)
        except BadField as bad:
            if failed == "skip" and isinstance(bad, Failed):
                known = True
                continue
            raise lines.locate(bad, 1, nbest.line) from None
        yield kept if kept.first == count else replace(kept, first=count)
        count += len(kept)
    if known and not count:
        raise lines.error("an n-best list", "no hypothesis in the file", 1, line=1)


def _instead(fields: dict[str, Member]) -> str:
    """Describe an object without a list."""
    other = shape_of({name: member.value for name, member in fields.items()})
    return "none" if other is None else f"none, but {other.name}"


def _add(nbest: Candidates, item: Any, i: int, array: str, layouts: Layouts) -> tuple[str, float | None]:
    """Add a candidate of an array to a list; returns the name of its text and its total."""
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict):
        raise BadField("a string or an object", shown(item))
    key = next((name for name in TEXTS if name in item), None)
    if key is None:
        raise BadField(f"a text named {', '.join(TEXTS[:-1])} or {TEXTS[-1]}", "none")
    if not isinstance(item[key], str):
        raise BadField(f"a string as {key}", shown(item[key]))
    other = next((name for name in TEXTS if name in item and name != key and isinstance(item[name], str)), None)
    if other is not None:
        expected = f"one text (--from jsonl-nbest,text={array}.*.{key} or text={array}.*.{other} names it)"
        raise BadField(expected, f"{key} and {other}")
    check_error(item)
    layout, values, total = _scores(item)
    nbest.texts.append(clean(item[key]))
    nbest.layouts.append(layouts.share(layout))
    nbest.values.append(values)
    if len(item) > 1:
        for name, value in item.items():
            if name != key and name not in SCORES and not (name == CUMULATIVE and value in values):
                column = nbest.extras.setdefault(name, [])
                column += [""] * (i - len(column)) + [plain(value)]
    for column in nbest.extras.values():
        column += [""] * (i + 1 - len(column))
    return key, total


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
            single[name] = number(value, key)
    total = next(iter(single.values()), None)
    if features is not None:
        single = {clean(name): number(value, name) for name, value in features.items()}
    if item.get(CUMULATIVE) is not None:
        derived = cumulative(item)
        total = derived[LOGPROB] if total is None else total
        single |= {name: value for name, value in derived.items() if name not in single}
    return tuple(single), list(single.values()), total


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
    kept = _kept(nbest)
    spelled = spell_natively(nbest, head, kept, number)
    return spelled + "]}" if spelled is not None else f"{head}{', '.join(_spell_items(nbest, kept, number))}]}}"


def _kept(nbest: Candidates) -> list[str]:
    """The names of extra fields, those of the format first."""
    for name in nbest.extras:
        if name in (*TEXTS, *SCORES, CUMULATIVE):
            raise BadField("extra fields with names other than those of the text and scores", quote(name))
    known = [name for name in _EXTRAS if name in nbest.extras]
    return [*known, *(name for name in nbest.extras if name not in known)]


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


def matches(head: bytes) -> bool:
    """Match lists of our own shape, on a line each or in arrays, and those of foreign shapes."""
    kind = shape(head)
    if kind:
        return kind == "rows"
    record = first_value(head)
    return shape_of(record) is not None or is_own(record)


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary='JSON lines: {"id", "source", "hypotheses": [{"text", "score", "scores": {name: value}}]}; also what '
    "OpenAI, vLLM, Hugging Face, lm-eval, CTranslate2 and others write",
    matches=matches,
    parse=parse,
    load=load,
    write=write,
    suffixes=(".jsonl", ".json"),
    fallback=-1,
    carries=frozenset("*"),
    example='{"id": 0, "source": "ein haus", "hypotheses": [{"text": "a house", "scores": {"lm": -3.5}}]}\n',
)
