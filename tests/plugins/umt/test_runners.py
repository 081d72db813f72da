"""Commands on a cluster write the bytes that they write without one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.plugins.cluster.conftest import _own_cache as _own_cache
from tests.plugins.cluster.conftest import _own_folder as _own_folder
from tests.plugins.cluster.conftest import smt as smt
from tests.plugins.cluster.test_commands import Same
from tests.plugins.cluster.test_commands import same as same
from tests.plugins.cut_examples import EXAMPLES, cut

pytest.importorskip("distributed")


def test_policies(tmp_path: Path, same: Same) -> None:
    cut("umt", tmp_path, {"train.de": 20, "train.en": 20})
    for name in ("run.yaml", "rules.txt", "en.arpa", "weights"):
        shutil.copy(EXAMPLES / "umt" / name, name)
    same("tune -c run.yaml --decoder umt --learner drl,rate=0.1,runs=2,epochs=2 --dir OUT.run -o OUT")
