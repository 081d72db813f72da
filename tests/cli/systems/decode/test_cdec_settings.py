"""Settings of a cdec.ini that print or write something else than translations."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]


def configured(*more: str) -> str:
    Path("more.ini").write_text(Path("cdec.ini").read_text() + "".join(f"{line}\n" for line in more))
    return "more.ini"


def words(line: str) -> str:
    """The words of a tree of Joshua's viewer."""
    tree = line.split(" ||| ")[1]
    return " ".join(word.rstrip(")") or ")" for word in tree.split(" ") if not re.match(r"\([^ ]+\{\d", word))


def test_forests(smt: Smt) -> None:
    texts = smt("decode", "-c", "cdec.ini", "-i", "source.de").ok()
    assert smt("decode", "-c", configured("forest_output=out"), "-i", "source.de").ok() == texts
    assert "cdec-binary-hypergraph" in smt("info", "out/3.bin.gz").ok()
    assert len(list(Path("out").iterdir())) == len(texts.splitlines())
    # The command line counts more.
    smt("decode", "-c", "more.ini", "-i", "source.de", "--forests", "other").ok()
    assert (Path("other") / "3.json.gz").exists()


def test_trees(smt: Smt) -> None:
    texts = smt("decode", "-c", "cdec.ini", "-i", "source.de").ok().splitlines()
    trees = smt("decode", "-c", configured("show_joshua_visualization=1"), "-i", "source.de").ok().splitlines()
    assert list(map(words, trees)) == texts
    assert all(re.fullmatch(rf"{i} \|\|\| \(S\{{0-\d+\}} .*\) \|\|\| 1\.0 \|\|\| -1", x) for i, x in enumerate(trees))


def test_beams_by_length(smt: Smt) -> None:
    """The beam of a sentence of seven words is seven times as wide."""
    line = Path("source.de").read_text().splitlines()[0]
    count = len(line.split())
    assert count == 7
    lists = [
        smt("decode", "-c", configured(*more), "-k", "1000", stdin=f"{line}\n").ok()
        for more in (["beam_prune=7"], ["beam_prune=1", "scale_prune_srclen=1"], ["beam_prune=1"])
    ]
    assert lists[0] == lists[1]
    assert len(lists[2]) < len(lists[1])
    lattice = "((('der',1),),(('koch',1),),)\n"
    result = smt("decode", "-c", "more.ini", "-k", "2", "--from", "plf-lattice", stdin=lattice)
    assert result.code == 0
    configured("beam_prune=0.1", "scale_prune_srclen=1")
    result = smt("decode", "-c", "more.ini", "-k", "2", "--from", "plf-lattice", stdin=lattice)
    assert result.err.endswith("sentence 0: beam_by_length: expected words, found a lattice\n")


def test_phrases_in_any_order(smt: Smt) -> None:
    """cdec's formalism pb: the second phrase may come first if `pb_max_distortion` lets it."""
    Path("pt").write_text("b a ||| early ||| F=1\na ||| A ||| 0.5\nb ||| B ||| F=1 0.5\nb a ||| late ||| F=3\n")
    Path("w").write_text("F 1\nPhraseModel_0 2\nPassThrough -9\nGood -1\n")
    Path("pb.ini").write_text(
        "formalism=pb\ngrammar=pt\nweights=w\npb_max_distortion=1\nadd_pass_through_rules=1\nk_best=9\n"
    )

    def scores(text: str) -> list[tuple[str, float]]:
        lines = smt("decode", "-c", "pb.ini", stdin=f"{text}\n").out.splitlines()
        return sorted((row[1], float(row[3])) for row in (line.split(" ||| ") for line in lines))

    assert scores("a b") == [("A B", 3.0), ("B A", 3.0)]
    # "x" is two words behind "b".
    wanted = [("A B x", -6.0), ("B A x", -6.0), ("B x A", -6.0), ("early x", -8.0), ("late x", -6.0)]
    assert scores("b a x") == wanted
    text = Path("pb.ini").read_text().replace("k_best=9\n", "").replace("distortion=1", "distortion=0")
    Path("pb.ini").write_text(text)
    assert smt("decode", "-c", "pb.ini", stdin="a b\n").out == "A B\n"
    result = smt("decode", "-c", "pb.ini", "--from", "plf-lattice", stdin="((('a',1),),)\n")
    assert result.err.endswith("sentence 0: expected words, found a lattice, whose words have no order\n")


def test_references_are_noted(smt: Smt) -> None:
    text = "der koch ||| the chef\nder koch ||| the chef\n"
    result = smt("decode", "-c", "cdec.ini", stdin=text)
    assert result.out == "the cook\nthe cook\n"
    assert result.err.count("its reference constrains nothing") == 1
    assert "<stdin>: sentence 0: its reference constrains nothing, other than in cdec\n" in result.err


@pytest.mark.shared
def test_gold_trees(smt: Smt, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of 47 of 50 trees are cdec's; of equally good derivations either may be printed."""
    folder = shared / "gold/cdec/first50"
    config = tmp_path / "viewer.ini"
    config.write_text((folder / "cdec.ini").read_text() + "show_joshua_visualization=1\nweights=weights.tuned\n")
    monkeypatch.chdir(folder)
    found = smt("decode", "-c", config, "-i", "input.sgm").ok().splitlines()
    gold = Path("joshua_viz.txt").read_text().splitlines()
    assert len(found) == len(gold)
    assert sum(words(line) == words(other) for line, other in zip(found, gold, strict=True)) >= 47
