r"""Moses' word graphs, ``-output-word-graph FILE 0``.

    VERSION=1.0
    UTTERANCE=0
    J=0 S=0 E=4 a=-1.500, -2.000 l=-0.500, 0.000-1.000-6.925 r=-1.000 w=ein|a :: term=0-0 : c=-1.7 core=(...)

Two header lines per sentence, then one line per hypothesis with tab-separated fields: the predecessor (``S``), the
hypothesis (``E``), scores, and the source and target words. Moses' debug output and the ``UNK`` marks of unknown words
are removed. The sentence id is the utterance.

The scores are hard to use. ``a`` holds the phrase table scores; ``l`` the scores of all stateful features, without
separators but with three decimals each; ``r`` the distortion, which is in ``l`` too. They become ``a[0]``, ``l[0]`` and
so on, and are cumulative: ``accumulated=true`` gives each the difference to its predecessor. Word and phrase penalties
are missing. Complete hypotheses are not marked: the nodes that cover most source words are taken, and an edge without
features leads from each to an added last node. Recombined hypotheses are dead ends.

An unchanged graph read without ``accumulated`` is written back byte for byte. Any phrase-based graph with scores and
source sides can be written, more usefully than Moses does: ``a`` is the score of the step alone, including the final
score for a complete hypothesis, with all digits (three decimals at least); a recombined hypothesis leads to its winner;
``w`` has the words only. The options ``tables``, ``stateful`` and ``distortion`` name features for ``a``, ``l`` and
``r`` instead, as ``tables=TranslationModel0:4,distortion=Distortion0``.

Errors: words with several factors, a hypothesis before its predecessor, unseparated numbers without three decimals; on
writing, complete hypotheses that cover different numbers of source words, as in lattices. The options ``max_nodes`` and
``max_edges`` limit the size.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, GraphColumns, check_limits
from smtformats.hypergraph.lattices import Arc, lattice, order_of, take_differences
from smtformats.hypergraph.shared.moses_lines import core_names
from smtformats.hypergraph.shared.sentence import spell, with_text
from smtformats.hypergraph.shared.steps import Step, steps_of
from smtformats.tokens import BadField, blanks, vector
from smtformats.writing import write_each

NAME = "moses-word-graph"
_NAMES = ("J", "S", "E", "a", "l", "r", "w")
_SHAPE = " ".join(f"{name}=" for name in _NAMES)
_NUMBER = re.compile(r"[0-9]{1,15}")
_VALUE = re.compile(r"-?[0-9]{1,30}\.[0-9]{3}")
_ALONE = re.compile(r"-?[0-9]{1,30}\.[0-9]{3,400}(?=,|$)")
_GAP = re.compile(r"(?:, ?)?")
_UNKNOWN = re.compile(r"\|UNK\|UNK\|UNK(?= |$)")
_FIRST = re.compile(r"J=[0-9]+\tS=[0-9]+\tE=[0-9]+\ta=[^\t]*\tl=[^\t]*\tr=")


class _Sentence:
    """A sentence under construction, line by line."""

    def __init__(self, line: int) -> None:
        self.id = ""
        self.line = line
        self.arcs: list[Arc] = []
        self.covered = {0: 0}
        self.raw: list[str] = []
        self.by_moses = False

    def add(self, fields: list[str]) -> None:
        texts = []
        for place, (field, name) in enumerate(zip(fields, _NAMES, strict=False), 1):
            if not field.startswith(name + "="):
                raise BadField(f"{name}=", quote(field, 30), place)
            texts.append(field[len(name) + 1 :])
        if len(fields) != len(_NAMES):
            raise BadField(f"tab-separated fields {_SHAPE}", str(len(fields)), min(len(fields), len(_NAMES)))
        for place in (1, 2, 3):
            if not _NUMBER.fullmatch(texts[place - 1]):
                raise BadField("a whole number", quote(texts[place - 1]), place)
        tail, head = int(texts[1]), int(texts[2])
        if tail not in self.covered:
            raise BadField("a hypothesis from an earlier line", str(tail), 2)
        features: dict[str, float] = {}
        for place, name in enumerate(_NAMES[3:6], 4):
            values = _values(texts[place - 1], place)
            features.update(zip(vector(name, len(values)), values, strict=True))
        words, notes, _ = texts[6].partition(" :: ")
        self.by_moses = self.by_moses or bool(notes)
        source, bar, target = _UNKNOWN.sub("", words).partition("|")
        if not bar or "|" in target:
            raise BadField("words with one factor, source|target", quote(texts[6], 30), 7)
        covered = self.covered[tail] + len(blanks(source))
        if head in self.covered and (head <= tail or self.covered[head] != covered):
            expected = "a hypothesis after its predecessor that always covers the same number of words"
            raise BadField(expected, str(head), 3)
        self.covered[head] = covered
        self.arcs.append(Arc(tail, head, tuple(blanks(target)), features))

    def graph(self, lines: Lines, accumulated: bool) -> GraphColumns:
        most = max(self.covered.values())
        complete = [node for node, count in self.covered.items() if count == most]
        end = max(self.covered) + 1
        arcs = self.arcs + [Arc(node, end) for node in complete]
        order = order_of(arcs, 0, end)
        if accumulated:
            take_differences(arcs, order)
        # Moses' debug output tells its files, with cumulative values, from ours.
        extras = {"cumulative": NAME} if self.by_moses and not accumulated else {}
        graph = lattice(self.id, order, arcs, extras=extras, file=lines.name, line=self.line)
        return graph if accumulated else with_text(graph, NAME, "".join(self.raw))


def _values(text: str, place: int) -> list[float]:
    values: list[float] = []
    at = 0
    while at < len(text):
        number = _ALONE.match(text, at) or _VALUE.match(text, at)
        if number is None:
            raise BadField("numbers with three decimals", quote(text[at:], 30), place)
        values.append(float(number[0]))
        gap = _GAP.match(text, number.end())
        at = gap.end() if gap is not None else number.end()
    return values


def parse(
    lines: Lines, *, accumulated: bool = False, max_nodes: int = MAX_NODES, max_edges: int = MAX_EDGES
) -> Iterator[GraphColumns]:
    """Yield one sentence at a time."""
    sentence: _Sentence | None = None
    try:
        for line in lines:
            body = line.rstrip("\r\n")
            if body.startswith("VERSION="):
                if sentence is not None:
                    yield sentence.graph(lines, accumulated)
                sentence = _Sentence(lines.number)
            elif sentence is None:
                raise BadField("VERSION= at the beginning of a sentence", quote(body, 30))
            elif not sentence.id:
                sentence.id = body.removeprefix("UTTERANCE=")
                if not sentence.id or sentence.id == body:
                    raise BadField("UTTERANCE= and the number of the sentence", quote(body, 30))
            else:
                sentence.add(body.split("\t"))
                check_limits(len(sentence.covered) + 1, len(sentence.arcs), max_nodes, max_edges)
            sentence.raw.append(line)
        if sentence is None:
            raise BadField("VERSION= at the beginning of a sentence", "an empty file")
        if not sentence.id:
            raise BadField("UTTERANCE= and the number of the sentence", "the end of the file")
        yield sentence.graph(lines, accumulated)
    except BadField as bad:
        raise lines.locate(bad, 1) from None


def write(
    records: Iterable[GraphColumns],
    out: TextIO,
    number: Number,
    *,
    tables: str = "",
    stateful: str = "",
    distortion: str = "",
) -> int:
    """Write phrase-based graphs; returns the number of graphs."""
    columns = {"a": core_names(tables), "l": core_names(stateful), "r": core_names(distortion)}
    return write_each(records, out, lambda graph: spell(graph, NAME, lambda: _lines(graph, number, columns)))


def _lines(graph: GraphColumns, number: Number, columns: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    if not graph.id or graph.id != graph.id.strip() or "\n" in graph.id:
        raise BadField("an id without blanks around it", quote(graph.id))
    if not graph.nodes:
        raise BadField("a sentence with a translation", f"none of sentence {graph.id}")
    steps = steps_of(graph)
    size = max((step.covered for step in steps), default=0)
    yield f"VERSION=1.0\nUTTERANCE={graph.id}\n"
    for place, step in enumerate(steps):
        if (step.forward < 0) != (step.covered == size):
            raise BadField(f"{size} source words in complete hypotheses and in no others", f"{step.covered}")
        yield f"J={place}\tS={step.back}\tE={step.winner or step.number}"
        for name, wanted in columns.items():
            values = [step.features.get(feature, 0.0) for feature in wanted]
            if name == "a" and not any(columns.values()):
                values = [step.transition]
            yield f"\t{name}={', '.join([_decimals(number(value)) for value in values])}"
        yield f"\tw={_pair(step)}\n"


def _decimals(text: str) -> str:
    """Return a number without an exponent, with three decimals at least, as unseparated numbers need."""
    from decimal import Decimal

    whole, _, decimals = format(Decimal(text), "f").partition(".")
    return f"{whole}.{decimals:0<3}"


def _pair(step: Step) -> str:
    """Return the source and target words of a step."""
    for word in (*step.source, *step.target):
        if blanks(word) != [word] or "|" in word or word == "::":
            raise BadField("words without blanks and bars", quote(word))
    if len(step.source) != step.span[1] - step.span[0]:
        shown = quote(" ".join(step.source)) if step.source else "none"
        raise BadField("as many source words as the phrase's span", shown)
    return f"{' '.join(step.source)}|{' '.join(step.target)}"


def matches(head: bytes) -> bool:
    """Match two header lines, then a hypothesis, another header or nothing."""
    lines = first_lines(head)
    if len(lines) < 2 or not lines[0].startswith("VERSION=") or not lines[1].startswith("UTTERANCE="):
        return False
    return len(lines) == 2 or lines[2].startswith("VERSION=") or _FIRST.match(lines[2]) is not None


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="Moses word graphs: VERSION= UTTERANCE=, then tab-separated J= S= E= a= l= r= w=",
    matches=matches,
    parse=parse,
    write=write,
    example="VERSION=1.0\nUTTERANCE=0\n"
    "J=0\tS=0\tE=1\ta=-1.500, -2.000\tl=-0.500-1.000-6.925\tr=-1.000\tw=ein|a :: term=0-0 \n"
    "J=1\tS=1\tE=2\ta=-2.000, -2.500\tl=-0.500-1.000-9.500\tr=0.000\tw=hut|hat :: term=0-0 \n",
)
