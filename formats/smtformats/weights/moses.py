"""The ``[weight]`` section of a moses.ini.

    [weight]
    LM0= 0.1
    TranslationModel0= 0.09 0.03 0.10 0.07

A feature with a single weight is named ``LM0``, the weights of a vector feature ``TranslationModel0[0]`` ... ``[3]``.
``UNTUNEABLE`` lines are copied unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.tokens import BadField, blanks, numbers, vector
from smtformats.weights.lines import FileWeights, by_vector, respell, rewrite

NAME = "moses-ini"
_SECTION = re.compile(r"[ \t]*\[([^\]]*)\][ \t\r]*")
_HEADS = (b"[weight]", b"[feature]", b"[input-factors]", b"[mapping]")


class _Section:
    """Track the current section and parse weight lines."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.name = ""
        self.seen: set[str] = set()

    def weight_line(self, line: str) -> tuple[str, list[str]] | None:
        """The label and values of a weight line, ``None`` for any other line."""
        body = line.rstrip("\n").split("#", 1)[0]
        section = _SECTION.fullmatch(body)
        if section is not None:
            self.name = section[1]
            return None
        tokens = blanks(body)
        if self.name != "weight" or not tokens or tokens[1:] == ["UNTUNEABLE"]:
            return None
        label = tokens[0]
        if not label.endswith("=") or len(label) < 2:
            raise self.lines.error("`Name= number ...`, a blank after the `=`", quote(body.strip()), 1)
        if label in self.seen:
            raise self.lines.error("each weight once", f"{quote(label[:-1])} again", 1)
        self.seen.add(label)
        if len(tokens) < 2:
            raise self.lines.error("a number after the label", f"{quote(label)} alone", 2)
        return label[:-1], tokens[1:]


def parse(lines: Lines) -> Iterator[dict[str, float]]:
    """Parse the file, which is one set of weights."""
    section = _Section(lines)
    weights = FileWeights({}, [], NAME, lines.name)
    for line in lines:
        weights.text.append(line)
        weight = section.weight_line(line)
        if weight is None:
            continue
        label, tokens = weight
        names = vector(label, len(tokens))
        for field, (name, token) in enumerate(zip(names, tokens, strict=True), 2):
            if name in weights:
                raise lines.error("each weight once", f"{quote(name)} again", field)
            try:
                weights[name] = numbers([token])[0]
            except BadField as bad:
                raise lines.locate(bad, field) from None
            weights.places[name] = lines.number
    if not weights:
        raise lines.error("a [weight] section with weights", "none in the file", 1, line=1)
    yield weights


def write(records: Iterable[dict[str, float]], out: TextIO, number: Number) -> int:
    """Write a ``[weight]`` section for each set of weights; returns their count."""
    from smtformats.nbest.moses import spell_labelled, vectors

    count = 0
    for weights in records:
        count += 1
        if rewrite(weights, out, number, NAME, update):
            continue
        out.write("[weight]\n")
        names = by_vector(weights)
        for label, first, last in vectors(names):
            components = names[first:last]
            if "#" in label:
                raise FormatError("a feature name without `#`", quote(label))
            if label in weights and label != components[0]:
                raise FormatError(f"weights of either {label} or its components", f"{label} and {components[0]}")
            try:
                out.write(spell_labelled(components, [weights[name] for name in components], number) + "\n")
            except BadField as bad:
                raise FormatError(bad.expected, bad.found) from None
    return count


def update(values: dict[str, float], lines: Lines, out: TextIO, number: Number) -> list[str]:
    """Write new values into the weight lines of a moses.ini and copy all else; returns names without a line."""
    from smtformats.nbest.moses import vectors

    section = _Section(lines)
    placed: set[str] = set()
    sizes = {label: last - first for label, first, last in vectors(by_vector(values))}
    for line in lines:
        weight = section.weight_line(line)
        if weight is not None:
            label, tokens = weight
            names = vector(label, len(tokens))
            updated = [name for name in names if name in values]
            if updated and len(updated) < len(names):
                lacking = next(name for name in names if name not in values)
                expected = f"new weights for all {len(names)} values of {label}"
                raise lines.error(expected, f"none for {lacking}", 1)
            if sizes.get(label, 0) != len(updated):
                expected = f"{sizes.get(label, 0)} weights of {label}, as in the new weights"
                raise lines.error(expected, f"{len(names)}", 2)
            if updated:
                line = _replace_numbers(line, [values[name] for name in names], number)
                placed.update(updated)
        out.write(line)
    return [name for name in values if name not in placed]


def _replace_numbers(line: str, new: list[float], number: Number) -> str:
    body, mark, comment = line.partition("#")
    label, *old = blanks(body)
    at = body.index(label) + len(label)
    done = body[:at]
    for token, value in zip(old, new, strict=True):
        start = body.index(token, at)
        done += body[at:start] + respell(token, value, number)
        at = start + len(token)
    return done + body[at:] + mark + comment


def matches(head: bytes) -> bool:
    """Match a section of every moses.ini on a line of its own."""
    return any(line.strip() in _HEADS for line in head.split(b"\n"))


FORMAT = Format(
    name=NAME,
    kind="weights",
    summary="the [weight] section of a moses.ini; --into changes those lines only",
    matches=matches,
    parse=parse,
    write=write,
    update=update,
    suffixes=(".ini",),
    example="# made by hand\n[input-factors]\n0\n\n[weight]\nLM0= 0.5\nTranslationModel0= 0.25 0.125\n",
)
