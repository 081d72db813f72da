"""Moses' compact reordering tables, ``.minlexr``, which ``processLexicalTableMin`` writes.

``LexicalReordering path=P`` reads ``P.minlexr`` if it is there. The file has an index of fingerprints of its phrases or
phrase pairs, and Huffman codes of the scores, natural logarithms of at least -100. It can be asked for phrases, but not
listed. To convert a table, name a file whose first two fields are the phrase pairs, such as the phrase table, with the
option ``phrases``; for a model of source phrases alone (``f``) its lines have one field:

    smt convert reordering.minlexr table.txt --from moses-compact-reordering,phrases=FILE --to moses-reordering

A pair that the table does not have is found with a probability of 2^-16 (2^-8 with ``-fingerprint 8``), with the scores
of another, as in Moses. In its first bytes a file is like a compact phrase table, so that a stream is taken for one:
name the format there.

The file must be as the tool writes it on x86-64, not compressed. Errors: parts that lead out
of the file, numbers out of range, codes without a symbol.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from smtformats._scan import CompactReordering
from smtformats.errors import FormatError, quote
from smtformats.files import Lines, mapped, open_lines, shown_name
from smtformats.format import Format
from smtformats.grammar.moses_compact import matches
from smtformats.grammar.shared.lookup import NotListed
from smtformats.reordering.rows import Reordering, key_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtformats.columns import GrammarColumns

NAME = "moses-compact-reordering"
_BAR = " ||| "
_AT_ONCE = 1000


class CompactReorderingFile:
    """An opened table: the scores of phrases, or of phrase pairs, as rows of NaN where the table has none."""

    def __init__(self, data: NDArray[np.uint8], name: str) -> None:
        """Use the bytes of a file; ``name`` is the file's in errors."""
        self.name = name
        self._native: CompactReordering = self._named(CompactReordering, data)

    def __len__(self) -> int:
        return len(self._native)

    @property
    def scores(self) -> int:
        """The number of scores of each phrase pair."""
        return self._native.scores

    def find(self, sources: Sequence[str], targets: Sequence[str] | None) -> NDArray[np.float32]:
        """The scores of phrase pairs, words separated by single blanks; of source phrases without ``targets``."""
        sides = [sources] if targets is None else [sources, targets]
        keys = [_BAR.join(pair) + _BAR for pair in zip(*sides, strict=True)]
        # A lone surrogate is in no file; neither is the empty key.
        keys = ["" if any("\ud800" <= c <= "\udfff" for c in key) else key for key in keys]
        found: NDArray[np.float32] = self._named(self._native.find, keys)
        return found.reshape(-1, self.scores)

    def find_rules(self, columns: GrammarColumns, chosen: NDArray[Any], *, paired: bool) -> NDArray[np.float32]:
        """The scores of the ``chosen`` rules of a phrase table, by rule number; of their sources unless ``paired``."""

        found: NDArray[np.float32] = self._named(
            self._native.find_rules,
            *columns.native_sides(chosen),
            paired,
        )
        return found.reshape(-1, self.scores)

    def facts(self) -> dict[str, Any]:
        """Describe the table."""
        native = self._native
        return {"phrases": len(native), "scores": native.scores, "fingerprints": f"{native.fingerprint_bits} bits"}

    def _named(self, function: Any, *arguments: Any) -> Any:
        """Call native code; name the file in its errors."""
        try:
            return function(*arguments)
        except FormatError as error:
            raise FormatError(error.expected, error.found, file=self.name, line=1) from None


def lookup(path: str | os.PathLike[str], *, phrases: str = "") -> CompactReorderingFile:
    """Open a table; ``phrases``, which is for readers of a whole table, changes nothing."""
    return CompactReorderingFile(mapped(path), shown_name(path))


def parse(lines: Lines, *, phrases: str = "") -> Iterator[Reordering]:
    """Yield the rows of the phrases or phrase pairs in the file ``phrases``."""
    import numpy as np

    try:
        data = lines.stream.read()
    except EOFError as error:
        raise lines.error("a complete compressed file", str(error), 1) from error
    opened = CompactReorderingFile(np.frombuffer(data, dtype=np.uint8), lines.name)
    if not phrases:
        named = f"phrase pairs to look up, in a file named by the option phrases ({NAME},phrases=FILE)"
        raise NotListed(named, f"a table of fingerprints of its {len(opened)} phrases", file=lines.name, line=1)
    some: list[tuple[str, str | None]] = []
    for pair in _listed_pairs(phrases):
        some.append(pair)
        if len(some) == _AT_ONCE:
            yield from _rows(opened, some)
            some = []
    yield from _rows(opened, some)


def confirms(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a table of reordering scores, not of phrases."""
    try:
        CompactReordering(mapped(path))
    except FormatError:
        return False
    return True


def _rows(opened: CompactReorderingFile, pairs: Sequence[tuple[str, str | None]]) -> Iterator[Reordering]:
    sources = [source for source, _ in pairs]
    targets = [target for _, target in pairs if target is not None]
    found = opened.find(sources, targets or None).tolist()
    for (source, target), values in zip(pairs, found, strict=True):
        if values[0] == values[0]:
            yield Reordering(source, target, tuple(values))


def _listed_pairs(path: str) -> Iterator[tuple[str, str | None]]:
    """The phrases of a file: one on each line, or pairs as the first two fields; all lines are like the first."""
    size = 0
    with open_lines(path) as lines:
        for line in lines:
            fields = [key_of(field.strip(" \t\r\n"), None) for field in line.split("|||")[:2]]
            size = size or len(fields)
            if len(fields) != size or not all(fields):
                expected = "a phrase" if size == 1 else "source ||| target"
                raise lines.error(f"{expected}, as on the first line", quote(line.rstrip("\n")), 1)
            yield fields[0], fields[1] if size > 1 else None


FORMAT = Format(
    name=NAME,
    kind="reordering",
    summary="Moses compact reordering table, .minlexr: scores by fingerprints of phrase pairs",
    matches=matches,
    parse=parse,
    lookup=lookup,
    confirms=confirms,
    fallback=1,
)
