"""Commands on a cluster write the bytes that they write without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.cdlm.confusions import write
from tests.plugins.cluster.conftest import _own_cache as _own_cache
from tests.plugins.cluster.conftest import _own_folder as _own_folder
from tests.plugins.cluster.conftest import smt as smt
from tests.plugins.cluster.test_commands import Same
from tests.plugins.cluster.test_commands import same as same

pytest.importorskip("distributed")


def test_sets_and_training(tmp_path: Path, same: Same) -> None:
    setting = write(tmp_path, 6, 4)
    folder = setting.grammar.parent
    sets = f"-i {folder}/train.txt -g {setting.grammar} --lm {setting.lm} --pop-limit 20"
    same(f"cdlm confuse {sets} -o OUT")
    same(f"cdlm train {sets} --iterations 2 --learner minrisk,iterations=2 -o OUT")
