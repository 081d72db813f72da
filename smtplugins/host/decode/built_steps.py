"""The steps in which decoders build trees: read and write them, one sentence on a line.

    {"id": "0", "source": ["das", "haus"], "translation": "the house", "score": -3.5, "steps": [
        {"rule": "[X] ||| haus ||| house", "first": 1, "last": 2, "beside": -1, "above": false, "child": 0,
         "score": -2.0}, ...]}

The members of steps are those of :class:`~smtplugins.contracts.decoders.BuiltStep`; an empty ``further`` is left out. A
sentence without a tree has no steps; infinities and NaN are ``null``.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from smtformats.errors import quote
from smtformats.files import open_lines
from smtformats.grammar.rules import Rule
from smtformats.nbest.shared.spans import clean, finite, members, shown
from smtformats.records import dataclass
from smtformats.tokens import BadField
from smtplugins.contracts.decoders import BuiltStep

BARS = "|||"
_GAP = re.compile(r"\[.*,([1-9][0-9]{0,3})\]")
Side = tuple[str | int, ...]


@dataclass(frozen=True)
class BuiltTree:
    """A sentence, its translation, and the steps that built the tree of its derivation."""

    id: str
    source: tuple[str, ...]
    translation: str
    score: float | None
    steps: tuple[BuiltStep, ...]


@dataclass(frozen=True)
class Sides:
    """A rule of a tree: words, and children by number, counted from 0 on the source side."""

    lhs: str
    source: Side
    target: Side


class BuiltFile:
    """The sentences of a file, each checked when it is read; iterating reads the file again."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path

    def __iter__(self) -> Iterator[BuiltTree]:
        return read_built(self.path)


def rule_text(rule: Rule) -> str:
    """Write a rule as steps show it: ``[X] ||| das [X,1] ||| the [X,1]``."""

    def side(symbols: Sequence[Any]) -> str:
        return " ".join(symbol if isinstance(symbol, str) else f"[{symbol.label},{symbol.index}]" for symbol in symbols)

    return f"[{rule.lhs}] {BARS} {side(rule.source)} {BARS} {side(rule.target)}"


def sides(rule: str, children: Collection[int] = ()) -> Sides:
    """Parse the two sides of a rule's text. What looks like a gap but has no child is a word."""
    lhs, *rest = rule.split(" ")
    # The bars may occur as a word, but a source side is never empty.
    if not (lhs.startswith("[") and lhs.endswith("]") and rest[:1] == [BARS] and BARS in rest[2:]):
        raise BadField("a rule like `[X] ||| das [X,1] ||| the [X,1]`", quote(rule))
    middle = rest.index(BARS, 2)

    def symbols(tokens: list[str]) -> Side:
        matched = [(token, _GAP.fullmatch(token)) for token in tokens if token]
        return tuple(
            token if gap is None or int(gap[1]) - 1 not in children else int(gap[1]) - 1 for token, gap in matched
        )

    parsed = Sides(lhs[1:-1], symbols(rest[1:middle]), symbols(rest[middle + 1 :]))
    for child in children:
        if parsed.source.count(child) != 1 or parsed.target.count(child) != 1:
            raise BadField(f"gap {child + 1} once on each side of a rule with that child", quote(rule))
    return parsed


def children(steps: Sequence[BuiltStep]) -> list[dict[int, int]]:
    """For each step, the steps that are its children in the complete tree; an error if they form no single tree."""
    lowers: list[dict[int, int]] = [{} for _ in steps]
    uppers: dict[int, int] = {}

    def join(upper: int, child: int, lower: int) -> None:
        if child in lowers[upper]:
            raise BadField(f"one child {child} of step {upper}", f"steps {lowers[upper][child]} and {lower}")
        if lower in uppers:
            raise BadField(f"one step above step {lower}", f"steps {uppers[lower]} and {upper}")
        lowers[upper][child] = lower
        uppers[lower] = upper

    for number, step in enumerate(steps):
        if not -1 <= step.beside < number:
            raise BadField(f"step {number} beside an earlier one, or beside -1", str(step.beside))
        if step.beside >= 0:
            join(*((number, step.child, step.beside) if step.above else (step.beside, step.child, number)))
        for other, child in step.further:
            if not 0 <= other < number:
                raise BadField(f"step {number} above earlier ones", str(other))
            join(number, child, other)
    tops = [number for number in range(len(steps)) if number not in uppers]
    if len(tops) != 1 and steps:
        raise BadField("one tree in the end", f"{len(tops)} steps with nothing above them")
    inside = list(tops)
    for number in inside:
        inside.extend(lowers[number].values())
    if len(inside) != len(steps):
        raise BadField("one tree in the end", "steps that are above each other")
    return lowers


