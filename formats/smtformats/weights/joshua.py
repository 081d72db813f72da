"""The weights in a joshua.config.

    tm = thrax -owner pt -maxspan 12 -path grammar.gz
    pop-limit = 100
    lm_0 1.2373676802179452
    tm_pt_0 -2.4497

A line without ``=`` is a weight, a name and a number; lines with ``=`` are settings, and lines that begin with ``#``
are comments. Deliberately stricter than Joshua: a repeated name (the last wins in Joshua) is an error, and so is
``weight-overwrite``, which overrides weight lines. The weight of a feature without a line is 0 in Joshua, so new names
are added at the end. A file without settings looks like cdec's weights; files that we write begin with ``#
joshua.config`` to tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.config.settings import words
from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.tokens import blanks
from smtformats.weights import moses
from smtformats.weights.lines import WeightLine, read_lines, update_lines, write_lines

NAME = "joshua-config"
_TITLE = "# joshua.config\n"
_KEYS = words(
    """defaultnonterminal goalsymbol includealignindex latticedecoding markoovs numtranslationoptions oovlist
    outputformat poplimit reorderinglimit topn useuniquenbest weightsfile"""
)
"""Keys that no cdec.ini has, as Joshua normalizes them."""


def _key(line: str) -> str:
    """The key of a setting, normalized as in Joshua; empty if the line is not a setting."""
    key, mark, _ = line.partition("=")
    return key.strip().replace("-", "").replace("_", "").lower() if mark else ""


def _entry(line: str, lines: Lines) -> WeightLine | None:
    body = line.strip(" \t\r\n")
    if not body or body.startswith("#"):
        return None
    if "=" in body:
        if _key(body) == "weightoverwrite":
            raise lines.error("weights on lines of their own", "`weight-overwrite`", 1)
        return None
    tokens = blanks(body)
    if len(tokens) != 2:
        raise lines.error("`key = value` or a weight, `NAME VALUE`", quote(body), min(len(tokens) + 1, 3))
    last = line.rindex(tokens[1]) + len(tokens[1])
    return WeightLine(tokens[0], last - len(tokens[1]), last)


def parse(lines: Lines) -> Iterator[dict[str, float]]:
    """Parse the file, which is one set of weights."""
    yield read_lines(lines, _entry, "weights, `NAME VALUE` on lines of their own", NAME)


def write(records: Iterable[dict[str, float]], out: TextIO, number: Number) -> int:
    """Write sets of weights, one weight per line; returns the number of sets."""
    return write_lines(records, out, number, _line, NAME, update, before=_TITLE)


def _line(name: str, value: float, number: Number) -> str:
    if blanks(name) != [name] or "=" in name or name.startswith("#"):
        raise FormatError("a name without blanks, `=` or `#` in front", quote(name))
    return f"{name} {number(value)}\n"


def update(values: dict[str, float], lines: Lines, out: TextIO, number: Number) -> list[str]:
    """Write new values into the weight lines and copy all others; new names are added at the end."""
    return update_lines(values, lines, out, number, _entry, _line)


def is_config(head: bytes) -> bool:
    """Whether the file has a setting that only Joshua has, or our own title."""
    text = head.decode("utf-8", "ignore")
    # A moses.ini may have a feature named TM, with a line `TM= 0.2 0.3`.
    return text.startswith(_TITLE) or (any(map(_tells, text.split("\n"))) and not moses.matches(head))


def matches(head: bytes) -> bool:
    """Match a joshua.config with weights; a config may also name a separate file of weights."""
    lines = first_lines(head, lambda line: "=" not in line and not line.lstrip().startswith("#") and line.strip())
    return is_config(head) and any(len(blanks(line)) == 2 for line in lines)


def _tells(line: str) -> bool:
    key = _key(line)
    # `LM = 1` is a weight in cdec's format; a grammar or language model takes several words.
    return key in _KEYS or (key in ("tm", "lm") and len(blanks(line.partition("=")[2])) > 1)


FORMAT = Format(
    name=NAME,
    kind="weights",
    summary="the weight lines of a joshua.config; --into changes those lines only",
    matches=matches,
    parse=parse,
    write=write,
    update=update,
    suffixes=(".config",),
    example="# lm\ntm = thrax pt 12 rules.gz\nlm_0 1.25\ntm_pt_0 -0.5\n",
)
