"""The folder of items: what is written is what is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from smtplugins.contracts.errors import SmtError
from smtplugins.plugins.searn.labels.item_files import RECORD, ItemFolder, ItemWriter

SENTENCES = [
    [("das", "the", "S"), ("haus", "house", "S,R+")],
    [],
    [("so", "so", "S,R+")],
    [("ja", "", "S"), ("das haus\u2028", "the house", "S,R+")],
]
SPANS = [[0, 1, 0, 1], [1, 2, 1, 2], [0, 1, 0, 1], [0, 1, 0, 0], [1, 3, 0, 2]]


def written(folder: Path) -> Path:
    with ItemWriter(folder) as writer:
        writer.add(SENTENCES[:3], SPANS[:3])
        writer.add(SENTENCES[3:], SPANS[3:])
    return folder


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written(tmp_path / "items")
    for folder in (tmp_path, tmp_path / "items"):
        found = ItemFolder.open(folder)
        assert list(found) == SENTENCES
        assert (len(found), found.items) == (4, 5)
        assert found.spans.tolist() == SPANS
        assert found.target_phrases[0] == found.source_phrases[0] == ""
        assert found.label_names == ("S,R+", "S")
        assert isinstance(found.labels.base, np.memmap)


def test_a_broken_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SmtError, match=f"found no {RECORD} in it"):
        ItemFolder.open(tmp_path)
    folder = written(tmp_path / "items")
    np.save(folder / "labels.npy", np.zeros(3, np.int32))
    with pytest.raises(SmtError, match="expected arrays of the lengths"):
        ItemFolder.open(folder)
    (folder / "labels.npy").unlink()
    with pytest.raises(SmtError, match=r"expected labels\.npy, found none"):
        ItemFolder.open(folder)