def source_words(steps: Sequence[BuiltStep]) -> tuple[str, ...]:
    """The source words that a tree's rules cover, in order; of a lattice, the path taken through it."""
    return _words(steps, lambda rule: rule.source)


def target_words(steps: Sequence[BuiltStep]) -> tuple[str, ...]:
    """The target words of a tree's rules."""
    return _words(steps, lambda rule: rule.target)


def _words(steps: Sequence[BuiltStep], side: Callable[[Sides], Side]) -> tuple[str, ...]:
    below = children(steps)
    lowers = {lower for steps_below in below for lower in steps_below.values()}
    waiting: list[str | int] = [number for number in range(len(steps)) if number not in lowers]
    words = []
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            words.append(item)
            continue
        for symbol in reversed(side(sides(steps[item].rule, below[item]))):
            waiting.append(symbol if isinstance(symbol, str) else below[item][symbol])
    return tuple(words)


def line_of(tree: BuiltTree, number: Callable[[float], str]) -> str:
    """Write a sentence as a line of JSON; ``number`` prints scores."""

    def value(score: float | None) -> float | None:
        return float(number(score)) if score is not None and math.isfinite(score) else None

    def step(built: BuiltStep) -> dict[str, Any]:
        members = {**vars(built), "score": value(built.score)}
        if not built.further:
            del members["further"]
        return members

    record = {**vars(tree), "score": value(tree.score), "steps": list(map(step, tree.steps))}
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def read_built(path: str | os.PathLike[str]) -> Iterator[BuiltTree]:
    """Read the sentences of a file with their trees."""
    with open_lines(path) as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                yield _tree(line.rstrip("\r\n"))
            except BadField as bad:
                raise lines.error(bad.expected, bad.found) from None


def _tree(line: str) -> BuiltTree:
    record = {name: member.value for name, member in members(line).items()}
    source, steps = _member(record, "source", list), _member(record, "steps", list)
    for word in source:
        if not isinstance(word, str):
            raise BadField("words as source", shown(word))
    tree = BuiltTree(
        clean(_member(record, "id", str)),
        tuple(map(clean, source)),
        clean(_member(record, "translation", str)),
        _score(record),
        tuple(_step(number, step) for number, step in enumerate(steps)),
    )
    for number, (step, below) in enumerate(zip(tree.steps, children(tree.steps), strict=True)):
        with _inside(number):
            sides(step.rule, below)
    return tree


def _step(number: int, given: Any) -> BuiltStep:
    with _inside(number):
        if not isinstance(given, dict):
            raise BadField("an object", shown(given))
        first, last, beside, child = (_member(given, name, int) for name in ("first", "last", "beside", "child"))
        if not 0 <= first <= last:
            raise BadField("first and last of a span", f"{first} and {last}")
        if child < 0:
            raise BadField("a child's number from 0", str(child))
        further = []
        for pair in _member(given, "further", list) if "further" in given else ():
            if not (isinstance(pair, list) and len(pair) == 2 and all(type(n) is int and n >= 0 for n in pair)):
                raise BadField("[step, child] as further", shown(pair))
            further.append((pair[0], pair[1]))
        score = _score(given)
        return BuiltStep(
            clean(_member(given, "rule", str)),
            first,
            last,
            beside,
            _member(given, "above", bool),
            child,
            math.nan if score is None else score,
            tuple(further),
        )


_KINDS = {str: "a string", int: "a whole number", bool: "true or false", list: "an array"}


def _member(record: Mapping[str, Any], name: str, kind: type) -> Any:
    value = _any_member(record, name)
    if type(value) is not kind:
        raise BadField(f"{_KINDS[kind]} as {name}", shown(value))
    return value


def _score(record: Mapping[str, Any]) -> float | None:
    value = _any_member(record, "score")
    try:
        return None if value is None else finite(value)
    except BadField as bad:
        raise BadField("a number or null as score", bad.found) from None


def _any_member(record: Mapping[str, Any], name: str) -> Any:
    if name not in record:
        raise BadField(f"a member {name!r}", ", ".join(map(repr, record)) or "none")
    return record[name]


@contextlib.contextmanager
def _inside(number: int) -> Iterator[None]:
    """Name the step in errors."""
    try:
        yield
    except BadField as bad:
        raise BadField(f"step {number}: {bad.expected}", bad.found) from None
