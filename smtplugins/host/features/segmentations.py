"""Score hypotheses with a segmentation phrase by phrase, in the order in which a decoder appended the phrases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smtformats import Candidates, Columns, FormatError
from smtformats.nbest.shared.structure import Segment
from smtformats.records import dataclass
from smtformats.tokens import blanks
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.core.grammar.rules import Edges, Rules
from smtplugins.core.vocabulary import Vocabulary


@dataclass(frozen=True)
class Phrase:
    """A phrase: source span ``[first, last)`` and target words."""

    first: int
    last: int
    words: tuple[str, ...]


_START = Phrase(0, 0, ())


def phrases_of(nbest: Candidates) -> list[list[Phrase]]:
    """The phrases of each hypothesis, in target order."""
    segmentation = nbest.segmentation
    if segmentation is None and not any(nbest.texts):
        segmentation = [()] * len(nbest)
    if segmentation is None:
        raise UsageError(f"list {nbest.id}: expected a segmentation, found none")
    # Spans refer to lattice nodes if the input was a lattice, which exceed the words of a path.
    size = None if nbest.source is None or "input" in nbest.extras else len(blanks(nbest.source))
    hypotheses = []
    for i, (text, segments) in enumerate(zip(nbest.texts, segmentation, strict=True)):
        words = blanks(text)
        wrong = _fault(segments, len(words), size)
        if wrong:
            line = nbest.line + (i if nbest.ranks is None else nbest.ranks[i])
            raise FormatError(*wrong, file=nbest.file or "<data>", line=line)
        # The range of an empty phrase looks like that of one word, so only the starts are used.
        starts = [target for _, (target, _) in segments] + [len(words)]
        hypotheses.append(
            [
                Phrase(first, last + 1, tuple(words[starts[k] : starts[k + 1]]))
                for k, ((first, last), _) in enumerate(segments)
            ]
        )
    return hypotheses


def _fault(segments: Sequence[Segment], words: int, size: int | None) -> tuple[str, str] | None:
    """Check a segmentation: (expected, found) if it is wrong, else None."""
    at = 0
    covered: set[int] = set()
    for k, ((first, last), (begin, end)) in enumerate(segments):
        following = segments[k + 1][1][0] if k + 1 < len(segments) else words
        if begin != at or following < begin or end not in (following - 1, max(begin, following - 1)):
            return f"phrases that follow one another up to word {words} of the translation", _shown(segments)
        at = following
        here = set(range(first, last + 1))
        if not here or here & covered:
            return "each source word in one phrase", _shown(segments)
        covered |= here
    if at != words:
        return f"phrases for all {words} words of the translation", _shown(segments)
    if size is not None and covered and max(covered) >= size:
        return f"phrases of a source sentence of {size} words", _shown(segments)
    return None


def _shown(segments: Sequence[Segment]) -> str:
    return " ".join(f"{a}-{b}={c}-{d}" for (a, b), (c, d) in segments) or "none"


def score_phrases(feature: Any, nbest: Candidates) -> Any:
    """Score hypotheses phrase by phrase: a stateful feature left to right, a rule feature as a sum."""
    phrases = phrases_of(nbest)
    return _score_stateful(feature, nbest, phrases) if hasattr(feature, "start") else _score_rules(feature, phrases)


def _score_stateful(feature: Any, nbest: Candidates, phrases: Sequence[Sequence[Phrase]]) -> Any:
    """Extend all hypotheses by a phrase at a time."""
    scorer = feature.start(Sentence(nbest.id, tuple(blanks(nbest.source or "")), annotations=nbest.annotations))
    words = Vocabulary()
    sums = _Sums(len(nbest))
    scores, first = scorer.combine(_edges([_START] * len(nbest), words, begin=True), [()] * len(nbest))
    sums.add(range(len(nbest)), scores)
    states = list(first)
    for k in range(max(map(len, phrases), default=0)):
        going = [i for i, own in enumerate(phrases) if len(own) > k]
        edges = _edges([phrases[i][k] for i in going], words)
        scores, after = scorer.combine(edges, [(states[i],) for i in going])
        sums.add(going, scores)
        for i, state in zip(going, after, strict=True):
            states[i] = state
    sums.add(range(len(nbest)), scorer.finish(states))
    return sums.result()


def _score_rules(feature: Any, phrases: Sequence[Sequence[Phrase]]) -> Any:
    """Score all phrases as rules of one grammar, and sum by hypothesis."""
    sums = _Sums(len(phrases))
    rules = _rules([phrase for own in phrases for phrase in own], None, begin=True)
    sums.add([i for i, own in enumerate(phrases) for _ in own], feature.score_rules(rules))
    return sums.result()


def _rules(phrases: Sequence[Phrase], words: Vocabulary | None, *, begin: bool) -> Rules:
    # Non-terminal 0 stands for the translation so far.
    return Rules.from_targets([phrase.words if begin else (0, *phrase.words) for phrase in phrases], words)


def _edges(phrases: Sequence[Phrase], words: Vocabulary, *, begin: bool = False) -> Edges:
    import numpy as np

    firsts, lasts = (
        np.array(ends, dtype=np.int32)
        for ends in ([phrase.first for phrase in phrases], [phrase.last for phrase in phrases])
    )
    return Edges(_rules(phrases, words, begin=begin), firsts, lasts)


class _Sums:
    """Sums of scores by hypothesis, for sparse or dense results of a feature."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._table: Any = None
        self._rows: list[dict[str, float]] | None = None

    def add(self, places: Sequence[int], scores: Any) -> None:
        """Add scores to the hypotheses ``places``, which may repeat."""
        import numpy as np

        if isinstance(scores, Columns):
            self._rows = self._rows or [{} for _ in range(self._count)]
            for i, k in enumerate(places):
                for name, value in scores.row(i).items():
                    self._rows[k][name] = self._rows[k].get(name, 0.0) + value
            return
        table = np.asarray(scores, dtype=np.float64)
        if len(table) != len(places):
            raise ValueError(f"expected {len(places)} scores, found {len(table)}")
        if self._table is None:
            self._table = np.zeros((self._count, *table.shape[1:]))
        if table.shape[1:] != self._table.shape[1:]:
            shapes = f"{(self._count, *table.shape[1:])} and {self._table.shape}"
            raise ValueError(f"expected scores of one shape, found {shapes}")
        np.add.at(self._table, np.asarray(places, dtype=np.int64), table)

    def result(self) -> Any:
        """The sums of all hypotheses."""
        if self._rows is None:
            return self._table
        if self._table is not None and self._table.any():
            raise ValueError("expected named columns from both combine and finish, or from neither")
        return Columns.from_mappings(self._rows)
