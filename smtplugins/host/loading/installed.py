"""The names of installed plugins, read straight from the metadata files on the path.

``importlib.metadata`` would do, but importing it alone costs more than the whole help page may.
"""

from __future__ import annotations

import os
import sys

_SECTION = "[smtplugins]"


def plugin_names() -> list[str]:
    """The entry-point names in the group ``smtplugins``."""
    names: set[str] = set()
    for folder in dict.fromkeys(sys.path):
        try:
            entries = [
                entry.path for entry in os.scandir(folder or ".") if entry.name.endswith((".dist-info", ".egg-info"))
            ]
        except OSError:
            continue
        for path in entries:
            try:
                with open(os.path.join(path, "entry_points.txt"), encoding="utf-8") as stream:
                    text = stream.read()
            except (OSError, UnicodeDecodeError):
                continue
            if _SECTION in text:
                section = text.split(_SECTION, 1)[1].split("\n[", 1)[0]
                names.update(line.split("=", 1)[0].strip() for line in section.splitlines() if "=" in line)
    return sorted(names)
