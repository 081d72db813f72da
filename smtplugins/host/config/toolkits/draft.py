"""The plain keys and values of a run.yaml, made from a toolkit's settings; what becomes of those that have no key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smtformats.config.settings import Setting, Settings
from smtformats.errors import quote
from smtformats.format import shortest
from smtplugins.contracts.spec import Spec

Harmless = tuple[str, Callable[[str], bool]]
"""The values of a setting under which it changes no translation: as a message says it, and a test."""

ABSENT: Harmless = ("no such setting", lambda value: False)


def bare(key: str) -> str:
    """A key as keys are compared: without hyphens and underscores, and capitals make no difference."""
    return key.replace("-", "").replace("_", "").lower()


@dataclass(frozen=True)
class Refusal:
    """A setting that changes translations and is not supported: ``key`` is what ``--ignore`` calls it."""

    key: str
    expected: str
    found: str
    line: int


class Draft:
    """``values`` as a run.yaml has them, ``lines`` the line each key comes from, and what is not used.

    ``refused`` are the settings without which translations are others. Several settings of a single-valued key:
    ``counts`` is the place of the one that counts, 0 or -1.
    """

    def __init__(self, settings: Settings, counts: int) -> None:
        self.settings = settings
        self.values: dict[str, Any] = {}
        self.lines: dict[tuple[str, ...], int] = {}
        self._counts = counts
        self._taken: set[int] = set()
        self._idle: list[Setting] = []
        self.refused: list[Refusal] = []

    def every(self, key: str) -> list[Setting]:
        """All settings of a key, which are used."""
        found = self.settings.all(key)
        self._taken |= set(map(id, found))
        return found

    def one(self, key: str) -> Setting | None:
        """The setting of a key that counts, which is used."""
        found = self.settings.all(key)
        if not found:
            return None
        self._taken.add(id(found[self._counts]))
        return found[self._counts]

    def text(self, key: str, default: str = "") -> str:
        """The value that counts of a key."""
        found = self.one(key)
        return default if found is None else found.value

    def idle(self, setting: Setting, part: str) -> None:
        """A part of a setting is not used."""
        self._idle.append(Setting(setting.key, part, setting.line))

    def refuse(self, setting: Setting, expected: str, key: str | None = None, found: str | None = None) -> None:
        """A setting, or a part of it, changes translations and is not supported."""
        shown = quote(setting.value if found is None else found)
        self._taken.add(id(setting))
        self.refused.append(Refusal(key or setting.key, expected, shown, setting.line))

    def refuse_all(self, harmful: Mapping[str, Harmless]) -> None:
        """Refuse settings of these keys that are not used and do not have a harmless value."""
        for one in self.settings.entries:
            if one.key in harmful and id(one) not in self._taken:
                expected, harmless = harmful[one.key]
                self._taken.add(id(one))
                if not harmless(one.value):
                    self.refuse(one, expected)

    def put(self, path: str, value: Any, line: int | None = None) -> None:
        """Set a key such as ``decoder.pop_limit``."""
        *folders, last = keys = tuple(path.split("."))
        at = self.values
        for folder in folders:
            at = at.setdefault(folder, {})
        at[last] = value
        if line is not None:
            self.lines[keys] = line

    def option(
        self, path: str, key: str, read: Callable[[str], Any] = str, default: Any = None, *, skip: str | None = None
    ) -> None:
        """Set a key from a setting, or to the toolkit's own default; none of both, or the value ``skip``, sets none."""
        found = self.one(key)
        value = default if found is None or found.value == skip else read(found.value)
        if value is not None:
            self.put(path, value, found.line if found is not None else None)

    def feature(self, kind: str, line: int | None = None, /, **options: Any) -> None:
        """Add a feature; options that are none are left out, values become what they are on a command line."""
        texts = {name: _shown(value) for name, value in options.items() if value is not None}
        self._append("features", Spec(kind, texts), line)

    def grammar(self, path: str, line: int) -> None:
        """Add a grammar or phrase table."""
        self._append("grammar", path, line)

    def own_weights(self, first: Setting, path: Path | None) -> None:
        """The weights are those of the configuration's own file, which has to have a name."""
        if path is None:
            self.refuse(first, "a configuration with weights in a file (standard input cannot be read again)")
        else:
            self.put("model.weights", str(path), first.line)

    def _append(self, key: str, value: Any, line: int | None) -> None:
        listed = self.values.setdefault("model", {}).setdefault(key, [])
        if line is not None:
            self.lines["model", key, str(len(listed))] = line
        listed.append(value)

    def unused(self) -> list[str]:
        """What is not used and changes no translation, by line."""
        left = [one for one in self.settings.entries if id(one) not in self._taken]
        found = sorted(left + self._idle, key=lambda one: one.line)
        return [f"line {one.line}: {one.key} {quote(one.value, 100)}" for one in found]

    def ignore(self, keys: Iterable[str]) -> list[Refusal]:
        """Take settings of these keys out of those that are refused; they are returned."""
        wanted = set(map(bare, keys))
        ignored = [one for one in self.refused if bare(one.key) in wanted]
        self.refused = [one for one in self.refused if one not in ignored]
        return ignored


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return shortest(value) if isinstance(value, float) else str(value)
