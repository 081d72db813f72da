"""What this plugin offers passes the conformance kit."""

from __future__ import annotations

from pathlib import Path

import smtplugins as smt
from smtplugins.testing import check_plugin
from smtplugins.testing.cases import DecoderChecks


class TestReference(DecoderChecks):
    offer = "reference"


def test_nothing_is_left_out(tmp_path: Path) -> None:
    from smtplugins.testing.decoders import CHECKS
    from smtplugins.testing.search_tasks import CHECKS as OF_TASKS

    results = check_plugin(smt.load_plugins(), "reference", tmp_path)
    wanted = [(one.__name__, True, "") for one in CHECKS if one not in OF_TASKS]
    assert [(one.check, one.ok, one.message) for _, _, one in results] == wanted
