"""Lattices by Moses' configuration: the decoder's own list against that which Moses wrote, all features of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.decoded_lists import candidates_of
from smtplugins.host.decode.sentences import read_sentences
from smtplugins.host.decode.translator import make_translator


@pytest.mark.shared
@pytest.mark.parametrize("search", ["stack", "cube"])
def test_the_five_best_of_each_lattice(search: str, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared / "gold/moses")
    host = smt.load_plugins()
    overrides = ["decoder.input=lattice", f"decoder.search={search}", "decoder.pop_limit=1000"]
    made = make_translator(host, load_config("lattice/moses.lattice.ini", overrides), None, "off")
    sentences = read_sentences(host, Path("lattice/in.plf"), lattice=True, arc_name=made.arc_name)
    seen = 0
    for found, moses in zip(made.decode(sentences, graphs=True), host.read("lattice/nbest5.txt"), strict=True):
        assert found.graph is not None
        ours = candidates_of(found, 5, names=made.names(), graph=found.graph())
        assert ours is not None and moses.totals is not None and ours.totals is not None
        assert ours.texts == moses.texts
        assert ours.totals == pytest.approx(moses.totals, rel=1e-5, abs=1e-3)
        for (_, printed, _), (_, features, _) in zip(moses.rows(), ours.rows(), strict=True):
            for name, value in printed.items():
                assert features[name] == pytest.approx(value, rel=1e-5, abs=1e-3), name
            seen += 1
    assert seen == 15
