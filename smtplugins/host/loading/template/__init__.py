"""A new plugin distribution that passes the conformance kit at once; ``{{name}}`` in these files is its name.

``examples/plugin-template`` in the repository is what this writes for the name ``example``, plus a native feature.
"""

from __future__ import annotations

import re
from pathlib import Path

from smtplugins.contracts.errors import UsageError

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_FILES = {
    "pyproject.toml.in": "pyproject.toml",
    "README.md.in": "README.md",
    "plugin.py.in": "src/{{package}}/__init__.py",
    "tests.py.in": "tests/test_{{package}}.py",
}


def new_plugin(name: str, folder: Path) -> list[Path]:
    """Write the distribution ``smt-NAME`` with the plugin ``NAME`` into a new or empty folder; return the files."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"expected a plugin name of lower-case letters, digits and single `-`, a letter first, found {name!r}"
        )
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: expected a folder, found a file")
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder}: expected a new or empty folder, found files in it")
    here = Path(__file__).parent
    written = []
    for source, target in _FILES.items():
        path = folder / _filled(target, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_filled((here / source).read_text(encoding="utf-8"), name), encoding="utf-8", newline="\n")
        written.append(path)
    return written


def _filled(text: str, name: str) -> str:
    return text.replace("{{name}}", name).replace("{{package}}", f"smt_{name.replace('-', '_')}")
