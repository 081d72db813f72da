"""Length, penalties, language model, tables, and columns from files."""

from __future__ import annotations

import array
import math
import weakref
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtformats import Columns, FormatError
from smtformats.columns import string_table
from smtformats.errors import quote
from smtformats.files import open_lines
from smtformats.tokens import BadField, blanks, numbers
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.grammars import GLUE, MINTED, fragment_scores
from smtplugins.contracts.tools.language_models import read_lm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, GrammarColumns
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.tools.grammars import Origins, Rules, Vocabulary
    from smtplugins.plugins.standard.ngrams import WordStates

MARKS = ("<s>", "</s>")


class Length:
    """The number of words."""

    components = 1

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Count the words of each target side."""
        return rules.word_counts()


class WordPenalty:
    """``value`` for each word: -1 (``moses``, the default) or -1/ln 10 = -0.434294 (``cdec``, ``joshua``), or a number.

    ``count_bos=true`` also counts the sentence markers ``<s>`` and ``</s>``, like the chart decoders of Moses and
    Joshua.
    """

    components = 1

    def __init__(self, value: float | Literal["moses", "cdec", "joshua"] = "moses", *, count_bos: bool = False) -> None:
        named = {"moses": -1.0, "cdec": -1 / math.log(10), "joshua": -1 / math.log(10)}
        self.value = named[value] if isinstance(value, str) else value
        self._count_bos = count_bos
        # Moses' start: a reward for each word.
        self.start_weights = (math.copysign(1.0, self.value),)

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Score each target side; decoders with sentence markers have them in rules."""
        import numpy as np

        flags = rules.is_word
        if not self._count_bos and all(mark in rules.vocabulary for mark in MARKS):
            flags = flags & ~np.isin(rules.symbols, rules.vocabulary.ids(MARKS))
        scores: NDArray[Any] = rules.counts(flags) * self.value
        # Hypotheses of n-best lists have no sentence markers.
        return scores + 2 * self.value if self._count_bos and rules.origins is None else scores


class SourceWordPenalty:
    """``value`` for each source word of a rule; the default is cdec's."""

    components = 1

    def __init__(self, value: float = -1 / math.log(10)) -> None:
        self._value = value

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Score each rule."""
        import numpy as np

        columns = origins_of(rules).columns()
        words = np.concatenate([[0], np.cumsum(columns.source >= 0)])
        scores: NDArray[Any] = (words[columns.source_offsets[1:]] - words[columns.source_offsets[:-1]]) * self._value
        return scores


class PhrasePenalty:
    """``value`` for each rule or phrase; with ``owner`` only for those of that owner's tables.

    With ``owners`` there is a component for each of several groups of owners, as in ``tm+markup lm2``: groups are
    separated by blanks, owners of a group by a plus.
    """

    components: int

    def __init__(self, value: float = 1.0, *, owner: str | None = None, owners: str | None = None) -> None:
        if owner is not None and owners is not None:
            raise UsageError("owners: expected no owner beside them")
        self._value = value
        self._owner = owner
        self._groups = [group.split("+") for group in (owners or "").split()]
        if owners is not None and not self._groups:
            raise UsageError("owners: expected names of tables, found none")
        self.components = max(1, len(self._groups))
        self.start_weights = (math.copysign(0.2, value),)

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Score each rule."""
        import numpy as np

        if self._groups:
            flags = [origins_of(rules).of(*group) for group in self._groups]
            return np.column_stack(flags) * self._value
        if self._owner is None:
            return np.full(len(rules), self._value)
        return origins_of(rules).of(self._owner) * self._value


