"""A derivation as toolkits print it: a tree of rules, as a list of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from smtformats.grammar.rules import NonTerminal, Rule, Symbol


@dataclass(frozen=True, slots=True)
class Node:
    """A rule where it was used.

    ``children`` are numbers of nodes: the k-th, from 1, fills the gap of index k. ``span`` is first and last-plus-one
    source position. ``names`` and ``values`` are the features that the use of the rule was given, ``score`` its score.
    What a file does not show is ``None`` or empty; a format that shows target words alone gives rules without a source
    side, their gaps numbered in the order of the target side.
    """

    label: str
    rule: Rule | None
    span: tuple[int, int] | None
    children: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    score: float | None = None

    def features(self) -> dict[str, float]:
        """The features by name."""
        return dict(zip(self.names, self.values, strict=True))


@dataclass(frozen=True, slots=True)
class Derivation:
    """One derivation of a sentence; ``rank`` counts from 0. Nodes are in the file's order, the first one is the root.

    A sentence without a translation has none.
    """

    id: str
    rank: int
    score: float | None
    nodes: tuple[Node, ...]
    file: str = ""
    line: int = 1

    def source(self) -> list[str]:
        """The words of the source side."""
        return list(self._words(False))

    def target(self) -> list[str]:
        """The words of the target side."""
        return list(self._words(True))

    def _words(self, target: bool) -> Iterator[str]:
        def symbols(at: int) -> Iterator[tuple[Symbol, Node]]:
            node = self.nodes[at]
            if node.rule is None:
                raise ValueError(f"expected rules, found none in the derivation at {self.file}:{self.line}")
            return iter([(symbol, node) for symbol in (node.rule.target if target else node.rule.source)])

        pending = [symbols(0)] if self.nodes else []
        while pending:
            for symbol, node in pending[-1]:
                if isinstance(symbol, NonTerminal):
                    pending.append(symbols(node.children[symbol.index - 1]))
                    break
                yield symbol
            else:
                pending.pop()
