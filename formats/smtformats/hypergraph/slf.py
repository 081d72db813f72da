r"""HTK's Standard Lattice Format, also written by Moses' ``-output-search-graph-slf``.

    VERSION=1.0
    UTTERANCE=u1
    N=3 L=3
    I=0 t=0.00
    I=1 t=0.41
    I=2 t=0.90
    J=0 S=0 E=1 W=ein a=-3.5 l=-1.25
    J=1 S=0 E=1 W=eine a=-4 l=-2
    J=2 S=1 E=2 W=hut a=-5 l=-0.5

``name=value`` fields in any order: a header, then a line per node (``I=``) and link (``J=``); ``#`` starts a comment. A
word stands on its link or on the link's end node; ``!NULL`` or no word is an empty arc. Values may be quoted; a
backslash escapes a character, or three octal digits for a byte. Unless ``start=`` and ``end=`` name them, the start is
the node without incoming links and the end is the node without outgoing links; if there are several ends, the last node
has to be one and is taken. A line ``.`` or a new header ends a lattice. The sentence id is the file name without its
suffixes (``utt0`` of ``utt0.slf.gz``); in a file of several lattices it is their ``UTTERANCE``.

The numbers of a link are its features: ``acoustic`` (``a``), ``language`` (``l``), ``ngram`` (``n``), and others by
their names. They are not scaled, whatever ``base`` is. ``extras`` hold the ``header``, the ``scales`` of features
(``lmscale``, ``acscale``, ``x1scale``), the ``times`` of nodes, and the ``names`` that Moses gives to ``x1`` and so on
in comments. Variants (``v``), segmentations (``d``) and other texts are dropped. A link's score, in natural logarithms,
is the sum of ``a``, ``l``, ``n``, ``r``, ``ds``, ``x1`` .. times ``acscale``, ``lmscale``, ``ngscale``, ``prscale`` (1
if absent), ``duscale``, ``x1scale`` .. (0 if absent), plus ``wdpenalty`` for a word, all in logarithms of ``base``
(default e; 0 for probabilities), as in HTK (``HLat.h``, the HTK Book's "HTK Standard Lattice Format") and SRILM
(``HTKLattice.cc``).

In Moses' files the values are cumulative, each phrase table score occurs twice, and recombined hypotheses are dead
ends. They are read as they are, without scores of links; ``accumulated=true`` gives each link the difference to its
predecessor, and a score in which a repeated one counts once. (Links with only zeros are the later words of a phrase.)

An unchanged lattice read without ``accumulated`` is written back byte for byte. Any lattice can be written, and any
phrase-based graph: a link per word, the first of a phrase with the scores of the step; recombined links lead to the
winner's node; a final link without a word has the final scores. Features without an HTK letter become ``x1``, ``x2``
.., named in comments as Moses does, with their ``scales`` if known; graphs without features are written with their
scores. ``times`` are not written.

Errors: sub-lattices, words with blanks, links of undefined nodes, counts that differ from the header, cycles, several
starts. The options ``max_nodes`` and ``max_edges`` limit the size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, first_lines
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, GraphColumns, check_limits
from smtformats.hypergraph.lattices import Arc, lattice, order_of, take_differences
from smtformats.hypergraph.shared.sentence import sentence_id, with_text
from smtformats.hypergraph.shared.slf_scores import link_scores
from smtformats.hypergraph.shared.slf_writing import NAME, NULL, SCALE, SCALES, SCORE, write
from smtformats.tokens import BadField, is_number, numbers

_B = " \t\r\n"
_FIELD = re.compile(
    rf"""([A-Za-z][^={_B}"']*)=(?:"((?:[^"\\\n]|\\.)*)"(?![^{_B}])|'((?:[^'\\\n]|\\.)*)'(?![^{_B}])"""
    rf"""|((?:[^\\{_B}]|\\.)*)(?![^{_B}]))[{_B}]*"""
)
_ESCAPES = re.compile(r"(?:\\[0-3][0-7]{2})+|\\.")
_COUNT = re.compile(r"[0-9]{1,9}")
_HEADER = {"V": "VERSION", "U": "UTTERANCE", "S": "SUBLAT", "N": "NODES", "L": "LINKS"}
_LINE = {"a": "acoustic", "l": "language", "n": "ngram", "W": "WORD", "S": "START", "E": "END", "v": "var", "d": "div"}
_LINE |= {"t": "time"}
_TEXTS = frozenset({"I", "J", "START", "END", "WORD", "var", "div", "time"})
_MOSES = re.compile(rf"# ([^{_B}]+) [^{_B}]+ ([0-9]{{1,9}}) of ([0-9]{{1,9}})[{_B}]*")
_SIZES = "NODES= and LINKS= (N= and L=) before nodes and links"


class Field(NamedTuple):
    """The text of a field, and its position in the line, from 1."""

    text: str
    place: int

    def count(self, what: str) -> int:
        """Return the field as a whole number."""
        if not _COUNT.fullmatch(self.text):
            raise BadField(what, quote(self.text), self.place)
        return int(self.text)

    def number(self, name: str) -> float:
        """Return the field as a feature value."""
        try:
            return numbers([self.text], what=f"a finite number as {name}")[0]
        except BadField as bad:
            raise BadField(bad.expected, bad.found, self.place) from None


def _fields(line: str, long: dict[str, str]) -> dict[str, Field]:
    """Return the fields of a line by their long names."""
    fields: dict[str, Field] = {}
    at = len(line) - len(line.lstrip(_B))
    while at < len(line):
        match = _FIELD.match(line, at)
        if match is None:
            raise BadField("a field name=value", quote(line[at:].rstrip(_B), 30), len(fields) + 1)
        name = long.get(match[1], match[1])
        if name in fields:
            raise BadField("each field once", f"{quote(match[1])} again", len(fields) + 1)
        text = match[match.lastindex or 4]
        fields[name] = Field(_unescape(text, len(fields) + 1) if "\\" in text else text, len(fields) + 1)
        at = match.end()
    return fields


def _unescape(text: str, place: int) -> str:
    def resolve(escape: re.Match[str]) -> str:
        piece = escape[0]
        if len(piece) == 2:
            return piece[1]
        try:
            return bytes(int(digits, 8) for digits in piece.split("\\")[1:]).decode()
        except UnicodeDecodeError:
            raise BadField("octal escapes of UTF-8 text", quote(piece), place) from None

    return _ESCAPES.sub(resolve, text)


class _Block:
    """A lattice under construction, line by line."""

    def __init__(self, max_nodes: int, max_edges: int) -> None:
        self.max_nodes = max_nodes
        self.max_edges = max_edges
        self.line = 0
        self.header: dict[str, str] = {}
        self.scales: dict[str, float] = {}
        self.names: dict[str, str] = {}
        self.comment = ""
        self.size = 0
        self.links = -1
        self.nodes: set[int] = set()
        self.words: dict[int, str] = {}
        self.acoustic: dict[int, float] = {}
        self.times: dict[int, float] = {}
        self.numbers: set[int] = set()
        self.arcs: list[Arc] = []

    @property
    def begun(self) -> bool:
        """Whether the header has ended."""
        return bool(self.nodes or self.arcs)

    def add_comment(self, line: str) -> None:
        component = _MOSES.fullmatch(line)
        if component is not None:
            self.comment = component[1] if component[3] == "1" else f"{component[1]}[{int(component[2]) - 1}]"

    def add_header(self, fields: dict[str, Field]) -> None:
        for name, field in fields.items():
            if name == "SUBLAT":
                raise BadField("a lattice without sub-lattices", quote(field.text), field.place)
            if name in self.header:
                raise BadField("each field of the header once", f"{quote(name)} again", field.place)
            self.header[name] = field.text
            if name == "NODES":
                self.size = field.count("the number of nodes")
                check_limits(self.size, 0, self.max_nodes, self.max_edges)
            elif name == "LINKS":
                self.links = field.count("the number of links")
                check_limits(0, self.links, self.max_nodes, self.max_edges)
            scale = SCALE.fullmatch(name)
            feature = scale[1] if scale else SCALES.get(name)
            if feature is not None:
                self.scales[feature] = field.number(name)
            if scale and self.comment:
                self.names[scale[1]] = self.comment
        self.comment = ""

    def add(self, fields: dict[str, Field]) -> None:
        """Add a node or a link."""
        if not self.size or self.links < 0:
            raise BadField(_SIZES, "none")
        word = fields.get("WORD")
        if word is not None and (not word.text or any(char in word.text for char in _B)):
            raise BadField("a word without blanks", quote(word.text), word.place)
        if "J" in fields:
            self.add_link(fields, word)
        else:
            self.add_node(fields, word)

    def add_node(self, fields: dict[str, Field], word: Field | None) -> None:
        number = self.node(fields, "I")
        if number in self.nodes:
            raise BadField("each node once", f"node {number} again", fields["I"].place)
        if "L" in fields:
            raise BadField("a lattice without sub-lattices", quote(fields["L"].text), fields["L"].place)
        self.nodes.add(number)
        if word is not None:
            self.words[number] = word.text
        if "time" in fields:
            self.times[number] = fields["time"].number("time")
        if "acoustic" in fields:
            self.acoustic[number] = fields["acoustic"].number("acoustic")

    def add_link(self, fields: dict[str, Field], word: Field | None) -> None:
        number = fields["J"].count("a link, J= and a whole number")
        if number in self.numbers:
            raise BadField("each link once", f"link {number} again", fields["J"].place)
        if len(self.arcs) == self.links:
            raise BadField(f"{self.links} links, as the header says", "another one", fields["J"].place)
        self.numbers.add(number)
        tail, head = self.node(fields, "START"), self.node(fields, "END")
        features = {
            name: field.number(name)
            for name, field in fields.items()
            if name not in _TEXTS and (SCORE.fullmatch(name) or is_number(field.text))
        }
        self.arcs.append(Arc(tail, head, () if word is None else (word.text,), features))

    def node(self, fields: dict[str, Field], name: str) -> int:
        if name not in fields:
            raise BadField(f"the field {name}=", "none")
        number = fields[name].count(f"a node, {name}= and a whole number")
        if number >= self.size:
            raise BadField(f"a node below {self.size}, as the header says", str(number), fields[name].place)
        return number

    def graph(self, lines: Lines, accumulated: bool) -> GraphColumns:
        """Return the lattice."""
        if not self.size or self.links < 0:
            raise BadField("NODES= and LINKS= (N= and L=) of at least one node", "none")
        if self.links != len(self.arcs):
            raise BadField(f"{self.links} links, as the header says", str(len(self.arcs)))
        start, end = self.ends()
        for arc in self.arcs:
            if not arc.words and arc.head in self.words:
                arc.words = (self.words[arc.head],)
            if arc.head in self.acoustic:
                arc.features = {"acoustic": self.acoustic[arc.head], **arc.features}
            if arc.words == (NULL,):
                arc.words = ()
        order = order_of(self.arcs, start, end)
        if accumulated:
            take_differences(self.arcs, order)
        first = self.words.get(start, NULL)
        extras: dict[str, Any] = {"header": self.header, "scales": self.scales, "names": self.names}
        if self.times:
            extras["times"] = tuple(self.times.get(node) for node in order)
        # Moses writes no lines of nodes, all other programs do.
        if self.names and not self.nodes and not accumulated:
            extras["cumulative"] = NAME
        graph = lattice(
            sentence_id(lines.name),
            order,
            self.arcs,
            first=() if first == NULL else (first,),
            extras=extras,
            file=lines.name,
            line=self.line,
        )
        return graph if "cumulative" in extras else replace(graph, scores=link_scores(graph))

    def ends(self) -> tuple[int, int]:
        """Return the start and end node."""
        entered, left = {arc.head for arc in self.arcs}, {arc.tail for arc in self.arcs}
        used = sorted(entered | left) or [0]
        starts = self.outer("start", "enters", entered, used)
        ends = self.outer("end", "leaves", left, used)
        if len(ends) > 1 and ends[-1] == self.size - 1:
            ends = ends[-1:]
        for nodes, what in ((starts, "enters"), (ends, "leaves")):
            if len(nodes) != 1:
                shown = f"{len(nodes)}, nodes {nodes[0]} and {nodes[1]} among them" if nodes else "none"
                raise BadField(f"one node that no link {what}", shown)
        return starts[0], ends[0]

    def outer(self, name: str, what: str, inside: set[int], used: list[int]) -> list[int]:
        if name not in self.header:
            return [node for node in used if node not in inside]
        number = Field(self.header[name], 1).count(f"a node, {name}= and a whole number")
        if number in inside or number >= self.size:
            raise BadField(f"a node that no link {what} as {name}=", str(number))
        return [number]


def _blocks(lines: Lines, accumulated: bool, max_nodes: int, max_edges: int) -> Iterator[tuple[GraphColumns, str]]:
    """Yield lattices with their texts."""
    block = _Block(max_nodes, max_edges)
    raw: list[str] = []
    held: tuple[GraphColumns, str] | None = None  # trailing lines belong to it if no lattice follows
    try:
        for line in lines:
            text = line.strip(_B)
            if not text or line.startswith("#"):
                block.add_comment(line)
                raw.append(line)
                continue
            inside = text[:2] in ("I=", "J=") or re.search(rf"[{_B}][IJ]=", line) is not None
            fields = {} if text == "." else _fields(line, _LINE if inside else _HEADER)
            if text == "." or (block.begun and not inside):
                if block.line:
                    if held is not None:
                        yield held
                    held, raw = (block.graph(lines, accumulated), "".join(raw)), []
                block = _Block(max_nodes, max_edges)
            raw.append(line)
            if not fields:
                continue
            block.line = block.line or lines.number
            if inside:
                block.add(fields)
            else:
                block.add_header(fields)
        rest = "".join(raw)
        if held is not None:
            yield held if block.line else (held[0], held[1] + rest)
        if block.line:
            yield block.graph(lines, accumulated), rest
    except BadField as bad:
        raise lines.locate(bad, 1) from None


def parse(
    lines: Lines, *, accumulated: bool = False, max_nodes: int = MAX_NODES, max_edges: int = MAX_EDGES
) -> Iterator[GraphColumns]:
    """Yield one lattice at a time."""
    blocks = _blocks(lines, accumulated, max_nodes, max_edges)
    first, second = next(blocks, None), next(blocks, None)
    if first is None:
        raise lines.error("a lattice", "none in the file", 1)
    several = second is not None
    for count, (graph, text) in enumerate(chain((first,), (second,) if second is not None else (), blocks)):
        if several:
            graph = replace(graph, id=graph.extras["header"].get("UTTERANCE", str(count)))
        yield graph if accumulated else with_text(graph, NAME, text)


def matches(head: bytes) -> bool:
    """Match a header with the numbers of nodes and links."""
    lines = first_lines(head, lambda line: line.strip() and not line.startswith("#"))
    fields: set[str] = set()
    for line in lines:
        try:
            names = _fields(line, {})
        except BadField:
            return False
        if "I" in names or "J" in names:
            break
        fields.update(_HEADER.get(name, name) for name in names)
    return {"NODES", "LINKS"} <= fields


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="lattices of HTK and Moses: VERSION=, N= L=, then nodes I= and links J= S= E= W= a= l=",
    matches=matches,
    parse=parse,
    write=write,
    suffixes=(".slf", ".lat"),
    single=True,
    example="N=2 L=2\nJ=0 S=0 E=1 W=ein l=-0.5\nJ=1 S=0 E=1 W=eine l=-1\n",
)
