"""A new plugin: its files, what is refused, and that it passes the kit as written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import UsageError
from smtplugins.host.loading.template import new_plugin
from smtplugins.testing import check_plugin

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/plugin-template"


def test_the_example_is_what_a_new_plugin_is(tmp_path: Path) -> None:
    written = new_plugin("example", tmp_path / "new")
    for path in written:
        name = path.relative_to(tmp_path / "new")
        assert (EXAMPLE / name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8"), (
            f"examples/plugin-template/{name} is not what the template says"
        )
    code = {path.relative_to(EXAMPLE) for path in EXAMPLE.rglob("*.py") if "native" not in path.parts}
    assert code == {path.relative_to(tmp_path / "new") for path in written if path.suffix == ".py"}


def test_a_new_plugin_passes_the_kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "new"
    assert [path.relative_to(folder).as_posix() for path in new_plugin("my-2nd", folder)] == [
        "pyproject.toml",
        "README.md",
        "src/smt_my_2nd/__init__.py",
        "tests/test_smt_my_2nd.py",
    ]
    monkeypatch.syspath_prepend(folder / "src")
    host = smt.load_plugins(["smt_my_2nd"])
    monkeypatch.delitem(sys.modules, "smt_my_2nd")
    checks = tmp_path / "checks"
    checks.mkdir()
    results = check_plugin(host, "smt_my_2nd", checks)
    assert {name for _, name, _ in results} == {"my-2nd-marks", "my-2nd-exact"}
    assert [one for _, _, one in results if not one.ok] == []
    written = [path for path in folder.rglob("*.*") if path.is_file() and path.suffix != ".pyc"]
    assert "{{" not in "".join(path.read_text(encoding="utf-8") for path in written)


@pytest.mark.parametrize("name", ["", "Example", "my_plugin", "2nd", "a--b", "-a", "a-", "a b", "a/../b", "é", "a\n"])
def test_a_name_that_fits_no_distribution_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a plugin name of lower-case letters"):
        new_plugin(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    new_plugin("mine", tmp_path / "new")
    with pytest.raises(UsageError, match="new: expected a new or empty folder, found files in it"):
        new_plugin("mine", tmp_path / "new")
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file: expected a folder, found a file"):
        new_plugin("mine", tmp_path / "file")


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    assert len(new_plugin("mine", tmp_path)) == 4
