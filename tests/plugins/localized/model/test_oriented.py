"""`orientation`, `block-bigram` and `block-model` on lists that carry a segmentation, by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import SmtError
from smtplugins.plugins.localized.events.collecting import collect
from smtplugins.plugins.localized.events.event_lists import EventList
from smtplugins.plugins.localized.model.bigrams import BigramWeights
from smtplugins.plugins.localized.model.block_model import BlockModel
from tests.plugins.localized.made import blocks_of, tiny_lm

BLOCKS = [(("a",), ("x",)), (("b",), ("y",)), (("c",), ("z",)), (("b", "c"), ("z", "y"))]
# b is right of a twice and left of c four times.
BITEXT = [("a b", "x y")] * 2 + [("b c", "z y")] * 4 + [("a c", "z")]
LIST = (
    "0 ||| x y z  ||| LM= -1 ||| -1 ||| 0=0 1=1 2=2\n"
    "0 ||| x z y  ||| LM= -2 ||| -2 ||| 0=0 2=1 1=2\n"
    "0 ||| x z y  ||| LM= -3 ||| -3 ||| 0=0 1-2=1-2\n"
    "0 ||| y x z  ||| LM= -4 ||| -4 ||| 1=0 0=1 2=2\n"
)


@pytest.fixture(name="listed")
def _listed(tmp_path: Path) -> EventList:
    return collect(blocks_of(BLOCKS), [(a, b, None) for a, b in BITEXT], tmp_path / "events")


def scored(folder: Path, spec: object) -> list[dict[str, float]]:
    (folder / "list.nbest").write_text(LIST)
    (folder / "source").write_text("a b c\n")
    lists = smt.load_plugins().score(smt.read(folder / "list.nbest", source=folder / "source"), [spec])  # type: ignore[list-item]
    (one,) = lists
    return [dict(zip(layout, row, strict=True)) for layout, row in zip(one.layouts, one.values, strict=True)]


def test_orientation_on_a_list(listed: EventList, tmp_path: Path) -> None:
    found = [row["orientation"] for row in scored(tmp_path, f"orientation,path={tmp_path / 'events'},smoothing=1")]
    # b: 4 left, 2 right. c is never left or right of anything, nor is a.
    right, left, half = math.log(3 / 8), math.log(5 / 8), math.log(1 / 2)
    assert listed.counts.left.tolist()[1] == 4
    # b right of a, c right of b; c behind a gap, b left of c; bc right of a; a left of b, c behind a gap.
    assert found == pytest.approx([right + half, left, half, half])


def test_block_bigrams_on_a_list(listed: EventList, tmp_path: Path) -> None:
    first, second, _ = listed.bigrams(0)
    names = [(listed.blocks.block(a)[1], listed.blocks.block(b)[1]) for a, b in zip(first, second, strict=True)]
    assert names == [("x", "y"), ("z", "y")]
    import numpy as np

    weights = BigramWeights(listed.blocks, first, second, np.array([0.5, -2.0], dtype=np.float32))
    weights.save(tmp_path / "bigrams")
    found = [row["block-bigram"] for row in scored(tmp_path, f"block-bigram,path={tmp_path / 'bigrams'}")]
    # Where z stands to the left of y on the source side it is a neighbour, where it stands elsewhere it is none.
    assert found == [0.5, -2.0, 0.0, 0.0]


def test_the_whole_model_on_a_list(listed: EventList, tmp_path: Path) -> None:
    lm = tiny_lm(tmp_path)
    spec = f"block-model,events_path={tmp_path / 'events'},lm_path={lm},min_left=5"
    rows = scored(tmp_path, spec)
    counts, blocks = listed.counts, listed.blocks
    total = counts.total.sum()
    number = {blocks.block(i)[1]: i for i in range(len(blocks))}

    def unigram(*phrases: str) -> float:
        each = [
            math.log(counts.total[number[one]] / total) / len(blocks.block(number[one])[0].split()) for one in phrases
        ]
        return sum(each)

    # The first block is neutral, and so is one behind a gap.
    assert [row["neutral-unigram"] for row in rows] == pytest.approx(
        [unigram("x"), unigram("x", "z"), unigram("x"), unigram("y", "z")]
    )
    assert [row["unigram"] for row in rows] == pytest.approx(
        [unigram("y", "z"), unigram("y"), unigram("z y"), unigram("x")]
    )
    assert [row["rare-left"] for row in rows] == [0.0, -1.0, 0.0, -1.0]
    # All words of the language model are there: first ones, those inside of blocks behind their own words, the end.
    from smtplugins.core.lm.ngram_model import read_lm

    model = read_lm(lm)
    scores = [one for one, _, _ in model.full_scores("x y z")]
    found = rows[0]["lm-first"] + rows[0]["neutral-lm-first"]
    assert found == pytest.approx(math.log(10) * sum(scores), rel=1e-5)
    inside = [one for one, _, _ in model.full_scores("z y", bos=False, eos=False)]
    assert rows[2]["lm-rest"] == pytest.approx(math.log(10) * inside[1], rel=1e-5)


def test_bigrams_of_other_events(listed: EventList, tmp_path: Path) -> None:
    import numpy as np

    from smtplugins.core.lm.ngram_model import read_lm

    other = collect(blocks_of(BLOCKS[:2]), [("a b", "x y", None)], tmp_path / "other")
    first, second, _ = other.bigrams(0)
    weights = BigramWeights(other.blocks, first, second, np.zeros(len(first), dtype=np.float32))
    feature = BlockModel.of(listed, read_lm(tiny_lm(tmp_path)), weights)
    with pytest.raises(SmtError, match="expected block bigrams learnt from these events"):
        feature.native()
