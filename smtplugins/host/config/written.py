"""Write the records of a run.yaml."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from smtplugins.contracts.spec import Spec
from smtplugins.host.config.rule_tables import RuleTable


def as_yaml(record: Any) -> str:
    """Write a record as YAML, without the keys that have no value."""
    import yaml

    def dumped(unicode: bool) -> str:
        text: str = yaml.safe_dump(
            plain(record), sort_keys=False, allow_unicode=unicode, default_flow_style=None, width=110
        )
        return text

    text = dumped(True)
    # YAML breaks lines at these characters unless they are escaped.
    return dumped(False) if any(char in text for char in "\x85\u2028\u2029") else text


def plain(value: Any) -> Any:
    """A value as YAML has it: texts, numbers, lists and mappings."""
    if isinstance(value, RuleTable):
        return value.plain()
    if isinstance(value, Spec):
        # A mapping has no place for the option `name`, which names the column.
        if "name" in value.options:
            return str(value)
        return {"name": value.name, **value.options} if value.options else value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (field.name for field in dataclasses.fields(value) if field.init)
        shown = {name: plain(getattr(value, name)) for name in fields}
        return {name: item for name, item in shown.items() if item not in (None, [], {})}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return os.fspath(value) if isinstance(value, Path) else value
