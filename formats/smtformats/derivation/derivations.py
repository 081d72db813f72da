"""A derivation as toolkits print it: a tree of rules, stored as a list of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from smtformats.grammar.rules import NonTerminal, Rule, Symbol


@dataclass(frozen=True, slots=True)
class DerivationNode:
    """One use of a rule.

    ``children`` are node numbers: the k-th, from 1, fills the gap of index k. ``span`` is the first source position and
    the one after the last. ``names``, ``values`` and ``score`` are the features and the score of this use of the rule.
    What the file does not show is ``None`` or empty. Formats that print target words only give rules with an empty
    source side and gaps numbered in target order.
    """

    label: str
    rule: Rule | None
    span: tuple[int, int] | None
    children: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    score: float | None = None

    def features(self) -> dict[str, float]:
        """Return the features by name."""
        return dict(zip(self.names, self.values, strict=True))


@dataclass(frozen=True, slots=True)
class PrintedDerivation:
    """A derivation of a sentence; ``rank`` counts from 0. Nodes are in file order, the first one is the root.

    The derivation of an untranslatable sentence has no nodes.
    """

    id: str
    rank: int
    score: float | None
    nodes: tuple[DerivationNode, ...]
    file: str = ""
    line: int = 1

    def source(self) -> list[str]:
        """Return the source words."""
        return list(self._words(False))

    def target(self) -> list[str]:
        """Return the target words."""
        return list(self._words(True))

    def _words(self, target: bool) -> Iterator[str]:
        def symbols(at: int) -> Iterator[tuple[Symbol, DerivationNode]]:
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
