"""Threads and pruning limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.systems.decode.systems import Smt


class TestEffort:
    @pytest.mark.parametrize("options", [[], ["-k", 4], ["-k", 1]])
    def test_two_threads_write_the_same(self, smt: Smt, options: list[Any]) -> None:
        Path("many").write_text(Path("source.de").read_text() * 12)
        one = smt("decode", "-c", "run.yaml", "-i", "many", *options).ok()
        assert smt("decode", "-c", "run.yaml", "-i", "many", *options, "-j", 2).ok() == one

    def test_pop_limits(self, smt: Smt) -> None:
        def pops(*options: Any) -> int:
            smt("decode", "-c", "run.yaml", "-o", "out", "--stats", "stats.json", *options).ok()
            found: int = json.loads(Path("stats.json").read_text())["pops"]
            return found

        few, many = pops("--pop-limit", 1), pops("--pop-limit", 100)
        assert few < many
        assert pops("--set", "decoder.pop_limit=1") == few
        # Another decoder than the configuration's has its own options, and spans are no longer limited.
        assert pops("--decoder", "hiero,pop_limit=1,max_span=10") == few

    def test_all_derivations_score_no_worse(self, smt: Smt) -> None:
        def totals(*options: Any) -> list[float]:
            lines = smt("decode", "-c", "run.yaml", "-k", 1, *options).ok().splitlines()
            return [float(line.split(" ||| ")[3]) for line in lines]

        every = totals("--set", "decoder.search=full")
        for limit in (1, 5, 50):
            for full, pruned in zip(every, totals("--pop-limit", limit), strict=True):
                assert pruned <= full + 1e-5
