"""A parser that is slow and plain: every rule is tried on every span until no edge is new.

An edge is its rule, its head, its tails and the numbers of the arcs with features that it stands on; a node is a label
and two positions. What no derivation of the goal uses is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from smtplugins.core.grammar.parsing import InputArc

Node = tuple[str, int, int]
Edge = tuple[int, Node, tuple[Node, ...], tuple[int, ...]]
Symbol = str | tuple[str]  # a word, or a label in a tuple
Match = tuple[int, tuple[Node, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Plain:
    """A rule's source side, and to which spans its grammar applies."""

    lhs: str
    source: tuple[Symbol, ...]
    limit: int | None = None
    from_start: bool = False

    @property
    def unary(self) -> bool:
        return len(self.source) == 1 and isinstance(self.source[0], tuple)


def distances(arcs: Sequence[InputArc], positions: int) -> list[list[int]]:
    """The fewest arcs from each position to each other one."""
    far = 10**9
    lengths = [[0 if i == j else far for j in range(positions)] for i in range(positions)]
    for arc in arcs:
        lengths[arc.first][arc.last] = 1
    for k in range(positions):
        for i in range(positions):
            for j in range(positions):
                lengths[i][j] = min(lengths[i][j], lengths[i][k] + lengths[k][j])
    return lengths


def without_cycles(rules: Sequence[Plain], goal: str, labels: Sequence[str]) -> set[int]:
    """The rules of one gap that are applied: cdec's way, from the label that came last, depth first."""
    kept: set[int] = set()
    done: set[str] = {goal}

    def visit(gap: str, above: tuple[str, ...]) -> None:
        for i, rule in enumerate(rules):
            if not rule.unary or rule.source[0][0] != gap:
                continue
            if rule.lhs in (*above, gap) and rule.lhs not in done:
                continue
            kept.add(i)
            if rule.lhs not in done:
                visit(rule.lhs, (*above, gap))
        done.add(gap)

    for label in reversed(labels):
        if label not in done:
            visit(label, ())
    return kept


def edges_of(
    rules: Sequence[Plain], arcs: Sequence[InputArc], positions: int, goal: str, labels: Sequence[str]
) -> Counter[Edge]:
    """All edges of the forest, without the one above the goal."""
    far = distances(arcs, positions)
    unaries = without_cycles(rules, goal, labels)
    nodes: set[Node] = set()
    edges: Counter[Edge] = Counter()

    def matches(rule: Plain, at: int, done: int, plain: bool) -> Iterator[Match]:
        """Ends, tails and arcs of the rest of a rule that is applied from a position on."""
        if done == len(rule.source):
            yield at, (), ()
        else:
            symbol = rule.source[done]
            if isinstance(symbol, tuple):
                for node in nodes:
                    if node[:2] == (symbol[0], at):
                        for end, tails, used in matches(rule, node[2], done + 1, plain):
                            yield end, (node, *tails), used
        if plain:
            return
        for number, arc in enumerate(arcs):
            if arc.first != at:
                continue
            here = (number,) if arc.features else ()
            if arc.word is None:
                for end, tails, used in matches(rule, arc.last, done, plain):
                    yield end, tails, (*here, *used)
            elif done < len(rule.source) and rule.source[done] == arc.word:
                for end, tails, used in matches(rule, arc.last, done + 1, plain):
                    yield end, tails, (*here, *used)

    while True:
        derived: Counter[Edge] = Counter()
        for i, rule in enumerate(rules):
            if not rule.source or (rule.unary and i not in unaries):
                continue
            for start in range(positions):
                if rule.from_start and start:
                    continue
                for end, tails, used in matches(rule, start, 0, rule.unary):
                    if rule.limit is None or far[start][end] <= rule.limit:
                        derived[i, (rule.lhs, start, end), tails, used] += 1
        if derived == edges:
            break
        edges = derived
        nodes = {head for _, head, _, _ in edges}
    useful = {(goal, 0, positions - 1)} & nodes
    while True:
        more = {tail for _, head, tails, _ in edges if head in useful for tail in tails}
        if more <= useful:
            return Counter({edge: count for edge, count in edges.items() if edge[1] in useful})
        useful |= more


def total(features: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The sums of features."""
    sums: dict[str, float] = {}
    for row in features:
        for name, value in row.items():
            sums[name] = sums.get(name, 0.0) + value
    return sums
