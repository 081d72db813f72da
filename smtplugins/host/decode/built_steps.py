"""How trees were built, step by step: what decoders say of it, one sentence on a line, written and read again.

    {"id": "0", "source": ["das", "haus"], "translation": "the house", "score": -3.5, "steps": [
        {"rule": "[X] ||| haus ||| house", "first": 1, "last": 2, "beside": -1, "above": false, "child": 0,
         "score": -2.0}, ...]}

The members of steps are those of :class:`~smtplugins.contracts.contracts.Built`; ``further`` stands only where it is
not empty. A sentence without a tree has no steps, a number that JSON has no word for is ``null``.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.contracts import Built

if TYPE_CHECKING:
    from smtformats.grammar.rules import Rule

BARS = "|||"
_GAP = re.compile(r"\[.*,([1-9][0-9]{0,3})\]")
Side = tuple[str | int, ...]


@dataclass(frozen=True)
class BuiltTree:
    """A sentence, its translation, and the steps in which the tree of its derivation was built."""

    id: str
    source: tuple[str, ...]
    translation: str
    score: float | None
    steps: tuple[Built, ...]


@dataclass(frozen=True)
class Sides:
    """A rule of a tree: words, and its children by number, from 0 in the order of the source side."""

    lhs: str
    source: Side
    target: Side


class BuiltFile:
    """The sentences of a file, each checked when it is read; iterating starts afresh each time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path

    def __iter__(self) -> Iterator[BuiltTree]:
        return read_built(self.path)


def rule_text(rule: Rule) -> str:
    """A rule as steps have it: ``[X] ||| das [X,1] ||| the [X,1]``."""

    def side(symbols: Sequence[Any]) -> str:
        return " ".join(one if isinstance(one, str) else f"[{one.label},{one.index}]" for one in symbols)

    return f"[{rule.lhs}] {BARS} {side(rule.source)} {BARS} {side(rule.target)}"


def sides(rule: str, children: Collection[int] = ()) -> Sides:
    """The two sides of a rule's text. What looks like a gap but has no child is a word: texts may hold such words."""
    from smtformats.errors import quote
    from smtformats.tokens import BadField

    lhs, *rest = rule.split(" ")
    # A word may be the bars themselves; but a source side is never empty.
    if not (lhs.startswith("[") and lhs.endswith("]") and rest[:1] == [BARS] and BARS in rest[2:]):
        raise BadField("a rule like `[X] ||| das [X,1] ||| the [X,1]`", quote(rule))
    middle = rest.index(BARS, 2)

    def symbols(tokens: list[str]) -> Side:
        found = [(token, _GAP.fullmatch(token)) for token in tokens if token]
        return tuple(
            token if gap is None or int(gap[1]) - 1 not in children else int(gap[1]) - 1 for token, gap in found
        )

    made = Sides(lhs[1:-1], symbols(rest[1:middle]), symbols(rest[middle + 1 :]))
    for child in children:
        if made.source.count(child) != 1 or made.target.count(child) != 1:
            raise BadField(f"gap {child + 1} once on each side of a rule with that child", quote(rule))
    return made


def children(steps: Sequence[Built]) -> list[dict[int, int]]:
    """For each step its children in the end: which steps they are. An error if this is not one tree."""
    from smtformats.tokens import BadField

    found: list[dict[int, int]] = [{} for _ in steps]
    uppers: dict[int, int] = {}

    def join(upper: int, child: int, lower: int) -> None:
        if child in found[upper]:
            raise BadField(f"one child {child} of step {upper}", f"steps {found[upper][child]} and {lower}")
        if lower in uppers:
            raise BadField(f"one step above step {lower}", f"steps {uppers[lower]} and {upper}")
        found[upper][child] = lower
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
    for one in inside:
        inside.extend(found[one].values())
    if len(inside) != len(steps):
        raise BadField("one tree in the end", "steps that are above each other")
    return found


