"""What the tests of all toolkits' settings share: a setting is noted or refused, and the page is the table's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from smtplugins.contracts.errors import SmtError
from smtplugins.host.config.run_yaml import RunConfig, load_config
from smtplugins.host.config.toolkits.known_settings import Known

PAGES = Path(__file__).resolve().parents[4] / "smtplugins/host/config/toolkits"


@dataclass(frozen=True)
class Configuration:
    """A toolkit's configuration in the current folder."""

    file: str

    def load(self, text: str, *ignore: str) -> RunConfig:
        """Write and load it."""
        Path(self.file).write_text(text)
        return load_config(self.file, ignore=ignore)

    def check(self, row: Known, key: str, value: str, text: str, without: str) -> None:
        """Check that the setting in the last line of a text is noted, or refused until it is ignored."""
        line = len(text.splitlines())
        if row.fate == "no effect":
            found = self.load(text)
            assert found == self.load(without)
            assert f"line {line}: {key} '{value}' ({row.about})" in found.notes[-1]
            return
        with pytest.raises(SmtError) as caught:
            self.load(text)
        message = str(caught.value)
        assert message.startswith(f"{self.file}:{line}: {key}: expected {row.about}, found '{value}'")
        assert f"ignore=['{key}'] continues without" in message
        assert self.load(text, key) == self.load(without)
        assert any("ignored" in note for note in self.load(text, key).notes)


def check_page(name: str, text: str, request: pytest.FixtureRequest) -> None:
    """Check that a page is what the table says, or write it."""
    page = PAGES / name
    if request.config.getoption("--update-golden"):
        page.write_text(text, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == text, "pytest --update-golden"
