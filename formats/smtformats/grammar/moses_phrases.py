"""Moses' phrase tables: one phrase pair per line. Joshua reads them too (``tm = moses``).

    ein haus ||| a house ||| 0.5 0.25 1 0.125 ||| 0-0 1-1 ||| 4 2 2 ||| domain_tv 1 ||| {{Counts 4 2 2}}

Source, target, probabilities, alignment points, counts (target, source, joint), sparse features, properties; the fields
after the probabilities are optional. The k-th probability becomes the feature ``TranslationModel0[k]``
(``TranslationModel0`` if there is only one), the natural logarithm, at least -100. A sparse feature ``domain_tv 1``
becomes ``TranslationModel0_domain_tv`` with its value unchanged. The option ``table`` replaces ``TranslationModel0``;
the option ``features`` names the probabilities one by one, separated by blanks. The option ``owner`` is that of
Joshua's ``tm`` line: the k-th probability becomes ``tm_OWNER_k``. Unlike Joshua, the logarithm is not rounded to six
digits, and for 0 it is -100 (100 in Joshua). The left-hand side of all pairs is X; factors, ``haus|NN``, stay in the
words.

Pairs of other formats are written with the exponentials of their values as probabilities; values must lie between -100
and 88.7. The columns are the features of the first pair, or those the option ``features`` names; features whose names
start with ``TranslationModel0_`` are written as sparse features.

Accepted although Moses aborts: properties with any key. Empty lines and a carriage return at the end of a line are
dropped. Errors: an empty source side (which Moses skips or aborts at), words in brackets, more or fewer probabilities
than the first line, a negative or infinite probability, counts that are not numbers, more than seven fields, values
outside 32-bit floats. Alignment points outside the phrases are kept, up to 32767. A table with three fields per line
whose probabilities sum to 1 in groups of two, three or four is taken for a reordering table, unless ``--from
moses-phrases`` is given. The options ``max_symbols`` (per side) and ``max_features`` (items in any other field) set
limits. ``load`` drops counts and properties.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, TextIO

from smtformats.columns import GrammarColumns
from smtformats.errors import quote
from smtformats.files import MAX_LINE_BYTES, Lines
from smtformats.format import Format, Number
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.lines import MAX_FEATURES, MAX_SYMBOLS, read_rules, side_text
from smtformats.grammar.shared.moses_tables import TABLE, Points, TableReader, TableWriter
from smtformats.grammar.shared.scanning import scan_table
from smtformats.grammar.shared.shapes import VECTORS, is_phrase_table
from smtformats.source_sides import first_field
from smtformats.writing import write_each

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
                    self.fail(field, "words without brackets (moses-rules has gaps)", quote(token))
        return Rule("X", tuple(source), tuple(target))

    @staticmethod
    def spell_sides(rule: Rule, lines: Lines) -> tuple[str, str, Points]:
        def gap(symbol: NonTerminal) -> str:
            raise lines.error("words only", f"the gap [{symbol.label}]", 1)

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
    """Yield one pair at a time; ``table`` names the feature, ``features`` its single scores."""
    return read_rules(_Reader(lines, table, features, max_symbols, max_features, owner))


def load(stream: BinaryIO, name: str, *, max_bytes: int = MAX_LINE_BYTES, **options: Any) -> GrammarColumns:
    """Load all pairs as columns, with the options of ``parse``."""
    return scan_table(_Reader(Lines(io.BytesIO(), name), **options), stream, max_bytes, gaps=False)


def write(records: Iterable[Rule], out: TextIO, number: Number, *, table: str = TABLE, features: str = "") -> int:
    """Write pairs, unchanged ones byte for byte; returns the number of pairs."""
    return write_each(records, out, TableWriter(_Reader, number, table, features))


FORMAT = Format(
    name=NAME,
    kind="grammar",
    summary="Moses phrase table: source ||| target ||| p p p p ||| alignment ||| counts ||| sparse ||| properties",
    matches=is_phrase_table,
    parse=parse,
    write=write,
    load=load,
    source=first_field,
    carries=frozenset({"alignment", "counts", "properties"}),
    probabilities=VECTORS,
    example="ein haus ||| a house ||| 0.5 0.25 1 0.125 ||| 0-0 1-1 ||| 4 2 2 ||| domain_tv 1 ||| {{Counts 4 2 2}}\n",
)