def source_words(steps: Sequence[Built]) -> tuple[str, ...]:
    """The words that a tree's rules cover, in the order of the source: the path that was taken through a lattice."""
    return _words(steps, lambda rule: rule.source)


def target_words(steps: Sequence[Built]) -> tuple[str, ...]:
    """The words that a tree's rules make."""
    return _words(steps, lambda rule: rule.target)


def _words(steps: Sequence[Built], side: Callable[[Sides], Side]) -> tuple[str, ...]:
    below = children(steps)
    lowers = {lower for one in below for lower in one.values()}
    waiting: list[str | int] = [number for number in range(len(steps)) if number not in lowers]
    words = []
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            words.append(one)
            continue
        for symbol in reversed(side(sides(steps[one].rule, below[one]))):
            waiting.append(symbol if isinstance(symbol, str) else below[one][symbol])
    return tuple(words)


def line_of(one: BuiltTree, number: Callable[[float], str]) -> str:
    """A sentence as a line of JSON, scores as ``number`` prints them."""

    def value(score: float | None) -> float | None:
        return float(number(score)) if score is not None and math.isfinite(score) else None

    def step(built: Built) -> dict[str, Any]:
        made = {**vars(built), "score": value(built.score)}
        if not built.further:
            del made["further"]
        return made

    record = {**vars(one), "score": value(one.score), "steps": list(map(step, one.steps))}
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def read_built(path: str | os.PathLike[str]) -> Iterator[BuiltTree]:
    """The sentences of a file, each a tree."""
    from smtformats.files import open_lines
    from smtformats.tokens import BadField

    with open_lines(path) as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                yield _tree(line.rstrip("\r\n"))
            except BadField as bad:
                raise lines.error(bad.expected, bad.found) from None


def _tree(line: str) -> BuiltTree:
    from smtformats.nbest.shared.spans import clean, members, shown
    from smtformats.tokens import BadField

    found = {name: member.value for name, member in members(line).items()}
    source, steps = _member(found, "source", list), _member(found, "steps", list)
    for word in source:
        if not isinstance(word, str):
            raise BadField("words as source", shown(word))
    made = BuiltTree(
        clean(_member(found, "id", str)),
        tuple(map(clean, source)),
        clean(_member(found, "translation", str)),
        _score(found),
        tuple(_step(number, one) for number, one in enumerate(steps)),
    )
    for number, (step, below) in enumerate(zip(made.steps, children(made.steps), strict=True)):
        with _inside(number):
            sides(step.rule, below)
    return made


def _step(number: int, given: Any) -> Built:
    from smtformats.nbest.shared.spans import clean, shown
    from smtformats.tokens import BadField

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
            if not (isinstance(pair, list) and len(pair) == 2 and all(type(one) is int and one >= 0 for one in pair)):
                raise BadField("[step, child] as further", shown(pair))
            further.append((pair[0], pair[1]))
        score = _score(given)
        return Built(
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


def _member(found: Mapping[str, Any], name: str, kind: type) -> Any:
    from smtformats.nbest.shared.spans import shown
    from smtformats.tokens import BadField

    value = _any_member(found, name)
    if type(value) is not kind:
        raise BadField(f"{_KINDS[kind]} as {name}", shown(value))
    return value


def _score(found: Mapping[str, Any]) -> float | None:
    from smtformats.nbest.shared.spans import finite
    from smtformats.tokens import BadField

    value = _any_member(found, "score")
    try:
        return None if value is None else finite(value)
    except BadField as bad:
        raise BadField("a number or null as score", bad.found) from None


def _any_member(found: Mapping[str, Any], name: str) -> Any:
    from smtformats.tokens import BadField

    if name not in found:
        raise BadField(f"a member {name!r}", ", ".join(map(repr, found)) or "none")
    return found[name]


@contextlib.contextmanager
def _inside(number: int) -> Iterator[None]:
    """Says in which step something is wrong."""
    from smtformats.tokens import BadField

    try:
        yield
    except BadField as bad:
        raise BadField(f"step {number}: {bad.expected}", bad.found) from None
