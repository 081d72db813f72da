r"""Bracketed trees, Penn style, a sentence on each line.

    (S (NP (DT the) (NN house)) (VP (VBZ is) (ADJP (JJ small))))

A bracket has a label followed by words and brackets in any order, as in the output of cdec's ``--show_tree_structure``:
``(S (X a man (X with a hat)))``. Only the outermost bracket may lack a label, ``( (S ...))``. A word or label is any
text without blanks and round brackets; nothing is unescaped, ``-LRB-`` stays as it is. An empty line is a sentence
without a tree, and so are ``()`` and ``(())``, which parsers write when they fail.

Errors: a tree over several lines, two trees on a line, an inner bracket without a label, a word directly in a bracket
without a label, brackets nested deeper than ``max_nesting``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from smtformats.errors import quote
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
    """Parse one sentence at a time."""
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
    """Write trees, unchanged if read by this format; returns their count."""
    return write_each(records, out, _spell)


def _spell(record: Any) -> str:
    if not isinstance(record, Parse):
        raise BadField("a tree with brackets", type(record).__name__)
    return own(record, NAME) or _compose(record)


def _compose(record: Parse) -> str:
    """Compose the line of a tree and verify that it reads back as the same tree."""
    if record.tree is None:
        return "\n"
    text = str(record.tree)
    try:
        same = "\n" not in text and _read(text, len(text)) == record.tree
    except BadField:
        same = False
    if not same:
        raise BadField("a tree of words and labels without blanks and round brackets", quote(text), 1)
    return text + "\n"


def matches(head: bytes) -> bool:
    """Match lines of trees, at least one with nested brackets, without the spans in labels that derivations have."""
    lines = head.decode("utf-8", "ignore").split("\n")
    if len(lines) > 1 or len(head) > HEAD_BYTES // 2:
        lines, cut = lines[:-1], lines[-1].rpartition(" ")[0]
        # Judge a line longer than the head by its beginning.
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
    summary="bracketed trees, one on each line: (S (NP (DT the) (NN house)) (VP ...))",
    matches=matches,
    parse=parse,
    write=write,
    example="(S (NP (DT the) (NN house)) (VP (VBZ is) (ADJP (JJ small))))\n\n( (S (NP (PRP it)) (VP (VBZ is))))\n",
)
