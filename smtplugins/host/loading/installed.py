"""The installed plugins, read straight from the metadata files on the path: none is imported.

``importlib.metadata`` would do, but importing it alone costs more than a help page, and as much as loading a table.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import os
import re
import sys
from typing import Any, NamedTuple

_SECTION = "[smtplugins]"
_INFO = (".dist-info", ".egg-info")


class InstalledPlugin(NamedTuple):
    """An entry point of an installed package, and the package's name and version."""

    name: str
    value: str
    package: str
    version: str

    def load(self) -> Any:
        """Import what the entry point names: a module, or an attribute of one after a colon."""
        module, _, attributes = self.value.partition("[")[0].strip().partition(":")
        loaded: Any = importlib.import_module(module.strip())
        for attribute in filter(None, attributes.strip().split(".")):
            loaded = getattr(loaded, attribute)
        return loaded


def installed_plugins() -> tuple[InstalledPlugin, ...]:
    """The entry points in the group ``smtplugins``, by name."""
    return _read(tuple(sys.path), _metadata_files())


def _metadata_files() -> tuple[tuple[str, int], ...]:
    """The files that name the plugins of installed packages, with their times; while they stay, so do the plugins."""
    files = []
    for folder in dict.fromkeys(sys.path):
        with contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
            for path in sorted(entry.path for entry in entries if entry.name.endswith(_INFO)):
                points = os.path.join(path, "entry_points.txt")
                with contextlib.suppress(OSError):
                    files.append((points, os.stat(points).st_mtime_ns))
    return tuple(files)


@functools.lru_cache(maxsize=1)
def _read(folders: tuple[str, ...], files: tuple[tuple[str, int], ...]) -> tuple[InstalledPlugin, ...]:
    # Modules may be found in other places since the path or its packages changed.
    seen: set[str] = set()
    plugins: list[InstalledPlugin] = []
    for path, _ in files:
        try:
            with open(path, encoding="utf-8") as stream:
                text = stream.read()
        except (OSError, UnicodeDecodeError):
            continue
        if _SECTION not in text:
            continue
        package, version = _package(os.path.dirname(path))
        # As for modules, the first place on the path counts.
        if (known := re.sub(r"[-_.]+", "-", package).lower()) in seen:
            continue
        seen.add(known)
        section = text.split(_SECTION, 1)[1].split("\n[", 1)[0]
        lines = [line.split("=", 1) for line in section.splitlines() if "=" in line and line.lstrip()[0] not in "#;"]
        plugins += [InstalledPlugin(name.strip(), value.strip(), package, version) for name, value in lines]
    return tuple(sorted(plugins))


def _package(folder: str) -> tuple[str, str]:
    """The name and version of a package: those of its metadata, or else of the metadata's folder."""
    for name in ("METADATA", "PKG-INFO"):
        with contextlib.suppress(OSError), open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            head = itertools.takewhile(str.strip, file)
            fields = dict(line.strip().split(": ", 1) for line in head if ": " in line)
            if "Name" in fields and "Version" in fields:
                return fields["Name"], fields["Version"]
    package, _, version = os.path.basename(folder).rpartition(".")[0].partition("-")
    return package, version
