"""Real files of the toolkits come back byte for byte; round_trip.py does it for all of them."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from round_trip import EXCEPTIONS, files, outcome

pytestmark = pytest.mark.shared
MOST_BYTES = 100_000
EACH = 40
# How many small files of a format there are at least.
LEAST = {
    "cdec": {
        "cdec-binary-hypergraph": 40,
        "cdec-corpus": 6,
        "cdec-grammar": 40,
        "cdec-json-hypergraph": 40,
        "cdec-mira-nbest": 1,
        "cdec-nbest": 20,
        "cdec-settings": 15,
        "cdec-weights": 20,
        "plf-lattice": 8,
    },
    "moses": {"moses-hypergraph": 5, "moses-ini": 8, "moses-nbest": 8, "moses-rules": 2, "pharaoh-alignment": 2},
    "joshua": {"joshua-config": 7, "joshua-grammar": 15, "joshua-nbest": 3},
}


@pytest.mark.parametrize("toolkit", ["cdec", "moses", "joshua"])
def test_files_come_back(shared: Path, toolkit: str) -> None:
    seen: Counter[str] = Counter()
    other = []
    for path in files(shared / "gold" / toolkit, MOST_BYTES, EACH):
        name = path.relative_to(shared / "gold").as_posix()
        what, record = outcome(path, name)
        seen[record] += what == "same"
        # Plain text keeps the words only.
        if what == "other" and record != "text" and name not in EXCEPTIONS:
            other.append(name)
    assert not other
    assert not {name: seen[name] for name, count in LEAST[toolkit].items() if seen[name] < count}


@pytest.mark.parametrize("name", ["align_seg", "labeled", "labeled.distinct", "unlabeled"])
def test_large_lists_come_back(shared: Path, name: str) -> None:
    path = shared / "gold" / "moses" / "pb" / f"nbest100.{name}.txt.gz"
    assert outcome(path, name) == ("same", "moses-nbest")
