"""Arcs of lattices with what features make of their numbers."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import Any

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtformats.files import Lines
from smtformats.hypergraph import plf
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.core.grammar.parsing import Lattice
from smtplugins.host.config.resources import Resources
from smtplugins.host.decode.lattices import lattice_of
from smtplugins.host.decode.parsing import SentenceParser
from smtplugins.host.decode.parsing_options import ParsingOptions
from smtplugins.host.features.scoring import activate

LATTICE = "((('a',0.5,0,1),('*EPS*',1,0.25,1),),(('b',1,1,1),),)\n"


def lattice(text: str, name: str = "I") -> Any:
    (graph,) = plf.parse(Lines(io.BytesIO(text.encode()), "in.plf"), name=name)
    return graph


def arcs(text: str, spec: str, epsilon: str | None = None, name: str = "I") -> list[Mapping[str, float]]:
    made = lattice_of(lattice(text, name), activate(smt.load_plugins().registry, [spec]), epsilon)
    return [one.features for one in made.arcs]


def test_moses_takes_logarithms_and_counts_words() -> None:
    half, quarter = math.log(0.5), math.log(0.25)
    wanted = [{"I[0]": half, "I[1]": -100.0}, {"I[0]": 0.0, "I[1]": quarter}, {"I[0]": 0.0, "I[1]": 0.0}]
    assert arcs(LATTICE, "source-path,log=true,scores=2,name=I") == wanted
    for epsilon in (None, "<eps>"):
        found = arcs(LATTICE, "source-path,log=true,scores=2,real_words=1,name=I", epsilon)
        assert found == [row | {"I[2]": count} for row, count in zip(wanted, (-1.0, 0.0, -1.0), strict=True)]


def test_one_number_and_names() -> None:
    text = "((('a',0.5,other=3,1),),)\n"
    assert arcs(text, "source-path,log=true,name=I") == [{"I": math.log(0.5), "other": 3.0}]
    both = arcs(text, "source-path,log=true,real_words=1,name=I")
    assert both == [{"I[0]": math.log(0.5), "I[1]": -1.0, "other": 3.0}]
    # Without logarithms: cdec and Joshua.
    assert arcs(text, "source-path,name=I") == [{"I": 0.5, "other": 3.0}]
    # Plain text between lattices has nothing to choose.
    assert arcs("a b\n", "source-path,log=true,name=I") == [{"I": 0.0}] * 2


def test_other_features_leave_lattices_as_they_were() -> None:
    given = lattice(LATTICE)
    assert lattice_of(given, activate(smt.load_plugins().registry, ["length"])) == Lattice.of(given)


def test_numbers_that_do_not_fit() -> None:
    with pytest.raises(FormatError, match="expected 1 numbers for each arc, as feature 'I' says, found 2") as caught:
        arcs(LATTICE, "source-path,log=true,name=I")
    assert (caught.value.file, caught.value.line, caught.value.field) == ("in.plf", 1, 1)
    with pytest.raises(FormatError, match="expected 3 numbers for each arc"):
        arcs(LATTICE, "source-path,log=true,scores=3,name=I")
    with pytest.raises(UsageError, match="real_words of 0 or 1, found 1, 2"):
        arcs(LATTICE, "source-path,real_words=2")


def test_a_forest_has_the_values_of_arcs() -> None:
    features = activate(smt.load_plugins().registry, ["source-path,log=true,real_words=1,name=I"])
    maker = SentenceParser(Resources(features=tuple(features), cache="off"), ParsingOptions())
    sentence = Sentence("0", (), lattice=lattice("((('a',0.5,1),('b',0.25,1),),(('c',1,1),),)\n"))
    made = maker.weighted({"I[0]": 10.0, "I[1]": 1.0}).forest(sentence)
    by_word = {
        made.forest.rule(i).target: made.forest.rule_features(i)
        for i in range(len(made.scores))
        if made.forest.rule(i).target in (("a",), ("b",), ("c",))
    }
    assert by_word["b",] == pytest.approx({"I[0]": math.log(0.25), "I[1]": -1.0})
    assert by_word["c",] == pytest.approx({"I[0]": 0.0, "I[1]": -1.0})
