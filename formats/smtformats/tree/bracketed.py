r"""Trees in brackets, Penn style, a sentence on each line.

    (S (NP (DT the) (NN house)) (VP (VBZ is) (ADJP (JJ small))))

A bracket has a label and then words and other brackets, in any mixture: cdec's ``--show_tree_structure`` writes such
lines as ``(S (X a man (X with a hat)))``, too. The outermost may have no label, ``( (S ...))``. A word or label is
anything without blanks and round brackets; nothing is unescaped, ``-LRB-`` stays as it is. An empty line is a sentence
without a tree, and so are ``()`` and ``(())``, which parsers write when they fail.

Refused: a tree over several lines, two on a line, a bracket inside without a label, a word in one that has none, more
brackets inside each other than ``max_nesting``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from smtformats.errors import FormatError, quote
from smtformats.files import HEAD_BYTES, Lines
from smtformats.format import Format, Number
from smtformats.tokens import BadField
from smtformats.tree.trees import Parse, Tree, tree_of
from smtformats.writing import own, write_each

NAME = "bracketed-tree"
MAX_NESTING = 1000
_NONE = re.compile(r"[ \t]*(?:\([ \t]*(?:\([ \t]*\)[ \t]*)?\)[ \t]*)?")
_SPAN = re.compile(r"[ \t]*\([^ \t()]*\{-?\d+-\d+\}")


def parse(lines: Lines, *, max_nesting: int = MAX_NESTING) -> Iterator[Parse]:
    """One sentence at a time."""
    for raw in lines:
        try:
            tree = _read(raw, max_nesting)
        except BadField as bad:
            raise lines.locate(bad, 1) from None
        yield Parse(tree, raw, NAME, lines.name, lines.number)


def _read(raw: str, max_nesting: int) -> Tree | None:
    text = raw.rstrip("\r\n")
    return None if _NONE.fullmatch(text) else tree_of(text, max_nesting)


def write(records: Iterable[Any], out: TextIO, number: Number) -> int:
    """Write trees, those read from such a file as they were; returns how many."""
    return write_each(records, out, _spell)


def _spell(record: Any) -> str:
    if not isinstance(record, Parse):
        expected = "a tree with brackets"
        raise FormatError(
            expected, type(record).__name__, file=getattr(record, "file", ""), line=getattr(record, "line", 1)
        )
    return own(record, NAME) or _compose(record)


def _compose(record: Parse) -> str:
    """A tree as a line, read again to be sure that it says what it should."""
    if record.tree is None:
        return "\n"
    text = str(record.tree)
    try:
        same = "\n" not in text and _read(text, len(text)) == record.tree
    except BadField:
        same = False
    if not same:
        expected = "a tree of words and labels without blanks and round brackets"
        raise FormatError(expected, quote(text), file=record.file, line=record.line, field=1)
    return text + "\n"


def matches(head: bytes) -> bool:
    """Trees alone, one with a bracket inside another among them, and no spans in labels, which derivations have."""
    lines = head.decode("utf-8", "ignore").split("\n")
    if len(lines) > 1 or len(head) > HEAD_BYTES // 2:
        lines, cut = lines[:-1], lines[-1].rpartition(" ")[0]
        # A line longer than the head is told by its beginning.
        lines = lines or [cut + ")" * (cut.count("(") - cut.count(")"))]
    nested = False
    for line in lines[:50]:
        try:
            tree = _read(line, MAX_NESTING)
        except BadField:
            return False
        if _SPAN.match(line):
            return False
        nested = nested or (tree is not None and any(isinstance(child, Tree) for child in tree.children))
    return nested


FORMAT = Format(
    name=NAME,
    kind="tree",
    summary="trees in brackets, one on each line: (S (NP (DT the) (NN house)) (VP ...))",
    matches=matches,
    parse=parse,
    write=write,
    example="(S (NP (DT the) (NN house)) (VP (VBZ is) (ADJP (JJ small))))\n\n( (S (NP (PRP it)) (VP (VBZ is))))\n",
)
