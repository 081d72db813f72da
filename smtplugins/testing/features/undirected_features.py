"""Checks of features that score edges in partial context (``UndirectedFeature``).

A word string is put together from edges whose children stand anywhere, as for features with states; but its tree grows
from any edge in any direction. What an edge is shown is worked out anew each time, from all that is there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from smtplugins.contracts.contracts import OUTSIDE
from smtplugins.testing import samples
from smtplugins.testing.checks import Check, DoesNotApply, Subject
from smtplugins.testing.features.stateful_features import Node, Work, bracketed, shown
from smtplugins.testing.rows import difference, scored, summed

_TOLERANCE = 1e-5
_SOURCE = "das ist gut"
_MOST = 400
"""Situations that are looked at one by one."""

Target = Sequence[str | int]
Row = dict[str, float]


class Situation(NamedTuple):
    """An edge, the contexts of its neighbours, and what it showed them."""

    target: tuple[str | int, ...]
    links: tuple[Any, ...]
    contexts: tuple[Any, ...]

    def __str__(self) -> str:
        return f"edge {list(self.target)} beside {list(self.links)}"


@dataclass
class _Work:
    """A scorer at work: one vocabulary, as for one sentence; situations are kept."""

    scorer: Any
    components: int
    situations: list[Situation] = field(default_factory=list)

    def __post_init__(self) -> None:
        from smtplugins.core.vocabulary import Vocabulary

        self.words = Vocabulary(["unused"])

    def attach(
        self, targets: Sequence[Target], links: Sequence[Sequence[Any]]
    ) -> tuple[list[Row], list[tuple[Any, ...]]]:
        """Scores by name, and contexts, of a batch."""
        from smtplugins.core.grammar.rules import Edges, Rules

        edges = Edges(Rules.from_targets(targets, self.words))
        scores, contexts = self.scorer.attach(edges, [list(one) for one in links])
        assert len(contexts) == len(targets), f"expected contexts of {len(targets)} edges, found {len(contexts)}"
        rows = scored(scores, len(targets))
        for target, around, row, given in zip(targets, links, rows, contexts, strict=True):
            assert len(given) == len(around), (
                f"expected {len(around)} contexts for the edge {list(target)}, one for each link, found {len(given)}"
            )
            assert len(row) == self.components, f"expected {self.components} values, `components`, found {len(row)}"
            if len(self.situations) < _MOST:
                self.situations.append(Situation(tuple(target), tuple(around), tuple(given)))
        return rows, [tuple(given) for given in contexts]


class _Tree:
    """A derivation that grows from any of its edges; link 0 is what is above one, link 1 + k its child k."""

    def __init__(self, root: Node) -> None:
        self.targets: list[list[str | int]] = []
        self.beside: list[list[int | None]] = []
        self.there: set[int] = set()

        def add(node: Node, above: int | None) -> int:
            number = len(self.targets)
            self.targets.append(node.symbols)
            self.beside.append([above])
            for child in node.children:
                self.beside[number].append(add(child, number))
            return number

        add(root, None)

    def order(self, source: random.Random) -> list[int]:
        """All edges, each but the first beside one before it."""
        found = [source.randrange(len(self.targets))]
        while len(found) < len(self.targets):
            edges = sorted({one for edge in found for one in self.beside[edge] if one is not None} - {*found})
            found.append(source.choice(edges))
        return found

    def links(self, work: _Work, edge: int, without: int | None = None) -> list[Any]:
        """What an edge is shown by those that are there; not by the one at the link ``without``."""
        found = []
        for link, other in enumerate(self.beside[edge]):
            if link == without or other is None or other not in self.there:
                found.append(OUTSIDE if other is None and link != without else None)
                continue
            back = self.beside[other].index(edge)
            _, (contexts,) = work.attach([self.targets[other]], [self.links(work, other, back)])
            found.append(contexts[back])
        return found


def _grown(work: _Work, roots: Sequence[Node], source: random.Random) -> list[Row]:
    """What derivations are worth whose edges come in random orders; those of several trees come in one batch."""
    trees = [_Tree(root) for root in roots]
    orders = [tree.order(source) for tree in trees]
    totals: list[list[Row]] = [[] for _ in trees]
    for step in range(max(map(len, orders), default=0)):
        now = [i for i, order in enumerate(orders) if step < len(order)]
        edges = [orders[i][step] for i in now]
        targets = [trees[i].targets[edge] for i, edge in zip(now, edges, strict=True)]
        links = [trees[i].links(work, edge) for i, edge in zip(now, edges, strict=True)]
        rows, _ = work.attach(targets, links)
        for i, edge, row in zip(now, edges, rows, strict=True):
            trees[i].there.add(edge)
            totals[i].append(row)
    return [summed(rows) for rows in totals]


def growing_order_does_not_matter(subject: Subject) -> None:
    """What edges add is in sum the same in whatever order a tree grows: what the directed form gives, if there is one.

    All of a batch are scored together, whatever trees they are of.
    """
    source = random.Random(1)
    feature, start = _feature(subject)
    strings = samples.strings()
    for _ in range(2):
        roots = [bracketed(words, source) for words in strings]
        wanted = _directed(feature, subject, roots) if hasattr(feature, "start") else None
        what = "its directed form" if wanted else "in another order"
        for _ in range(2):
            found = _grown(start(), roots, source)
            wanted = wanted or _grown(start(), roots, source)
            for root, row, other in zip(roots, wanted, found, strict=True):
                text = difference(row, other, _TOLERANCE)
                assert text is None, f"{shown(root)} by {what} and grown in some order: {text}"


def attached_edges_are_independent(subject: Subject) -> None:
    """An edge gets the same score and shows equal contexts alone and among others."""
    _, start = _feature(subject)
    work, situations = _seen(start)
    rows, contexts = work.attach([one.target for one in situations], [one.links for one in situations])
    for one, row, given in zip(situations, rows, contexts, strict=True):
        (alone,), (again,) = work.attach([one.target], [one.links])
        text = difference(row, alone, _TOLERANCE)
        assert text is None, f"{one} scores otherwise alone than in a batch: {text}"
        assert given == again, f"{one} shows {list(again)} alone and {list(given)} in a batch"


def contexts_fit_a_table(subject: Subject) -> None:
    """Contexts can be hashed, equal ones to the same number; the same edge in the same place shows equal ones."""
    _, start = _feature(subject)
    work, situations = _seen(start)
    for one in situations:
        _, (again,) = work.attach([one.target], [one.links])
        for context, other in zip(one.contexts, again, strict=True):
            try:
                same = hash(context) == hash(other)
            except TypeError as error:
                raise AssertionError(f"the context {context!r} cannot be hashed: {error}") from error
            assert context == other, f"{one} shows {context!r} and {other!r}, which are not equal"
            assert same, f"the equal contexts {context!r} and {other!r} have different hashes"


def contexts_do_not_come_back(subject: Subject) -> None:
    """What an edge shows a neighbour is made of the edge and of its other neighbours, not of what that one shows."""
    _, start = _feature(subject)
    work, situations = _seen(start)
    for one in situations:
        for link, known in enumerate(one.links):
            if known is None or known is OUTSIDE:
                continue
            without = [*one.links[:link], None, *one.links[link + 1 :]]
            _, (contexts,) = work.attach([one.target], [without])
            assert contexts[link] == one.contexts[link], (
                f"{one} shows {one.contexts[link]!r} at link {link}, but {contexts[link]!r} if nothing is known there"
            )


def equal_contexts_have_equal_futures(subject: Subject) -> None:
    """Where two contexts are equal, edges beside them get equal scores and show equal contexts."""
    _, start = _feature(subject)
    work, situations = _seen(start)
    pairs = 0
    for above in (True, False):
        for left, right in _equal_pairs(situations, above):
            pairs += 1
            for target, around in _neighbours(above):
                links = [[context if one == "here" else one for one in around] for context in (left, right)]
                (first, second), shown_by = work.attach([target, target], links)
                text = difference(first, second, _TOLERANCE)
                where = f"for the edge {target} {'below' if above else 'above'} them"
                assert text is None, f"the contexts {left!r} and {right!r} are equal, but not {where}: {text}"
                assert shown_by[0] == shown_by[1], (
                    f"the contexts {left!r} and {right!r} are equal, but not what is shown {where}: "
                    f"{list(shown_by[0])} and {list(shown_by[1])}"
                )
    if not pairs:
        raise DoesNotApply("no two of the kit's situations show equal contexts")


def undirected_sentences_do_not_mix(subject: Subject) -> None:
    """Two sentences under way at once get what each gets alone: what belongs to a sentence lives in its scorer."""
    _, start = _feature(subject)
    strings = samples.strings()
    roots = [bracketed(words, random.Random(3)) for words in strings]
    texts = (_SOURCE, "ja")
    alone = [_grown(start(text), roots, random.Random(4)) for text in texts]
    both = [start(text) for text in texts]
    for work in both:
        work.attach(strings, [[OUTSIDE]] * len(strings))
    for text, wanted, work in zip(texts, alone, both, strict=True):
        for root, row, other in zip(roots, wanted, _grown(work, roots, random.Random(4)), strict=True):
            found = difference(row, other, _TOLERANCE)
            assert found is None, f"{shown(root)} for {text!r} scores otherwise beside another sentence: {found}"


def _feature(subject: Subject) -> tuple[Any, Callable[..., _Work]]:
    """A feature, and how to start it on source texts."""
    feature = subject.make()
    if not hasattr(feature, "undirected"):
        raise DoesNotApply("the feature has no undirected")

    def start(source: str = _SOURCE) -> _Work:
        return _Work(feature.undirected(_sentence(subject, source)), getattr(feature, "components", 1))

    return feature, start


def _sentence(subject: Subject, source: str) -> Any:
    from smtplugins.contracts.contracts import Sentence

    annotations = {name: f"{name} of {source}" for name in subject.annotations}
    return Sentence("0", tuple(source.split(" ")), annotations=annotations)


def _directed(feature: Any, subject: Subject, roots: Sequence[Node]) -> list[Row]:
    """What the feature's directed form gives for whole derivations."""
    work = Work(feature.start(_sentence(subject, _SOURCE)))
    return work.derivations(roots, random.Random(2))


