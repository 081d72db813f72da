"""How prepared text was made: the settings and models that `smt prepare` keeps beside it, to make more text like it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from smtformats.files import open_write
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.text.casing import Truecaser
from smtplugins.host.text.sides import TRUE, SideSettings, TextSide
from smtplugins.host.text.tokenizers import tokenizer_version

RECORD = "prepared.json"
SIDES = ("source", "target")


@dataclass(frozen=True)
class TextLimits:
    """What is dropped from training text, as by Moses' clean-corpus-n: longer sentences, and less equal pairs."""

    max_length: int = 80
    max_ratio: float = 9.0
    keep_duplicates: bool = False

    def __post_init__(self) -> None:
        if self.max_length < 1:
            raise UsageError(f"{argument('max_length')}: expected 1 or more, found {self.max_length}")
        if not self.max_ratio >= 1:
            raise UsageError(f"{argument('max_ratio')}: expected 1 or more, found {self.max_ratio:g}")


@dataclass(frozen=True)
class Preparation:
    """What a folder of prepared text says: the settings of its sides, its limits and the versions of tokenizers.

    Several target sides are named ``target``, ``target.1`` and so on, and have the same settings.
    """

    folder: Path
    sides: Mapping[str, SideSettings]
    limits: TextLimits
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Preparation:
        """Read the record of a folder."""
        path = Path(folder) / RECORD
        if not path.is_file():
            raise UsageError(
                f"{os.fspath(folder)}: expected a folder that `smt prepare` wrote, found no {RECORD} in it"
            )
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            limits = TextLimits(**{one.name: record["limits"][one.name] for one in fields(TextLimits)})
            sides = {name: SideSettings(**settings) for name, settings in record["sides"].items()}
            return cls(Path(folder), sides, limits, dict(record["versions"]))
        except (ValueError, KeyError, TypeError, AttributeError, UsageError) as error:
            raise SmtError(f"{path}: expected what `smt prepare` wrote, found something else ({error!r})") from None

    @classmethod
    def holding(cls, file: str | os.PathLike[str]) -> tuple[Preparation, str] | None:
        """The preparation that made a file, and the name of its side; None for any other file."""
        path = Path(os.path.realpath(file))
        if path.name.partition(".")[0] not in SIDES or not (path.parent / RECORD).is_file():
            return None
        made = cls.read(path.parent)
        return (made, path.name) if path.name in made.sides else None

    def write(self, **facts: Any) -> None:
        """Write the record, with further facts."""
        sides = {name: asdict(settings) for name, settings in self.sides.items()}
        record = {"sides": sides, "limits": asdict(self.limits), "versions": self.versions, **facts}
        with open_write(self.folder / RECORD) as out:
            json.dump(record, out, indent=1, ensure_ascii=False)
            out.write("\n")

    def settings(self, name: str) -> SideSettings:
        """The settings of a side."""
        known = self.sides.get(name.partition(".")[0])
        if known is None:
            raise UsageError(f"{self.folder}: expected a {name} side, found only {', '.join(self.sides)}")
        return known

    def case_model(self, name: str) -> Path | None:
        """The model of a side's truecaser, if it has one."""
        return self.folder / case_file(name) if self.settings(name).case == TRUE else None

    def side(self, name: str, note: Callable[[str], None] = lambda text: None) -> TextSide:
        """What makes lines into words of a side; notes another version of the tokenizer."""
        settings, model = self.settings(name), self.case_model(name)
        for package, version in tokenizer_version(settings.tokenize).items():
            if (before := self.versions.get(package, version)) != version:
                note(f"{self.folder}: the {name} was tokenized by {package} {before}, this is version {version}")
        return TextSide(settings, None if model is None else Truecaser.read(model))

    def same_side(self, name: str, other: Preparation, its: str) -> bool:
        """Whether a side is made as one of another preparation: with the same settings and truecaser."""
        if self.settings(name) != other.settings(its):
            return False
        models = self.case_model(name), other.case_model(its)
        first, second = (None if model is None else model.read_bytes() for model in models)
        return first == second


def case_file(name: str) -> str:
    """The name of the truecaser's model of a side, in the folder."""
    return f"case.{name.partition('.')[0]}"
