"""Joshua n-best lists, printed with any ``output-format``.

    0 ||| a man with a hat ||| tm_pt_0=-9.702 lm_0=-19.117 WordPenalty=-3.040 ||| -7.496 ||| (GOAL{0-4} ...)

The option ``template`` is Joshua's ``output-format``. Its variables are: ``%i`` for the sentence id, ``%k`` for the
rank, ``%s`` for the text, ``%f`` for the features, ``%c`` for the total and, as extra fields, ``%a`` for the alignment,
``%e`` for the source side (``input``) and ``%t`` for the tree. Without the option the template is
``%i ||| %s ||| %f ||| %c``, with ``%k`` in second place and alignment, tree or source side at the end if the first line
has them. In a template without ``%i`` each line of rank 1 begins a new sentence; without ``%k`` every line does.

Text is kept as written, escapes (``-lsb-``, ``|0-1|``) included. A list read in this format is written with its own
template unless the option names another; other lists are written with the default template, followed by ``%a`` if the
first list has alignments. Joshua's ``-moses`` output is ``moses-nbest``.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TextIO

from smtformats.candidates import Candidates
from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.nbest.cdec import feature_field, spell_items
from smtformats.nbest.shared.fields import (
    OTHERS,
    Dialect,
    Grouper,
    add_items,
    compose_text,
    compose_total,
    first_shape,
    split_line,
)
from smtformats.tokens import BadField, Layouts, is_id, total_of

NAME = "joshua-nbest"
USUAL = "%i ||| %s ||| %f ||| %c"
_VARIABLE = re.compile(r"%([iksSfcaetd])")
_READABLE = "ikscfaet"
_EXTRAS = {"a": "alignment", "e": "input", "t": "tree"}
_DENSE = re.compile(r"tm_\S+_\d+=-?\d+\.\d{3}")
_ALIGNMENT = re.compile(r"(\d+-\d+ ?)*|%a", re.ASCII)


@dataclass(frozen=True)
class Template:
    """An output format: variables and the literal text before, between and after them."""

    names: str
    literals: tuple[str, ...]

    def cut(self, line: str) -> list[str]:
        """Cut a line into pieces: literal text at even positions, the variables at odd ones.

        Literals before the text ``%s`` are searched from the left, those after it from the right.
        """
        body = line.rstrip("\r\n")
        last, text = len(self.names), self.names.index("s")
        left, right = len(self.literals[0]), len(body) - len(self.literals[-1])
        if not body.startswith(self.literals[0]) or left > right:
            raise self._missing(0, 1)
        if not body.endswith(self.literals[-1]):
            raise self._missing(last, last)
        values = [""] * last
        for i in range(text):
            at = body.find(self.literals[i + 1], left, right)
            if at < 0:
                raise self._missing(i + 1, i + 2)
            values[i] = body[left:at]
            left = at + len(self.literals[i + 1])
        for i in range(last - 1, text, -1):
            at = body.rfind(self.literals[i], left, right)
            if at < 0:
                raise self._missing(i, i + 1)
            values[i] = body[at + len(self.literals[i]) : right]
            right = at
        values[text] = body[left:right]
        pieces = [self.literals[0]]
        for value, literal in zip(values, self.literals[1:], strict=True):
            pieces += [value, literal]
        pieces[-1] += line[len(body) :]
        return pieces

    def _missing(self, literal: int, field: int) -> BadField:
        return BadField(f"{quote(self.literals[literal])} of the template {self}", "none", field)

    def place(self, name: str) -> int:
        """The index of the piece that holds a variable, -1 if there is none."""
        return 2 * self.names.index(name) + 1 if name in self.names else -1

    def __str__(self) -> str:
        pairs = zip(self.literals, [f"%{name}" for name in self.names] + [""], strict=True)
        return "".join(literal + name for literal, name in pairs)


@functools.lru_cache(maxsize=64)
def template_of(text: str) -> Template:
    """Parse a template; an ambiguous one, whose lines cannot be cut into variables, is an error."""
    literals = _VARIABLE.split(text)
    names = "".join(literals[1::2])
    template = Template(names, tuple(literals[::2]))
    if strange := [name for name in names if name not in _READABLE]:
        raise BadField("a template of %i %k %s %f %c %a %e %t", f"%{strange[0]}, which cannot be read back")
    if "s" not in names:
        raise BadField("a template with the text, %s", quote(text))
    if len(set(names)) != len(names):
        raise BadField("each variable once in the template", quote(text))
    middle = names.index("s")
    for i, literal in enumerate(template.literals[1:-1], 1):
        # The literal must not occur in the variable to its left (before the text) or to its right (after the text).
        ends = names[i - 1] if i <= middle else names[i]
        if not literal or (not literal.strip(" ") and ends not in "ikc"):
            raise BadField(f"a longer separator than {quote(literal)} next to %{ends} in the template", quote(text))
    return template


def guess_template(line: str) -> str:
    """Guess the template from a line."""
    _, fields = split_line(line.rstrip("\r\n"))
    ranked = len(fields) > 3 and (fields[0].strip() == "%k" or (is_id(fields[0].strip()) and _first(fields[2])))
    parts = ["%i", "%k", "%s", "%f", "%c"] if ranked else ["%i", "%s", "%f", "%c"]
    for field in fields[len(parts) - 1 :]:
        parts.append("%t" if field.startswith("(") else "%a" if _ALIGNMENT.fullmatch(field.strip(" ")) else "%e")
    return " ||| ".join(parts)


def _first(field: str) -> bool:
    """Whether a field begins with a feature named as Joshua names them."""
    return _DENSE.match(field.lstrip(" ")) is not None


def parse(lines: Lines, *, template: str = "") -> Iterator[Candidates]:
    """Parse one list at a time; ``template`` is Joshua's output-format."""
    layouts = Layouts()
    shape: Template | None = None
    group = Grouper(lines, NAME)
    sentence = -1
    for line in lines:
        try:
            if shape is None:
                shape = template_of(template or guess_template(line))
                group.origin = f"{NAME} {shape}"
            pieces = shape.cut(line)
        except BadField as bad:
            raise lines.locate(bad) from None
        values = dict(zip(shape.names, pieces[1::2], strict=True))
        if "i" not in values and (sentence < 0 or values.get("k", "1").strip() in ("1", "%k")):
            sentence += 1
        if done := group.place(values.get("i", str(sentence)).strip(" ")):
            yield from done
        name = "s"
        try:
            text = values["s"].strip(" ")
            if "|||" in text and any("|||" in literal for literal in shape.literals):
                raise BadField(f"the fields of the template {shape}", "more")
            name = "k"
            if "k" in values and not is_id(values["k"].strip()) and values["k"].strip() != "%k":
                raise BadField("a rank (a whole number)", quote(values["k"]))
            name = "f"
            layout, features = feature_field(values.get("f", ""), layouts)
            name = "c"
            total = total_of(values["c"].replace("Infinity", "inf")) if "c" in values else None
        except BadField as bad:
            raise lines.locate(bad, shape.names.index(name) + 1) from None
        extras = {_EXTRAS[key]: values[key].strip(" ") for key in values if key in _EXTRAS}
        # Joshua leaves some variables unexpanded for a sentence that it could not translate.
        extras = {key: "" if value in ("%a", "%e", "%t") else value for key, value in extras.items()}
        group.add(text, layout, features, total, line, extras)
    yield from group.finish()


