"""Moses' binary tables of phrases or rules, ProbingPT: folders that ``CreateProbingPT`` writes.

    Alignments.dat  TargetColl.dat  TargetVocab.dat  cache  config  probing_hash.dat  source_vocabids

``TargetColl.dat`` has the target sides with their scores, in the order of the text table, and ``probing_hash.dat`` the
place of those of each source side. Scores are read as natural logarithms, at least -100, whether the folder stores
logarithms (``--log-prob``) or probabilities; the option ``table`` names them as in ``moses-phrases``. They are 32-bit
numbers: records have the decimals of fewest digits, 6 to 9, that they stand for, so that a text table of 6 digits comes
out as it went in; logarithms below -8 do not keep the sixth digit. Reordering scores (``--num-lex-scores``) become the
property ``LexRO``, as in the text; ``moses-probing-reordering`` reads them as a reordering table. Tables of rules
(``--scfg``) lack the source side's left-hand side, which the option ``lhs`` gives (X). Counts, sparse features and
other properties are not stored.

A source side is stored as the sum of its words' hashes only. Most are listed in ``cache``; the others are found from
the words and from those beside them, as tables are sorted. Where that fails, in tables that are not sorted or have few
neighbours, it is an error, and the option ``sources`` names a text in which they occur: the text table, or the training
text. With the option ``only``, the path of sentences, only phrases that occur there are read. If a source side is in
two places of the text table, the later is lost, as in Moses.

Decoders need none of this for phrases: they look up those of each sentence, as Moses does, whether sentences come from
a file or a stream, and the files stay mapped. Tables of rules are loaded, and cached as text tables are.

Errors name the file: numbers of words or alignments out of range, hashes that are not those of their words, keys where
a look-up does not find them, places where no target sides begin, scores that are not finite, a version other than 15.
The option ``max_symbols`` (per source side) is at most 64. Look-ups check the small files and the phrases they return.
Words of several factors come out as several words on the target side, as the folder does not say how many there are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smtformats.columns import GrammarColumns
from smtformats.format import Format
from smtformats.grammar.rules import Rule
from smtformats.grammar.shared.moses_tables import TABLE
from smtformats.grammar.shared.shapes import VECTORS

if TYPE_CHECKING:
    from smtformats.grammar.shared.lookup import PhraseLookup

NAME = "moses-probing"
MAX_SOURCE = 64
FILES = frozenset({"Alignments.dat", "TargetColl.dat", "TargetVocab.dat", "probing_hash.dat", "source_vocabids"})


def parse(
    path: str | os.PathLike[str],
    *,
    table: str = TABLE,
    sources: str = "",
    only: str = "",
    lhs: str = "X",
    max_symbols: int = MAX_SOURCE,
) -> Iterator[Rule]:
    """Yield one rule at a time; ``table`` names the feature."""
    from smtformats.grammar.shared.probing_table import ProbingTable

    yield from ProbingTable(path, sources=sources, only=only, lhs=lhs, max_symbols=max_symbols).rules(table)


def load(
    path: str | os.PathLike[str],
    *,
    table: str = TABLE,
    sources: str = "",
    only: str = "",
    lhs: str = "X",
    max_symbols: int = MAX_SOURCE,
) -> GrammarColumns:
    """Load all rules as columns, with the options of ``parse``."""
    from smtformats.grammar.shared.probing_table import ProbingTable

    return ProbingTable(path, sources=sources, only=only, lhs=lhs, max_symbols=max_symbols).columns(table)


def lookup(
    path: str | os.PathLike[str],
    *,
    table: str = TABLE,
    sources: str = "",
    only: str = "",
    lhs: str = "X",
    max_symbols: int = MAX_SOURCE,
) -> PhraseLookup | None:
    """Open a table of phrases to look them up; ``None`` if it has rules, which are loaded."""
    from smtformats.grammar.shared.probing_lookup import ProbingPhraseTable, open_folder

    folder = open_folder(path)
    return (
        None if folder.has_rules else ProbingPhraseTable(folder, table, min(max_symbols, MAX_SOURCE), sources or only)
    )


def matches(head: bytes) -> bool:
    """Match a folder with most files of such a table, so that the error for a missing one names it."""
    names = set(head.decode("utf-8", "replace").split("\n"))
    return len(FILES & names) >= len(FILES) - 1 and bool({"TargetColl.dat", "probing_hash.dat"} & names)


FORMAT = Format(
    name=NAME,
    kind="grammar",
    summary="Moses ProbingPT: a folder with TargetColl.dat, probing_hash.dat and source_vocabids",
    matches=matches,
    parse=parse,
    load=load,
    lookup=lookup,
    probabilities=VECTORS,
    folder=True,
)
