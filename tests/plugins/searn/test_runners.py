"""Commands on a cluster write the bytes that they write without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.cluster.conftest import _own_cache as _own_cache
from tests.plugins.cluster.conftest import _own_folder as _own_folder
from tests.plugins.cluster.conftest import smt as smt
from tests.plugins.cluster.test_commands import Same, Smt
from tests.plugins.cluster.test_commands import same as same
from tests.plugins.cut_examples import cut

pytest.importorskip("distributed")


def test_labels(tmp_path: Path, smt: Smt, same: Same) -> None:
    cut("searn", tmp_path, {"train.xx": 20, "train.en": 20, "train.align": 20})
    smt("searn", "label", "-s", "train.xx", "-t", "train.en", "-a", "train.align", "-o", "labels", "-q").ok()
    same("searn train -i labels --min-count 2 --history label --roll-out sampled --iterations 2 --loss wer -o OUT")
