"""The record of a folder of prepared text."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.text.preparation import Preparation, TextLimits


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    made = Preparation(tmp_path, {"target": {}}, TextLimits(50, 3.5, True))
    made.write(lines={"read": 3, "kept": 2})
    assert Preparation.read(tmp_path) == made


def test_a_folder_without_a_record_or_with_another_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected a folder that `smt prepare` wrote, found no prepared\.json in it"):
        Preparation.read(tmp_path)
    for text in ("", "[]", "{}", '{"sides": {}, "limits": {"max_length": "x"}}'):
        (tmp_path / "prepared.json").write_text(text)
        with pytest.raises(SmtError, match="expected what `smt prepare` wrote, found something else"):
            Preparation.read(tmp_path)


@pytest.mark.parametrize("limits", [{"max_length": 0}, {"max_ratio": 0.5}, {"max_ratio": float("nan")}])
def test_limits_that_drop_everything(limits: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="expected 1 or more"):
        TextLimits(**limits)  # type: ignore[arg-type]
