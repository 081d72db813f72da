"""Moses' phrase-based search graphs, ``-osg`` and ``-osgx``: one hypothesis per line.

    0 hyp=0 stack=0
    0 hyp=6 stack=1 back=0 score=-1.984 transition=-1.984 forward=9 fscore=-103.480 covered=0-0 out=, a
    0 hyp=8 stack=1 back=0 score=-2.100 transition=-2.100 recombined=6 forward=9 fscore=-103.480 covered=0-0 out=an

Fields: sentence id, hypothesis, ``stack`` (number of source words covered), ``back`` (the predecessor), ``score``,
``transition`` (the score of this step), ``recombined`` (the hypothesis it was recombined into, if any), ``forward`` (-1
for a complete hypothesis), ``fscore``, ``covered`` (first and last source position of the phrase), ``out`` (its target
words). The extended form ``-osgx`` ends in ``scores="core=(0.000,-2.000,...) name=value" out="source|target"``.

Hypothesis 0 is the start, a node without edges. Each hypothesis that was not recombined is a node; a final goal node
joins the complete ones with edges of score 0. Every other line is an edge from ``back`` to its own node or to the node
it was recombined into. Its rule is ``[X] phrase``; only the extended form has source sides. ``transition`` is the
edge's score, the vector its features. Moses does not name the core values: they are ``F[0] F[1] ...`` unless the option
``names`` names them in the order of the ``[feature]`` section, as
``names=UnknownWordPenalty0 LM0 TranslationModel0:4``. The option ``factors`` is the number of factors per source word
(1).

A sentence with hypothesis 0 only was empty or untranslatable; only the extended form distinguishes these (``forward=0``
is untranslatable: a graph without nodes). Moses outputs an empty line for both. Moses prints three decimals, so a
path's sum is off by up to 0.0005 per edge. Errors: wrong counts in ``stack``, a ``back`` that is not on an earlier
line, sentence ids that do not ascend, a sentence without a complete hypothesis. The options ``max_nodes`` and
``max_edges`` limit the size of a graph.

An unchanged graph is written back byte for byte. Any phrase-based graph with scores can be written, in the extended
form with ``extended=true``; its core has the features given by ``names``, in that order, and all others follow by name.
Numbers keep all digits so that sums are exact. As in Moses, the last step of a complete hypothesis includes the final
score. For a sentence with hypothesis 0 only, ``forward`` and ``fscore`` are written in the short form too, to tell
empty from untranslatable. The score of an empty sentence is lost. Graphs with features but no scores are an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, Edge, GraphColumns
from smtformats.hypergraph.shared.moses_lines import (
    ID,
    NUMBER,
    NUMBERS,
    SPARSE,
    Arcs,
    LineShape,
    Vectors,
    core_names,
    finite,
    sentences,
)
from smtformats.hypergraph.shared.sentence import spell, with_text
from smtformats.hypergraph.shared.steps import Step, steps_of
from smtformats.tokens import BadField, is_id
from smtformats.writing import write_each

NAME = "moses-search-graph"
_LABEL = "X"
_GAP = NonTerminal(_LABEL, 1)
_STACK, _BACK, _TRANSITION, _RECOMBINED, _FORWARD, _COVERED, _SCORES, _OUT = 3, 4, 6, 7, 8, 10, 11, 12
_START = LineShape(
    ("a sentence id", ID),
    ("hyp=0", " hyp=(0)"),
    ("stack=0", " stack=0"),
    ("forward=ID fscore=NUMBER, or no more", rf"(?: forward=(?P<forward>-1|\d{{1,18}}) fscore={NUMBER})?"),
)
_STEP = LineShape(
    ("a sentence id", ID),
    ("hyp=ID", f" hyp={ID}"),
    ("stack=COUNT", f" stack={ID}"),
    ("back=ID", f" back={ID}"),
    ("score=NUMBER", f" score={NUMBER}"),
    ("transition=NUMBER", f" transition=({NUMBER})"),
    ("recombined=ID or none", f"(?: recombined={ID})?"),
    ("forward=ID, or -1", r" forward=(?P<forward>-1|\d{1,18})"),
    ("fscore=NUMBER", f" fscore={NUMBER}"),
    ("covered=FIRST-LAST", f" covered={ID}-{ID}"),
    ('scores="core=(NUMBERS) ..." or none', rf'(?: scores="core=\({NUMBERS}\){SPARSE}"(?= out="))?'),
    ("out=WORDS, in quotes after scores", " out=(.*)"),
)
_NEAR = 32  # an id and `hyp=0` are shorter
_WORD = re.compile(r"[^ \n\r]+")
_SHAPE = re.compile(rb"\d{1,18} hyp=\d{1,18} stack=\d{1,18}[ \n]")


class _Sentence:
    """A graph under construction."""

    def __init__(self, id: str, arcs: Arcs, vectors: Vectors, source: re.Pattern[str]) -> None:
        self.id = id
        self.arcs = arcs
        self.vectors = vectors
        self.source = source
        self.stacks: list[int] = []
        self.complete: list[int] = []
        self.alone = ""  # hypothesis 0's `forward`, for a sentence without other hypotheses
        self.last = 0
        self.raw: list[str] = []

    def add(self, match: re.Match[str]) -> None:
        """Add a line."""
        self.last = self.arcs.lines.number
        self.raw.append(match.string)
        if match[2] != "0":
            self.step(match)
            return
        self.arcs.new(0)
        self.stacks.append(0)
        self.alone = match["forward"] or "-1"

    def step(self, match: re.Match[str]) -> None:
        """Add a hypothesis that extends another."""
        _, hyp, stack, back, transition, recombined, forward, first, last, core, sparse, out = match.groups()
        arcs, error = self.arcs, self.arcs.lines.error
        if int(back) >= int(hyp):
            raise error(f"a hypothesis id below {hyp}", quote(back), _BACK)
        tail = arcs.earlier(back, _BACK, "is extended")
        size = int(last) - int(first) + 1
        if size < 1:
            raise error("the first and the last position of a phrase", quote(f"{first}-{last}"), _COVERED)
        wanted = self.stacks[tail] + size
        if int(stack) != wanted:
            raise error(f"{wanted}, the stack of hypothesis {back} and {size} more", quote(stack), _STACK)
        if recombined is None:
            node = arcs.new(int(hyp))
            self.stacks.append(wanted)
            if forward == "-1":
                self.complete.append(node)
        else:
            node = arcs.winner(int(hyp), recombined, _RECOMBINED)
            if self.stacks[node] != wanted or tail >= node:
                raise error(f"a hypothesis of stack {wanted} after hypothesis {back}", quote(recombined), _RECOMBINED)
        extended = core is not None
        edge = Edge(
            tails=(tail,),
            rule=arcs.rule(out, lambda: self.rule(out, extended)),
            features=self.vectors.values(core, sparse, _SCORES) if extended else {},
            span=(int(first), int(last) + 1),
            score=finite(arcs.lines, transition, _TRANSITION),
        )
        arcs.lead(node, edge)

    def rule(self, out: str, extended: bool) -> Rule:
        """Return a rule of a gap, filled by the predecessor, and a phrase."""
        if not extended:
            return Rule(_LABEL, (), (_GAP, *_words(out)))
        pair = self.source.fullmatch(out)
        if pair is None:
            raise self.arcs.lines.error('"source|target" in quotes', quote(out), _OUT)
        return Rule(_LABEL, (_GAP, *_words(pair[1])), (_GAP, *_words(pair[2])))

    def graph(self) -> GraphColumns:
        """Return the graph with its goal and its text."""
        return with_text(self._graph(), NAME, "".join(self.raw))

    def _graph(self) -> GraphColumns:
        arcs = self.arcs
        if len(arcs) == 1:
            if self.alone != "-1":
                arcs.clear()
                return arcs.columns(self.id)
            self.complete = [0]
        if not self.complete:
            missing = f"none in sentence {self.id}"
            raise arcs.lines.error("a complete hypothesis (forward=-1)", missing, _FORWARD, line=self.last)
        goal = arcs.bare()
        end = arcs.rule("\n", lambda: Rule(_LABEL, (), (_GAP,)))
        for node in self.complete:
            arcs.lead(goal, Edge(tails=(node,), rule=end, score=0.0))
        return arcs.columns(self.id)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(" ") if word)


def _source(factors: int) -> re.Pattern[str]:
    """Return a pattern that splits ``"source|target"`` at the first bar after words with this many factors."""
    if factors < 1:
        raise FormatError("1 or more factors", str(factors))
    word = "[^ |]*" + r"\|[^ |]*" * (factors - 1)
    return re.compile(rf'"({word}(?: {word})*)\|(.*)"')


def parse(
    lines: Lines, *, names: str = "", factors: int = 1, max_nodes: int = MAX_NODES, max_edges: int = MAX_EDGES
) -> Iterator[GraphColumns]:
    """Yield one sentence's graph at a time."""
    vectors = Vectors(lines, names)
    source = _source(factors)

    def begin(id: str) -> _Sentence:
        return _Sentence(id, Arcs(lines, max_nodes, max_edges), vectors, source)

    def shape_of(line: str) -> LineShape:
        return _START if " hyp=0 " in line[:_NEAR] else _STEP

    return sentences(lines, shape_of, begin, "a search graph, `0 hyp=0 stack=0` and more lines")


