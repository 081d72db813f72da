"""Forests, traces, statistics and manifests."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest

from tests.cli.systems.decode.systems import Smt, read_weights


class TestSideFiles:
    def test_forests(self, smt: Smt) -> None:
        lines = smt("decode", "-c", "run.yaml", "-k", 1, "--forests", "forests/of").ok().splitlines()
        assert sorted(os.listdir("forests/of")) == [f"{i}.json.gz" for i in range(9)]
        from smtplugins.core.graph.hypergraph import Hypergraph
        from smtplugins.core.graph.inference import viterbi
        from smtplugins.host.files.opening import open_known

        weights = read_weights("weights")
        for line in lines:
            key, text, _, total = line.split(" ||| ")
            with open_known(f"forests/of/{key}.json.gz", "hypergraph") as opened:
                (columns,) = opened.records()
            graph = Hypergraph.from_columns(columns)
            best = viterbi(graph.reweighted(weights))
            assert best is not None
            assert best.text == text
            assert best.score == pytest.approx(float(total), abs=1e-4)

    def test_a_sentence_without_a_parse_has_no_forest(self, smt: Smt) -> None:
        given = "der koch\nxyz\n"
        smt(
            "decode",
            "-c",
            "run.yaml",
            "--set",
            "decoder.pass_through=none",
            "-i",
            "-",
            "-q",
            "--forests",
            "f",
            stdin=given,
        )
        assert os.listdir("f") == ["0.json.gz"]

    def test_trace(self, smt: Smt) -> None:
        result = smt("decode", "-c", "run.yaml", "-i", "-", "-k", 1, "--trace", stdin="der koch\n")
        total = float(result.out.split(" ||| ")[3])
        lines = result.err.splitlines()
        assert (result.code, lines[0]) == (0, "sentence 0")
        assert [line.rsplit("  ", 2)[0] for line in lines[1:]] == [
            "[0, 2) Goal -> [S,1] ||| [S,1]",
            "  [0, 2) S -> [X,1] ||| [X,1]",
            "    [0, 2) X -> der [X,1] ||| the [X,1]",
            "      [1, 2) X -> koch ||| cook",
        ]
        assert float(lines[1].split()[-1]) == pytest.approx(total, abs=1e-4)
        assert math.fsum(float(line.split()[-2]) for line in lines[1:]) == pytest.approx(total, abs=1e-3)

    def test_trace_of_no_translation(self, smt: Smt) -> None:
        result = smt("decode", "-c", "run.yaml", "-i", "-", "--trace", "-q", stdin="\nder koch\n")
        assert result.err.splitlines()[:3] == ["sentence 0", "no derivation", "sentence 1"]

    def test_stats(self, smt: Smt) -> None:
        smt("decode", "-c", "run.yaml", "-o", "out", "--stats", "stats.json").ok()
        found = json.loads(Path("stats.json").read_text())
        counts = ["sentences", "nodes", "edges", "bundles", "pops", "lm_queries"]
        assert list(found) == ["cpu", "wall", "peak_rss_mb", *counts]
        for kind in ("cpu", "wall"):
            assert list(found[kind]) == ["loading", "parsing", "search", "output"]
            assert all(seconds >= 0 for seconds in found[kind].values())
            assert found[kind]["parsing"] > 0 < found[kind]["search"]
        assert found["sentences"] == 9
        assert all(isinstance(found[name], int) and found[name] > 0 for name in counts)
        assert found["bundles"] <= found["edges"]
        assert found["peak_rss_mb"] > 10

    def test_stats_without_sentences(self, smt: Smt) -> None:
        Path("empty").write_bytes(b"")
        smt("decode", "-c", "run.yaml", "-i", "empty", "--stats", "stats.json").ok()
        assert json.loads(Path("stats.json").read_text())["sentences"] == 0

    def test_manifest(self, smt: Smt) -> None:
        smt("decode", "-c", "run.yaml", "-o", "out", "--manifest", "m.json").ok()
        inputs = json.loads(Path("m.json").read_text())["inputs"]
        # Files that features of the configuration name are inputs, too.
        names = {Path(one).name for one in inputs}
        assert names >= {"run.yaml", "source.de", "rules.txt", "en.arpa"}
