"""Hypotheses of lists that carry a segmentation, as the phrases that a decoder put behind one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtformats import FormatError
from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    from smtformats import Candidates
    from smtformats.structure import Segment
    from smtplugins.core.grammar.rules import Edges, Rules
    from smtplugins.core.vocabulary import Vocabulary


@dataclass(frozen=True)
class Phrase:
    """Source words ``[first, last)``, and the words that they were translated by."""

    first: int
    last: int
    words: tuple[str, ...]


_START = Phrase(0, 0, ())


def phrases_of(one: Candidates) -> list[list[Phrase]]:
    """The phrases of each hypothesis, in target order."""
    from smtformats.tokens import blanks

    segmentation = one.segmentation
    if segmentation is None and not any(one.texts):
        segmentation = [()] * len(one)
    if segmentation is None:
        raise UsageError(f"list {one.id}: expected a segmentation, found none")
    # A lattice has more nodes than any of its paths has words.
    size = None if one.source is None or "input" in one.extras else len(blanks(one.source))
    found = []
    for i, (text, segments) in enumerate(zip(one.texts, segmentation, strict=True)):
        words = blanks(text)
        wrong = _fault(segments, len(words), size)
        if wrong:
            line = one.line + (i if one.ranks is None else one.ranks[i])
            raise FormatError(*wrong, file=one.file or "<data>", line=line)
        # A phrase without words ends before it begins, which cannot be told from one word.
        starts = [target for _, (target, _) in segments] + [len(words)]
        found.append(
            [
                Phrase(first, last + 1, tuple(words[starts[k] : starts[k + 1]]))
                for k, ((first, last), _) in enumerate(segments)
            ]
        )
    return found


def _fault(segments: Sequence[Segment], words: int, size: int | None) -> tuple[str, str] | None:
    """What was expected of a segmentation and what was found, if something is wrong."""
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


def score_phrases(feature: Any, one: Candidates) -> Any:
    """A feature's scores of hypotheses, phrase by phrase: one with states walks along each, one of rules sums up."""
    phrases = phrases_of(one)
    return _walked(feature, one, phrases) if hasattr(feature, "start") else _summed(feature, phrases)


def _walked(feature: Any, one: Candidates, phrases: Sequence[Sequence[Phrase]]) -> Any:
    """All hypotheses go on by a phrase at a time."""
    from smtformats.tokens import blanks
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.vocabulary import Vocabulary

    scorer = feature.start(Sentence(one.id, tuple(blanks(one.source or "")), annotations=one.annotations))
    words = Vocabulary()
    sums = _Sums(len(one))
    scores, first = scorer.combine(_edges([_START] * len(one), words, begin=True), [()] * len(one))
    sums.add(range(len(one)), scores)
    states = list(first)
    for k in range(max(map(len, phrases), default=0)):
        going = [i for i, own in enumerate(phrases) if len(own) > k]
        edges = _edges([phrases[i][k] for i in going], words)
        scores, after = scorer.combine(edges, [(states[i],) for i in going])
        sums.add(going, scores)
        for i, state in zip(going, after, strict=True):
            states[i] = state
    sums.add(range(len(one)), scorer.finish(states))
    return sums.result()


def _summed(feature: Any, phrases: Sequence[Sequence[Phrase]]) -> Any:
    """All phrases are rules of one grammar."""
    sums = _Sums(len(phrases))
    rules = _rules([phrase for own in phrases for phrase in own], None, begin=True)
    sums.add([i for i, own in enumerate(phrases) for _ in own], feature.score_rules(rules))
    return sums.result()


def _rules(phrases: Sequence[Phrase], words: Vocabulary | None, *, begin: bool) -> Rules:
    from smtplugins.core.grammar.rules import Rules

    # Child 0 is what was translated before.
    return Rules.from_targets([phrase.words if begin else (0, *phrase.words) for phrase in phrases], words)


def _edges(phrases: Sequence[Phrase], words: Vocabulary, *, begin: bool = False) -> Edges:
    import numpy as np

    from smtplugins.core.grammar.rules import Edges

    firsts, lasts = (
        np.array(ends, dtype=np.int32) for ends in ([one.first for one in phrases], [one.last for one in phrases])
    )
    return Edges(_rules(phrases, words, begin=begin), firsts, lasts)


class _Sums:
    """Scores added up by hypothesis, in whatever form a feature gives them."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._table: Any = None
        self._rows: list[dict[str, float]] | None = None

    def add(self, places: Sequence[int], scores: Any) -> None:
        """Scores of some hypotheses; one may come several times."""
        import numpy as np

        from smtformats import Columns

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
        from smtformats import Columns

        if self._rows is None:
            return self._table
        if self._table is not None and self._table.any():
            raise ValueError("expected columns with names, or none, from combine and finish alike")
        return Columns.from_mappings(self._rows)
