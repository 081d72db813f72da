"""Moses' own derivations, scored again: each printed feature of each phrase-based list, and the total."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from smtformats import Candidates
from smtformats.files import open_lines
from smtplugins.host.decode.lattices import lattice_of
from smtplugins.host.decode.sentences import read_sentences
from smtplugins.host.features.scoring import Active, activate
from smtplugins.host.features.segmentations import phrases_of
from smtplugins.host.host import Host

pytestmark = pytest.mark.shared
TABLE = "TranslationModel0"
TOLERANCE = 1e-3
OOV = -100.0


@pytest.fixture(scope="module")
def moses(shared: Path) -> Path:
    return shared / "gold/moses"


@pytest.fixture(scope="module")
def features(host: Host, moses: Path) -> list[Active]:
    table = moses / "model/reordering-table.wbe-msd-bidirectional-fe.gz"
    model = "wbe-msd-bidirectional-fe-allff"
    return activate(
        host.registry,
        [
            f"lexical-reordering,path={table},model={model},scores=6,name=LexicalReordering0",
            "distortion,name=Distortion0",
            f"lm,path={moses.parent}/cdec/lm/en.4.klm,base=e,name=LM0",
            "word-penalty,value=-1,name=WordPenalty0",
            "phrase-penalty,value=1,name=PhrasePenalty0",
        ],
    )


@pytest.fixture(scope="module")
def pairs(moses: Path) -> dict[tuple[str, str], list[float]]:
    """The phrase table."""
    found = {}
    with open_lines(moses / "model/phrase-table.gz") as lines:
        for line in lines:
            source, target, scores, _ = line.split(" ||| ", 3)
            found[source, target] = [max(math.log(float(one)), -100.0) for one in scores.split()]
    return found


def translated(one: Candidates, pairs: dict[tuple[str, str], list[float]]) -> Iterator[tuple[list[float], float]]:
    """The table's scores of each hypothesis, and what its unknown words cost."""
    words = (one.source or "").split()
    for phrases in phrases_of(one):
        sums, unknown = [0.0] * 4, 0.0
        for phrase in phrases:
            source = " ".join(words[phrase.first : phrase.last])
            row = pairs.get((source, " ".join(phrase.words)))
            if row is None:
                assert phrase.words == (source,), f"{source!r} is not translated by {phrase.words} in the table"
                unknown += OOV
            else:
                sums = [total + value for total, value in zip(sums, row, strict=True)]
        yield sums, unknown


def test_all_features_of_moses_lists(
    host: Host, moses: Path, features: list[Active], pairs: dict[tuple[str, str], list[float]]
) -> None:
    weights = host.read_weights(moses / "model/moses.pb.tuned.ini")
    lists = host.read(moses / "pb/nbest100.align_seg.txt.gz", source=moses / "in/test50.de")
    seen, jumps, worst = 0, 0, 0.0
    for one in lists:
        blocks = [feature.score(one) for feature in features]
        assert one.totals is not None
        rows = zip(*(zip(*block, strict=True) for block in blocks), translated(one, pairs), strict=True)
        for i, (*ours, (table, unknown)) in enumerate(rows):
            found = {name: value for layout, values in ours for name, value in zip(layout, values, strict=True)}
            found |= {f"{TABLE}[{k}]": value for k, value in enumerate(table)}
            printed = dict(zip(one.layouts[i], one.values[i], strict=True))
            assert found == pytest.approx(printed, rel=1e-5, abs=TOLERANCE), f"list {one.id}, hypothesis {i}"
            total = sum(weights[name] * value for name, value in found.items()) + unknown
            assert total == pytest.approx(one.totals[i], rel=1e-5, abs=TOLERANCE)
            seen += 1
            jumps += found["Distortion0"] != 0
            worst = max(worst, *(abs(found[name] - printed[name]) for name in printed))
    assert (seen, jumps) == (5000, 743)
    assert worst < TOLERANCE


def test_paths_of_moses_lattices(host: Host, moses: Path) -> None:
    """The list names the words that were chosen."""
    features = activate(host.registry, ["source-path,log=true,scores=1,real_words=0,name=InputFeature0"])
    sentences = read_sentences(host, moses / "lattice/in.plf", lattice=True, arc_name="InputFeature0")
    values: dict[tuple[str, tuple[str, ...]], float] = {}
    for sentence in sentences:
        assert sentence.lattice is not None
        lattice = lattice_of(sentence.lattice, features)
        partial: list[list[tuple[tuple[str, ...], float]]] = [[] for _ in range(lattice.positions)]
        partial[0] = [((), 0.0)]
        for arc in sorted(lattice.arcs, key=lambda one: one.first):
            assert arc.word is not None
            value = arc.features["InputFeature0"]
            partial[arc.last] += [((*words, arc.word), total + value) for words, total in partial[arc.first]]
        values |= {(sentence.id, words): total for words, total in partial[-1]}
    found = []
    for one in host.read(moses / "lattice/nbest5.txt"):
        for i, words in enumerate(one.extras["input"]):
            printed = dict(zip(one.layouts[i], one.values[i], strict=True))["InputFeature0"]
            found.append((words, round(printed - values[one.id, tuple(words.split())], 3)))
    # For one hypothesis Moses prints the wrong one of two arcs between the same nodes, whose cost is the other's.
    assert [one for one in found if one[1]] == [("' ein mann", round(math.log(0.4) - math.log(0.6), 3))]
    assert len(found) == 15
