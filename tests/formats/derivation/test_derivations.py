"""Derivations: words of both sides, whatever order rules put them in."""

from __future__ import annotations

import pytest

from smtformats.derivation.derivations import DerivationNode, PrintedDerivation
from smtformats.grammar.rules import NonTerminal, Rule

A, B = NonTerminal("A", 1), NonTerminal("B", 2)


def test_sides() -> None:
    nodes = (
        DerivationNode("X", Rule("X", (A, "de", B), (B, "of", A)), (0, 3), (1, 2), ("f", "g"), (1.0, 2.0)),
        DerivationNode("A", Rule("A", ("uno",), ("one",)), (0, 1)),
        DerivationNode("B", Rule("B", ("dos",), ()), (2, 3)),
    )
    derivation = PrintedDerivation("0", 0, -1.5, nodes)
    assert derivation.source() == ["uno", "de", "dos"]
    assert derivation.target() == ["of", "one"]
    assert nodes[0].features() == {"f": 1, "g": 2}


def test_no_nodes_and_no_rules() -> None:
    assert PrintedDerivation("0", 0, None, ()).target() == []
    with pytest.raises(ValueError, match="expected rules, found none in the derivation at x:3"):
        PrintedDerivation("0", 0, None, (DerivationNode("X", None, None),), "x", 3).source()


def test_deep_derivations() -> None:
    gap = NonTerminal("X", 1)
    nodes = [DerivationNode("X", Rule("X", (gap, "a"), ("b", gap)), None, (i + 1,)) for i in range(5000)]
    derivation = PrintedDerivation("0", 0, None, (*nodes, DerivationNode("X", Rule("X", ("a",), ("b",)), None)))
    assert derivation.source() == ["a"] * 5001
    assert derivation.target() == ["b"] * 5001