class Minted:
    """``value`` for each pass-through rule, which decoders make for unknown words, or for all words."""

    def __init__(self, value: float = 1.0, *, lengths: int | None = None) -> None:
        if lengths is not None and lengths < 1:
            raise UsageError(f"lengths: expected 1 or more, found {lengths}")
        self._value = value
        self._lengths = lengths
        # Moses counts -100 with the weight 1; a weight like that of a count could not be learnt beside the others.
        self.start_weights = (1.0 if value < 0 else -5.0, *(0.0 for _ in range(lengths or 0)))

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Return the value, or 0; with ``lengths=N`` also an indicator for each of cdec's length classes."""
        import numpy as np

        minted = origins_of(rules).of(MINTED)
        scores: NDArray[Any] = minted * self._value
        if self._lengths is None:
            return scores
        table = np.zeros((len(rules), 1 + self._lengths))
        table[:, 0] = scores
        for i in np.flatnonzero(minted).tolist():
            size = sum(len(word.encode()) for word in rules.target_of(i) if isinstance(word, str))
            # cdec's formula: class limits grow by factors of 1.6.
            row = min(self._lengths, math.floor(math.log(size) / math.log(1.6)) + 1) if size else 1
            table[i, row] = 1.0
        return table

    def column_names(self, label: str) -> tuple[str, ...]:
        """Return the feature's name, then the names of cdec's length classes."""
        return (label, *(f"{label}_{i}" for i in range(1, (self._lengths or 0) + 1)))


class UnknownWords(Minted):
    """As `Minted`; if a decoder has a list of labels for unknown words, its log probabilities replace ``value``."""

    labelled_unknowns = True


class Glue:
    """``value`` for each glue rule that joins two constituents."""

    components = 1
    start_weights = (0.0,)

    def __init__(self, value: float = 1.0) -> None:
        self._value = value

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Return the value for glue rules with two children, else 0."""
        flags: NDArray[Any] = origins_of(rules).of(GLUE) & (rules.counts(~rules.is_word) == 2)
        return flags * self._value


def origins_of(rules: Rules) -> Origins:
    """Return the origins of rules; raises UsageError for lists, which have none."""
    if rules.origins is None:
        raise UsageError("the feature scores rules of a grammar: a decoder has one, an n-best list does not")
    return rules.origins


class LanguageModelScore:
    """Log probability of the hypothesis with sentence boundaries, natural (``base=e``, as Moses) or ``base=10`` (cdec).

    ``oov=true`` adds a second component, the number of unknown words, with column name ``oov_name``.
    ``markers=rules`` says that the grammar's rules contain ``<s>`` and ``</s>``, so that decoders add none.
    ``class_path`` is a file of word classes, ``WORD CLASS`` on each line, for class-based models. ``order`` is accepted
    from configurations and ignored: the order is the model's.
    """

    def __init__(
        self,
        path: Path,
        *,
        base: Literal["e", "10"] = "e",
        bos: bool = True,
        eos: bool = True,
        oov: bool = False,
        oov_name: str | None = None,
        markers: Literal["sentence", "rules"] = "sentence",
        class_path: Path | None = None,
        order: int | None = None,
    ) -> None:
        self._model: Any = read_lm(path)
        self._scale = math.log(10) if base == "e" else 1.0
        self._ends = (bos, eos)
        self._oov = oov
        self._oov_name = oov_name
        self._markers = markers == "rules"
        self._classes = None if class_path is None else _read_classes(class_path)
        self._numbers: weakref.WeakKeyDictionary[Vocabulary, NDArray[Any]] = weakref.WeakKeyDictionary()
        self.start_weights = (0.5, -1.0) if oov else (0.5,)

    def score_candidates(self, source: str | None, candidates: Candidates) -> NDArray[Any]:
        """Score a whole list in a single call of the model."""
        import numpy as np

        bos, eos = self._ends
        texts = candidates.texts
        if self._classes is not None:
            texts = [" ".join(self._classes_of(blanks(text))) for text in texts]
        scores, unknown = self._model.score_sentences(texts, bos, eos)
        scaled: NDArray[Any] = np.asarray(scores) * self._scale
        return np.column_stack([scaled, unknown]) if self._oov else scaled

    def column_names(self, label: str) -> tuple[str, ...]:
        """Return the column names of the score and, with ``oov``, of the number of unknown words."""
        if not self._oov:
            return (label,)
        return (label, self._oov_name) if self._oov_name else (f"{label}[0]", f"{label}[1]")

    def native(self) -> Any:
        """Return the model's scorer for native searches."""
        from smtplugins.contracts.tools.search import lm_scorer

        if self._ends != (True, True):
            raise UsageError("bos=false and eos=false are for lists; a decoder scores whole sentences")
        return lm_scorer(self._model, (), markers=self._markers, scale=self._scale)

    def start(self, sentence: Sentence) -> WordStates:
        """Return a scorer in plain Python; its state is the words at both ends."""
        from smtplugins.plugins.standard.ngrams import WordStates

        shown = self._classes_of if self._classes is not None else list
        return WordStates(self._model, self._scale, self._ends, self._markers, shown)

    def fragment_scores(self, columns: GrammarColumns) -> NDArray[Any]:
        """Score each rule out of context."""
        if self._classes is not None:
            columns = replace(columns, words=string_table(self._classes_of(columns.words[:])))
        scores: NDArray[Any] = fragment_scores(self._model, columns, markers=self._markers) * self._scale
        return scores

    def word_ids(self, words: list[str]) -> NDArray[Any]:
        """Return the model's word ids, 0 for unknown words."""
        ids: NDArray[Any] = self._model.ids(self._classes_of(words) if self._classes is not None else words)
        return ids

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Return the number of unknown words of each target side if ``oov`` is set, else no columns."""
        import numpy as np

        if not self._oov:
            return np.empty((len(rules), 0))
        unknown = self.numbers(rules.vocabulary) == 0
        if not len(unknown):
            return np.zeros((len(rules), 1))
        return rules.counts(rules.is_word & unknown[np.maximum(rules.symbols, 0)])[:, None]

    def numbers(self, vocabulary: Vocabulary) -> NDArray[Any]:
        """Return the model's word ids for a vocabulary; cached for each vocabulary."""
        import numpy as np

        known = self._numbers.get(vocabulary)
        size = len(vocabulary)
        if known is None or len(known) < size:
            first = 0 if known is None else len(known)
            if self._classes is None:
                more: NDArray[Any] = vocabulary.ids_in(self._model, first)
            else:
                more = self.word_ids([vocabulary.word(i) for i in range(first, size)])
            known = more if known is None else np.concatenate([known, more])
            self._numbers[vocabulary] = known
        return known

    def _classes_of(self, words: list[str]) -> list[str]:
        assert self._classes is not None
        return [self._classes.get(word, "<unk>") for word in words]


