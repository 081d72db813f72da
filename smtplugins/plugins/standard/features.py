"""Length, word penalty, language model, and an outside scorer's column."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.host.errors import SmtError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Columns
    from smtplugins.core.rules import Rules


class Length:
    """The number of words."""

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Words of each target side."""
        return rules.word_counts()


class WordPenalty:
    """``value`` for each word: -1 as Moses counts, -0.434294 (-1/ln 10) as cdec and Joshua do with ``value=cdec``."""

    def __init__(self, value: float | Literal["moses", "cdec", "joshua"] = "moses") -> None:
        named = {"moses": -1.0, "cdec": -1 / math.log(10), "joshua": -1 / math.log(10)}
        self.value = named[value] if isinstance(value, str) else value

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """The penalty of each target side."""
        scores: NDArray[Any] = rules.word_counts() * self.value
        return scores


class LanguageModelScore:
    """Log probability of the hypothesis with sentence ends, natural (``base=e``, as Moses) or ``base=10`` (as cdec).

    ``oov=true`` adds a second component, the number of unknown words.
    """

    def __init__(
        self, path: Path, *, base: Literal["e", "10"] = "e", bos: bool = True, eos: bool = True, oov: bool = False
    ) -> None:
        from smtplugins.core.lm import KenlmMissing, read_lm

        try:
            self._model = read_lm(path)
        except KenlmMissing as error:
            raise SmtError(str(error)) from None
        self._scale = math.log(10) if base == "e" else 1.0
        self._ends = (bos, eos)
        self._oov = oov

    def score_candidates(self, source: str | None, candidates: Candidates) -> NDArray[Any]:
        """One call of the model for the whole list."""
        import numpy as np

        bos, eos = self._ends
        scores, unknown = self._model.score_sentences(candidates.texts, bos, eos)
        scaled: NDArray[Any] = np.asarray(scores) * self._scale
        return np.column_stack([scaled, unknown]) if self._oov else scaled


class Column:
    """Numbers of an outside scorer: row i belongs to hypothesis i of the whole list.

    A file of numbers gives one column; a TSV whose first line is no number gives one for each name in that line.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names, self._rows = _read_table(path)

    def score_candidates(self, source: str | None, candidates: Candidates) -> Columns | NDArray[Any]:
        """The rows of this list."""
        import numpy as np

        from smtformats import Columns, FormatError

        ranks = candidates.ranks if candidates.ranks is not None else range(len(candidates))
        wanted = np.array([candidates.first + rank for rank in ranks], dtype=np.int64)
        if len(wanted) and wanted.max() >= len(self._rows):
            raise FormatError(
                f"a row for each hypothesis, {wanted.max() + 1} and more", f"{len(self._rows)}", file=str(self._path)
            )
        rows = self._rows[wanted]
        return Columns.dense(self._names, rows) if self._names else rows[:, 0]

    def done(self, hypotheses: int) -> None:
        """As many rows as hypotheses, or somebody mixed up files."""
        from smtformats import FormatError

        if hypotheses != len(self._rows):
            raise FormatError(f"{hypotheses} rows, one for each hypothesis", f"{len(self._rows)}", file=str(self._path))


def _read_table(path: Path) -> tuple[tuple[str, ...], NDArray[Any]]:
    import array

    import numpy as np

    from smtformats.errors import quote
    from smtformats.files import open_lines
    from smtformats.tokens import BadField, numbers

    names: tuple[str, ...] = ()
    flat = array.array("d")
    width = 0
    with open_lines(path) as lines:
        for line in lines:
            cells = [cell.strip() for cell in line.rstrip("\r\n").split("\t")]
            if not width:
                width = len(cells)
                try:
                    numbers(cells)
                except BadField as bad:
                    if any(not cell or " " in cell or _is_number(cell) for cell in cells):
                        raise lines.error("a number, or a header of names", bad.found, 1) from None
                    names = tuple(cells)
                    if len(set(names)) != len(names):
                        raise lines.error("each column once", quote(line.rstrip()), 1) from None
                    continue
                if width > 1:
                    raise lines.error("a header that names the columns", quote(line.rstrip()), 1)
            if len(cells) != width:
                raise lines.error(f"{width} columns", f"{len(cells)}", min(len(cells), width) + 1)
            for field, cell in enumerate(cells, 1):
                try:
                    flat.extend(numbers([cell]))
                except BadField as bad:
                    raise lines.error(bad.expected, bad.found, field) from None
        if not len(flat):
            raise lines.error("numbers, one row for each hypothesis", "none", 1, line=1)
    return names, np.frombuffer(flat, dtype=np.float64).reshape(-1, width)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
