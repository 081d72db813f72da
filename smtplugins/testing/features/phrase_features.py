"""Checks of features with states that need the segmentation: derivations are phrases, put behind one another.

Derivations of a sentence go on phrase by phrase, as in a phrase decoder; each edge says which source words its phrase
translates. The first edge of all has no words, no children, and the span (0, 0).
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
    from smtplugins.contracts.contracts import Sentence

SOURCE = ("das", "haus", "ist", "gut", "ja")
_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Phrase:
    """Source words ``[first, last)``, and their translation."""

    first: int
    last: int
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"[{self.first}, {self.last}) {' '.join(self.words)}"


Derivation = tuple[Phrase, ...]
_BEGIN = Phrase(0, 0, ())


def phrases(seed: int = 1) -> list[Phrase]:
    """Translations of the parts of the sentence, two for each, some of them without words."""
    source = random.Random(seed)
    spans = itertools.combinations(range(len(SOURCE) + 1), 2)
    return [
        Phrase(first, last, tuple(source.choice("abc") for _ in range(source.choice([0, 1, 1, 2, 3]))))
        for first, last in spans
        for _ in range(2)
    ]


def derivations(seed: int = 1, count: int = 40) -> list[Derivation]:
    """Whole translations of the sentence in all kinds of orders, and one of no words at all."""
    source = random.Random(seed)
    known = phrases()
    made: list[Derivation] = [()]
    while len(made) < count:
        cuts = [0, *sorted(source.sample(range(1, len(SOURCE)), source.randrange(len(SOURCE)))), len(SOURCE)]
        spans = list(itertools.pairwise(cuts))
        source.shuffle(spans)
        made.append(tuple(source.choice([one for one in known if (one.first, one.last) == span]) for span in spans))
    return made


class Work:
    """A scorer at work on one sentence."""

    def __init__(self, scorer: Any) -> None:
        from smtplugins.core.vocabulary import Vocabulary

        self.scorer = scorer
        self.words = Vocabulary(["unused"])

    def combine(
        self, steps: Sequence[Phrase], before: Sequence[Any] | None
    ) -> tuple[list[dict[str, float]], list[Any]]:
        """Scores by name and states of phrases behind these states; without any they are first edges."""
        tails: list[tuple[Any, ...]] = [()] * len(steps) if before is None else [(state,) for state in before]
        scores, states = self.scorer.combine(self._edges(steps, before is None), tails)
        assert len(states) == len(steps), f"expected {len(steps)} states, found {len(states)}"
        return scored(scores, len(steps)), list(states)

    def begin(self) -> tuple[dict[str, float], Any]:
        """Score and state of the first edge."""
        (row,), (state,) = self.combine([_BEGIN], None)
        return row, state

    def walk(self, steps: Sequence[Phrase]) -> tuple[dict[str, float], Any]:
        """The sum and the state behind some phrases, one at a time."""
        total, state = self.begin()
        for step in steps:
            (row,), (state,) = self.combine([step], [state])
            total = summed([total, row])
        return total, state

    def finish(self, states: Sequence[Any]) -> list[dict[str, float]]:
        """What is added for whole sentences."""
        return scored(self.scorer.finish(states), len(states))

    def whole(self, every: Sequence[Derivation]) -> list[dict[str, float]]:
        """Totals of derivations, one phrase at a time."""
        walked = [self.walk(one) for one in every]
        ends = self.finish([state for _, state in walked])
        return [summed([total, end]) for (total, _), end in zip(walked, ends, strict=True)]

    def estimate(self, steps: Sequence[Phrase]) -> list[dict[str, float]]:
        """Guesses at phrases."""
        return scored(self.scorer.estimate(self._edges(steps, False)), len(steps))

    def _edges(self, steps: Sequence[Phrase], first: bool) -> Any:
        import numpy as np

        from smtplugins.core.grammar.rules import Edges, Rules

        targets: list[tuple[str | int, ...]] = [one.words if first else (0, *one.words) for one in steps]
        places = np.array([(one.first, one.last) for one in steps], dtype=np.int32).reshape(-1, 2).T
        return Edges(Rules.from_targets(targets, self.words), *map(np.ascontiguousarray, places))


def batches_of_phrases_do_not_matter(subject: Subject) -> None:
    """Phrases get the same scores one at a time and in batches behind states of many lengths."""
    start = _start(subject)
    every = derivations()
    wanted = start().whole(every)
    source = random.Random(2)
    work = start()
    rows, states = work.combine([_BEGIN] * len(every), None)
    at = [0] * len(every)
    while True:
        open_ = [i for i, one in enumerate(every) if at[i] < len(one)]
        if not open_:
            break
        batch = source.sample(open_, source.randint(1, len(open_)))
        found, after = work.combine([every[i][at[i]] for i in batch], [states[i] for i in batch])
        for i, row, state in zip(batch, found, after, strict=True):
            rows[i], states[i], at[i] = summed([rows[i], row]), state, at[i] + 1
    for one, row, total, end in zip(every, wanted, rows, work.finish(states), strict=True):
        text = difference(row, summed([total, end]), _TOLERANCE)
        assert text is None, f"{_shown(one)} one at a time and in batches: {text}"


def states_of_phrases_fit_a_table(subject: Subject) -> None:
    """States can be hashed, and the same phrases lead to equal ones: decoders keep them in a table."""
    work = _start(subject)()
    for one in derivations():
        (_, state), (_, other) = work.walk(one), work.walk(one)
        try:
            same = hash(state) == hash(other)
        except TypeError as error:
            raise AssertionError(f"the state {state!r} cannot be hashed: {error}") from error
        assert state == other, f"{_shown(one)} has the states {state!r} and {other!r}, which are not equal"
        assert same, f"the equal states {state!r} and {other!r} have different hashes"


def equal_states_of_phrases_have_equal_futures(subject: Subject) -> None:
    """Where the same words are translated and states are equal, all that may follow gives equal scores and states."""
    work = _start(subject)()
    known: dict[tuple[frozenset[int], Any], Derivation] = {}
    pairs: dict[tuple[Derivation, Derivation], None] = {}
    for one in _prefixes():
        _, state = work.walk(one)
        other = known.setdefault((_covered(one), state), one)
        if other != one:
            pairs[other, one] = None
    if not pairs:
        raise DoesNotApply("no two of the kit's partial derivations have equal states")
    for left, right in list(pairs)[:100]:
        states = [work.walk(one)[1] for one in (left, right)]
        where = f"{_shown(left)} and {_shown(right)} have equal states, but score otherwise"
        first, second = work.finish(states)
        text = difference(first, second, _TOLERANCE)
        assert text is None, f"{where} at the end of the sentence: {text}"
        for step in phrases():
            if not _covered(left) & set(range(step.first, step.last)):
                (first, second), after = work.combine([step, step], states)
                text = difference(first, second, _TOLERANCE)
                assert text is None, f"{where} before {step}: {text}"
                assert after[0] == after[1], f"{where} behind {step}: states {after[0]!r} and {after[1]!r}"


def sentences_of_phrases_do_not_mix(subject: Subject) -> None:
    """Two sentences under way at once get what each gets alone: what belongs to a sentence lives in its scorer."""
    start = _start(subject)
    every = derivations(seed=3)
    sources = (SOURCE, tuple(reversed(SOURCE)))
    alone = [start(source).whole(every) for source in sources]
    both = [start(source) for source in sources]
    walked = [[work.walk(one) for work in both] for one in every]
    for k, (source, work) in enumerate(zip(sources, both, strict=True)):
        ends = work.finish([pair[k][1] for pair in walked])
        for one, wanted, pair, end in zip(every, alone[k], walked, ends, strict=True):
            text = difference(wanted, summed([pair[k][0], end]), _TOLERANCE)
            assert text is None, f"{_shown(one)} of {' '.join(source)!r} beside another sentence: {text}"


def edges_that_translate_nothing_change_nothing(subject: Subject) -> None:
    """An edge above the last phrase without words and source words adds nothing: graphs may have such a goal."""
    work = _start(subject)()
    for one in derivations():
        total, state = work.walk(one)
        (row,), (after,) = work.combine([_BEGIN], [state])
        ends = work.finish([state, after])
        text = difference(summed([total, ends[0]]), summed([total, row, ends[1]]), _TOLERANCE)
        assert text is None, f"{_shown(one)} with an edge above it that translates nothing: {text}"


def estimates_of_phrases_are_finite(subject: Subject) -> None:
    """``estimate`` gives a finite score for each phrase, and changes no score that follows."""
    work = _start(subject)()
    every = derivations()
    before = work.whole(every)
    work.estimate(phrases())
    for one, row, found in zip(every, before, work.whole(every), strict=True):
        text = difference(row, found)
        assert text is None, f"{_shown(one)} scores otherwise after `estimate`: {text}"


def searches_and_lists_agree(subject: Subject) -> None:
    """A derivation gets the same values in a search of native code, on a list, and from the scorer itself."""
    feature = subject.make()
    start = _start(subject)
    every = derivations()
    layouts, listed = _on_a_list(subject, feature, every)
    for one, layout, row, wanted in zip(every, layouts, listed, start().whole(every), strict=True):
        values = list(wanted.values())
        # A feature that names its columns has them in the order of the names on lists.
        named = dict(zip(layout, row, strict=True))
        row = [named[name] for name in wanted] if set(layout) == set(wanted) else row
        assert _close(row, values), f"{_shown(one)} has {row} on a list, and {values} from the scorer"
        found = _searched(subject, feature, one)
        assert _close(found, values), f"{_shown(one)} has {found} in a search, and {values} from the scorer"


def _start(subject: Subject) -> Callable[..., Work]:
    """A feature to be started on the words of a sentence."""
    feature = subject.make()
    if "segmentation" not in subject.offer.needs or not hasattr(feature, "start"):
        raise DoesNotApply("the feature has no states, or does not need the segmentation")
    return lambda source=SOURCE: Work(feature.start(_sentence(subject, source)))


def _sentence(subject: Subject, source: Sequence[str]) -> Sentence:
    from smtplugins.contracts.contracts import Sentence

    return Sentence(
        "0", tuple(source), annotations={name: f"{name} of {' '.join(source)}" for name in subject.annotations}
    )


def _prefixes() -> Iterator[Derivation]:
    """Partial derivations, each once."""
    every = derivations(seed=4, count=200)
    return iter(dict.fromkeys(one[:k] for one in every for k in range(len(one) + 1)))


def _covered(one: Derivation) -> frozenset[int]:
    return frozenset(word for step in one for word in range(step.first, step.last))


def _shown(one: Derivation) -> str:
    return "; ".join(map(str, one)) or "nothing"


def _close(one: Sequence[float], other: Sequence[float]) -> bool:
    import math

    pairs = zip(one, other, strict=True) if len(one) == len(other) else [(0.0, math.inf)]
    return all(math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-4) for a, b in pairs)


def _on_a_list(
    subject: Subject, feature: Any, every: Sequence[Derivation]
) -> tuple[list[tuple[str, ...]], list[list[float]]]:
    from smtformats import Candidates
    from smtplugins.host.features.scoring import Active

    texts, segments = [], []
    for one in every:
        at, parts = 0, []
        for step in one:
            last = max(at, at + len(step.words) - 1)
            parts.append(f"{step.first}-{step.last - 1}={at}-{last}")
            at += len(step.words)
        texts.append(" ".join(word for step in one for word in step.words))
        segments.append(" ".join(parts))
    rows = len(every)
    notes = _sentence(subject, SOURCE).annotations
    extras = {"segmentation": segments}
    made = Candidates("0", texts, [()] * rows, [[]] * rows, extras=extras, source=" ".join(SOURCE), annotations=notes)
    return Active(subject.offer.name, subject.offer, feature).score(made)


def _searched(subject: Subject, feature: Any, one: Derivation) -> list[float]:
    """The sum of each component over the only derivation of a graph, as an exact search finds it."""
    import numpy as np

    from smtformats.grammar.rules import NonTerminal, Rule
    from smtformats.hypergraph.graph import Edge, GraphBuilder
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.features.scoring import Active
    from smtplugins.testing.features.forest_scoring import score_forest

    builder = GraphBuilder()
    node = builder.add([])
    gap = NonTerminal("X", 1)
    for number, step in enumerate(one):
        node = builder.add([Edge((node,), number, span=(step.first, step.last))])
    rules = [Rule("X", (gap, *SOURCE[step.first : step.last]), (gap, *step.words)) for step in one]
    graph = Hypergraph.from_columns(builder.graph("0", rules))
    active = Active(subject.offer.name, subject.offer, feature)
    sentence = _sentence(subject, SOURCE)
    made = score_forest(graph.with_scores(np.zeros(len(graph))), [active], {}, sentence, exact=True).graph
    found: list[float] = made.dense.sum(axis=0, dtype=np.float64).tolist()
    return found


CHECKS: tuple[Check, ...] = (
    batches_of_phrases_do_not_matter,
    states_of_phrases_fit_a_table,
    equal_states_of_phrases_have_equal_futures,
    sentences_of_phrases_do_not_mix,
    edges_that_translate_nothing_change_nothing,
    estimates_of_phrases_are_finite,
    searches_and_lists_agree,
)
