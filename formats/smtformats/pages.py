"""formats/README.md: the table of formats and a section for each (``python -m smtformats.pages`` prints it)."""

from __future__ import annotations

import inspect
import sys

from smtformats.format import Format, all_formats

_HEAD = """\
# Formats

The package `smtformats` reads and writes these files; it works without the rest of smtplugins. A format is told by its
shape, never by its name; where that is not clear, `--from NAME` says it. Files may be compressed; text is UTF-8 and
split at `\\n` alone. A list read and written in its own format comes back byte for byte, and a change touches only the
field it is about.

| name | kind | access | what |
|---|---|---|---|
"""


def documentation() -> str:
    """The text of formats/README.md."""
    rows = [f"| `{one.name}` | {one.kind} | {_access(one)} | {_cell(one.summary)} |\n" for one in all_formats()]
    sections = [f"\n## {one.name}\n\n{_section(one)}\n" for one in all_formats()]
    return _HEAD + "".join(rows) + "".join(sections)


def _access(one: Format) -> str:
    return ("read" if one.parse else "") + (", " if one.parse and one.write else "") + ("write" if one.write else "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _section(one: Format) -> str:
    module = inspect.getmodule(one.parse or one.write)
    return inspect.cleandoc((module.__doc__ if module is not None else None) or "").replace("``", "`")


if __name__ == "__main__":
    sys.stdout.write(documentation())
