"""What becomes of each setting that a toolkit knows: a table that decides, and that the documentation shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from smtformats.records import dataclass
from smtplugins.host.config.toolkits.draft import ABSENT, Draft, Harmless

Fate = Literal["honoured", "no effect", "not supported"]
FATES: tuple[Fate, ...] = ("honoured", "no effect", "not supported")


@dataclass(frozen=True)
class Known:
    """Settings with the same fate.

    ``about`` is the key of the run.yaml of a setting that is honoured, what to use instead of one without effect, or
    what is expected instead of one that is not supported. ``value`` is a value that asks for something, as in a file.
    ``harmless`` are the values of an unsupported setting that change nothing. ``where`` limits the row to some kinds
    of configurations; "" is all of them.
    """

    keys: tuple[str, ...]
    fate: Fate
    about: str
    value: str = "1"
    harmless: Harmless = ABSENT
    where: str = ""


def honoured(keys: str, about: str, value: str, where: str = "") -> Known:
    """A row of settings that are honoured."""
    return Known(tuple(keys.split()), "honoured", about, value, where=where)


def no_effect(keys: str, about: str, value: str = "1", where: str = "") -> Known:
    """A row of settings that have no effect on translations here."""
    return Known(tuple(keys.split()), "no effect", about, value, where=where)


def refused(keys: str, harmless: Harmless = ABSENT, value: str = "1", where: str = "", about: str = "") -> Known:
    """A row of settings that change translations and are not supported."""
    return Known(tuple(keys.split()), "not supported", about or harmless[0], value, harmless, where)


def rows_of(table: Iterable[Known], where: str) -> Iterator[tuple[str, Known]]:
    """Each key with its row in a kind of configuration."""
    for row in table:
        if row.where in ("", where):
            for key in row.keys:
                yield key, row


def apply(draft: Draft, table: Iterable[Known], where: str) -> None:
    """Refuse the settings that are not supported; explain those that have no effect."""
    rows = dict(rows_of(table, where))
    unsupported = {key: (row.about, row.harmless[1]) for key, row in rows.items() if row.fate == "not supported"}
    draft.refuse_all(unsupported)
    draft.reasons |= {key: row.about for key, row in rows.items() if row.fate == "no effect"}


def markdown(table: Iterable[Known], spell: Callable[[str], str], kinds: dict[str, str]) -> str:
    """The table as Markdown, a part for each fate; ``spell`` writes a key, ``kinds`` names the values of ``where``."""
    rows = list(table)
    text = ""
    heads = {
        "honoured": "Honoured | key of the run.yaml, or effect",
        "no effect": "No effect on translations here: a note | instead",
        "not supported": "Changes translations and is not supported: an error | unless it is",
    }
    for fate in FATES:
        if not any(row.fate == fate for row in rows):
            continue
        text += f"\n| {heads[fate]} |\n|---|---|\n"
        for row in rows:
            if row.fate == fate:
                limited = f" ({kinds[row.where]})" if row.where else ""
                about = row.about.replace("|", "\\|")
                text += f"| {' '.join(map(spell, row.keys))}{limited} | {about} |\n"
    return text
