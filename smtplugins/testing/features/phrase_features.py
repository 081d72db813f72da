"""Checks of stateful features that need the segmentation, on phrase-based derivations.

A derivation appends phrase by phrase, as in a phrase decoder; each edge has the source span of its phrase. The first
edge has no words, no children, and the span (0, 0).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.testing.checks import Check, DoesNotApply, Subject
from smtplugins.testing.rows import difference, scored, summed

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence

SOURCE = ("das", "haus", "ist", "gut", "ja")
_TOLERANCE = 1e-5


@dataclass(frozen=True)
class SamplePhrase:
    """A source span ``[first, last)`` and its translation."""

    first: int
    last: int
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"[{self.first}, {self.last}) {' '.join(self.words)}"


Derivation = tuple[SamplePhrase, ...]
_BEGIN = SamplePhrase(0, 0, ())


def phrases(seed: int = 1) -> list[SamplePhrase]:
    """Return two translations for each span of the sentence, some of them empty."""
    source = random.Random(seed)
    spans = itertools.combinations(range(len(SOURCE) + 1), 2)
    return [
        SamplePhrase(first, last, tuple(source.choice("abc") for _ in range(source.choice([0, 1, 1, 2, 3]))))
        for first, last in spans
        for _ in range(2)
    ]


def derivations(seed: int = 1, count: int = 40) -> list[Derivation]:
    """Return complete derivations of the sentence in random orders, and an empty one."""
    source = random.Random(seed)
    known = phrases()
    made: list[Derivation] = [()]
    while len(made) < count:
        cuts = [0, *sorted(source.sample(range(1, len(SOURCE)), source.randrange(len(SOURCE)))), len(SOURCE)]
        spans = list(itertools.pairwise(cuts))
        source.shuffle(spans)
        made.append(
            tuple(source.choice([phrase for phrase in known if (phrase.first, phrase.last) == span]) for span in spans)
        )
    return made


class PhraseFeatureRun:
    """A scorer for one sentence."""

    def __init__(self, scorer: Any) -> None:
        from smtplugins.core.vocabulary import Vocabulary

        self.scorer = scorer
        self.words = Vocabulary(["unused"])

    def combine(
        self, steps: Sequence[SamplePhrase], before: Sequence[Any] | None
    ) -> tuple[list[dict[str, float]], list[Any]]:
        """Return scores by name, and states, of phrases after the states ``before``; None for first edges."""
        tails: list[tuple[Any, ...]] = [()] * len(steps) if before is None else [(state,) for state in before]
        scores, states = self.scorer.combine(self._edges(steps, before is None), tails)
        assert len(states) == len(steps), f"expected {len(steps)} states, found {len(states)}"
        return scored(scores, len(steps)), list(states)

    def begin(self) -> tuple[dict[str, float], Any]:
        """Return the score and state of the first edge."""
        (row,), (state,) = self.combine([_BEGIN], None)
        return row, state

    def walk(self, steps: Sequence[SamplePhrase]) -> tuple[dict[str, float], Any]:
        """Return the total and the state after appending phrases one at a time."""
        total, state = self.begin()
        for step in steps:
            (row,), (state,) = self.combine([step], [state])
            total = summed([total, row])
        return total, state

    def finish(self, states: Sequence[Any]) -> list[dict[str, float]]:
        """Return the final scores of complete sentences."""
        return scored(self.scorer.finish(states), len(states))

    def whole(self, every: Sequence[Derivation]) -> list[dict[str, float]]:
        """Return totals of derivations, scored one phrase at a time."""
        walked = [self.walk(derivation) for derivation in every]
        ends = self.finish([state for _, state in walked])
        return [summed([total, end]) for (total, _), end in zip(walked, ends, strict=True)]

    def estimate(self, steps: Sequence[SamplePhrase]) -> list[dict[str, float]]:
        """Return estimates of phrases."""
        return scored(self.scorer.estimate(self._edges(steps, False)), len(steps))

    def _edges(self, steps: Sequence[SamplePhrase], first: bool) -> Any:
        import numpy as np

        from smtplugins.core.grammar.rules import Edges, Rules

        targets: list[tuple[str | int, ...]] = [phrase.words if first else (0, *phrase.words) for phrase in steps]
        places = np.array([(phrase.first, phrase.last) for phrase in steps], dtype=np.int32).reshape(-1, 2).T
        return Edges(Rules.from_targets(targets, self.words), *map(np.ascontiguousarray, places))


def batches_of_phrases_do_not_matter(subject: Subject) -> None:
    """Phrases get the same scores one at a time and in batches after derivations of different lengths."""
    start = _start(subject)
    every = derivations()
    wanted = start().whole(every)
    source = random.Random(2)
    work = start()
    rows, states = work.combine([_BEGIN] * len(every), None)
    at = [0] * len(every)
    while True:
        open_ = [i for i, derivation in enumerate(every) if at[i] < len(derivation)]
        if not open_:
            break
        batch = source.sample(open_, source.randint(1, len(open_)))
        scores, after = work.combine([every[i][at[i]] for i in batch], [states[i] for i in batch])
        for i, row, state in zip(batch, scores, after, strict=True):
            rows[i], states[i], at[i] = summed([rows[i], row]), state, at[i] + 1
    for derivation, row, total, end in zip(every, wanted, rows, work.finish(states), strict=True):
        text = difference(row, summed([total, end]), _TOLERANCE)
        assert text is None, f"{_show(derivation)} one at a time and in batches: {text}"


def states_of_phrases_fit_a_table(subject: Subject) -> None:
    """States are hashable, and the same phrases lead to equal states: decoders keep them in a hash table."""
    work = _start(subject)()
    for derivation in derivations():
        (_, state), (_, other) = work.walk(derivation), work.walk(derivation)
        try:
            same = hash(state) == hash(other)
        except TypeError as error:
            raise AssertionError(f"the state {state!r} cannot be hashed: {error}") from error
        assert state == other, f"{_show(derivation)} has the states {state!r} and {other!r}, which are not equal"
        assert same, f"the equal states {state!r} and {other!r} have different hashes"


def equal_states_of_phrases_have_equal_futures(subject: Subject) -> None:
    """Equal states with the same coverage lead to equal scores and states after any phrase."""
    work = _start(subject)()
    known: dict[tuple[frozenset[int], Any], Derivation] = {}
    pairs: dict[tuple[Derivation, Derivation], None] = {}
    for derivation in _prefixes():
        _, state = work.walk(derivation)
        other = known.setdefault((_cover(derivation), state), derivation)
        if other != derivation:
            pairs[other, derivation] = None
    if not pairs:
        raise DoesNotApply("no two of the kit's partial derivations have equal states")
    for left, right in list(pairs)[:100]:
        states = [work.walk(derivation)[1] for derivation in (left, right)]
        where = f"{_show(left)} and {_show(right)} have equal states, but score differently"
        first, second = work.finish(states)
        text = difference(first, second, _TOLERANCE)
        assert text is None, f"{where} at the end of the sentence: {text}"
        for step in phrases():
            if not _cover(left) & set(range(step.first, step.last)):
                (first, second), after = work.combine([step, step], states)
                text = difference(first, second, _TOLERANCE)
                assert text is None, f"{where} before {step}: {text}"
                assert after[0] == after[1], f"{where} after {step}: states {after[0]!r} and {after[1]!r}"


def sentences_of_phrases_do_not_mix(subject: Subject) -> None:
    """Two sentences scored at the same time score as each does alone: sentence data is kept in the scorer."""
    start = _start(subject)
    every = derivations(seed=3)
    sources = (SOURCE, tuple(reversed(SOURCE)))
    alone = [start(source).whole(every) for source in sources]
    both = [start(source) for source in sources]
    walked = [[work.walk(derivation) for work in both] for derivation in every]
    for k, (source, work) in enumerate(zip(sources, both, strict=True)):
        ends = work.finish([pair[k][1] for pair in walked])
        for derivation, wanted, pair, end in zip(every, alone[k], walked, ends, strict=True):
            text = difference(wanted, summed([pair[k][0], end]), _TOLERANCE)
            assert text is None, f"{_show(derivation)} of {' '.join(source)!r} beside another sentence: {text}"


def edges_that_translate_nothing_change_nothing(subject: Subject) -> None:
    """An edge without source and target words after the last phrase adds nothing: graphs may have such a goal."""
    work = _start(subject)()
    for derivation in derivations():
        total, state = work.walk(derivation)
        (row,), (after,) = work.combine([_BEGIN], [state])
        ends = work.finish([state, after])
        text = difference(summed([total, ends[0]]), summed([total, row, ends[1]]), _TOLERANCE)
        assert text is None, f"{_show(derivation)} with an edge above it that translates nothing: {text}"


def estimates_of_phrases_are_finite(subject: Subject) -> None:
    """``estimate`` returns a finite score per phrase and does not change later scores."""
    work = _start(subject)()
    every = derivations()
    before = work.whole(every)
    work.estimate(phrases())
    for derivation, row, actual in zip(every, before, work.whole(every), strict=True):
        text = difference(row, actual)
        assert text is None, f"{_show(derivation)} scores differently after `estimate`: {text}"


def searches_and_lists_agree(subject: Subject) -> None:
    """A derivation gets the same values in a native search, on a list, and from the scorer."""
    feature = subject.make()
    start = _start(subject)
    every = derivations()
    layouts, listed = _on_a_list(subject, feature, every)
    for derivation, layout, row, wanted in zip(every, layouts, listed, start().whole(every), strict=True):
        values = list(wanted.values())
        # Lists sort named columns by name.
        named = dict(zip(layout, row, strict=True))
        row = [named[name] for name in wanted] if set(layout) == set(wanted) else row
        assert _close(row, values), f"{_show(derivation)} has {row} on a list, and {values} from the scorer"
        searched = _search(subject, feature, derivation)
        assert _close(searched, values), f"{_show(derivation)} has {searched} in a search, and {values} from the scorer"


def _start(subject: Subject) -> Callable[..., PhraseFeatureRun]:
    """Return a function that starts the feature on the words of a sentence."""
    feature = subject.make()
    if "segmentation" not in subject.offer.needs or not hasattr(feature, "start"):
        raise DoesNotApply("the feature has no states, or does not need the segmentation")
    return lambda source=SOURCE: PhraseFeatureRun(feature.start(_sentence(subject, source)))


def _sentence(subject: Subject, source: Sequence[str]) -> Sentence:
    from smtplugins.contracts.data import Sentence

    return Sentence(
        "0", tuple(source), annotations={name: f"{name} of {' '.join(source)}" for name in subject.annotations}
    )


def _prefixes() -> Iterator[Derivation]:
    """Yield partial derivations, each once."""
    every = derivations(seed=4, count=200)
    return iter(dict.fromkeys(derivation[:k] for derivation in every for k in range(len(derivation) + 1)))


def _cover(derivation: Derivation) -> frozenset[int]:
    return frozenset(word for step in derivation for word in range(step.first, step.last))


def _show(derivation: Derivation) -> str:
    return "; ".join(map(str, derivation)) or "nothing"


def _close(left: Sequence[float], right: Sequence[float]) -> bool:
    import math

    pairs = zip(left, right, strict=True) if len(left) == len(right) else [(0.0, math.inf)]
    return all(math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-4) for a, b in pairs)


def _on_a_list(
    subject: Subject, feature: Any, every: Sequence[Derivation]
) -> tuple[list[tuple[str, ...]], list[list[float]]]:
    from smtformats import Candidates
    from smtplugins.host.features.scoring import Active

    texts, segments = [], []
    for derivation in every:
        at, parts = 0, []
        for step in derivation:
            last = max(at, at + len(step.words) - 1)
            parts.append(f"{step.first}-{step.last - 1}={at}-{last}")
            at += len(step.words)
        texts.append(" ".join(word for step in derivation for word in step.words))
        segments.append(" ".join(parts))
    rows = len(every)
    notes = _sentence(subject, SOURCE).annotations
    extras = {"segmentation": segments}
    made = Candidates("0", texts, [()] * rows, [[]] * rows, extras=extras, source=" ".join(SOURCE), annotations=notes)
    return Active(subject.offer.name, subject.offer, feature).score(made)


def _search(subject: Subject, feature: Any, derivation: Derivation) -> list[float]:
    """Return the sum of each component over the only derivation of a graph, by an exact search."""
    import numpy as np

    from smtformats.grammar.rules import NonTerminal, Rule
    from smtformats.hypergraph.graph import Edge, GraphBuilder
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.features.scoring import Active
    from smtplugins.testing.features.forest_scoring import score_forest

    builder = GraphBuilder()
    node = builder.add([])
    gap = NonTerminal("X", 1)
    for number, step in enumerate(derivation):
        node = builder.add([Edge((node,), number, span=(step.first, step.last))])
    rules = [Rule("X", (gap, *SOURCE[step.first : step.last]), (gap, *step.words)) for step in derivation]
    graph = Hypergraph.from_columns(builder.graph("0", rules))
    active = Active(subject.offer.name, subject.offer, feature)
    sentence = _sentence(subject, SOURCE)
    made = score_forest(graph.with_scores(np.zeros(len(graph))), [active], {}, sentence, exact=True).graph
    sums: list[float] = made.dense.sum(axis=0, dtype=np.float64).tolist()
    return sums


CHECKS: tuple[Check, ...] = (
    batches_of_phrases_do_not_matter,
    states_of_phrases_fit_a_table,
    equal_states_of_phrases_have_equal_futures,
    sentences_of_phrases_do_not_mix,
    edges_that_translate_nothing_change_nothing,
    estimates_of_phrases_are_finite,
    searches_and_lists_agree,
)
