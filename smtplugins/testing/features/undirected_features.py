"""Checks of features that score edges in partial context (``UndirectedFeature``).

Strings are derived from edges with children in any position, as for stateful features, but the tree grows from any
edge in any direction. The contexts shown to an edge are recomputed each time from all attached edges.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from smtplugins.contracts.features import OUTSIDE
from smtplugins.testing import samples
from smtplugins.testing.checks import Check, DoesNotApply, Subject
from smtplugins.testing.features.stateful_features import Node, StatefulFeatureRun, bracketed, shown
from smtplugins.testing.rows import difference, scored, summed

_TOLERANCE = 1e-5
_SOURCE = "das ist gut"
_MOST = 400
"""The most situations that are kept."""

Target = Sequence[str | int]
Row = dict[str, float]


class Situation(NamedTuple):
    """An edge, the contexts of its neighbours, and the contexts it showed them."""

    target: tuple[str | int, ...]
    links: tuple[Any, ...]
    contexts: tuple[Any, ...]

    def __str__(self) -> str:
        return f"edge {list(self.target)} beside {list(self.links)}"


@dataclass
class _Work:
    """A scorer for one sentence, with its vocabulary and the situations met."""

    scorer: Any
    components: int
    situations: list[Situation] = field(default_factory=list)

    def __post_init__(self) -> None:
        from smtplugins.core.vocabulary import Vocabulary

        self.words = Vocabulary(["unused"])

    def attach(
        self, targets: Sequence[Target], links: Sequence[Sequence[Any]]
    ) -> tuple[list[Row], list[tuple[Any, ...]]]:
        """Return scores by name, and contexts, of a batch."""
        from smtplugins.core.grammar.rules import Edges, Rules

        edges = Edges(Rules.from_targets(targets, self.words))
        scores, contexts = self.scorer.attach(edges, [list(around) for around in links])
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
    """A derivation that grows from any edge; link 0 of an edge is its parent, link 1 + k its child k."""

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
        """Return all edges in a random order, each but the first adjacent to an earlier one."""
        order = [source.randrange(len(self.targets))]
        while len(order) < len(self.targets):
            edges = sorted(
                {neighbour for edge in order for neighbour in self.beside[edge] if neighbour is not None} - {*order}
            )
            order.append(source.choice(edges))
        return order

    def links(self, work: _Work, edge: int, without: int | None = None) -> list[Any]:
        """Return the contexts that attached neighbours show to an edge, except the one at link ``without``."""
        shown_here = []
        for link, other in enumerate(self.beside[edge]):
            if link == without or other is None or other not in self.there:
                shown_here.append(OUTSIDE if other is None and link != without else None)
                continue
            back = self.beside[other].index(edge)
            _, (contexts,) = work.attach([self.targets[other]], [self.links(work, other, back)])
            shown_here.append(contexts[back])
        return shown_here


def _grow(work: _Work, roots: Sequence[Node], source: random.Random) -> list[Row]:
    """Return totals of derivations whose edges are attached in random orders, in batches across trees."""
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
    """The total of a tree does not depend on the order of growing, and equals that of the directed form, if any.

    Batches mix edges of different trees.
    """
    source = random.Random(1)
    feature, start = _feature(subject)
    strings = samples.strings()
    for _ in range(2):
        roots = [bracketed(words, source) for words in strings]
        wanted = _score_directed(feature, subject, roots) if hasattr(feature, "start") else None
        what = "its directed form" if wanted else "in another order"
        for _ in range(2):
            grown = _grow(start(), roots, source)
            wanted = wanted or _grow(start(), roots, source)
            for root, row, other in zip(roots, wanted, grown, strict=True):
                text = difference(row, other, _TOLERANCE)
                assert text is None, f"{shown(root)} by {what} and grown in some order: {text}"


def attached_edges_are_independent(subject: Subject) -> None:
    """An edge gets the same score and shows equal contexts alone and in a batch."""
    _, start = _feature(subject)
    work, situations = _collect_situations(start)
    rows, contexts = work.attach(
        [situation.target for situation in situations], [situation.links for situation in situations]
    )
    for situation, row, given in zip(situations, rows, contexts, strict=True):
        (alone,), (again,) = work.attach([situation.target], [situation.links])
        text = difference(row, alone, _TOLERANCE)
        assert text is None, f"{situation} scores differently alone and in a batch: {text}"
        assert given == again, f"{situation} shows {list(again)} alone and {list(given)} in a batch"


def contexts_fit_a_table(subject: Subject) -> None:
    """Contexts are hashable, and equal ones have equal hashes; the same situation shows equal contexts."""
    _, start = _feature(subject)
    work, situations = _collect_situations(start)
    for situation in situations:
        _, (again,) = work.attach([situation.target], [situation.links])
        for context, other in zip(situation.contexts, again, strict=True):
            try:
                same = hash(context) == hash(other)
            except TypeError as error:
                raise AssertionError(f"the context {context!r} cannot be hashed: {error}") from error
            assert context == other, f"{situation} shows {context!r} and {other!r}, which are not equal"
            assert same, f"the equal contexts {context!r} and {other!r} have different hashes"


def contexts_do_not_come_back(subject: Subject) -> None:
    """The context an edge shows to a neighbour does not depend on the context that this neighbour shows."""
    _, start = _feature(subject)
    work, situations = _collect_situations(start)
    for situation in situations:
        for link, known in enumerate(situation.links):
            if known is None or known is OUTSIDE:
                continue
            without = [*situation.links[:link], None, *situation.links[link + 1 :]]
            _, (contexts,) = work.attach([situation.target], [without])
            assert contexts[link] == situation.contexts[link], (
                f"{situation} shows {situation.contexts[link]!r} at link {link}, but {contexts[link]!r} if nothing is "
                "known there"
            )


def equal_contexts_have_equal_futures(subject: Subject) -> None:
    """Edges next to equal contexts get equal scores and show equal contexts."""
    _, start = _feature(subject)
    work, situations = _collect_situations(start)
    pairs = 0
    for above in (True, False):
        for left, right in _equal_pairs(situations, above):
            pairs += 1
            for target, around in _neighbours(above):
                links = [[context if slot == "here" else slot for slot in around] for context in (left, right)]
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
    """Two sentences scored at the same time score as each does alone: sentence data is kept in the scorer."""
    _, start = _feature(subject)
    strings = samples.strings()
    roots = [bracketed(words, random.Random(3)) for words in strings]
    texts = (_SOURCE, "ja")
    alone = [_grow(start(text), roots, random.Random(4)) for text in texts]
    both = [start(text) for text in texts]
    for work in both:
        work.attach(strings, [[OUTSIDE]] * len(strings))
    for text, wanted, work in zip(texts, alone, both, strict=True):
        for root, row, other in zip(roots, wanted, _grow(work, roots, random.Random(4)), strict=True):
            problem = difference(row, other, _TOLERANCE)
            assert problem is None, f"{shown(root)} for {text!r} scores differently beside another sentence: {problem}"


def _feature(subject: Subject) -> tuple[Any, Callable[..., _Work]]:
    """Return a feature, and a function that starts it on a source text."""
    feature = subject.make()
    if not hasattr(feature, "undirected"):
        raise DoesNotApply("the feature has no undirected")

    def start(source: str = _SOURCE) -> _Work:
        return _Work(feature.undirected(_sentence(subject, source)), getattr(feature, "components", 1))

    return feature, start


def _sentence(subject: Subject, source: str) -> Any:
    from smtplugins.contracts.data import Sentence

    annotations = {name: f"{name} of {source}" for name in subject.annotations}
    return Sentence("0", tuple(source.split(" ")), annotations=annotations)


def _score_directed(feature: Any, subject: Subject, roots: Sequence[Node]) -> list[Row]:
    """Return the totals of derivations by the feature's directed form."""
    work = StatefulFeatureRun(feature.start(_sentence(subject, _SOURCE)))
    return work.derivations(roots, random.Random(2))


def _collect_situations(start: Callable[..., _Work]) -> tuple[_Work, list[Situation]]:
    """Return a scorer and the situations it met while trees grew."""
    source = random.Random(5)
    work = start()
    _grow(work, [bracketed(words, source) for words in samples.strings(seed=2)], source)
    return work, list(work.situations)


def _equal_pairs(situations: Sequence[Situation], above: bool, most: int = 60) -> list[tuple[Any, Any]]:
    """Return pairs of equal contexts from different situations, shown to children if ``above``, else to parents."""
    pairs = []
    known: list[tuple[Any, Situation]] = []
    for situation in situations:
        for context in situation.contexts[1:] if above else situation.contexts[:1]:
            others = (other for other, where in known if other == context and where[:2] != situation[:2])
            other = next(others, None)
            if other is not None:
                pairs.append((other, context))
            if len(known) < most:
                known.append((context, situation))
    return pairs[:most]


def _neighbours(above: bool) -> list[tuple[list[str | int], list[Any]]]:
    """Return edges to attach to a context (``here``), with their other contexts."""
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
