"""Moses XML markup (``-xml-input``) as forced or additional phrases of a sentence.

``exclusive``: the words of a tag have only its translations, and no other phrase may cover any of them. ``inclusive``:
its translations are added to the table's. ``constraint``: the table's phrases are used if they cover the whole tag and
contain one of its texts. ``ignore``: tags are ignored. Words left without a translation are copied, like unknown words.

The logarithm of a translation's probability, at least -100, is split equally over the scores of the first table; other
features treat it as a phrase like any other. Unlike in Moses it may be longer than other phrases, and all tags and
texts of a constraint count, where Moses looks at the first only.

``<wall/>`` and ``<zone>`` limit reordering, whatever the mode: no phrase skips words and reaches behind a wall; once a
word of a zone is translated, all are before others. ``decoder.monotone_at_punctuation`` puts walls around punctuation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from smtformats.grammar.rules import Rule
from smtformats.grammar.shared.gather import grammar_columns
from smtformats.records import dataclass
from smtformats.tokens import words
from smtplugins.contracts.errors import SentenceError, UsageError
from smtplugins.core.grammar.tables import Grammar
from smtplugins.host.decode.phrase_options import CONSTRAINT, IGNORE, INCLUSIVE, PASS_THROUGH

if TYPE_CHECKING:
    from smtformats import GrammarColumns
    from smtformats.corpus.segments import Mark
    from smtplugins.contracts.data import Sentence
    from smtplugins.core.grammar.parsed_forest import Forest
    from smtplugins.core.grammar.tables import Tables
    from smtplugins.host.decode.phrase_options import InputOptions

OWNER = "markup"
FLOOR = -100.0  # of logarithms, as Moses has it
_REORDERING = ("zone", "wall")
_MODEL = ("update", "weight-overwrite")
_PUNCTUATION = frozenset(',.!?:;"')


def check(sentence: Sentence, options: InputOptions) -> None:
    """Raise an error for tags that cannot be applied."""
    tags = [mark.tag for mark in sentence.marks]
    if tags and options.xml == PASS_THROUGH:
        shown = ", ".join(f"<{tag}>" for tag in dict.fromkeys(tags))
        raise UsageError(
            f"sentence {sentence.id}: mark-up {shown}: expected a decoder that takes it (decoder.xml: exclusive, "
            "inclusive, constraint or ignore), or sentences whose tags are words (moses-xml,tags=false)"
        )
    for tag in tags:
        if tag in _MODEL:
            what = f"<{tag}> changes the model during decoding, which is not supported"
            raise SentenceError(f"sentence {sentence.id}: {what}")


def barriers(sentence: Sentence, *, punctuation: bool = False) -> dict[str, list[int]]:
    """The words behind which stand ``walls``, and the first word of each of the ``zones`` and the one behind its last.

    With ``punctuation``, there are walls on both sides of a punctuation mark, but for one at the first or second word,
    and none behind the last word.
    """
    walls: list[int] = []
    zones: list[int] = []
    last = len(sentence.tokens) - 1
    for at, word in enumerate(sentence.tokens if punctuation else ()):
        if word in _PUNCTUATION:
            walls += [at] * (0 < at < last) + [at - 1] * (at > 1)
    for mark in sentence.marks:
        if mark.tag == "wall":
            walls += range(max(mark.start - 1, 0), mark.end)
        elif mark.tag == "zone":
            zones += mark.start, mark.end
    return {"walls": walls, "zones": zones} if walls or zones else {}


@dataclass(frozen=True)
class Asked:
    """A translation from a tag, of the words ``[first, last)``."""

    first: int
    last: int
    target: tuple[str, ...]
    probability: float


def asked_by(marks: Iterable[Mark]) -> Iterator[Asked]:
    """The translations in tags; a tag without words has none."""
    for mark in marks:
        if mark.start < mark.end and mark.tag not in ("ne", *_REORDERING, *_MODEL):
            for text, probability in zip(mark.translations, mark.probabilities, strict=True):
                yield Asked(mark.start, mark.end, tuple(words(text)), probability)


class SentenceMarkup:
    """The tags of one sentence. ``names`` are the names of the first table's scores."""

    def __init__(self, sentence: Sentence, mode: str, names: Sequence[str], label: str, tables: Tables) -> None:
        self._words = sentence.tokens
        self._mode = mode
        self._label = label
        self._tables = tables
        self._asked = [] if mode == IGNORE else list(asked_by(sentence.marks))
        self._names = tuple(names)
        if not names and any(asked.probability != 1 for asked in self._asked):
            raise UsageError(
                f"sentence {sentence.id}: a tag has a probability, but no table has scores under its own name "
                "(`name` in model.tables) to which it could be assigned"
            )

    def __bool__(self) -> bool:
        """Whether any tag has a translation to apply."""
        return bool(self._asked)

    @cached_property
    def grammar(self) -> Grammar:
        """The translations as rules that the parser does not apply: ``edited`` puts them into the forest."""
        from dataclasses import replace

        columns = self._columns()
        # The parser does not apply rules of a level above 0.
        grammar = Grammar(replace(columns, level=columns.level + 1), self._tables)
        grammar.parts[0].columns = columns
        return grammar

    def _columns(self) -> GrammarColumns:
        rules = []
        for asked in self._asked:
            score = max(math.log(asked.probability), FLOOR) if asked.probability > 0 else FLOOR
            values = (score / len(self._names),) * len(self._names) if self._names else ()
            source = self._words[asked.first : asked.last]
            rules.append(Rule(self._label, source, asked.target, self._names, values))
        return grammar_columns(rules)

    def edited(self, forest: Forest, start: int, weights: Mapping[str, float]) -> Forest:
        """Put the translations into the forest of the sentence's phrases; ``start`` is the number of the first rule."""
        import numpy as np

        from smtplugins.core.search.phrase_options import Put, edge_spans, edited

        spans = edge_spans(forest)
        covered = np.zeros(len(self._words) + 1, dtype=np.int64)
        for asked in self._asked:
            covered[asked.first + 1 : asked.last + 1] = 1
        free = np.diff(np.cumsum(covered)[spans], axis=1).reshape(-1) == 0
        kept = np.ones(len(spans), dtype=bool) if self._mode == INCLUSIVE else free
        if self._mode == CONSTRAINT:
            for edge in np.flatnonzero(~free).tolist():
                kept[edge] = self._allowed(forest, edge, *spans[edge].tolist())
        scores = self.grammar.scores(weights).tolist()
        put = [Put(asked.first, asked.last, start + i, scores[i]) for i, asked in enumerate(self._asked)]
        alone = {first for first, last in spans[kept].tolist() if last == first + 1}
        alone |= {phrase.first for phrase in put if phrase.last == phrase.first + 1}
        minted = (i for i in np.flatnonzero(covered[1:]).tolist() if i not in alone)
        put += [Put(i, i + 1, forest.minted(self._words[i])) for i in minted]
        return edited(forest, kept, put, self._label)

    @cached_property
    def _texts(self) -> dict[tuple[int, int], list[tuple[str, ...]]]:
        """The texts of the translations, by source span."""
        texts: dict[tuple[int, int], list[tuple[str, ...]]] = {}
        for asked in self._asked:
            texts.setdefault((asked.first, asked.last), []).append(asked.target)
        return texts

    def _allowed(self, forest: Forest, edge: int, first: int, last: int) -> bool:
        """Whether a phrase satisfies the constraints: it covers each tag it overlaps and contains one of its texts."""
        origin = int(forest.native.origins[forest.native.rules[edge]])
        if origin >= forest.minted_from:
            return False
        words = forest.searched_target(origin)
        for (begin, end), texts in self._texts.items():
            if end <= first or begin >= last:
                continue
            if begin < first or end > last or not any(_stands_in(text, words) for text in texts):
                return False
        return True


def _stands_in(text: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether ``text`` is a contiguous part of ``words``."""
    return any(words[at : at + len(text)] == text for at in range(len(words) - len(text) + 1))
