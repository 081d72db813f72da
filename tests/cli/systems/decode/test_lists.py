"""N-best lists: totals, formats, features."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smtplugins.host.features.weighing import Weigher
from tests.cli.systems.decode.systems import BAKER, Smt, changed, read_weights, smt_read, toolkit


class TestLists:
    @pytest.mark.parametrize("name", ["cdec", "moses", "joshua"])
    def test_totals_are_weights_times_features_in_each_toolkits_format(self, smt: Smt, name: str) -> None:
        config = toolkit(name)
        Path("in").write_text(Path("source.de").read_text() if name == "cdec" else BAKER)
        # Joshua's own lines have three decimals.
        to = ("--to", "joshua-nbest") if name == "joshua" else ()
        smt("decode", "-c", config, "-i", "in", "-k", 5, "-o", "lists", *to).ok()
        weights = read_weights("weights" if name == "cdec" else config)
        # cdec's language model always counts unknown words, weighted or not.
        weigher = Weigher({"LM_OOV": 0.0, **weights} if name == "cdec" else weights)
        lists = smt_read("lists")
        assert f"{name}-nbest" in smt("info", "lists").ok()
        assert len(lists) == (9 if name == "cdec" else 3)
        for one in lists:
            assert one.totals == sorted(one.totals, reverse=True)
            for text, printed, total in zip(one.texts, one.totals, weigher.totals(one), strict=True):
                # Moses shows nothing of unknown words, which are counted all the same.
                unseen = -100 * text.split().count("petersen") if name == "moses" else 0
                assert printed == pytest.approx(total + unseen, abs=2e-5)
        assert ("UnknownWordPenalty0" in smt("decode", "-c", config, "-i", "in", "-k", 5, "--to", "jsonl").ok()) == (
            name == "moses"
        )

    def test_the_one_best_has_the_models_score(self, smt: Smt) -> None:
        first = smt("decode", "-c", "run.yaml", "-k", 1).ok().splitlines()
        every = smt("decode", "-c", "run.yaml", "-k", 4).ok().splitlines()
        assert len(first) == 9
        best = {}
        for line in every:
            best.setdefault(line.split()[0], line)
        for alone, among in zip(first, best.values(), strict=True):
            assert alone.split(" ||| ")[:2] == among.split(" ||| ")[:2]
            assert float(alone.split(" ||| ")[3]) == pytest.approx(float(among.split(" ||| ")[3]), abs=1e-5)

    def test_scores_of_the_language_model_are_those_of_smt_score(self, smt: Smt) -> None:
        smt("decode", "-c", "run.yaml", "-k", 3, "-o", "lists").ok()
        smt("score", "-i", "lists", "--feature", "lm,path=en.arpa,base=10,name=again", "-o", "scored").ok()
        for one in smt_read("scored"):
            for layout, row in zip(one.layouts, one.values, strict=True):
                named = dict(zip(layout, row, strict=True))
                assert named["LM"] == pytest.approx(named["again"], abs=1e-4)

    def test_unique(self, smt: Smt) -> None:
        texts = [line.split(" ||| ")[:2] for line in smt("decode", "-c", "run.yaml", "-k", 5).ok().splitlines()]
        assert len(set(map(tuple, texts))) < len(texts)
        lines = smt("decode", "-c", "run.yaml", "-k", 5, "--unique").ok().splitlines()
        texts = [line.split(" ||| ")[:2] for line in lines]
        assert len(set(map(tuple, texts))) == len(texts)
        assert (
            smt("decode", "-c", changed("cdec-nbest", "cdec-nbest, unique: true"), "-k", 5).ok().splitlines() == lines
        )

    def test_other_formats(self, smt: Smt) -> None:
        found = smt("decode", "-c", "run.yaml", "-k", 1, "--to", "moses-nbest", "--precision", 4).ok().splitlines()
        assert found[0] == (
            "0 ||| the cook has cooked the soup .  ||| LM= -3.994 WordPenalty= -3.04 Glue= 2 PassThrough= 0 "
            "EgivenF= -1.41 FgivenE= -3.01 ||| -2.095"
        )
        assert json.loads(smt("decode", "-c", "run.yaml", "-k", 2, "--to", "jsonl").ok().splitlines()[0])["id"] == 0

    def test_the_configurations_size(self, smt: Smt) -> None:
        config = changed("cdec-nbest", "cdec-nbest, nbest: 2")
        assert smt("decode", "-c", config).ok() == smt("decode", "-c", "run.yaml", "-k", 2).ok()
