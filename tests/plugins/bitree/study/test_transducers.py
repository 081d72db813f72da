"""Table 7.5's rows against counts by hand, and that transducers are used as the decoder uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.models import Model
from smtplugins.host.loading.manager import load_plugins
from smtplugins.plugins.bitree.study.transducers import judge_by_gtm, transduce
from smtplugins.plugins.bitree.transduce.decoder import BitreeDecoder, BitreeOptions
from smtplugins.plugins.bitree.transduce.transducing import bitrees_of, learn_generative, shaped
from smtplugins.plugins.bitree.words.material import Pair


def test_rows() -> None:
    first, second = judge_by_gtm(load_plugins(), {"one": ["b a c", "x"], "two": ["a b", "y"]}, ["a b c", "y z"])
    assert (first["P1"], first["R1"], first["F1"]) == pytest.approx((75, 60, 200 / 3))
    assert (second["P1"], second["R1"]) == pytest.approx((100, 60))
    # One run of two words and one of one: no word of the first system stands behind another one as it should.
    assert (first["P2"], second["P2"]) == pytest.approx((100 * 3**0.5 / 4, 100))
    assert "p1" not in first
    assert 0 < second["p1"] <= 1
    assert 0 < second["p2"] <= 1


def test_strings_are_those_of_the_decoder(tmp_path: Path) -> None:
    pairs = [Pair(("a", "b", "c"), ("x", "z", "y"), ((0, 0), (1, 2), (2, 1))), Pair(("b", "a"), ("y",), ((0, 0),))] * 3
    made = learn_generative(bitrees_of(shaped(pairs, "right-branching")))
    made.save(tmp_path)
    sentences = [Sentence(str(k), pair.source) for k, pair in enumerate(pairs)]
    found = [one.best for one in BitreeDecoder(options=BitreeOptions(model_path=tmp_path)).decode(sentences, Model())]
    assert transduce(made, pairs, threads=2) == found
    assert found[0] == "x z y"
