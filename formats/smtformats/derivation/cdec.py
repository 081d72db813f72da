r"""cdec's derivations, ``cdec -k N --show_derivations DIR``: one file ``derivs.ID`` per sentence.

    sent_id=0.0 ||| -14.2475
    ({<0,2> [Goal] ||| [S] ||| [1]}
     ({<0,2> [S] ||| das [X] ||| the [1]}
      ({<1,2> p=-3.5 LanguageModel=-2 [X] ||| haus ||| house}
      )
     )
    )

The first line of a derivation has the sentence id, the rank from 0, and the score. Each node and each closing bracket
is a line, indented by its depth. ``--show_derivations_mask`` selects what is in the braces, as a sum of 1 (category), 2
(span), 4 (score, after ``p=``), 8 (features), 16 (rule), 32 (the rule's features and alignment) and 64 (span before
rescoring, not kept). A single span is taken as that of 2; a feature ``p`` before all others is taken as the score.
Children are in source order.

A file may hold the derivations of several sentences. Errors: a rule whose gaps and children differ in number, and the
errors of cdec grammars, such as a word ``[X]`` that looks like a gap. The option ``max_nodes`` limits the nodes of a
derivation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from smtformats.derivation.derivations import DerivationNode, PrintedDerivation
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format
from smtformats.grammar.cdec import RuleParser
from smtformats.nbest.cdec import feature_field
from smtformats.tokens import BadField, Layouts, total_of

NAME = "cdec-derivations"
MAX_NODES = 100000
_LABEL = r"\[([^\t\n\r \[\],]+)\]"
_TOP = re.compile(r"sent_id=([0-9]{1,18})\.([0-9]{1,18}) \|\|\| ([^ ]+)")
_PLACE = re.compile(rf"(?:{_LABEL})?(?:<-?[0-9]+,-?[0-9]+>(?=<))?(?:<(-?[0-9]{{1,9}}),(-?[0-9]{{1,9}})>)?")
_RULE = re.compile(rf" {_LABEL} \|\|\| ")


class _Reader:
    """Reads the nodes of a derivation."""

    def __init__(self, lines: Lines, max_nodes: int) -> None:
        self.lines = lines
        self.max_nodes = max_nodes
        self.rules = RuleParser(lines)
        self.layouts = Layouts()
        self.nodes: list[DerivationNode] = []
        self.children: list[list[int]] = []
        self.open_nodes: list[int] = []

    def add(self, text: str) -> None:
        """Add a line of the tree."""
        body = text.lstrip(" ")
        depth = len(text) - len(body)
        closing = body == ")"
        wanted = len(self.open_nodes) - closing
        if self.nodes and not self.open_nodes:
            raise self.lines.error("an empty line after a derivation", quote(body), 1)
        if not closing and not (body[:2] == "({" and body[-1] == "}"):
            raise self.lines.error("({ and } around a node, or )", quote(body), 1)
        if depth != wanted:
            raise self.lines.error(f"{wanted} leading blanks, the depth in the tree", str(depth), 1)
        if closing:
            self._close(self.open_nodes.pop())
            return
        if len(self.nodes) == self.max_nodes:
            raise self.lines.error(f"at most {self.max_nodes} nodes", "more", 1)
        if self.open_nodes:
            self.children[self.open_nodes[-1]].append(len(self.nodes))
        self.open_nodes.append(len(self.nodes))
        self.nodes.append(self._node(body[2:-1]))
        self.children.append([])

    def _close(self, at: int) -> None:
        node = replace(self.nodes[at], children=tuple(self.children[at]))
        if node.rule is not None and node.rule.arity != len(node.children):
            expected = f"{node.rule.arity} children, one per gap of the rule"
            raise self.lines.error(expected, str(len(node.children)), 1)
        self.nodes[at] = node

    def _node(self, text: str) -> DerivationNode:
        place = _PLACE.match(text)
        assert place is not None  # every part may be absent
        rest = text[place.end() :]
        shown = _RULE.search(rest)
        rule = None
        if shown is not None:
            rule = replace(self.rules.rule(rest[shown.start() + 1 :], ""), raw=None, origin=NAME)
            rest = rest[: shown.start()]
        score = None
        try:
            if rest.startswith(" p="):
                first, _, rest = rest[3:].partition(" ")
                score = total_of(first)
            names, values = feature_field(rest, self.layouts)
        except BadField as bad:
            raise self.lines.locate(bad, 1) from None
        span = (int(place[2]), int(place[3])) if place[2] else None
        label = rule.lhs if rule is not None else place[1] or ""
        return DerivationNode(label, rule, span, (), names, tuple(values), score)

    def done(self) -> tuple[DerivationNode, ...]:
        """Return the nodes of a complete derivation."""
        if self.open_nodes or not self.nodes:
            expected = f"{len(self.open_nodes)} more )" if self.open_nodes else "a node of the derivation"
            raise self.lines.error(expected, "the end of the derivation", 1)
        nodes, self.nodes, self.children = tuple(self.nodes), [], []
        return nodes


def parse(lines: Lines, *, max_nodes: int = MAX_NODES) -> Iterator[PrintedDerivation]:
    """Yield one derivation at a time."""
    reader = _Reader(lines, max_nodes)
    top: PrintedDerivation | None = None
    for raw in lines:
        line = raw.removesuffix("\n")
        if not line:
            if top is not None and reader.nodes:
                yield replace(top, nodes=reader.done())
                top = None
        elif top is not None:
            reader.add(line)
        else:
            match = _TOP.fullmatch(line)
            if match is None:
                raise lines.error("sent_id=ID.RANK ||| SCORE above a derivation", quote(line), 1)
            try:
                score = total_of(match[3])
            except BadField as bad:
                raise lines.locate(bad, 2) from None
            top = PrintedDerivation(match[1], int(match[2]), score, (), lines.name, lines.number)
    if top is not None:
        yield replace(top, nodes=reader.done())
    if not lines.number:
        raise lines.error("sent_id=ID.RANK ||| SCORE above a derivation", "an empty file", 1)


def matches(head: bytes) -> bool:
    """Match if the first line that is not empty is the header of a derivation."""
    first = head.lstrip(b"\n").split(b"\n", 1)[0].decode("utf-8", "replace")
    return _TOP.fullmatch(first) is not None


FORMAT = Format(
    name=NAME,
    kind="derivation",
    summary="cdec derivations (--show_derivations): sent_id=0.0 ||| score, then a tree of rules",
    matches=matches,
    parse=parse,
    single=True,
    example="""\

sent_id=0.0 ||| -14.2475
({<0,2> [Goal] ||| [S] ||| [1]}
 ({<0,2> [S] ||| das [X] ||| the [1]}
  ({<1,2> [X] ||| haus ||| house}
  )
 )
)
""",
)
