"""The rescoring example runs from a copy, as its README says, and gains what it shows."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tests.forked import client_environment

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/rescore-nbest"


def test_the_script_rescores_both_lists(server: str, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLE, tmp_path / "copy")
    (tmp_path / "smt").mkdir()
    done = subprocess.run(
        ["sh", "run.sh", str(tmp_path / "out")],
        cwd=folder,
        env=client_environment(tmp_path / "smt", server),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    scores = [float(score) for score in re.findall(r"BLEU +(\d+\.\d+)", done.stdout)]
    assert len(scores) == 4
    assert scores[1] > scores[0] + 10
    assert scores[3] > scores[2] + 10
    for toolkit in ("moses", "cdec"):
        assert len((tmp_path / "out" / f"{toolkit}.en").read_text(encoding="utf-8").splitlines()) == 20


def test_the_lists_totals_are_those_of_the_weights_beside_them() -> None:
    import smtplugins as smt
    from smtplugins.host.features.weighing import Weigher

    host = smt.load_plugins()
    for name, weights in (("moses.nbest", "weights.moses"), ("cdec.kbest", "weights.cdec")):
        weigher = Weigher(host.read_weights(EXAMPLE / weights))
        for one in smt.read(EXAMPLE / name):
            assert one.totals is not None
            for printed, total in zip(one.totals, weigher.totals(one), strict=True):
                assert abs(printed - total) < 1e-3
