"""Read and write the files of cdec, Joshua, Moses and other toolkits as plain records and columns.

The package works alone and imports nothing from smtplugins. Each format is one module, in the folder of its kind, and
ends in its ``FORMAT``.
"""

from __future__ import annotations

from smtformats.candidates import Candidates
from smtformats.columns import Columns, GrammarColumns, StringTable
from smtformats.errors import FormatError
from smtformats.files import open_bytes, open_lines, open_write
from smtformats.format import Format, all_formats, detect, formats_of
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import GraphColumns
from smtformats.list_columns import ListColumns

__all__ = [
    "Candidates",
    "Columns",
    "Format",
    "FormatError",
    "GrammarColumns",
    "GraphColumns",
    "ListColumns",
    "NonTerminal",
    "Rule",
    "StringTable",
    "all_formats",
    "detect",
    "formats_of",
    "open_bytes",
    "open_lines",
    "open_write",
]
