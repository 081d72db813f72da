"""Moses' hierarchical and syntactic rule tables, and its glue grammars.

    [X][NP] schläft [X] ||| [X][NP] sleeps [S] ||| 0.5 0.25 1 0.125 ||| 0-0 1-1 ||| 4 2 2 ||| |||

Fields, feature names, the options ``table``, ``features``, ``max_symbols`` and ``max_features``, and errors are those
of ``moses-phrases``. Each side ends in its left-hand side, ``[X] ||| [S]``. A gap is written on both sides as its
source and target label, and an alignment point links the two; positions count gaps but not left-hand sides. The label
of the gap is X for ``[X][X]`` and ``X][NP`` for ``[X][NP]``; the same holds for left-hand sides. Alignment points of
gaps are kept beside those of words, and are added on writing if a rule lacks them.

Further errors: a side without a label at its end, a single label in brackets elsewhere, a gap with no alignment point
or two, a gap whose labels differ between the sides.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, TextIO

from smtformats.columns import GrammarColumns
from smtformats.errors import quote
from smtformats.files import MAX_LINE_BYTES, Lines
from smtformats.format import Format, Number
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.lines import MAX_FEATURES, MAX_SYMBOLS, quantity, read_rules, side_text
from smtformats.grammar.shared.moses_tables import TABLE, Points, TableReader, TableWriter
from smtformats.grammar.shared.scanning import scan_table
from smtformats.grammar.shared.shapes import VECTORS, is_rule_table
from smtformats.source_sides import SourceSide, first_field
from smtformats.writing import write_each

NAME = "moses-rules"
_LABEL = re.compile(r"\[([^\[\]]+)\]")
_PAIR = re.compile(r"\[([^\[\]]+)\]\[([^\[\]]+)\]")


class _Reader(TableReader):
    origin = NAME
    shape = "source [X] ||| target [X] ||| probabilities"

    def sides(self, source: list[str], target: list[str], points: Points) -> Rule:
        self.check_size(1, source, 2)
        self.check_size(2, target, 1)
        lhs = _label(self.label(1, source[-1]), self.label(2, target[-1]))
        left, right = self.gaps(1, source[:-1]), self.gaps(2, target[:-1])
        if len(left) != len(right):
            self.fail(2, f"{quantity(len(left), 'gap')}, as on the source side", str(len(right)))
        links = self.links(left, right, points)
        gaps = {s: NonTerminal(label, index) for index, (s, label) in enumerate(left.items(), 1)}
        for t, s in links.items():
            if right[t] != left[s]:
                self.fail(2, f"the labels {_spell(left[s])}, as on the source side", quote(target[t]))
        return Rule(
            lhs,
            tuple([gaps.get(s, word) for s, word in enumerate(source[:-1])]),
            tuple([gaps[links[t]] if t in links else word for t, word in enumerate(target[:-1])]),
        )

    def label(self, field: int, token: str) -> str:
        match = _LABEL.fullmatch(token)
        if match is None:
            self.fail(field, "a label at the end of the side, [X]", quote(token))
        return match[1]

    def gaps(self, field: int, tokens: list[str]) -> dict[int, str]:
        """Return the labels of gaps by position."""
        labels = {}
        for place, token in enumerate(tokens):
            if token[0] == "[" and token[-1] == "]":
                pair = _PAIR.fullmatch(token)
                if pair is None:
                    self.fail(field, "a pair of labels, [X][X], or a word without brackets", quote(token))
                labels[place] = _label(pair[1], pair[2])
        return labels

    def links(self, left: dict[int, str], right: dict[int, str], points: Points) -> dict[int, int]:
        """Return the source position of each target-side gap."""
        links: dict[int, int] = {}
        for s, t in points:
            if s not in left and t not in right:
                continue
            if s not in left or t not in right:
                self.fail(4, "points that link gaps to gaps", quote(f"{s}-{t}"))
            if links.setdefault(t, s) != s:
                self.fail(4, "one point for each gap", quote(f"{s}-{t}"))
        if len(links) < len(right) or len(set(links.values())) < len(left):
            self.fail(4, f"one point for each of {quantity(len(left), 'gap')}", f"{len(links)}")
        return links

    @staticmethod
    def spell_sides(rule: Rule, lines: Lines) -> tuple[str, str, Points]:
        def gap(symbol: NonTerminal) -> str:
            return _spell(symbol.label)

        left, _, right = rule.lhs.partition("][")
        places = {symbol.index: t for t, symbol in enumerate(rule.target) if isinstance(symbol, NonTerminal)}
        links = (
            (s, places.get(symbol.index, 0)) for s, symbol in enumerate(rule.source) if isinstance(symbol, NonTerminal)
        )
        points = rule.alignment + tuple(link for link in links if link not in rule.alignment)
        source, target = (
            side_text((*rule.source, f"[{left}]"), gap),
            side_text((*rule.target, f"[{right or left}]"), gap),
        )
        return source, target, points


def _label(source: str, target: str) -> str:
    return source if source == target else f"{source}][{target}"


def _spell(label: str) -> str:
    source, _, target = label.partition("][")
    return f"[{source}][{target or source}]"


def parse(
    lines: Lines,
    *,
    table: str = TABLE,
    features: str = "",
    max_symbols: int = MAX_SYMBOLS,
    max_features: int = MAX_FEATURES,
) -> Iterator[Rule]:
    """Yield one rule at a time; ``table`` names the feature, ``features`` its single scores."""
    return read_rules(_Reader(lines, table, features, max_symbols, max_features))


def load(stream: BinaryIO, name: str, *, max_bytes: int = MAX_LINE_BYTES, **options: Any) -> GrammarColumns:
    """Load all rules as columns, with the options of ``parse``."""
    return scan_table(_Reader(Lines(io.BytesIO(), name), **options), stream, max_bytes, gaps=True)


def write(records: Iterable[Rule], out: TextIO, number: Number, *, table: str = TABLE, features: str = "") -> int:
    """Write rules, unchanged ones byte for byte; returns the number of rules."""
    return write_each(records, out, TableWriter(_Reader, number, table, features))


def source(line: bytes) -> SourceSide | None:
    """The source side of a line without its label."""
    side = first_field(line)
    if side is None or len(side[1]) < 2:
        return None
    end, symbols = side
    return end, tuple([None if word and word[0] == 0x5B and word[-1] == 0x5D else word for word in symbols[:-1]])


FORMAT = Format(
    name=NAME,
    kind="grammar",
    summary="Moses rule table: source [X] ||| target [X] ||| p p p p ||| alignment ||| counts ||| sparse ||| {{Key v}}",
    matches=is_rule_table,
    parse=parse,
    write=write,
    load=load,
    source=source,
    carries=frozenset({"alignment", "counts", "properties"}),
    probabilities=VECTORS,
    example="[X][NP] schläft [X] ||| [X][NP] sleeps [S] ||| 0.5 0.25 1 0.125 ||| 0-0 1-1 ||| 4 2 2 ||| |||\n",
)
