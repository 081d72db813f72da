"""Z-MERT's parameter file (``-p params.txt``), also used by Joshua's PRO and MIRA.

    lm_0       ||| 1.0    Opt  0.1  +Inf  +0.5  +1.5
    tm_pt_0    ||| -2.44  Opt  -Inf  +Inf  -1  +1
    OOVPenalty ||| 1      Fix  0  0  0  0
    normalization = absval 1 lm_0

The weight of a parameter is its initial value. An update keeps bounds, ranges and the last line. In a new file every
parameter is free (``Opt -Inf +Inf -1 +1``) and ``normalization`` is ``none``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.tokens import BadField, blanks, numbers
from smtformats.weights.lines import WeightLine, read_lines, update_lines, write_lines
from smtformats.weights.pipes import check_name, split, split_named

NAME = "zmert-params"
_BOUNDS = ("a lower bound", "an upper bound", "a lower end for random values", "an upper end for random values")
_METHODS = {"none": 0, "absval": 2, "maxabsval": 1, "minabsval": 1, "LNorm": 2}
_KNOWN = "none, absval V NAME, maxabsval V, minabsval V or LNorm P V"


class _Params:
    """Parse the lines of a file, the last of which is the normalization."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.names: set[str] = set()
        self.normalized = 0
        self.anchor = ""

    def entry(self, line: str, lines: Lines) -> WeightLine | None:
        if not blanks(line):
            return None
        if self.normalized:
            raise lines.error("nothing after the line of `normalization`", quote(line.strip(" \t\r\n")), 1)
        if "|||" not in line:
            self._normalization(line)
            return None
        name, body, first = split_named(line, lines)
        tokens = blanks(body)
        if len(tokens) != 6:
            expected = "a value, `Opt` or `Fix`, two bounds and a random range"
            raise lines.error(expected, f"{len(tokens)} words", min(len(tokens), 6) + 2)
        if tokens[1] not in ("Opt", "Fix"):
            raise lines.error("`Opt` or `Fix`", quote(tokens[1]), 3)
        if tokens[1] == "Opt":
            self._bounds(tokens[2:])
        self.names.add(name)
        return WeightLine(name, first, first + len(tokens[0]))

    def _bounds(self, tokens: list[str]) -> None:
        values = []
        for i, (token, what) in enumerate(zip(tokens, _BOUNDS, strict=True)):
            if token == ("-Inf", "+Inf", "", "")[i]:
                values.append(float(token))
            else:
                values.append(self._number(token, i + 4, what))
            if i % 2 and values[i - 1] > values[i]:
                raise self.lines.error(f"{what} from {tokens[i - 1]} on", quote(token), i + 4)

    def _number(self, token: str, field: int, what: str) -> float:
        try:
            return numbers([token], what=what)[0]
        except BadField as bad:
            raise self.lines.locate(bad, field) from None

    def _normalization(self, line: str) -> None:
        key, mark, rest = line.partition("=")
        method, *values = blanks(rest) or [""]
        if key.strip(" \t\r\n") != "normalization" or not mark:
            raise self.lines.error("`NAME ||| ...` or `normalization = ...`", quote(line.strip(" \t\r\n")), 1)
        if len(values) != _METHODS.get(method, -1):
            raise self.lines.error(_KNOWN, quote(rest.strip(" \t\r\n")), 2)
        self.normalized = self.lines.number
        for i, token in enumerate(values):
            if method == "absval" and i == 1:
                self.anchor = token
            elif self._number(token, i + 3, "a positive number") <= 0:
                raise self.lines.error("a positive number", quote(token), i + 3)

    def finish(self) -> None:
        """Check what is only known at the end of the file."""
        if not self.normalized:
            raise self.lines.error("`normalization = ...` as the last line", "the end of the file", 1)
        if self.anchor and self.anchor not in self.names:
            expected = "the name of a parameter to hold fixed"
            raise self.lines.error(expected, quote(self.anchor), 4, line=self.normalized)


def parse(lines: Lines) -> Iterator[dict[str, float]]:
    """Parse the file, which is one set of weights."""
    params = _Params(lines)
    weights = read_lines(lines, params.entry, "parameters, `NAME ||| VALUE Opt ...`", NAME)
    params.finish()
    yield weights


def write(records: Iterable[dict[str, float]], out: TextIO, number: Number) -> int:
    """Write sets of weights as parameters to be tuned; returns the number of sets."""
    return write_lines(records, out, number, _line, NAME, update, after="normalization = none\n")


def _line(name: str, value: float, number: Number) -> str:
    return f"{check_name(name)} ||| {number(value)} Opt -Inf +Inf -1 +1\n"


def update(values: dict[str, float], lines: Lines, out: TextIO, number: Number) -> list[str]:
    """Write new initial values into the lines of their parameters; returns the names without a line."""
    params = _Params(lines)
    missing = update_lines(values, lines, out, number, params.entry)
    params.finish()
    return missing


def matches(head: bytes) -> bool:
    """Match a first line with a parameter, its value and ``Opt`` or ``Fix``."""
    lines = first_lines(head)
    return bool(lines) and blanks(split(lines[0])[1])[1:2] in (["Opt"], ["Fix"])


FORMAT = Format(
    name=NAME,
    kind="weights",
    summary="Z-MERT's params.txt; --into changes the initial values only",
    matches=matches,
    parse=parse,
    write=write,
    update=update,
    example="lm_0 ||| 1.0 Opt 0.1 +Inf +0.5 +1.5\nnormalization = none\n",
)
