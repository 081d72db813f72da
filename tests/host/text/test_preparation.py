"""The record of a folder of prepared text."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.text.preparation import Preparation, TextLimits
from smtplugins.host.text.sides import SideSettings


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    made = Preparation(
        tmp_path, {"target": SideSettings("13a", "lower", "en")}, TextLimits(50, 3.5, True), {"sacrebleu": "2"}
    )
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


def test_the_preparation_that_made_a_file(tmp_path: Path) -> None:
    made = Preparation(tmp_path, {"target": SideSettings("none", "true")}, TextLimits())
    (tmp_path / "target").write_text("a\n")
    assert Preparation.holding(tmp_path / "target") is None
    made.write()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert Preparation.holding(tmp_path / "link") == (made, "target")
    assert Preparation.holding(tmp_path / "case.target") is None
    assert Preparation.holding("-") is None
    with pytest.raises(UsageError, match="expected a source side, found only target"):
        made.side("source")


def test_sides_are_the_same_with_equal_settings_and_models(tmp_path: Path) -> None:
    made = []
    for name, case, model in (
        ("a", "true", "x (1/1)\n"),
        ("b", "true", "x (1/1)\n"),
        ("c", "true", "y (1/1)\n"),
        ("d", "keep", ""),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "case.target").write_text(model)
        made.append(Preparation(tmp_path / name, {"target": SideSettings("none", case)}, TextLimits()))
    assert [made[0].same_side("target", other, "target.1") for other in made] == [True, True, False, False]


def test_another_version_of_a_tokenizer_is_noted(tmp_path: Path) -> None:
    notes: list[str] = []
    made = Preparation(tmp_path, {"source": SideSettings("13a")}, TextLimits(), {"sacrebleu": "1.0"})
    assert made.side("source", notes.append).words("a.") == ["a", "."]
    assert len(notes) == 1 and "the source was tokenized by sacrebleu 1.0, this is version" in notes[0]
