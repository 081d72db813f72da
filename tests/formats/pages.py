"""Generate the format documentation: README.md with a table, and a page per format with an example.

``pytest --update-golden`` writes the pages in ``formats/``.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import io
import re
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from smtformats import escapes
from smtformats.files import Lines
from smtformats.format import Format, all_formats
from smtformats.nbest.shared.json_readers import examples

_HEAD = """\
# Formats

The package `smtformats` reads and writes these files; it works without the rest of smtplugins. A file's format is
detected from its content, never from its name; if the content is ambiguous, name the format with `--from NAME`. What
is written has the format of `--to NAME`, else that of the file's suffix, such as `.jsonl`, `.tsv`, `.parquet` or
`.slf`, else the input's; a suffix of other formats alone is an error. `.txt`, `.nbest` and `.dat` say nothing. Files
may be compressed; text is UTF-8, and lines end at `\\n` only. A file that is read and written in the same format comes
back byte for byte, and a change rewrites only the field it affects.

Options follow the name: `--from NAME,key=value`. Every format that can be read has two: `max_line`, the maximum number
of bytes in a line (16 MiB), and `max_size`, the maximum size of a compressed file after decompression (64 GiB). For
lists with numbers as ids, `ids=FILE` names the table of their ids that smtplugins writes beside such lists.

| name | kind | access | what |
|---|---|---|---|
"""
_EMPTY = {"()", "[]", "{}", "''", "mappingproxy({})"}
_WIDTH = 120
# Fields about where a record came from and how it was spelled: examples leave them out.
_ORIGIN = {"raw", "places", "origin", "file", "line", "first", "before", "after", "trail", "format", "read", "spelling"}


def documentation() -> dict[str, str]:
    """The text of each page by its path below ``formats/``."""
    rows = [
        f"| [`{entry.name}`](pages/{entry.name}.md) | {entry.kind} | {_access(entry)} | {_cell(entry.summary)} |\n"
        for entry in all_formats()
    ]
    text = _HEAD + "".join(rows) + "\n## Escapes and look-alikes\n\n" + _docstring(escapes)
    return {"README.md": text} | {f"pages/{entry.name}.md": _page(entry) for entry in all_formats()}


def _access(entry: Format) -> str:
    ways = {"read": entry.parse, "columns": entry.load, "write": entry.write, "update": entry.update}
    return ", ".join(way for way, function in ways.items() if function is not None)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _docstring(module: ModuleType | None) -> str:
    text = inspect.cleandoc((module.__doc__ if module is not None else None) or "")
    return re.sub(r":func:(`\w+`)", r"\1", text.replace("``", "`")) + "\n"


def _page(entry: Format) -> str:
    kind = f"{entry.kind}; {_access(entry)}"
    if entry.folder:
        kind += "; a folder"
    if entry.single:
        kind += "; a sentence in each file, or a folder of such files"
    page = f"# {entry.name}\n\n{entry.summary} ({kind})\n\n{_docstring(inspect.getmodule(entry.parse or entry.write))}"
    if entry.name == "jsonl-nbest":
        page += _shapes()
    options = dict(_options(entry))
    if options:
        rows = "".join(f"| `{name}` | {default} |\n" for name, default in options.items())
        page += f"\n## Options\n\n| name | default |\n|---|---|\n{rows}"
    if entry.example and entry.parse is not None:
        page += f"\n## Example\n\n```\n{entry.example.rstrip(chr(10))}\n```\n\nreads as\n\n```\n{_read(entry)}```\n"
    return page


def _shapes() -> str:
    """The table of foreign shapes, each with a line that is read."""
    rows = [f"| {name} | `{line}` | {notes} |\n" for name, line, notes in examples()]
    return "\n## Shapes\n\n| shape | a line | what is read |\n|---|---|---|\n" + "".join(rows)


def _options(entry: Format) -> Iterator[tuple[str, str]]:
    for function in (entry.parse, entry.write):
        for name, parameter in inspect.signature(function).parameters.items() if function is not None else ():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                default = parameter.default
                yield name, "needed" if default is inspect.Parameter.empty else f"`{default!r}`"


def _read(entry: Format) -> str:
    assert entry.parse is not None
    lines = Lines(io.BytesIO(entry.example.encode()), "0")
    options = {name: 1 for name, default in _options(entry) if default == "needed"}
    return "".join(f"{_show(record)}\n" for record in functools.partial(entry.parse, **options)(lines))


def _show(value: Any, indent: str = "") -> str:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _record(value, indent)
    if isinstance(value, Mapping):
        return repr({name: _Plain(_show(element, indent)) for name, element in value.items() if name not in _ORIGIN})
    if hasattr(value, "tolist"):
        return repr(value.tolist())
    if hasattr(value, "blob"):
        return repr(list(value))
    if isinstance(value, (tuple, list)) and any(dataclasses.is_dataclass(element) for element in value):
        items = [_show(element, indent + "  ") for element in value]
        line = f"[{', '.join(items)}]"
        return line if _fits(line, indent) else "".join(f"\n{indent}  {item}" for item in items)
    return repr(value)


def _record(record: Any, indent: str) -> str:
    """Show a record on one line if it fits, otherwise one field per line; its own ``repr``, if any, comes first."""
    if not record.__dataclass_params__.repr:
        return repr(record)
    fields = [field for field in dataclasses.fields(record) if field.name not in _ORIGIN]
    shown = {field.name: (_show(getattr(record, field.name), indent + "  "), repr(field.default)) for field in fields}
    visible = {name: text for name, (text, default) in shown.items() if text != default and text not in _EMPTY}
    kind = type(record).__name__
    line = f"{kind}({', '.join(f'{name}={text}' for name, text in visible.items())})"
    if _fits(line, indent):
        return line
    return kind + "".join(f"\n{indent}  {name}:{' ' * (text[0] != chr(10))}{text}" for name, text in visible.items())


def _fits(text: str, indent: str) -> bool:
    return "\n" not in text and len(indent) + len(text) <= _WIDTH


class _Plain(str):
    """A string whose ``repr`` has no quotes."""

    __slots__ = ()
    __repr__ = str.__str__