def _read_classes(path: Path) -> dict[str, str]:
    """Read ``WORD CLASS`` lines; sentence markers are their own classes unless the file has them."""
    classes = {mark: mark for mark in MARKS}
    seen: set[str] = set()
    with open_lines(path) as lines:
        for line in lines:
            cells = blanks(line)
            if len(cells) != 2:
                raise lines.error("a word and its class", quote(line.rstrip()), min(len(cells), 2) + 1)
            if cells[0] in seen:
                raise lines.error("each word once", f"{quote(cells[0])} again", 1)
            seen.add(cells[0])
            classes[cells[0]] = cells[1]
    return classes


class FileColumn:
    """Scores from a file, in which row i is for hypothesis i, counted through all lists.

    A file of numbers makes a single column; a TSV file with a header line makes a column for each name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names, self._rows = _read_table(path)

    def score_candidates(self, source: str | None, candidates: Candidates) -> Columns | NDArray[Any]:
        """Return the rows of this list."""
        import numpy as np

        ranks = candidates.ranks if candidates.ranks is not None else range(len(candidates))
        wanted = np.array([candidates.first + rank for rank in ranks], dtype=np.int64)
        if len(wanted) and wanted.max() >= len(self._rows):
            raise FormatError(
                f"a row for each hypothesis, {wanted.max() + 1} and more", f"{len(self._rows)}", file=str(self._path)
            )
        rows = self._rows[wanted]
        return Columns.dense(self._names, rows) if self._names else rows[:, 0]

    def done(self, hypotheses: int) -> None:
        """Check that there are as many rows as hypotheses; otherwise the file belongs to other lists."""
        if hypotheses != len(self._rows):
            raise FormatError(f"{hypotheses} rows, one for each hypothesis", f"{len(self._rows)}", file=str(self._path))


def _read_table(path: Path) -> tuple[tuple[str, ...], NDArray[Any]]:
    import numpy as np

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
