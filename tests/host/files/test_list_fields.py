"""Segmentations, alignments and input words from derivations of a phrase decoder."""

from __future__ import annotations

import pytest

from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge
from smtplugins.contracts.errors import UsageError
from smtplugins.core.graph.hypergraph import Hypergraph, HypergraphBuilder
from smtplugins.core.graph.inference import kbest
from smtplugins.host.files.list_fields import FIELDS, check_fields, fields_of

GAP = NonTerminal("X", 1)


def phrase(source: str, target: str, *points: tuple[int, int]) -> Rule:
    """Points count the gap in front."""
    return Rule("X", (GAP, *source.split()), (GAP, *target.split()), alignment=points)


def graph(*steps: tuple[Rule, tuple[int, int]], first: bool = False) -> Hypergraph:
    """One phrase behind the other."""
    builder = HypergraphBuilder()
    builder.add([Edge((), len(steps), span=(0, 0), score=0.0)] if first else [])
    for rule, (_, span) in enumerate(steps):
        builder.add([Edge((rule,), rule, span=span, score=-1.0)])
    return builder.build("0", [*(rule for rule, _ in steps), Rule("X", (), ())])


END = (Rule("X", (GAP,), (GAP,)), (4, 4))
STEPS = (
    (phrase("c d", "x y z", (2, 1), (1, 3), (1, 1)), (2, 4)),
    (phrase("b", ""), (1, 2)),
    (phrase("a", "w", (1, 1)), (0, 1)),
    END,
)


@pytest.mark.parametrize("first", [False, True])
def test_fields(first: bool) -> None:
    fields = fields_of(kbest(graph(*STEPS, first=first)), FIELDS)
    assert fields == {"segmentation": ["2-3=0-2 1=3 0=3"], "alignment": ["2-0 2-2 3-0 0-3"], "input": ["a b c d"]}


def test_the_lists_can_be_scored_phrase_by_phrase() -> None:
    from smtformats import Candidates
    from smtplugins.host.features.segmentations import phrases_of

    extras = fields_of(kbest(graph(*STEPS)), ("segmentation",))
    (phrases,) = phrases_of(Candidates("0", ["x y z w"], [()], [[]], [0.0], extras))
    assert [(phrase.first, phrase.last, phrase.words) for phrase in phrases] == [
        (2, 4, ("x", "y", "z")), (1, 2, ()), (0, 1, ("w",))
    ]  # fmt: skip


def test_what_has_no_phrases() -> None:
    builder = HypergraphBuilder()
    node = builder.add([Edge((), 0, span=(0, 1))])
    builder.add([Edge((node,), 1, span=(0, 2))])
    chart = builder.build("0", [Rule("X", ("a",), ("x",)), Rule("X", (GAP, "b"), (GAP, "y"))])
    with pytest.raises(UsageError, match="input: expected derivations made of phrases, found others"):
        fields_of(kbest(chart), ("input",))


def test_phrases_have_no_tree() -> None:
    with pytest.raises(UsageError, match="tree: expected derivations made of rules"):
        fields_of(kbest(graph(*STEPS)), ("tree",))


def test_names() -> None:
    assert check_fields(["alignment", "segmentation", "alignment"]) == ("segmentation", "alignment")
    with pytest.raises(UsageError, match="unknown field 'alignments' of lists; did you mean 'alignment'"):
        check_fields(["alignments"])
