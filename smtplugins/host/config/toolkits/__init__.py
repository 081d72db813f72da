"""Convert the toolkits' configurations to a run.yaml: a module for each, whose table maps the keys.

Decoders and features are named here, with every convention of the toolkit written out; the registry says whether a
plugin offers them.
"""

from __future__ import annotations

from pathlib import Path

from smtformats.config.settings import Settings
from smtplugins.host.config.toolkits.draft import Draft


def draft(settings: Settings, path: Path | None) -> Draft:
    """Convert a configuration; ``path`` is its file, if it has one."""
    from smtplugins.host.config.toolkits import cdec, joshua, moses

    adapters = {"cdec-settings": cdec.adapt, "joshua-settings": joshua.adapt, "moses-settings": moses.adapt}
    return adapters[settings.origin](settings, path)
