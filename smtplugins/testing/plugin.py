"""Run all checks on everything a plugin offers, for ``smt plugins check NAME``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.contracts.errors import PluginError, UsageError
from smtplugins.contracts.offers import KINDS
from smtplugins.contracts.spec import suggestion
from smtplugins.testing import checks

if TYPE_CHECKING:
    from smtplugins.host.host import Host


def check_plugin(host: Host, name: str, folder: Path) -> list[tuple[str, str, checks.CheckResult]]:
    """Return kind, name and result of each check; ``folder`` is an empty folder.

    Runners and commands have no checks.
    """
    info = next((plugin for plugin in host.plugins if plugin.name == name), None)
    if info is None:
        raise UsageError(f"unknown plugin {name!r}{suggestion(name, [one.name for one in host.plugins])}")
    if info.status != "ok":
        raise PluginError(f"plugin {info.described()} is {info.status}: {info.reason}")
    host.formats()  # which then are offers of their plugins
    results = []
    for kind in checks.KINDS:
        for offered in info.offers.get(kind, ()):
            record = host.registry.entry(kind, offered).record
            own = folder / kind / offered
            own.mkdir(parents=True)
            results += [(KINDS[kind], offered, result) for result in checks.run_checks(kind, record, own, host=host)]
    return results
