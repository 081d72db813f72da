"""Write the records of a run.yaml."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from smtplugins.contracts.spec import Spec
from smtplugins.host.config.rule_tables import RuleTable


def as_yaml(record: Any, folder: Path | None = None) -> str:
    """Write a record as YAML, without the keys that have no value; with a folder, paths are relative to it."""
    import yaml

    def dumped(unicode: bool) -> str:
        text: str = yaml.safe_dump(
            plain(record, folder), sort_keys=False, allow_unicode=unicode, default_flow_style=None, width=110
        )
        return text

    text = dumped(True)
    # YAML breaks lines at these characters unless they are escaped.
    return dumped(False) if any(char in text for char in "\x85\u2028\u2029") else text


def plain(value: Any, folder: Path | None = None) -> Any:
    """A value as YAML has it: texts, numbers, lists and mappings; with a folder, paths are relative to it."""
    if isinstance(value, RuleTable):
        table = value.plain()
        if isinstance(table, str):
            return _seen(table, folder)
        return {**table, "path": _seen(table["path"], folder)}
    if isinstance(value, Spec):
        options = {name: _option(item, folder) for name, item in value.options.items()}
        # A mapping has no place for the option `name`, which names the column.
        if "name" in options:
            return str(Spec(value.name, options))
        return {"name": value.name, **options} if options else value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (field.name for field in dataclasses.fields(value) if field.init)
        shown = {name: plain(getattr(value, name), folder) for name in fields}
        return {name: item for name, item in shown.items() if item not in (None, [], {})}
    if isinstance(value, tuple):
        return [plain(item, folder) for item in value]
    return _seen(os.fspath(value), folder) if isinstance(value, Path) else value


def _option(value: Any, folder: Path | None) -> Any:
    """An option of an offer; strings with the absolute path of a file or folder are paths."""
    is_path = isinstance(value, (str, Path)) and os.path.isabs(value) and os.path.exists(value)
    return _seen(os.fspath(value), folder) if is_path else value


def _seen(path: str, folder: Path | None) -> str:
    """The path from the folder, or as it is."""
    return path if folder is None else os.path.relpath(path, folder)
