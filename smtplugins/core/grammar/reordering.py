"""Lexicalised reordering tables: orientation scores of phrase pairs, looked up by the text of the phrases."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.caching.folders import cache_folder, load_kept
from smtformats.errors import FormatError
from smtformats.tokens import BadField
from smtplugins.core._core import PairIndex, text_slots

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtformats.columns import GrammarColumns
    from smtformats.reordering.models import ReorderingModel
    from smtformats.reordering.rows import ReorderingColumns

_COMPACT = ".minlexr"
_BINARY = (_COMPACT, ".binlexr.idx")


def load_reordering(
    path: str | os.PathLike[str],
    *,
    model: str,
    scores: int = 0,
    property_index: int | None = None,
    cache: str | None = None,
) -> ReorderingTable | CompactReorderingTable | ProbingReorderingTable:
    """Load a table where Moses looks for it: a compact one (``.minlexr``) if it is there, else text or ProbingPT.

    ``property_index`` is the number of a ProbingPT folder's reordering scores before those of the model, by default 0.
    The other arguments and the errors are those of :meth:`ReorderingTable.load`.
    """
    name = os.fspath(path)
    compact = name if name.endswith(_COMPACT) else f"{name}{_COMPACT}"
    if property_index is None and os.path.isfile(compact):
        return CompactReorderingTable(compact, _model(model, scores))
    if os.path.isdir(path):
        return ProbingReorderingTable(path, _model(model, scores), property_index or 0)
    if property_index is not None:
        raise BadField("a ProbingPT folder, as property_index is given", repr(name))
    return ReorderingTable.load(path, model=model, scores=scores, cache=cache)


def _model(model: str, scores: int) -> ReorderingModel:
    """Parse the name of a model, which must have this number of weights, if it is not 0."""
    from smtformats.reordering.models import ReorderingModel

    known = ReorderingModel.parse(model)
    if scores and scores != known.weights:
        raise BadField(f"{known.weights} scores, as {model} has", str(scores))
    return known


class CompactReorderingTable:
    """A table of Moses' ``processLexicalTableMin``, which knows its phrase pairs by fingerprints only."""

    def __init__(self, path: str | os.PathLike[str], model: ReorderingModel) -> None:
        from smtformats.reordering.moses_compact import lookup

        self.model = model
        self._table = lookup(path)
        if not model.condition:
            raise BadField("a model that says f or fe, as a compact table does not", "neither")
        if self._table.scores != model.scores:
            wanted = f"{model.scores} scores of each phrase, as the model has"
            raise FormatError(wanted, str(self._table.scores), file=self._table.name, line=1)

    def __len__(self) -> int:
        return len(self._table)

    def scores(self, sources: Sequence[str], targets: Sequence[str]) -> NDArray[np.float32]:
        """The scores of phrase pairs; see :meth:`ReorderingTable.scores`."""
        return self._table.find(sources, targets if self.model.condition == "fe" else None)

    def scores_of_rules(self, columns: GrammarColumns, chosen: NDArray[Any]) -> NDArray[np.float32]:
        """The scores of the ``chosen`` rules of a phrase table, by rule number."""
        return self._table.find_rules(columns, chosen, paired=self.model.condition == "fe")


class ProbingReorderingTable:
    """The reordering scores in a ProbingPT folder, ``first`` scores after those of its phrase table."""

    def __init__(self, path: str | os.PathLike[str], model: ReorderingModel, first: int) -> None:
        from smtformats.grammar.shared.probing_lookup import open_folder

        self.model = model
        self._first = first
        self._folder = open_folder(path)
        if self._folder.has_rules:
            raise FormatError("phrases, as reordering needs them", "rules with gaps", file=os.fspath(path), line=1)
        self._folder.check_scores(first, model.scores)

    def scores(self, sources: Sequence[str], targets: Sequence[str]) -> NDArray[np.float32]:
        """The scores of phrase pairs; see :meth:`ReorderingTable.scores`."""
        return self._folder.scores(sources, targets, self._first, self.model.scores)

    def scores_of_rules(self, columns: GrammarColumns, chosen: NDArray[Any]) -> NDArray[np.float32]:
        """The scores of the ``chosen`` rules of a phrase table, by rule number."""
        return self._folder.scores_of_rules(columns, chosen, self._first, self.model.scores)