def write(
    records: Iterable[GraphColumns], out: TextIO, number: Number, *, names: str = "", extended: bool = False
) -> int:
    """Write phrase-based graphs; returns the number of graphs."""
    core = core_names(names)
    return write_each(records, out, lambda graph: spell(graph, NAME, lambda: _lines(graph, number, core, extended)))


def _lines(graph: GraphColumns, number: Number, core: tuple[str, ...], extended: bool) -> Iterator[str]:
    if not is_id(graph.id):
        raise BadField("a sentence id (a whole number)", quote(graph.id))
    steps = steps_of(graph)
    best = max((step for step in steps if not step.back), key=lambda step: step.transition + step.rest, default=None)
    end = "" if best is not None and not extended else " forward=-1 fscore=0" if graph.nodes else " forward=0 fscore=0"
    if best is not None and extended:
        end = f" forward={best.number} fscore={number(best.transition + best.rest)}"
    yield f"{graph.id} hyp=0 stack=0{end}\n"
    for step in steps:
        lost = f" recombined={step.winner}" if step.winner else ""
        yield (
            f"{graph.id} hyp={step.number} stack={step.covered} back={step.back} score={number(step.score)} "
            f"transition={number(step.transition)}{lost} forward={step.forward} fscore={number(step.rest)} "
            f"covered={step.span[0]}-{step.span[1] - 1} {_out(step, number, core, extended)}\n"
        )


