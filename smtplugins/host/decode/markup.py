"""Translations that tags in a sentence ask for, as options of its search: what Moses does with ``-xml-input``.

``exclusive``: the words of a tag have the translations that it says, and nothing else may stand on any of them.
``inclusive``: these are more translations beside the others. ``constraint``: others may stand there, if they cover the
whole tag and have one of its texts in them. ``ignore``: tags are left out. Words that have no translation by all this
are copied, as unknown ones are.

A translation has the logarithm of its probability, at least -100, in equal parts as the scores of the first table, and
is a phrase like others to all other features. Otherwise than in Moses it may be longer than other phrases, and of the
tags and texts of a constraint all count, where Moses looks at the first alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from smtplugins.host.decode.phrase_conventions import CONSTRAINT, IGNORE, INCLUSIVE, PASS_THROUGH
from smtplugins.host.errors import SmtError, UsageError

if TYPE_CHECKING:
    from smtformats import GrammarColumns
    from smtformats.corpus.segments import Mark
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.grammar.parsed_forest import Forest
    from smtplugins.core.grammar.tables import Grammar, Tables
    from smtplugins.host.decode.phrase_conventions import PhraseConventions

OWNER = "markup"
FLOOR = -100.0  # of logarithms, as Moses has it
_REORDERING = ("zone", "wall")
_MODEL = ("update", "weight-overwrite")


def check(sentence: Sentence, conventions: PhraseConventions) -> None:
    """Tags for which cannot be done what they ask are errors."""
    tags = [mark.tag for mark in sentence.marks]
    if tags and conventions.xml == PASS_THROUGH:
        shown = ", ".join(f"<{tag}>" for tag in dict.fromkeys(tags))
        raise UsageError(
            f"sentence {sentence.id}: mark-up {shown}: expected a decoder that takes it (decoder.xml: exclusive, "
            "inclusive, constraint or ignore), or sentences whose tags are words (moses-xml,tags=false)"
        )
    for tag in tags:
        if tag in _REORDERING and conventions.reorders:
            raise SmtError(
                f"sentence {sentence.id}: <{tag}> limits reordering, which this decoder does for whole searches alone: "
                "expected order=monotone or distortion_limit=0, or no such tag"
            )
        if tag in _MODEL:
            raise SmtError(f"sentence {sentence.id}: <{tag}> changes the model while it works, which is not done here")


@dataclass(frozen=True)
class Asked:
    """A translation that a tag asks for, of the words ``[first, last)``."""

    first: int
    last: int
    target: tuple[str, ...]
    probability: float


def asked_by(marks: Iterable[Mark]) -> Iterator[Asked]:
    """What tags ask for; one without words asks for nothing."""
    from smtformats.tokens import blanks

    for mark in marks:
        if mark.start < mark.end and mark.tag not in ("ne", *_REORDERING, *_MODEL):
            for text, probability in zip(mark.translations, mark.probabilities, strict=True):
                yield Asked(mark.start, mark.end, tuple(blanks(text)), probability)


class Markup:
    """The tags of one sentence. ``names`` are those of the scores of the first table."""

    def __init__(self, sentence: Sentence, mode: str, names: Sequence[str], label: str, tables: Tables) -> None:
        self._words = sentence.tokens
        self._mode = mode
        self._label = label
        self._tables = tables
        self._asked = [] if mode == IGNORE else list(asked_by(sentence.marks))
        self._names = tuple(names)
        if not names and any(one.probability != 1 for one in self._asked):
            raise UsageError(
                f"sentence {sentence.id}: a tag has a probability, but there is no table whose rules have numbers of "
                "its name (translation-model,path=,name=) to split it over"
            )

    def __bool__(self) -> bool:
        """Whether there is something to be done."""
        return bool(self._asked)

    @cached_property
    def grammar(self) -> Grammar:
        """The translations as rules that are nowhere applied: they are put in."""
        from dataclasses import replace

        from smtplugins.core.grammar.tables import Grammar

        columns = self._columns()
        # No parser applies rules of a level above 0.
        made = Grammar(replace(columns, level=columns.level + 1), self._tables)
        made.parts[0].columns = columns
        return made

    def _columns(self) -> GrammarColumns:
        from smtformats.grammar.rules import Rule
        from smtformats.grammar.shared.gather import grammar_columns

        rules = []
        for one in self._asked:
            score = max(math.log(one.probability), FLOOR) if one.probability > 0 else FLOOR
            values = (score / len(self._names),) * len(self._names) if self._names else ()
            source = self._words[one.first : one.last]
            rules.append(Rule(self._label, source, one.target, self._names, values))
        return grammar_columns(rules)

    def edited(self, forest: Forest, start: int, weights: Mapping[str, float]) -> Forest:
        """The options of the sentence with these among them; ``start`` is the number of the first of the rules."""
        import numpy as np

        from smtplugins.core.search.phrase_options import Put, edge_spans, edited

        spans = edge_spans(forest)
        covered = np.zeros(len(self._words) + 1, dtype=np.int64)
        for one in self._asked:
            covered[one.first + 1 : one.last + 1] = 1
        free = np.diff(np.cumsum(covered)[spans], axis=1).reshape(-1) == 0
        kept = np.ones(len(spans), dtype=bool) if self._mode == INCLUSIVE else free
        if self._mode == CONSTRAINT:
            for edge in np.flatnonzero(~free).tolist():
                kept[edge] = self._allowed(forest, edge, *spans[edge].tolist())
        scores = self.grammar.scores(weights).tolist()
        put = [Put(one.first, one.last, start + i, scores[i]) for i, one in enumerate(self._asked)]
        alone = {first for first, last in spans[kept].tolist() if last == first + 1}
        alone |= {one.first for one in put if one.last == one.first + 1}
        minted = (i for i in np.flatnonzero(covered[1:]).tolist() if i not in alone)
        put += [Put(i, i + 1, forest.minted(self._words[i])) for i in minted]
        return edited(forest, kept, put, self._label)

    @cached_property
    def _texts(self) -> dict[tuple[int, int], list[tuple[str, ...]]]:
        """What is asked for, by source words."""
        found: dict[tuple[int, int], list[tuple[str, ...]]] = {}
        for one in self._asked:
            found.setdefault((one.first, one.last), []).append(one.target)
        return found

    def _allowed(self, forest: Forest, edge: int, first: int, last: int) -> bool:
        """Whether a phrase may stand where tags are: it has all words of each that it touches, and one of its texts."""
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
    """Whether these words stand among others, one behind the other."""
    return any(words[at : at + len(text)] == text for at in range(len(words) - len(text) + 1))
