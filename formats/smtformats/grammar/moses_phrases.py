"""Moses' phrase tables: a pair of phrases on each line. Joshua reads them too (``tm = moses``).

    ein haus ||| a house ||| 0.5 0.25 1 0.125 ||| 0-0 1-1 ||| 4 2 2 ||| domain_tv 1 ||| {{Counts 4 2 2}}

Source, target, probabilities, alignment points, counts of target, source and both, sparse features, properties; all
that follows the probabilities may be absent. The k-th probability is the feature ``TranslationModel0[k]``
(``TranslationModel0`` if it is the only one), its value the natural logarithm, at least -100. A sparse feature is a
name and a value, the feature ``TranslationModel0_domain_tv`` with this very value. The option ``table`` is another name
for ``TranslationModel0``; the option ``features`` names the probabilities one by one, with blanks between. The option
``owner`` is that of Joshua's ``tm`` line: the k-th probability is ``tm_OWNER_k`` then, its logarithm not rounded to six
digits as Joshua's is, and that of 0 is -100, where Joshua has 100. The left-hand side of all pairs is X; factors,
``haus|NN``, are left in the words.

A pair of another format is written with e to its values as probabilities, which have to lie between -100 and 88.7. The
names of the first pair's features are the columns of the table, unless the option ``features`` names them; names that
begin with ``TranslationModel0_`` are written as sparse features.

Read although Moses aborts: properties with any key. Empty lines and a carriage return at a line's end are left out.
Refused: an empty source side, which Moses skips or aborts at, words in brackets, more or fewer probabilities than the
first line has, a probability below 0 or infinite, anything but numbers as counts, more than seven fields, and what
32-bit floats do not hold. Points outside of the phrases are kept, up to 32767. A table that has three fields on each
line and probabilities that sum up to one by twos, threes or fours is taken for a reordering table: ``--from
moses-phrases`` says otherwise. The options ``max_symbols`` (a side) and ``max_features`` (things in any other field)
set limits. ``load`` leaves out counts and properties.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO, TextIO

from smtformats.errors import quote
from smtformats.files import MAX_LINE_BYTES, Lines
from smtformats.format import Format, Number
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.lines import MAX_FEATURES, MAX_SYMBOLS, read_rules, side_text
from smtformats.grammar.shared.moses_tables import TABLE, Points, TableReader, TableWriter
from smtformats.grammar.shared.shapes import is_phrase_table
from smtformats.writing import write_each

if TYPE_CHECKING:
    from smtformats.columns import GrammarColumns

NAME = "moses-phrases"


class _Reader(TableReader):
    origin = NAME
    shape = "source ||| target ||| probabilities"

    def sides(self, source: list[str], target: list[str], points: Points) -> Rule:
        self.check_size(1, source, 1)
        self.check_size(2, target)
        for field, tokens in enumerate((source, target), 1):
            for token in tokens:
                if token[0] == "[" and token[-1] == "]":
                    self.fail(field, "words without brackets around them (moses-rules has those)", quote(token))
        return Rule("X", tuple(source), tuple(target))

    @staticmethod
    def spell_sides(rule: Rule, lines: Lines) -> tuple[str, str, Points]:
        def gap(symbol: NonTerminal) -> str:
            raise lines.error("words alone", f"the gap [{symbol.label}]", 1)

        return side_text(rule.source, gap), side_text(rule.target, gap), rule.alignment


def parse(
    lines: Lines,
    *,
    table: str = TABLE,
    features: str = "",
    owner: str = "",
    max_symbols: int = MAX_SYMBOLS,
    max_features: int = MAX_FEATURES,
) -> Iterator[Rule]:
    """One pair at a time; ``table`` is the name of the feature, ``features`` those of its single scores."""
    return read_rules(_Reader(lines, table, features, max_symbols, max_features, owner))


def load(
    stream: BinaryIO,
    name: str,
    *,
    table: str = TABLE,
    features: str = "",
    owner: str = "",
    max_bytes: int = MAX_LINE_BYTES,
    max_symbols: int = MAX_SYMBOLS,
    max_features: int = MAX_FEATURES,
) -> GrammarColumns:
    """All pairs as columns."""
    from smtformats.grammar.shared.scanning import scan_table

    reader = _Reader(Lines(io.BytesIO(), name), table, features, max_symbols, max_features, owner)
    return scan_table(reader, stream, max_bytes, gaps=False)


def write(records: Iterable[Rule], out: TextIO, number: Number, *, table: str = TABLE, features: str = "") -> int:
    """Write pairs, those read from such a table as they were; returns how many."""
    return write_each(records, out, TableWriter(_Reader, number, table, features))


FORMAT = Format(
    name=NAME,
    kind="grammar",
    summary="Moses phrase table: source ||| target ||| p p p p ||| alignment ||| counts ||| sparse ||| properties",
    matches=is_phrase_table,
    parse=parse,
    write=write,
    load=load,
    carries=frozenset({"alignment", "counts", "properties"}),
    example="ein haus ||| a house ||| 0.5 0.25 1 0.125 ||| 0-0 1-1 ||| 4 2 2 ||| domain_tv 1 ||| {{Counts 4 2 2}}\n",
)