def _seen(start: Callable[..., _Work]) -> tuple[_Work, list[Situation]]:
    """What a scorer was asked for some growing trees."""
    source = random.Random(5)
    work = start()
    _grown(work, [bracketed(words, source) for words in samples.strings(seed=2)], source)
    return work, list(work.situations)


def _equal_pairs(situations: Sequence[Situation], above: bool, most: int = 60) -> list[tuple[Any, Any]]:
    """Equal contexts from different situations: such as are shown to what is below, or to what is above."""
    found = []
    known: list[tuple[Any, Situation]] = []
    for one in situations:
        for context in one.contexts[1:] if above else one.contexts[:1]:
            others = (other for other, where in known if other == context and where[:2] != one[:2])
            other = next(others, None)
            if other is not None:
                found.append((other, context))
            if len(known) < most:
                known.append((context, one))
    return found[:most]


def _neighbours(above: bool) -> list[tuple[list[str | int], list[Any]]]:
    """Edges that are put beside a context (``here``), and what else is around them."""
    if above:
        return [
            ([], ["here"]),
            (["a"], ["here"]),
            (["b", "a", "c"], ["here"]),
            ([0], ["here", None]),
            (["a", 0, "b"], ["here", None]),
        ]
    return [
        ([0], [None, "here"]),
        ([0, "a"], [OUTSIDE, "here"]),
        (["b", 0, "a"], [None, "here"]),
        (["c", 0, 1], [None, "here", None]),
        ([0, "a", 1, "b"], [OUTSIDE, None, "here"]),
    ]


CHECKS: tuple[Check, ...] = (
    growing_order_does_not_matter,
    attached_edges_are_independent,
    contexts_fit_a_table,
    contexts_do_not_come_back,
    equal_contexts_have_equal_futures,
    undirected_sentences_do_not_mix,
)
