"""Weights written to a file and read back reproduce the totals of the toolkits' own lists."""

from __future__ import annotations

import functools
import io
import math
from pathlib import Path

import pytest

from smtformats import Candidates, Format, all_formats, open_lines
from smtformats.files import Lines
from smtformats.format import shortest

pytestmark = pytest.mark.shared

FORMATS = {record.name: record for record in all_formats()}


def came_home(record: Format, path: Path) -> dict[str, float]:
    """The weights of a file after writing other weights and then its own into it."""
    assert record.update is not None
    with open_lines(path) as lines:
        weights: dict[str, float] = record.read(lines)
    data = path.read_bytes()
    for values in ({name: 7 * value + 0.5 for name, value in weights.items()}, weights):
        out = io.StringIO(newline="")
        assert record.update(values, Lines(io.BytesIO(data), path.name), out, shortest) == []
        data = out.getvalue().encode()
    reread: dict[str, float] = record.read(Lines(io.BytesIO(data), path.name))
    assert reread == weights
    return reread


def lists_of(record: Format, path: Path, **options: str) -> list[Candidates]:
    assert record.parse is not None
    with open_lines(path) as lines:
        return list(functools.partial(record.parse, **options)(lines))


def differences(lists: list[Candidates], weights: dict[str, float]) -> list[float]:
    """The difference of each total from the weighted sum of features, which lacks Moses' unknown-word penalty."""
    results = []
    for nbest in lists:
        for _, features, total in nbest.rows():
            assert total is not None
            results.append(total - math.fsum(value * weights.get(name, 0.0) for name, value in features.items()))
    return results


def test_cdec(shared: Path) -> None:
    gold = shared / "gold" / "cdec" / "first50"
    lists = lists_of(FORMATS["cdec-nbest"], gold / "kbest100.txt.gz")
    results = differences(lists, came_home(FORMATS["cdec-weights"], gold / "weights.tuned"))
    assert len(results) >= 5000
    assert max(map(abs, results)) < 2e-4


@pytest.mark.parametrize(
    ("lists", "weights", "least"),
    [
        ("pb/nbest100.labeled.txt.gz", "model/moses.pb.tuned.ini", 1000),
        ("hiero/nbest100.labeled.txt.gz", "model/moses.hiero.tuned.ini", 1000),
    ],
)
def test_moses(shared: Path, lists: str, weights: str, least: int) -> None:
    gold = shared / "gold" / "moses"
    results = differences(
        lists_of(FORMATS["moses-nbest"], gold / lists), came_home(FORMATS["moses-ini"], gold / weights)
    )
    assert len(results) >= least
    # 100 for each unknown word, which is not among the features.
    assert max(abs(result - 100 * round(result / 100)) for result in results) < 1e-3
    assert min(results) < -99


@pytest.mark.parametrize(
    ("folder", "file", "template"),
    [
        ("bn-en-hiero", "pop1000.nto0.top10.out.gz", ""),
        ("lattice-short", "output.expected", ""),
        ("oov-list", "output.gold", "%s ||| %f ||| %c"),
        ("rescoring", "output.gold", "%s ||| %f ||| %c"),
        ("num_translation_options", "output.gold", "%c ||| %s ||| %f"),
        ("sparse-features", "output.gold", ""),
    ],
)
def test_joshua(shared: Path, folder: str, file: str, template: str) -> None:
    gold = shared / "gold" / "joshua" / folder
    options = {"template": template} if template else {}
    lists = lists_of(FORMATS["joshua-nbest"], gold / file, **options)
    results = differences(lists, came_home(FORMATS["joshua-config"], gold / "joshua.config"))
    assert results
    # Three decimals each of total and features, with weights of up to 3.7.
    assert max(map(abs, results)) < 0.02
