"""cdec's derivations: every mask, bad lines, and the k-best lists that they belong to."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_bytes, open_lines
from smtformats.derivation.cdec import FORMAT, parse
from smtformats.derivation.derivations import DerivationNode, PrintedDerivation
from smtformats.files import Lines, head
from smtformats.grammar import cdec as grammar_cdec
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.nbest import cdec as nbest_cdec

TOP = "\nsent_id=4.0 ||| -1.5\n"
REST = "({<0,2> [Goal] ||| [S] ||| [1]}\n ({<0,2> [S] ||| a [X] ||| [1] A}\n  ({<1,2> [X] ||| ( ||| {)}}\n  )\n )\n)\n"


def read(text: str, **limits: int) -> list[PrintedDerivation]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), **limits))


def test_several() -> None:
    first, second = read(TOP + REST + TOP.replace("4.0", "4.1").replace("-1.5", "-inf") + REST + "\n\n")
    assert (first.id, first.rank, first.score, first.line) == ("4", 0, -1.5, 2)
    assert (second.id, second.rank, second.score, second.line) == ("4", 1, float("-inf"), 10)
    assert [(node.label, node.span, node.children) for node in first.nodes] == [
        ("Goal", (0, 2), (1,)),
        ("S", (0, 2), (2,)),
        ("X", (1, 2), ()),
    ]
    rule = first.nodes[1].rule
    assert rule is not None
    assert (rule.source, rule.target) == (("a", NonTerminal("X", 1)), (NonTerminal("X", 1), "A"))
    assert (rule.raw, rule.origin, rule.line) == (None, "cdec-derivations", 4)
    assert first.target() == ["{)}", "A"]
    assert first.source() == ["a", "("]


@pytest.mark.parametrize(
    ("shown", "node"),
    [
        ("", DerivationNode("", None, None)),
        ("[X]", DerivationNode("X", None, None)),
        ("<0,1>", DerivationNode("", None, (0, 1))),
        ("[NP-1:x]<-1,-1><0,1>", DerivationNode("NP-1:x", None, (0, 1))),
        ("<3,4><0,1> p=-2.5", DerivationNode("", None, (0, 1), score=-2.5)),
        (" p=-inf", DerivationNode("", None, None, score=float("-inf"))),
        ("<0,1> p=1 F=2 p=3", DerivationNode("", None, (0, 1), (), ("F", "p"), (2.0, 3.0), 1.0)),
        ("<0,1> ", DerivationNode("", None, (0, 1))),
        (" A=b=1", DerivationNode("", None, None, (), ("A=b",), (1.0,))),
        (" [S] ||| a ||| ", DerivationNode("S", Rule("S", ("a",), ()), None)),
        (
            "[S]<0,1> p=0 F=1 [S] ||| a ||| b",
            DerivationNode("S", Rule("S", ("a",), ("b",)), (0, 1), (), ("F",), (1.0,), 0.0),
        ),
        (
            "<0,1>  [S] ||| a ||| b c ||| G=1 H=-2 ||| 0-0 0-1",
            DerivationNode("S", Rule("S", ("a",), ("b", "c"), ("G", "H"), (1.0, -2.0), ((0, 0), (0, 1))), (0, 1)),
        ),
    ],
)
def test_masks(shown: str, node: DerivationNode) -> None:
    (derivation,) = read(f"{TOP}({{{shown}}}\n)\n")
    (actual,) = derivation.nodes
    rule = actual.rule and Rule(
        actual.rule.lhs,
        actual.rule.source,
        actual.rule.target,
        actual.rule.names,
        actual.rule.values,
        actual.rule.alignment,
    )
    assert (actual.label, rule, actual.span) == (node.label, node.rule, node.span)
    assert (actual.features(), actual.score) == (node.features(), node.score)


def test_gaps_are_checked_where_rules_are_shown() -> None:
    (derivation,) = read(TOP + "({[S]}\n ({[X]}\n )\n ({[Y]}\n  ({[Z]}\n  )\n )\n)\n")
    assert [node.children for node in derivation.nodes] == [(1, 2), (), (3,), ()]
    with pytest.raises(ValueError, match="expected rules"):
        derivation.target()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected sent_id=ID.RANK ||| SCORE above a derivation, found an empty file"),
        (REST, "1: field 1: expected sent_id=ID.RANK ||| SCORE above a derivation, found '({<0,2> [Goal]"),
        ("sent_id=4 ||| 0\n", "1: field 1: expected sent_id=ID.RANK ||| SCORE above a derivation, found 'sent_id=4 "),
        ("sent_id=4.0 ||| x\n", "1: field 2: expected a number as total score, found 'x'"),
        ("sent_id=4.0 ||| nan\n", "1: field 2: expected a number as total score, found 'nan'"),
        (TOP, "2: field 1: expected a node of the derivation, found the end of the derivation"),
        (TOP + "x\n", "3: field 1: expected ({ and } around a node, or ), found 'x'"),
        (TOP + "({<0,1>\n", "3: field 1: expected ({ and } around a node, or ), found '({<0,1>'"),
        (TOP + "({\n", "3: field 1: expected ({ and } around a node, or ), found '({'"),
        (TOP + "  \n", "3: field 1: expected ({ and } around a node, or ), found ''"),
        (TOP + ")\n", "3: field 1: expected -1 leading blanks, the depth in the tree, found 0"),
        (TOP + " ({}\n", "3: field 1: expected 0 leading blanks, the depth in the tree, found 1"),
        (TOP + "({}\n({}\n", "4: field 1: expected 1 leading blanks, the depth in the tree, found 0"),
        (TOP + "({}\n )\n", "4: field 1: expected 0 leading blanks, the depth in the tree, found 1"),
        (TOP + "({}\n)\n)\n", "5: field 1: expected an empty line after a derivation, found ')'"),
        (TOP + "({}\n", "3: field 1: expected 1 more ), found the end of the derivation"),
        (TOP + "({}\n\n)", "4: field 1: expected 1 more ), found the end of the derivation"),
        (TOP + "({<0,12345678901>}\n", "3: field 1: expected name=value, found '<0,12345678901>'"),
        (TOP + "({ p=x}\n", "3: field 1: expected a number as total score, found 'x'"),
        (TOP + "({ F=x}\n", "3: field 1: expected a finite number, found 'x'"),
        (TOP + "({ F=1 F=2}\n", "3: field 1: expected each feature once, found 'F' twice"),
        (TOP + "({ [S] ||| a [X] ||| A}\n", "3: field 3: expected 1 non-terminal, as on the source side, found 0"),
        (TOP + "({ [S] ||| a}\n", "3: field 2: expected ||| and a target side after the source side, found the end"),
        (TOP + "({ [S] ||| a [X] ||| [1]}\n)\n", "4: field 1: expected 1 children, one per gap of the rule"),
        (
            TOP + "({ [S] ||| a ||| A}\n ({}\n )\n)\n",
            "6: field 1: expected 0 children, one per gap of the rule",
        ),
        (TOP + "({}\n ({}\n )\n ({}\n )\n ({}\n", "8: field 1: expected at most 3 nodes, found more"),
    ],
)
def test_bad_lines(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text, max_nodes=3)
    assert str(caught.value).startswith(f"x:{message}")


@given(
    st.lists(st.sampled_from([*TOP.splitlines(True), *REST.splitlines(True), "({}\n", ")\n", "\n", " "]), max_size=12)
)
def test_any_lines_give_derivations_or_a_format_error(lines: list[str]) -> None:
    try:
        derivations = read("".join(lines))
    except FormatError:
        return
    assert len(derivations) == "".join(lines).count("sent_id=")
    assert all(
        0 < child < len(derivation.nodes)
        for derivation in derivations
        for node in derivation.nodes
        for child in node.children
    )


def test_shape() -> None:
    assert detect((TOP + REST).encode(), all_formats(), "x") is FORMAT
    for other in ("sent_id\n", "0 ||| a ||| F=1 ||| 0\n", REST, ""):
        assert not FORMAT.matches(other.encode())


@pytest.mark.shared
def test_gold_has_the_texts_of_the_lists(shared: Path) -> None:
    """cdec's first fifty sentences: each derivation gives the text of the same rank, by rules of the grammar."""
    folder = shared / "gold/cdec/first50"
    with open_lines(folder / "kbest100.txt.gz") as lines:
        lists = {nbest.id: nbest for nbest in nbest_cdec.parse(lines)}
    paths = [folder / f"derivs.k100/derivs.{i}.gz" for i in range(0, 50, 7)]
    paths += sorted((folder / "derivs.k1.all").glob("derivs.*"))
    assert len(paths) == 58
    count = 0
    for path in paths:
        with open_bytes(path) as stream:
            assert detect(head(stream), all_formats(), str(path)) is FORMAT
        with open_lines(path) as lines:
            derivations = list(parse(lines))
        wanted = lists[derivations[0].id]
        shown = "k100" in str(path)
        assert len(derivations) == (len(wanted) if shown else 1)
        for derivation in derivations:
            assert " ".join(derivation.target()) == wanted.texts[derivation.rank]
            assert wanted.totals is not None
            assert derivation.score == wanted.totals[derivation.rank]
            if not shown:
                # The features and scores of the nodes add up to those of the list, which has six digits of each.
                total = sum(node.score or 0 for node in derivation.nodes)
                assert total == pytest.approx(derivation.score, abs=1e-3)
                expected = dict(zip(wanted.layouts[derivation.rank], wanted.values[derivation.rank], strict=True))
                for name, value in expected.items():
                    assert sum(node.features().get(name, 0) for node in derivation.nodes) == pytest.approx(
                        value, abs=1e-3
                    )
        count += len(derivations)
    assert count == 850


@pytest.mark.shared
def test_gold_uses_rules_of_the_grammar(shared: Path) -> None:
    gold = shared / "gold/cdec"
    with open_lines(gold / "grammars/test300/grammar.3.gz") as lines:
        known = {(rule.lhs, rule.source, rule.target) for rule in grammar_cdec.parse(lines)}
    with open_lines(gold / "first50/derivs.k100/derivs.3.gz") as lines:
        rules = [node.rule for derivation in parse(lines) for node in derivation.nodes]
    used = {(rule.lhs, rule.source, rule.target) for rule in rules if rule is not None}
    assert (len(rules), len(used & known)) == (1018, 37)
    # The others are of the glue grammar, or pass a word on.
    others = used - known
    assert {(lhs, len(source)) for lhs, source, _ in others} == {("Goal", 1), ("S", 1), ("S", 2), ("X", 1)}
    assert all(source == target for _, source, target in others)
