"""Read and write the files of cdec, Joshua, Moses and other toolkits as plain records and columns.

The package works alone and imports nothing from smtplugins. Each format is one module, in the folder of its kind, and
ends in its ``FORMAT``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

if not TYPE_CHECKING:
    # Many import this package for a module of it alone.
    _PLACES = {
        "Candidates": "candidates",
        "Columns": "columns",
        "Format": "format",
        "FormatError": "errors",
        "GrammarColumns": "columns",
        "GraphColumns": "hypergraph.graph",
        "ListColumns": "list_columns",
        "NonTerminal": "grammar.rules",
        "Rule": "grammar.rules",
        "StringTable": "columns",
        "all_formats": "format",
        "detect": "format",
        "formats_of": "format",
        "open_bytes": "files",
        "open_lines": "files",
        "open_write": "files",
    }

    def __getattr__(name):
        """Import a public name when it is first used."""
        import importlib

        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
        globals()[name] = value
        return value
