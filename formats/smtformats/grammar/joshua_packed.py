r"""Joshua's packed grammars: folders of binary files, which ``tm = thrax -path FOLDER`` reads.

    config  encoding  vocabulary  slice_00000.features  slice_00000.source  slice_00000.target ...

``vocabulary`` has the words and non-terminals, ``encoding`` the features and the encoders of their values. A slice has
a trie of source sides, a trie of target sides from the leaves up, a feature block per rule, and optionally a block of
alignment points in ``.alignments``. All versions (2, without ``config``, 3 and 4) and all encoders are read: ``byte``,
``boolean``, ``char``, ``short``, ``int``, ``float`` and ``8bit``.

Features that had no name in the text grammar are numbers here. As in Joshua, they are named ``tm_pt_0`` .. and their
signs are flipped; the option ``owner`` replaces ``pt``. Named features are unchanged, even ``tm_pt_0``. Zero values are
not stored, and ``8bit`` values are quantised to 256. Phrase tables of version 3 have ``[X,1]`` before both sides. The
rules of a slice are sorted by the length of their source sides.

Accepted although Joshua rejects it: a folder without ``.target.lookup`` files, which are redundant. Empty words on
target sides are dropped. Errors name the file and the byte: addresses out of range, a trie node with two parents, a gap
that is not exactly once on the target side, values that are not finite, words with blanks, repeated words or feature
names. The options ``max_symbols`` (per side), ``max_features`` (per rule) and ``max_total`` (of either, per slice) set
limits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from smtformats.columns import GrammarColumns
from smtformats.format import Format
from smtformats.grammar.rules import Rule
from smtformats.grammar.shared.lines import MAX_FEATURES, MAX_SYMBOLS
from smtformats.grammar.shared.shapes import GIVENS

NAME = "joshua-packed"
OWNER = "pt"
MAX_TOTAL = 1 << 27


def parse(
    path: str | os.PathLike[str],
    *,
    owner: str = OWNER,
    max_symbols: int = MAX_SYMBOLS,
    max_features: int = MAX_FEATURES,
    max_total: int = MAX_TOTAL,
) -> Iterator[Rule]:
    """Yield one rule at a time, with one slice in memory."""
    from smtformats.grammar.shared.packed_grammar import PackedGrammar

    yield from PackedGrammar(path, owner, max_symbols, max_features, max_total).rules()


def load(
    path: str | os.PathLike[str],
    *,
    owner: str = OWNER,
    max_symbols: int = MAX_SYMBOLS,
    max_features: int = MAX_FEATURES,
    max_total: int = MAX_TOTAL,
) -> GrammarColumns:
    """Load all rules as columns."""
    from smtformats.grammar.shared.packed_grammar import PackedGrammar

    return PackedGrammar(path, owner, max_symbols, max_features, max_total).columns()


def matches(head: bytes) -> bool:
    """Match a folder with a vocabulary, an encoding and a slice."""
    names = head.decode("utf-8", "replace").split("\n")
    sliced = any(name.startswith("slice_") and name.endswith(".source") for name in names)
    return sliced and {"vocabulary", "encoding"} <= set(names)


FORMAT = Format(
    name=NAME,
    kind="grammar",
    summary="Joshua packed grammar: a folder with vocabulary, encoding and slice_00000.source",
    matches=matches,
    parse=parse,
    load=load,
    probabilities=GIVENS,
    folder=True,
)
