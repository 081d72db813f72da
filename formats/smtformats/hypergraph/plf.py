r"""PLF, the input lattices of cdec, Moses and Joshua: one lattice per line.

    ((('ein',0.9,1),('eine',0.1,1),),(('hut',1,1),),)

A lattice has a column of arcs for each node except the last; an arc is a word, its scores, and the number of nodes it
jumps ahead. The scores become ``LatticeCost_0``, ``LatticeCost_1`` .., as in cdec. The option ``name`` renames them:
``name=SourcePath`` for Joshua, ``name=InputFeature0`` for Moses (whose scores are probabilities and stay so). ``{}`` in
``name`` is replaced by the number; otherwise several scores become ``NAME[0]``, ``NAME[1]``. Named features are
``{'Acoustic':0.5}`` (cdec) or ``Acoustic=0.5`` (Moses). In words a backslash escapes the next character; ``*EPS*``
(cdec, Moses) and ``<eps>`` (Joshua) are empty arcs. Commas before ``)`` are optional.

A line that does not start with ``(((`` is plain text, read as a lattice with one path and written as text again, as
cdec and Joshua do. Moses stops at such a line; with ``text=false`` it is an error. An empty line is a sentence without
words; cdec does not count it. A ``<seg>`` tag around the lattice and a reference after ``|||`` are kept for the writer;
the tag's number is the sentence id, ``extras`` have its attributes. Other sentences are numbered by line, from 0. In
errors, the field is the column of arcs. Spans are node numbers as written. A graph has one edge more than arcs: the
first edge leads to the start.

Accepted although some toolkit rejects it: blanks between any tokens, ``(('a',1,1),),`` without outer parentheses (which
cdec itself writes), arcs with different numbers of scores, words with blanks, columns without arcs. Errors: an empty
word, a jump of 0 or past the last node, double quotes, a lattice without a complete path. The options ``max_nodes`` and
``max_edges`` limit the size.

A changed graph, or one from another format, is written with unnamed scores if all its features have the names that
``name`` gives, else with all features named in braces; with ``pairs=true`` as Moses does, named ones after unnamed
ones. Edges of several words become chains of arcs. A graph without features is written with its scores.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NoReturn, TextIO

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, GraphColumns, check_limits
from smtformats.hypergraph.lattices import EPSILON, EPSILONS, Arc, arcs_of, lattice, order_of
from smtformats.hypergraph.shared.sentence import checksum, spell
from smtformats.tokens import BadField, blanks, numbers, vector
from smtformats.writing import write_each

NAME = "plf-lattice"
_COST = "LatticeCost_{}"
_LATTICE = "a lattice, ((('word',cost,jump),),)"
_B = r"[ \t\r]*"
_QUOTED = r"'((?:[^'\\]|\\.)*)'"
_NAME = r"[^\s,(){}=']+"
_VALUE = r"([^\s,(){}=:']+)"
_OUTER = re.compile(rf"\({_B}(?=\({_B}\()")
_SPACED = re.compile(rf"\({_B}\({_B}(?:\({_B})?{_QUOTED}{_B},{_B}(?:[-+.0-9{{]|{_NAME}=)")
_OPEN = re.compile(rf"\({_B}")
_ARC_END = re.compile(rf"{_B}(?:,{_B})?\){_B}(?:,{_B})?")
_COLUMN_END = re.compile(rf"\){_B}(?:,{_B})?")
_LAST = re.compile(r"\)")
_WORD = re.compile(rf"\({_B}{_QUOTED}{_B}")
_ITEM = re.compile(rf",{_B}(?:(\{{)|(?:({_NAME})=)?{_VALUE}{_B}(?=[,)]))")
_PAIR = re.compile(rf"{_B}{_QUOTED}{_B}:{_B}{_VALUE}{_B}(?:,|(?=\}}))")
_BRACE = re.compile(rf"{_B}\}}{_B}")
_ESCAPE = re.compile(r"\\(.)")
_JUMP = re.compile(r"0*[1-9][0-9]{0,8}")
_SEG = re.compile(r"""<seg(?=[ \t>])((?:[^>"]|"[^"]*")*)>""")
_ATTRIBUTE = re.compile(r"""[ \t]([^\s="]+)[ \t]*=[ \t]*(?:"([^"]*)"|([^\s"]+))""")
_ID = re.compile(r"[0-9]{1,18}", re.ASCII)
_BEHIND = re.compile(rf"{_B}(?:\|\|\||</seg>|\n|$)")
_TEXT_END = re.compile(r"(?:(?:^|[ \t])\|\|\|(?=[ \t\r\n]|$)|(?=\n)|$)")
_TAGGED_END = re.compile(rf"</seg>|{_TEXT_END.pattern}")


def _is_lattice(text: str, at: int = 0) -> bool:
    return text.startswith("(((", at) or _SPACED.match(text, at) is not None


class _Parser:
    """Reads the lattice at offset ``at`` of a line, and moves ``at`` past it."""

    def __init__(self, lines: Lines, text: str, at: int, name: str) -> None:
        self.lines = lines
        self.text = text
        self.at = at
        self.name = name
        self.column = 1

    def fail(self, expected: str, found: str | None = None) -> NoReturn:
        rest = self.text[self.at :].rstrip("\n")
        shown = quote(rest, 30) if rest else "the end of the line"
        raise self.lines.error(expected, found or shown, self.column)

    def next_is(self, char: str) -> bool:
        return self.text.startswith(char, self.at)

    def take(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        match = pattern.match(self.text, self.at)
        if match is None:
            self.fail(expected)
        self.at = match.end()
        return match

    def lattice(self) -> tuple[int, list[Arc]]:
        """Return the number of columns, and the arcs."""
        arcs: list[Arc] = []
        outer = _OUTER.match(self.text, self.at)
        if outer is not None:
            self.at = outer.end()
        while self.next_is("("):
            self.take(_OPEN, "a column")
            while self.next_is("("):
                arcs.append(self.arc())
            self.take(_COLUMN_END, "an arc ('word', score, jump) or the `)` of the column")
            self.column += 1
        if outer is not None:
            self.take(_LAST, "a column (('word', score, jump), ...) or the `)` of the lattice")
        columns = self.column - 1
        for arc in arcs:
            if arc.head > columns:
                self.column = arc.tail + 1
                self.fail(f"a jump of at most {columns - arc.tail}, to the last node", str(arc.head - arc.tail))
        return columns, arcs

    def arc(self) -> Arc:
        word = _ESCAPE.sub(r"\1", self.take(_WORD, "a word in single quotes")[1])
        if not word:
            self.fail(f"a word ({EPSILON} for none)", "''")
        named: dict[str, float] = {}
        costs: list[str] = []
        jump = ""
        while (item := _ITEM.match(self.text, self.at)) is not None:
            self.at = item.end()
            if item[1]:
                self.pairs(named)
                jump = ""
            elif item[2]:
                self.add(named, item[2], item[3])
                jump = ""
            else:
                jump = item[3]
                costs.append(jump)
        self.take(_ARC_END, "`,` and a number, name=value or {'name':value}, or `)`")
        if not _JUMP.fullmatch(jump):
            self.fail("a jump of at least 1 as the last number of an arc", quote(jump) if jump else "none")
        features: dict[str, float] = {}
        for name, value in zip(_cost_names(self.name, len(costs) - 1), costs, strict=False):
            self.add(features, name, value)
        for name, number in named.items():
            if name in features:
                self.fail("each feature once", f"{quote(name)} again")
            features[name] = number
        tail, head = self.column - 1, self.column - 1 + int(jump)
        return Arc(tail, head, () if word in EPSILONS else (word,), features, (tail, head))

    def pairs(self, features: dict[str, float]) -> None:
        while (pair := _PAIR.match(self.text, self.at)) is not None:
            self.at = pair.end()
            self.add(features, _ESCAPE.sub(r"\1", pair[1]), pair[2])
        self.take(_BRACE, "'name':value or `}`")

    def add(self, features: dict[str, float], name: str, value: str) -> None:
        if name in features:
            self.fail("each feature once", f"{quote(name)} again")
        try:
            features[name] = numbers([value])[0]
        except BadField as bad:
            self.fail(bad.expected, bad.found)


def _cost_names(name: str, count: int) -> tuple[str, ...]:
    if "{}" in name:
        return tuple(name.replace("{}", str(k)) for k in range(count))
    return vector(name, count) if count else ()


def parse(
    lines: Lines, *, name: str = _COST, text: bool = True, max_nodes: int = MAX_NODES, max_edges: int = MAX_EDGES
) -> Iterator[GraphColumns]:
    """Yield one sentence at a time."""
    for line in lines:
        tag = _SEG.match(line)
        at = tag.end() if tag is not None else 0
        pairs = _ATTRIBUTE.findall(tag[1]) if tag is not None else []
        attributes = {name: quoted or bare for name, quoted, bare in pairs}
        key = attributes.get("id", "")
        plain = not _is_lattice(line, at)
        if plain and not text and blanks(line):
            raise lines.error(_LATTICE, f"{quote(line.strip(), 30)} (--from {NAME} reads sentences too)", 1)
        try:
            if plain:
                end = (_TEXT_END if tag is None else _TAGGED_END).search(line, at)
                stop = end.start() if end is not None else len(line)
                words = blanks(line[at:stop])
                columns = len(words)
                check_limits(columns + 1, columns, max_nodes, max_edges)
                arcs = [Arc(i, i + 1, (word,), {}, (i, i + 1)) for i, word in enumerate(words)]
            else:
                parser = _Parser(lines, line, at, name)
                columns, arcs = parser.lattice()
                if not _BEHIND.match(line, parser.at):
                    parser.fail("the end of the line or `|||` after the lattice")
                stop = parser.at
                check_limits(columns + 1, len(arcs), max_nodes, max_edges)
            order = order_of(arcs, 0, columns)
        except BadField as bad:
            raise lines.locate(bad, 1) from None
        extras = {"format": NAME, "text": plain, "raw": line, "before": line[:at], "after": line[stop:]}
        if attributes:
            extras["attributes"] = attributes
        number = key if _ID.fullmatch(key) else str(lines.number - 1)
        graph = lattice(number, order, arcs, extras=extras, file=lines.name, line=lines.number)
        extras["read"] = checksum(graph)
        yield graph
    if not lines.number:
        raise lines.error(_LATTICE, "none in the file", 1)


def write(
    records: Iterable[GraphColumns], out: TextIO, number: Number, *, name: str = _COST, pairs: bool = False
) -> int:
    """Write lattices, one per line, unchanged ones byte for byte; returns the number of lattices."""
    composer = _Composer(number, name, pairs)

    def pieces(graph: GraphColumns) -> tuple[str, ...]:
        extras = graph.extras if graph.extras.get("format") == NAME else {}
        middle = composer.line(graph, text=extras.get("text", False))
        return extras.get("before", ""), middle, extras.get("after", "").rstrip("\n"), "\n"

    return write_each(records, out, lambda graph: spell(graph, NAME, lambda: pieces(graph)), 1)


class _Composer:
    """Writes lattices as text."""

    def __init__(self, number: Number, name: str, pairs: bool) -> None:
        self.number = number
        self.name = name
        self.pairs = pairs

    def line(self, graph: GraphColumns, text: bool) -> str:
        nodes, arcs = arcs_of(graph)
        bare = [word for arc in arcs for word in arc.words]
        one_path = [arc.tail for arc in arcs] == list(range(nodes - 1)) and len(bare) == len(arcs)
        if not arcs or (text and one_path and not any(arc.features for arc in arcs)):
            shown = " ".join(bare)
            if blanks(shown) == bare and not (_is_lattice(shown) or "|||" in bare or re.search("</?seg", shown)):
                return shown
        columns: list[list[str]] = [[] for _ in range(nodes - 1)]
        for arc in arcs:
            word = self.in_quotes(arc.words[0] if arc.words else EPSILON)
            items = [word, *self.items(arc.features), str(arc.head - arc.tail)]
            columns[arc.tail].append(f"({','.join(items)}),")
        return "(" + "".join(f"({''.join(column)})," for column in columns) + ")"

    def in_quotes(self, text: str) -> str:
        if not text or "\n" in text:
            raise BadField("a word or name without a line break", quote(text))
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def items(self, features: Mapping[str, float]) -> list[str]:
        if "" in features:  # a score
            return [self.value(features[""])]
        costs = self.costs(features)
        rest = [feature for feature in features if feature not in costs]
        if not rest or self.pairs:
            named = [f"{self.plain(feature)}={self.value(features[feature])}" for feature in rest]
            return [*(self.value(features[feature]) for feature in costs), *named]
        return [
            "{" + ",".join(f"{self.in_quotes(feature)}:{self.value(features[feature])}" for feature in features) + "}"
        ]

    def costs(self, features: Mapping[str, float]) -> tuple[str, ...]:
        """Return the names of the features that are written without a name."""
        if self.name in features and "{}" not in self.name:
            return (self.name,)
        pattern = self.name if "{}" in self.name else f"{self.name}[{{}}]"
        count = 0
        while pattern.replace("{}", str(count)) in features:
            count += 1
        names = _cost_names(self.name, count)
        return names if all(feature in features for feature in names) else ()

    def plain(self, name: str) -> str:
        if not re.fullmatch(_NAME, name):
            raise BadField("a feature name without blanks, quotes, brackets, `,` and `=`", quote(name))
        return name

    def value(self, value: float) -> str:
        if not math.isfinite(value):
            raise BadField("a finite number", repr(value))
        return self.number(value)


def matches(head: bytes) -> bool:
    """Match if one of the first lines starts with a lattice."""
    return any(_SPACED.match(line, tag.end() if (tag := _SEG.match(line)) else 0) for line in first_lines(head))


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="PLF lattices as cdec, Moses and Joshua read them: one ((('word',score,jump),...),...) per line",
    matches=matches,
    parse=parse,
    write=write,
    suffixes=(".plf",),
    example="((('ein',0.9,1),('eine',0.1,1),),(('hut',1,1),),)\n",
)