class ReorderingTable:
    """Rows of scores: ``values[i]`` are natural logarithms of at least -100, in the order of the table's columns.

    If a phrase pair occurs twice, the later row counts, as in Moses.
    """

    def __init__(self, model: ReorderingModel, columns: ReorderingColumns) -> None:
        import numpy as np

        self.model = model
        self.values: NDArray[np.float32] = columns.values
        keys = columns.keys
        slots = _slots(columns) if columns.index is None else columns.index
        offsets = np.ascontiguousarray(keys.offsets, dtype=np.int64)
        self._index = PairIndex(np.frombuffer(keys.blob, dtype=np.uint8), offsets, slots)
        self._paired = " ||| " in keys[0]

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        model: str,
        scores: int = 0,
        cache: str | None = None,
    ) -> ReorderingTable:
        """Load a table in Moses' text format; ``path`` may leave out ``.gz``.

        ``model`` is Moses' name of the model, and ``scores`` its number of weights, 0 if unknown. Raises BadField if
        they are wrong, FormatError if the file is. ``cache`` is the cache folder, or ``off``; by default `$SMT_CACHE`
        or the user's cache folder.
        """
        from smtformats.reordering.moses import FORMAT

        known = _model(model, scores)
        columns = load_kept(find_table(path), FORMAT, cache_folder(cache), index=_indexed, model=model)
        return cls(known, columns)

    def scores(self, sources: Sequence[str], targets: Sequence[str]) -> NDArray[np.float32]:
        """The scores of phrase pairs, words joined by single spaces; NaN for a pair that is not in the table."""
        return self._values(self.rows(sources, targets))

    def scores_of_rules(self, columns: GrammarColumns, chosen: NDArray[Any]) -> NDArray[np.float32]:
        """The scores of the ``chosen`` rules of a phrase table, by rule number."""
        return self._values(self.rows_of_rules(columns, chosen))

    def _values(self, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        import numpy as np

        scores: NDArray[np.float32] = self.values[rows]
        scores[rows < 0] = np.nan
        return scores

    def rows(self, sources: Sequence[str], targets: Sequence[str]) -> NDArray[np.int32]:
        """The rows of phrase pairs, words joined by single spaces; -1 for a pair that is not in the table.

        A table of source phrases alone ignores the targets.
        """
        return self._index.find(sources, targets if self._paired else None)

    def rows_of_rules(self, columns: GrammarColumns, chosen: NDArray[Any]) -> NDArray[np.int32]:
        """The rows of the ``chosen`` rules of a phrase table, by rule number."""

        return self._index.find_rules(
            *columns.native_sides(chosen),
            self._paired,
        )


def _slots(columns: ReorderingColumns) -> NDArray[np.uint64]:
    import numpy as np

    keys = columns.keys
    return text_slots(np.frombuffer(keys.blob, dtype=np.uint8), np.ascontiguousarray(keys.offsets, dtype=np.int64))


def _indexed(columns: ReorderingColumns) -> ReorderingColumns:
    """The columns with a hash index of their keys."""
    return replace(columns, index=_slots(columns))


def find_table(path: str | os.PathLike[str]) -> Path:
    """Find a text table where Moses looks for it: the name itself, then with ``.gz``."""
    for name in (os.fspath(path), f"{os.fspath(path)}.gz"):
        if os.path.exists(name):
            return Path(name)
    for suffix in _BINARY:
        if os.path.exists(f"{os.fspath(path)}{suffix}"):
            maker = "" if suffix == _COMPACT else ", which Moses' processLexicalTable made it of"
            expected = f"the text of a reordering table{maker}"
            raise FormatError(expected, f"only a binary table, {path}{suffix}", file=str(path))
    os.stat(path)
    raise AssertionError("unreachable: os.stat raises for a missing file")
