"""Output folders of commands: complete or absent, and replaced only on request."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from smtplugins.contracts.errors import UsageError
from smtplugins.host.files.array_folders import new_folder

RECORD = "made.json"


def write(folder: Path, text: str, *, force: bool = False) -> None:
    with new_folder(folder, RECORD, force=force) as aside:
        (aside / RECORD).write_text(text)


def test_a_folder_that_is_there_is_replaced_if_asked(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    write(folder, "one")
    with pytest.raises(UsageError, match=r"expected a new or empty folder, found one with made\.json, .*; --force"):
        write(folder, "two")
    assert (folder / RECORD).read_text() == "one"
    write(folder, "two", force=True)
    assert (folder / RECORD).read_text() == "two"
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("force", [False, True])
def test_what_is_not_of_this_kind_is_never_replaced(force: bool, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name in ("out", "file"):
        with pytest.raises(UsageError, match=r"folder that is new, empty or contains made\.json, found another"):
            write(tmp_path / name, "one", force=force)
    assert (tmp_path / "out" / "thesis.tex").read_text() == (tmp_path / "file").read_text() == "mine"


def test_an_empty_folder_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write(tmp_path / "out", "one")
    assert (tmp_path / "out" / RECORD).read_text() == "one"


def test_a_folder_that_came_up_meanwhile_stays(tmp_path: Path) -> None:
    stack = ExitStack()
    aside = stack.enter_context(new_folder(tmp_path / "out", RECORD))
    (aside / RECORD).write_text("one")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / RECORD).write_text("two")
    with pytest.raises(UsageError, match="found one with"):
        stack.close()
    assert (tmp_path / "out" / RECORD).read_text() == "two"


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    write(tmp_path / "out", "one")
    with pytest.raises(ValueError, match="no"), new_folder(tmp_path / "out", RECORD, force=True):
        raise ValueError("no")
    assert (tmp_path / "out" / RECORD).read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