def _cut(raw: str, origin: str) -> tuple[list[str], int, int]:
    """Cut a line by the template with which it was read, which its origin names."""
    shape = template_of(origin.partition(" ")[2])
    return shape.cut(raw), shape.place("f"), shape.place("c")


def _compose(nbest: Candidates, i: int, number: Number, shape: Template) -> str:
    values = {"i": nbest.id, "k": str(i + 1), "s": compose_text(nbest, i)}
    if "f" in shape.names:
        values["f"] = spell_items(nbest.layouts[i], nbest.values[i], number)
    if "c" in shape.names:
        values["c"] = compose_total(nbest, i, number)
    values |= {key: nbest.extras[name][i] if name in nbest.extras else "" for key, name in _EXTRAS.items()}
    wanted = [values[name] for name in shape.names]
    line = "".join(part for pair in zip(shape.literals, [*wanted, "\n"], strict=True) for part in pair)
    if shape.cut(line)[1::2] != wanted:
        raise BadField(f"a hypothesis that can be read back in the template {shape}", quote(line.rstrip("\n")))
    return line


def write(lists: Iterable[Candidates], out: TextIO, number: Number, *, template: str = "") -> int:
    """Write lists as Joshua does; returns their count."""
    lists = iter(lists)
    first = list(itertools.islice(lists, 1))
    lists = itertools.chain(first, lists)
    aligned = any("alignment" in nbest.extras for nbest in first)
    try:
        shape = template_of(template or USUAL + " ||| %a" * aligned)
    except BadField as bad:
        raise FormatError(bad.expected, bad.found, file=NAME) from None
    own = f"{NAME} {shape}"
    if template:
        lists = (nbest if nbest.origin == own else replace(nbest, raw=None, origin="") for nbest in lists)
    dialect = Dialect(
        NAME,
        lambda nbest, i, number: _compose(nbest, i, number, shape),
        append=lambda body, *features: add_items(body, spell_items(*features)),
        cut=_cut,
    )
    return dialect.write(lists, out, number)


def matches(head: bytes) -> bool:
    """Match features that begin with ``tm_NAME_0=`` and a number with three decimals, or fields after the total."""
    shape = first_shape(head)
    if shape is None or (shape.whole and len(shape.fields) < 3):
        return False
    ranked = len(shape.fields) > 2 and is_id(shape.fields[0].strip()) and _first(shape.fields[2])
    first = shape.items[0] if shape.items else ""
    longer = len(shape.fields) > 3 and "=" in first and first[-1] not in "=:" and not OTHERS.match(first)
    return ranked or longer or _first(first)


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="Joshua n-best list: id ||| text ||| name=value ... ||| total, or any output-format (template=)",
    matches=matches,
    parse=parse,
    ordered=True,
    write=write,
    carries=frozenset({"alignment"}),
    example="0 ||| a house ||| tm_pt_0=-9.702 lm_0=-19.117 WordPenalty=-3.040 ||| -7.496\n",
)
