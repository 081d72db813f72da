"""Refuse the settings of a toolkit that change translations and are not supported, and note those that are not used."""

from __future__ import annotations

from collections.abc import Sequence

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.host.arguments import argument
from smtplugins.host.config.composing import ConfigError
from smtplugins.host.config.toolkits.draft import Draft, bare


def check_settings(made: Draft, ignore: Sequence[str], name: str) -> list[str]:
    """Refuse unsupported settings that change translations; return those to ignore as text."""
    keys = {*(refusal.key for refusal in made.refused), *made.ignorable}
    for key in ignore:
        if bare(key) not in {bare(name) for name in (*keys, *(setting.key for setting in made.settings.entries))}:
            known = suggestion(key, keys) if keys else "; none of its settings is refused"
            raise UsageError(f"{argument('ignore')} {key}: {name} has no such setting{known}")
    ignored = made.ignore(ignore)
    if made.refused:
        first, *rest = sorted(made.refused, key=lambda refusal: refusal.line)
        text = f"expected {first.expected}, found {first.found}: it changes translations and is not supported"
        more = "".join(f"; line {r.line}: {r.key}: expected {r.expected}, found {r.found}" for r in rest)
        refused = list(dict.fromkeys(refusal.key for refusal in (first, *rest)))
        all_keys = argument(f"ignore={refused}", " ".join(f"--ignore {key}" for key in refused))
        raise ConfigError(name, first.line, first.key, f"{text}{more} ({all_keys} continues without)")
    return [f"line {r.line}: {r.key} {r.found}, which changes translations" for r in ignored]


def setting_notes(name: str, unused: Sequence[str], ignored: Sequence[str]) -> tuple[str, ...]:
    """Notes about settings that are not used."""
    notes = []
    if ignored:
        notes.append(f"{name}: ignored: {'; '.join(ignored)}")
    if unused:
        notes.append(f"{name}: not used, without an effect on translations: {'; '.join(unused)}")
    return tuple(notes)
