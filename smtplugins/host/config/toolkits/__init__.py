"""Convert the toolkits' configurations to a run.yaml: a module for each, whose table maps the keys.

Decoders and features are named here, with every convention of the toolkit written out; the registry says whether a
plugin offers them.
"""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path

from smtformats.config.settings import Settings
from smtplugins.host.config.toolkits.draft import Draft


def draft(settings: Settings, path: Path | None) -> Draft:
    """Convert a configuration with its toolkit's module; ``path`` is its file, if it has one."""
    adapter = import_module(f"{__name__}.{settings.origin.removesuffix('-settings')}")
    made: Draft = adapter.adapt(settings, path)
    return made


def toolkit_settings(data: bytes, name: str, format: str | None) -> Settings | None:
    """The settings of a toolkit's configuration; ``None`` if the data has no toolkit's shape."""
    from smtformats import formats_of
    from smtformats.files import HEAD_BYTES, Lines
    from smtplugins.host.files.opening import find_format

    if format is not None:
        records = [find_format(format, "config")]
    else:
        records = [record for record in formats_of("config") if record.matches(data[:HEAD_BYTES])]
    if len(records) != 1:
        return None
    settings: Settings = records[0].read(Lines(io.BytesIO(data), name))
    return settings
