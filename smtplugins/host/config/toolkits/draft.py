"""Convert a toolkit's settings to the keys and values of a run.yaml, and collect those that have no key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from smtformats.config.settings import Setting, Settings
from smtformats.errors import quote
from smtformats.format import shortest
from smtformats.records import dataclass
from smtplugins.contracts.spec import Spec
from smtplugins.host.arguments import argument

_NUMBERS = ("limit", "max_span", "scores", "backoff")
Harmless = tuple[str, Callable[[str], bool]]
"""The values of a setting that change no translation: their description in messages, and a test."""

ABSENT: Harmless = ("no such setting", lambda value: False)


def bare(key: str) -> str:
    """Normalise a key for comparison: no hyphens or underscores, lower case."""
    return key.replace("-", "").replace("_", "").lower()


@dataclass(frozen=True)
class Refusal:
    """An unsupported setting that changes translations; ``key`` is its name for ``--ignore``."""

    key: str
    expected: str
    found: str
    line: int


class Draft:
    """The ``values`` of a run.yaml, the ``lines`` they come from, and the settings that are not used.

    ``refused`` are unsupported settings that change translations. ``counts`` is which of several settings of a
    single-valued key takes effect: 0 for the first, -1 for the last. ``reasons`` say by key why a setting is not used,
    ``remarks`` are notes about settings that are honoured in part. ``instead`` says by value what to use instead of an
    option of the decoder that no plugin offers.
    """

    def __init__(self, settings: Settings, counts: int) -> None:
        self.settings = settings
        self.values: dict[str, Any] = {}
        self.lines: dict[tuple[str, ...], int] = {}
        self._counts = counts
        self._taken: set[int] = set()
        self._idle: list[Setting] = []
        self._without_note: list[Setting] = []
        self.refused: list[Refusal] = []
        self.reasons: dict[str, str] = {}
        self.instead: dict[str, str] = {}
        # The name of a feature that may be left out: the key of the list it is in, its place there, a hint.
        self._ignorable: dict[str, tuple[tuple[str, ...], int, str]] = {}
        self._model: tuple[str, ...] = ("model",)
        self.remarks: list[str] = []

    def every(self, key: str) -> list[Setting]:
        """All settings of a key; they count as used."""
        settings = self.settings.all(key)
        self._taken |= set(map(id, settings))
        return settings

    def setting(self, key: str) -> Setting | None:
        """The setting of a key that takes effect; it counts as used."""
        settings = self.settings.all(key)
        if not settings:
            return None
        self._taken.add(id(settings[self._counts]))
        return settings[self._counts]

    def text(self, key: str) -> str:
        """The value of a key that takes effect, "" without a setting."""
        setting = self.setting(key)
        return "" if setting is None else setting.value

    def idle(self, setting: Setting, part: str, *, in_toolkit: bool = False) -> None:
        """Note that a part of a setting is not used; ``in_toolkit`` if it changes no translation of the toolkit."""
        (self._without_note if in_toolkit else self._idle).append(Setting(setting.key, part, setting.line))

    def remark(self, setting: Setting, text: str) -> None:
        """Note that a setting is honoured in part."""
        self.remarks.append(f"line {setting.line}: {setting.key} {quote(setting.value, 100)}: {text}")

    def refuse(self, setting: Setting, expected: str, key: str | None = None, found: str | None = None) -> None:
        """Refuse a setting, or a part of it, that changes translations and is not supported."""
        shown = quote(setting.value if found is None else found)
        self._taken.add(id(setting))
        self.refused.append(Refusal(key or setting.key, expected, shown, setting.line))

    def refuse_all(self, harmful: Mapping[str, Harmless]) -> None:
        """Refuse the unused settings of these keys whose values are not harmless."""
        for setting in self.settings.entries:
            if setting.key in harmful and id(setting) not in self._taken:
                expected, harmless = harmful[setting.key]
                self._taken.add(id(setting))
                if not harmless(setting.value):
                    self.refuse(setting, expected)

    def put(self, path: str, value: Any, line: int | None = None) -> None:
        """Set a key such as ``decoder.pop_limit``."""
        *folders, last = keys = tuple(path.split("."))
        at = self.values
        for folder in folders:
            at = at[int(folder)] if isinstance(at, list) else at.setdefault(folder, {})
        at[last] = value
        if line is not None:
            self.lines[keys] = line

    def further_pass(self) -> str:
        """Add a pass, which gets the features that follow; return the path of its key."""
        passes = self.values.setdefault("model", {}).setdefault("passes", [])
        self._model = ("model", "passes", str(len(passes)))
        passes.append({})
        return ".".join(self._model)

    def decoder(self, **options: Any) -> None:
        """Set options of the decoder that no setting gives."""
        for name, value in options.items():
            self.put(f"decoder.{name}", value)

    def option(
        self, path: str, key: str, read: Callable[[str], Any] = str, default: Any = None, *, skip: str | None = None
    ) -> None:
        """Set a key from a setting; ``default`` is for a missing setting or the value ``skip``; None sets nothing."""
        setting = self.setting(key)
        value = default if setting is None or setting.value == skip else read(setting.value)
        if value is not None:
            self.put(path, value, setting.line if setting is not None else None)

    def feature(self, kind: str, line: int | None = None, /, **options: Any) -> None:
        """Add a feature; options that are ``None`` are left out, values are spelt as on a command line."""
        texts = {name: _shown(value) for name, value in options.items() if value is not None}
        self._append("features", Spec(kind, texts), line)

    def may_ignore(self, name: str, hint: str) -> None:
        """The last feature may be left out by this name if no plugin offers it; ``hint`` ends the error otherwise."""
        place = (*self._model, "features")
        self._ignorable[name] = place, len(self._at(place)) - 1, hint

    def _at(self, place: tuple[str, ...]) -> Any:
        at: Any = self.values
        for key in place:
            at = at[int(key)] if isinstance(at, list) else at[key]
        return at

    def hints(self) -> dict[tuple[str, ...], tuple[str, str]]:
        """By the key of each feature that may be left out, its name for ``--ignore`` and what to add to errors."""
        return {(*place, str(at)): (name, hint) for name, (place, at, hint) in self._ignorable.items()}

    @property
    def ignorable(self) -> list[str]:
        """The names of features that may be left out."""
        return list(self._ignorable)

    def _leave_out(self, name: str) -> Refusal:
        """Leave out a feature; the features behind it, and tables, move up."""
        place, at, _ = self._ignorable.pop(name)
        features = self._at(place)
        gone = features.pop(at)
        line = self.lines.pop((*place, str(at)), 1)
        for i in range(at + 1, len(features) + 1):
            key = (*place, str(i))
            if key in self.lines:
                below = (*place, str(i - 1))
                self.lines[below] = self.lines.pop(key)
        listed = self.values["model"].get("tables", ()) if place == ("model", "features") else ()
        tables = [table for table in listed if isinstance(table, dict)]
        for before, table in enumerate(tables):
            if table.get("position", 0) - before > at:
                table["position"] -= 1
        self._ignorable = {
            other: (its, i - (its == place and i > at), hint) for other, (its, i, hint) in self._ignorable.items()
        }
        return Refusal(name, "a feature that a plugin offers", quote(gone.name), line)

    def table(self, path: str, line: int, **fields: Any) -> None:
        """Add a grammar or phrase table; ``None`` is left out. The scores of tables with a name are listed as features.

        They come in the order of the calls of this method and of :meth:`feature`.
        """
        shown = {name: _number(value) if name in _NUMBERS else value for name, value in fields.items()}
        entry = {"path": path, **{name: value for name, value in shown.items() if value is not None}}
        if "name" in fields:
            model = self.values.get("model", {})
            before = sum(isinstance(table, dict) for table in model.get("tables", ()))
            entry["position"] = len(model.get("features", ())) + before
        self._append("tables", entry if len(entry) > 1 else path, line)

    def own_weights(self, first: Setting, path: Path | None) -> None:
        """Take the weights from the configuration itself, which must be a file."""
        if path is None:
            self.refuse(first, "a configuration with weights in a file (standard input cannot be read again)")
        else:
            self.put("model.weights", str(path), first.line)

    def _append(self, key: str, value: Any, line: int | None) -> None:
        self.values.setdefault("model", {})
        listed = self._at(self._model).setdefault(key, [])
        if line is not None:
            place = (*self._model, key, str(len(listed)))
            self.lines[place] = line
        listed.append(value)

    def unused(self, *, noted: bool = False) -> list[str]:
        """The settings that are not used and change no translation, by line; or only those that notes name."""
        left = [setting for setting in self.settings.entries if id(setting) not in self._taken]
        settings = sorted(left + self._idle + self._without_note * (not noted), key=lambda setting: setting.line)
        return [
            f"line {setting.line}: {setting.key} {quote(setting.value, 100)}{self._reason(setting)}"
            for setting in settings
        ]

    def _reason(self, setting: Setting) -> str:
        reason = self.reasons.get(setting.key)
        if reason is None and setting in self.settings.entries:
            # Of several settings of a key one counts.
            taken = [other.line for other in self.settings.all(setting.key) if id(other) in self._taken]
            reason = f"line {taken[0]} counts" if taken and setting.line not in taken else None
        return f" ({reason})" if reason else ""

    def ignore(self, keys: Iterable[str]) -> list[Refusal]:
        """Remove settings of these keys from those that are refused, and return them."""
        wanted = set(map(bare, keys))
        ignored = [refusal for refusal in self.refused if bare(refusal.key) in wanted]
        self.refused = [refusal for refusal in self.refused if refusal not in ignored]
        return ignored + [self._leave_out(name) for name in self.ignorable if bare(name) in wanted]


def explained(text: str, name: str, hint: str) -> str:
    """The error of a feature that no plugin offers, with a hint and how to leave it out; other errors unchanged."""
    if not text.startswith("unknown "):
        return text
    # A suggestion among the features that we know would hide the toolkit's own, or what to do instead.
    first, *more = text.split("\n")
    hint = hint or "; no plugin offers it, and `--plugin FILE.py` loads one more"
    ignored = f"({argument(f'ignore={[name]}', f'--ignore {name}')} continues without)"
    return "\n".join([f"{first.partition('; ')[0]}{hint} {ignored}", *more])


def _number(value: Any) -> Any:
    """Convert text to a whole number; return other values unchanged, so that binding the key refuses them."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d+\s*", value) else value


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return shortest(value) if isinstance(value, float) else str(value)