def _out(step: Step, number: Number, core: tuple[str, ...], extended: bool) -> str:
    """Return the phrase of a step as text, with its scores in the extended form."""
    for word in (*step.source, *step.target):
        if not _WORD.fullmatch(word):
            raise BadField("words without blanks", quote(word))
    target = " ".join(step.target)
    if not extended:
        return f"out={target}"
    bars = {word.count("|") for word in step.source}
    if len(bars) > 1:
        raise BadField("source words with the same number of factors", quote(" ".join(step.source)))
    values = ",".join(number(step.features.get(name, 0.0)) for name in core)
    known = frozenset(core)
    sparse = "".join(f"{name}={number(value)} " for name, value in step.features.items() if name not in known)
    if sparse.count(" ") != len(step.features.keys() - known):
        raise BadField("names of features without blanks", quote(sparse.rstrip(" "), 60))
    return f'scores="core=({values}) {sparse}" out="{" ".join(step.source)}|{target}"'


def matches(head: bytes) -> bool:
    """Match if the first line has a hypothesis and its stack."""
    return _SHAPE.match(head) is not None


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="Moses phrase-based search graph (-osg, -osgx): hypothesis, predecessor, scores, span and phrase per line",
    matches=matches,
    parse=parse,
    write=write,
    example="""\
0 hyp=0 stack=0
0 hyp=1 stack=1 back=0 score=-1.500 transition=-1.500 forward=3 fscore=-1.000 covered=0-0 out=the
0 hyp=2 stack=1 back=0 score=-1.750 transition=-1.750 recombined=1 forward=3 fscore=-1.000 covered=0-0 out=this
0 hyp=3 stack=2 back=1 score=-2.500 transition=-1.000 forward=-1 fscore=0.000 covered=1-1 out=house
""",
)
