r"""Target-side trees with spans: Joshua's ``output-format = %t``, and cdec's ``-J`` for Joshua's viewer.

    (GOAL{0-4} (GOAL{0-3} (GOAL{0-1} <s>) (X{1-3} a (X{2-3} house))) </s>)
    0 ||| (S{0-3} (X{0-3} a (X{1-3} small house))) ||| 1.0 ||| -1

A bracket is a rule: its label, its source span (Joshua's positions count ``<s>``), then the target side. Source sides
are not shown. Lines without an id are numbered; ``()`` is an untranslatable sentence.

**Joshua swaps the subtrees of a rule that reorders its gaps**: it prints them in source order, while the words around
them and the spans are correct. Such a tree is read as it is, so its words are not the translation. cdec's trees are
correct.

A round bracket on its own is a word, as in ``(X{1-2} ))``. Only if brackets do not balance otherwise does a ``)`` after
a label end an empty target side. Joshua removes quotation marks. Errors: brackets that do not balance in any reading, a
bracket without label and span, a second tree on a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smtformats.derivation.derivations import DerivationNode, PrintedDerivation
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, first_lines
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.tokens import BadField, blanks, is_id, is_number

NAME = "joshua-trees"
_OPEN = re.compile(r"\(([^ ]+)\{(-?[0-9]{1,9})-(-?[0-9]{1,9})\}")
_FIRST = re.compile(r"(?:[0-9]+ \|\|\| )?\([^ ]+\{-?[0-9]+-[0-9]+\} ")


def parse(lines: Lines) -> Iterator[PrintedDerivation]:
    """Yield one derivation at a time."""
    number = -1
    for line in lines:
        text = line.strip(" \r\n")
        key = str(number + 1)
        if not text.startswith("("):
            fields = text.split(" ||| ")
            if len(fields) != 4 or not is_id(fields[0]) or not all(map(is_number, fields[2:])):
                raise lines.error(
                    "(LABEL{i-j} ...), or `id ||| (LABEL{i-j} ...) ||| number ||| number`", quote(text), 1
                )
            key, text = fields[0], fields[1].strip(" ")
        try:
            nodes = _nodes(text, lines) if text.strip("() ") else ()
        except BadField as bad:
            raise lines.locate(bad, 1 if line.startswith("(") else 2) from None
        number = int(key)
        yield PrintedDerivation(key, 0, None, nodes, lines.name, lines.number)
    if not lines.number:
        raise lines.error("a tree, (LABEL{i-j} ...)", "none in the file", 1)


def _nodes(text: str, lines: Lines) -> tuple[DerivationNode, ...]:
    tokens = blanks(text)
    try:
        return _read(tokens, lines, False)
    except BadField:
        if ")" not in (token[:1] for token in tokens):
            raise
        return _read(tokens, lines, True)


def _read(tokens: list[str], lines: Lines, empty: bool) -> tuple[DerivationNode, ...]:
    """Return nodes in preorder; ``empty`` if a bracket after a label closes it and is not a word."""
    heads: list[tuple[str, tuple[int, int]]] = []
    sides: list[list[Symbol]] = []
    children: list[list[int]] = []
    open_nodes: list[int] = []
    opened = False
    for token in tokens:
        match = _OPEN.fullmatch(token)
        if heads and not open_nodes:
            raise BadField("one tree in round brackets", quote(token))
        if match is not None:
            if open_nodes:
                below = children[open_nodes[-1]]
                below.append(len(heads))
                sides[open_nodes[-1]].append(NonTerminal(match[1], len(below)))
            open_nodes.append(len(heads))
            heads.append((match[1], (int(match[2]), int(match[3]))))
            sides.append([])
            children.append([])
            opened = True
            continue
        if not open_nodes:
            raise BadField("a label with a span, (LABEL{i-j}", quote(token))
        word = token.rstrip(")")
        if not word and not (empty and opened):
            word = ")"
        ends = len(token) - len(word)
        if ends > len(open_nodes):
            raise BadField(f"at most {len(open_nodes)} )", quote(token))
        if word:
            sides[open_nodes[-1]].append(word)
        if ends:
            del open_nodes[-ends:]
        opened = False
    if open_nodes:
        raise BadField(f"{len(open_nodes)} more )", "the end of the tree")
    return tuple(
        DerivationNode(
            label, Rule(label, (), tuple(side), origin=NAME, file=lines.name, line=lines.number), span, tuple(below)
        )
        for (label, span), side, below in zip(heads, sides, children, strict=True)
    )


def matches(head: bytes) -> bool:
    """Match if the first line with a translation starts with a label and a span."""
    for line in first_lines(head):
        if line.strip("() \r"):
            return _FIRST.match(line) is not None
    return False


FORMAT = Format(
    name=NAME,
    kind="derivation",
    summary="trees with spans: Joshua %t, (GOAL{0-4} (X{1-3} a house) ...), and cdec -J",
    matches=matches,
    parse=parse,
    example="(GOAL{0-4} (GOAL{0-3} (GOAL{0-1} <s>) (X{1-3} a (X{2-3} house))) </s>)\n()\n",
)
