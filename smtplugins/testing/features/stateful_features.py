"""Checks of features with state (``StatefulFeature``).

Strings are derived, as in a decoder, from edges with children in any position, under many bracketings, and compared
with a single edge over all words.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from smtplugins.testing import samples
from smtplugins.testing.checks import Check, DoesNotApply, Subject
from smtplugins.testing.rows import difference, scored, summed

_TOLERANCE = 1e-5
"""Scores may be added in any order and kept as float32."""


@dataclass
class Node:
    """An edge of a derivation: its target side and its children."""

    symbols: list[str | int] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)


class StatefulFeatureRun:
    """A scorer for one sentence, with its vocabulary; scores edges in batches."""

    def __init__(self, scorer: Any) -> None:
        from smtplugins.core.vocabulary import Vocabulary

        self.scorer = scorer
        self.words = Vocabulary(["unused"])

    def combine(
        self, targets: Sequence[Sequence[str | int]], tails: Sequence[Sequence[Any]]
    ) -> tuple[list[dict[str, float]], list[Any]]:
        """Return scores by name, and states, of a batch."""
        scores, states = self.scorer.combine(self._edges(targets), tails)
        assert len(states) == len(targets), f"expected {len(targets)} states, found {len(states)}"
        return scored(scores, len(targets)), list(states)

    def finish(self, states: Sequence[Any]) -> list[dict[str, float]]:
        """Return the final scores of complete sentences."""
        return scored(self.scorer.finish(states), len(states))

    def estimate(self, targets: Sequence[Sequence[str | int]]) -> list[dict[str, float]]:
        """Return estimates for edges without their children."""
        return scored(self.scorer.estimate(self._edges(targets)), len(targets))

    def _edges(self, targets: Sequence[Sequence[str | int]]) -> Any:
        from smtplugins.core.grammar.rules import Edges, Rules

        return Edges(Rules.from_targets(targets, self.words))

    def whole(self, strings: Sequence[Sequence[str]]) -> list[dict[str, float]]:
        """Return totals of strings scored as one edge each."""
        rows, states = self.combine(strings, [()] * len(strings))
        return [summed(pair) for pair in zip(rows, self.finish(states), strict=True)]

    def derivations(self, roots: Sequence[Node], source: random.Random) -> list[dict[str, float]]:
        """Return totals of derivations, children before parents, in random batches of edges with equal arity."""
        totals: dict[int, dict[str, float]] = {}
        states: dict[int, Any] = {}
        waiting = [node for root in roots for node in _below(root)]
        while waiting:
            ready = [node for node in waiting if all(id(child) in states for child in node.children)]
            arity = len(source.choice(ready).children)
            batch = [node for node in ready if len(node.children) == arity]
            source.shuffle(batch)
            batch = batch[: source.randint(1, len(batch))]
            tails = [[states[id(child)] for child in node.children] for node in batch]
            rows, made = self.combine([node.symbols for node in batch], tails)
            for node, row, state in zip(batch, rows, made, strict=True):
                totals[id(node)] = summed([row, *(totals[id(child)] for child in node.children)])
                states[id(node)] = state
            done = set(map(id, batch))
            waiting = [node for node in waiting if id(node) not in done]
        ends = self.finish([states[id(root)] for root in roots])
        return [summed([totals[id(root)], end]) for root, end in zip(roots, ends, strict=True)]


def bracketing_does_not_matter(subject: Subject) -> None:
    """A string scores the same as one edge and under any bracketing, with edges in any batches."""
    source = random.Random(1)
    work = _work(subject)()
    strings = samples.strings()
    wanted = work.whole(strings)
    for _ in range(6):
        roots = [bracketed(words, source) for words in strings]
        for words, root, row, actual in zip(strings, roots, wanted, work.derivations(roots, source), strict=True):
            text = difference(row, actual, _TOLERANCE)
            assert text is None, f"{' '.join(words)!r} in one piece and as {shown(root)}: {text}"


def edges_are_independent(subject: Subject) -> None:
    """An edge gets the same score and an equal state alone and in a batch."""
    work = _work(subject)()
    strings = samples.strings()
    rows, states = work.combine(strings, [()] * len(strings))
    for words, row, state in zip(strings, rows, states, strict=True):
        (alone,), (again,) = work.combine([words], [()])
        text = difference(row, alone, _TOLERANCE)
        assert text is None, f"edge {' '.join(words)!r} scores differently alone and in a batch: {text}"
        assert state == again, f"edge {' '.join(words)!r} has the state {again!r} alone and {state!r} in a batch"


def states_fit_a_table(subject: Subject) -> None:
    """States are hashable, and equal states have equal hashes: decoders keep them in a hash table."""
    work = _work(subject)()
    strings = samples.strings()
    _, states = work.combine(strings, [()] * len(strings))
    _, again = work.combine(strings, [()] * len(strings))
    for state, other in zip(states, again, strict=True):
        try:
            same = hash(state) == hash(other)
        except TypeError as error:
            raise AssertionError(f"the state {state!r} cannot be hashed: {error}") from error
        assert state == other, f"the same words have the states {state!r} and {other!r}, which are not equal"
        assert same, f"the equal states {state!r} and {other!r} have different hashes"


def equal_states_have_equal_futures(subject: Subject) -> None:
    """Equal states lead to equal scores and states in all contexts: decoders recombine them."""
    work = _work(subject)()
    strings = samples.strings(seed=4, count=60)
    _, states = work.combine(strings, [()] * len(strings))
    pairs = _equal_pairs(strings, states)
    if not pairs:
        raise DoesNotApply("no two of the kit's strings have equal states")
    contexts: list[list[str | int]] = [[0, "a"], ["a", 0], ["b", 0, "a"], ["c", "a", 0, "b", "b"], [0]]
    for left, right in pairs:
        states_of = (states[left], states[right])
        ends = work.finish(states_of)
        _assert_equal_future(ends[0], ends[1], strings[left], strings[right], "at the end of the sentence")
        for context in contexts:
            rows, after = work.combine([context, context], [[state] for state in states_of])
            where = f"in {context}"
            _assert_equal_future(rows[0], rows[1], strings[left], strings[right], where)
            assert after[0] == after[1], (
                f"{' '.join(strings[left])!r} and {' '.join(strings[right])!r} have equal states, but not {where}: "
                f"{after[0]!r} and {after[1]!r}"
            )


def sentences_do_not_mix(subject: Subject) -> None:
    """Two sentences scored at the same time score as each does alone: sentence data is kept in the scorer."""
    start = _work(subject)
    strings = samples.strings()
    texts = ("das ist gut", "ja")
    alone = [start(text).whole(strings) for text in texts]
    both = [start(text) for text in texts]
    pieces = [work.combine(strings, [()] * len(strings)) for work in both]
    for text, wanted, work, (rows, states) in zip(texts, alone, both, pieces, strict=True):
        for words, row, inner, end in zip(strings, wanted, rows, work.finish(states), strict=True):
            problem = difference(row, summed([inner, end]), _TOLERANCE)
            assert problem is None, (
                f"{' '.join(words)!r} for {text!r} scores differently beside another sentence: {problem}"
            )


def estimates_are_finite(subject: Subject) -> None:
    """``estimate`` returns a finite score per edge, for any children, and does not change later scores."""
    work = _work(subject)()
    strings = samples.strings()
    before = work.whole(strings)
    work.estimate(samples.rules())
    for words, row, actual in zip(strings, before, work.whole(strings), strict=True):
        text = difference(row, actual)
        assert text is None, f"{' '.join(words)!r} scores differently after `estimate`: {text}"


def _work(subject: Subject) -> Callable[..., StatefulFeatureRun]:
    """Return a function that starts the feature on a source text."""
    from smtplugins.contracts.data import Sentence

    feature = subject.make()
    if not hasattr(feature, "start"):
        raise DoesNotApply("the feature has no start")
    if "segmentation" in subject.offer.needs:
        raise DoesNotApply("the feature needs a segmentation, which other checks provide")

    def start(source: str = "das ist gut") -> StatefulFeatureRun:
        annotations = {name: f"{name} of {source}" for name in subject.annotations}
        return StatefulFeatureRun(feature.start(Sentence("0", tuple(source.split(" ")), annotations=annotations)))

    return start


def bracketed(words: Sequence[str], source: random.Random) -> Node:
    """Return a random derivation of a string: edges of words and up to three children, some of them empty."""
    node = Node()
    at = 0
    cuts = source.randint(0, 3) if words else 0
    for _ in range(cuts):
        first = source.randint(at, len(words))
        last = source.randint(first, len(words))
        node.symbols += [*words[at:first], len(node.children)]
        whole = last - first == len(words)
        node.children.append(Node(list(words)) if whole else bracketed(words[first:last], source))
        at = last
    node.symbols += words[at:]
    return node


def _below(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield from _below(child)
    yield node


def shown(node: Node) -> str:
    inner = (shown(node.children[symbol]) if isinstance(symbol, int) else symbol for symbol in node.symbols)
    return f"[{' '.join(inner)}]"


def _equal_pairs(strings: Sequence[Sequence[str]], states: Sequence[Any], most: int = 100) -> list[tuple[int, int]]:
    pairs = []
    for right, state in enumerate(states):
        for left in range(right):
            if list(strings[left]) != list(strings[right]) and states[left] == state:
                pairs.append((left, right))
                break
    return pairs[:most]


def _assert_equal_future(
    first: dict[str, float], second: dict[str, float], left: Sequence[str], right: Sequence[str], where: str
) -> None:
    text = difference(first, second, _TOLERANCE)
    assert text is None, (
        f"{' '.join(left)!r} and {' '.join(right)!r} have equal states, but score differently {where}: {text}"
    )


CHECKS: tuple[Check, ...] = (
    bracketing_does_not_matter,
    edges_are_independent,
    states_fit_a_table,
    equal_states_have_equal_futures,
    sentences_do_not_mix,
    estimates_are_finite,
)
