"""How a host was loaded, so that a worker on another machine loads the same plugins, in the same versions."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from smtformats.caching.folders import default_folder
from smtformats.records import dataclass
from smtplugins.contracts.errors import SmtError

if TYPE_CHECKING:
    from types import ModuleType

    from smtplugins.host.host import Host
    from smtplugins.host.loading.registry import Registry

_HOSTS: dict[Loading, Host] = {}
_PLUGIN_FILES: dict[str, bytes] = {}
"""The modules that were imported here for other processes, and their files."""


@dataclass(frozen=True)
class PluginFile:
    """A plugin of one file: the name of its module, and what the file holds."""

    module: str
    path: str
    data: bytes

    def placed(self) -> Path:
        """The file if it is here and the same, else a copy of it."""
        here = Path(self.path)
        if here.is_file() and here.read_bytes() == self.data:
            return here
        place = default_folder() / "plugins" / hashlib.sha256(self.data).hexdigest()[:32] / here.name
        if not place.is_file() or place.read_bytes() != self.data:
            place.parent.mkdir(parents=True, exist_ok=True)
            aside = place.with_suffix(f".{os.getpid()}")
            aside.write_bytes(self.data)
            aside.replace(place)
        return place


@dataclass(frozen=True)
class Loading:
    """What plugins a host has besides the installed ones, which are switched off, and the versions of all.

    ``score_cache`` is the folder that was asked for; None is the default of each machine.
    """

    plugins: tuple[str | PluginFile, ...]
    disabled: tuple[str, ...]
    score_cache: str | None
    versions: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, host: Host) -> Loading:
        """How a host was loaded; raises SmtError for a plugin that another machine cannot load."""
        extra, disabled, score_cache = host.given
        return cls(tuple(map(_plugin, extra)), tuple(sorted(disabled)), score_cache, versions(host))

    def host(self) -> Host:
        """The host of this process that is loaded so; raises SmtError if versions differ."""
        if self not in _HOSTS:
            from smtplugins.host.loading.manager import load_given

            # Those of the client's environment are among them; this process may have the same.
            host = load_given([_wanted(plugin) for plugin in self.plugins], self.disabled, score_cache=self.score_cache)
            _check_same(dict(self.versions), dict(versions(host)))
            _HOSTS[self] = host
        return _HOSTS[self]


def versions(host: Host) -> tuple[tuple[str, str], ...]:
    """The versions of Python, numpy and of all packages whose plugins work here."""
    import numpy as np

    python = ".".join(map(str, sys.version_info[:2]))
    plugins = {info.name: info.version for info in host.plugins if info.status == "ok"}
    return (("Python", python), ("numpy", np.__version__), *sorted(plugins.items()))


def _check_same(wanted: dict[str, str], found: dict[str, str]) -> None:
    differ = [
        f"{name} {found.get(name) or 'missing'} instead of {version}"
        for name, version in wanted.items()
        if found.get(name) != version
    ]
    if differ:
        raise SmtError(f"this worker has {', '.join(differ)}: install the same packages there")


def _plugin(given: object) -> str | PluginFile:
    from smtplugins.host.loading.manager import module_name

    if isinstance(given, (str, os.PathLike)):
        text = os.fspath(given)
        if not text.endswith(".py"):
            return text
        path = Path(text).resolve()
        return PluginFile(module_name(path), str(path), path.read_bytes())
    name: str = getattr(given, "__name__", "")
    return name


def _wanted(plugin: str | PluginFile) -> str | ModuleType:
    """What loads a plugin here."""
    if isinstance(plugin, str):
        return plugin
    from smtplugins.host.loading.manager import import_file

    # Under the name that it has where the work comes from, by which its classes and functions are known.
    known = sys.modules.get(plugin.module)
    if known is not None and _PLUGIN_FILES.get(plugin.module, plugin.data) == plugin.data:
        return known
    # Hosts made before have what the file defined before it was changed.
    _HOSTS.clear()
    _PLUGIN_FILES[plugin.module] = plugin.data
    return import_file(plugin.placed(), plugin.module)


def registry_again(loading: Loading) -> Registry:
    """The registry of such a host."""
    return loading.host().registry


def host_again(loading: Loading) -> Host:
    """The host that was loaded so; what a pickled host becomes."""
    return loading.host()
