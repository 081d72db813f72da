"""What this plugin offers passes the conformance kit."""

from __future__ import annotations

from pathlib import Path

import smtplugins as smt
from smtplugins.testing import check_plugin


def test_everything_passes_the_kit_and_nothing_is_left_out(tmp_path: Path) -> None:
    from smtplugins.testing.decoders.any_decoder import CHECKS, steps_build_the_tree, what_has_no_translation_is_said
    from smtplugins.testing.decoders.search_tasks import CHECKS as OF_TASKS

    results = check_plugin(smt.load_plugins(), "reference", tmp_path)
    wanted = [(one.__name__, True, "") for one in CHECKS if one not in OF_TASKS]
    found = {
        name: [(one.check, one.ok, one.message) for _, offer, one in results if offer == name]
        for name in ("reference", "reference-phrase")
    }
    assert found["reference"] == wanted
    # Words without a phrase are copied, so that there always is a translation; and phrases are no trees.
    apart = {one.__name__ for one in (steps_build_the_tree, what_has_no_translation_is_said)}
    assert found["reference-phrase"] == [one for one in wanted if one[0] not in apart]
