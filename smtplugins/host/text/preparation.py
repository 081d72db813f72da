"""How the sides of prepared text were made: the settings that `smt prepare` keeps beside the text, in prepared.json."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from smtformats.files import open_write
from smtplugins.contracts.errors import SmtError, UsageError

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
            raise UsageError(f"max_length: expected 1 or more, found {self.max_length}")
        if not self.max_ratio >= 1:
            raise UsageError(f"max_ratio: expected 1 or more, found {self.max_ratio:g}")


@dataclass(frozen=True)
class Preparation:
    """What a folder of prepared text says: the settings of its sides and its limits."""

    folder: Path
    sides: Mapping[str, Mapping[str, Any]]
    limits: TextLimits

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
            limits = TextLimits(**{field.name: record["limits"][field.name] for field in fields(TextLimits)})
            return cls(Path(folder), dict(record["sides"]), limits)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SmtError(f"{path}: expected what `smt prepare` wrote, found something else ({error!r})") from None

    def write(self, **facts: Any) -> None:
        """Write the record, with further facts."""
        record = {"sides": self.sides, "limits": asdict(self.limits), **facts}
        with open_write(self.folder / RECORD) as out:
            json.dump(record, out, indent=1, ensure_ascii=False)
            out.write("\n")
