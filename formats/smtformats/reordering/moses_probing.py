"""The reordering scores inside a ProbingPT folder (``CreateProbingPT --num-lex-scores``), as a reordering table.

In a moses.ini they are those of ``LexicalReordering property-index=N``: the scores of a model from the N-th on, counted
from 0, which the option ``property_index`` gives. The option ``model`` is the model's name as in ``moses-reordering``;
it says how many scores belong to it, without it they are all the rest. The options ``sources``, ``only`` and
``max_symbols`` and the errors are those of ``moses-probing``. A folder of which no format is named is taken for a
phrase table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from smtformats.errors import FormatError
from smtformats.format import Format
from smtformats.grammar.moses_probing import MAX_SOURCE, matches
from smtformats.reordering.models import ReorderingModel
from smtformats.reordering.rows import Reordering, ReorderingColumns
from smtformats.tokens import BadField

NAME = "moses-probing-reordering"


def parse(
    path: str | os.PathLike[str],
    *,
    model: str = "",
    property_index: int = 0,
    sources: str = "",
    only: str = "",
    max_symbols: int = MAX_SOURCE,
) -> Iterator[Reordering]:
    """Yield one row at a time."""
    from smtformats.grammar.shared.probing_table import decimal

    columns = load(
        path, model=model, property_index=property_index, sources=sources, only=only, max_symbols=max_symbols
    )
    for key, values in zip(columns.keys, columns.values.tolist(), strict=True):
        source, _, target = key.partition(" ||| ")
        logs = tuple(decimal(value)[1] for value in values)
        yield Reordering(source, target, logs, None, NAME, os.fspath(path))


def load(
    path: str | os.PathLike[str],
    *,
    model: str = "",
    property_index: int = 0,
    sources: str = "",
    only: str = "",
    max_symbols: int = MAX_SOURCE,
) -> ReorderingColumns:
    """Load all rows as columns."""
    from smtformats.grammar.shared.probing_table import ProbingTable, strings_of

    table = ProbingTable(path, sources=sources, only=only, max_symbols=max_symbols)
    try:
        count = ReorderingModel.parse(model).scores if model else table.settings.lex_scores - property_index
    except BadField as bad:
        raise FormatError(bad.expected, bad.found, file=table.folder, line=1) from None
    if property_index < 0 or count < 1:
        found = f"{table.settings.lex_scores} scores, property_index={property_index}"
        config = os.path.join(table.folder, "config")
        raise FormatError("num_lex_scores of more than property_index", found, file=config, line=1)
    keys, values = table.orientations(property_index, count)
    return ReorderingColumns(strings_of(keys), values)


FORMAT = Format(
    name=NAME,
    kind="reordering",
    summary="reordering scores in a Moses ProbingPT folder",
    matches=matches,
    parse=parse,
    load=load,
    folder=True,
    fallback=1,
)
