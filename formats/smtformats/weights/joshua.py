"""The weights in a joshua.config.

    tm = thrax -owner pt -maxspan 12 -path grammar.gz
    pop-limit = 100
    lm_0 1.2373676802179452
    tm_pt_0 -2.4497

A line without ``=`` is a weight, a name and a number; lines with one are settings, and those that begin with ``#`` are
comments. Stricter than Joshua, on purpose: a repeated name, where the last wins there, is an error, and so is
``weight-overwrite``, which changes what the weight lines say. Joshua takes a weight without a line as 0, so new names
are added at the end. A file without settings looks like cdec's; ours begin with ``# joshua.config`` to tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.tokens import blanks
from smtformats.weights import moses
from smtformats.weights.lines import Entry, read_lines, update_lines, write_lines

NAME = "joshua-config"
_TITLE = "# joshua.config\n"
_KEYS = frozenset(
    {
        "defaultnonterminal",
        "goalsymbol",
        "includealignindex",
        "latticedecoding",
        "markoovs",
        "numtranslationoptions",
        "oovlist",
        "outputformat",
        "poplimit",
        "reorderinglimit",
        "topn",
        "useuniquenbest",
        "weightsfile",
    }
)
"""Keys that no cdec.ini has, in Joshua's normal spelling."""


def _key(line: str) -> str:
    """The key of a setting, spelt as Joshua compares keys; none if the line is none."""
    key, mark, _ = line.partition("=")
    return key.strip().replace("-", "").replace("_", "").lower() if mark else ""


def _entry(line: str, lines: Lines) -> Entry | None:
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
    return Entry(tokens[0], last - len(tokens[1]), last)


def parse(lines: Lines) -> Iterator[dict[str, float]]:
    """The one set of weights in the file."""
    yield read_lines(lines, _entry, "weights, `NAME VALUE` on lines of their own", NAME)


def write(records: Iterable[dict[str, float]], out: TextIO, number: Number) -> int:
    """Write sets of weights, a line for each; returns how many sets."""
    return write_lines(records, out, number, _line, NAME, update, before=_TITLE)


def _line(name: str, value: float, number: Number) -> str:
    if blanks(name) != [name] or "=" in name or name.startswith("#"):
        raise FormatError("a name without blanks, `=` or `#` in front", quote(name))
    return f"{name} {number(value)}\n"


def update(values: dict[str, float], lines: Lines, out: TextIO, number: Number) -> list[str]:
    """Put new values into the weight lines and copy all others; names without a line get one at the end."""
    return update_lines(values, lines, out, number, _entry, _line)


def is_config(head: bytes) -> bool:
    """A setting that only Joshua has, or our own title."""
    text = head.decode("utf-8", "ignore")
    # A feature of Moses' may be called TM: `TM= 0.2 0.3` stands in a section.
    return text.startswith(_TITLE) or (any(map(_tells, text.split("\n"))) and not moses.matches(head))


def matches(head: bytes) -> bool:
    """Such a setting, and something like a weight: there may be none in a config, but a file with weights."""
    lines = first_lines(head, lambda line: "=" not in line and not line.lstrip().startswith("#") and line.strip())
    return is_config(head) and any(len(blanks(line)) == 2 for line in lines)


def _tells(line: str) -> bool:
    key = _key(line)
    # `LM = 1` is a weight of cdec's; a grammar or a language model takes several words to name.
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
