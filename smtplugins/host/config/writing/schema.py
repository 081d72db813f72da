"""The JSON schema of a run.yaml (draft 2020-12), by which editors complete keys and names and mark mistakes."""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.escapes import SCHEMES
from smtplugins.contracts.errors import PluginError
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.passes import ForestPass
from smtplugins.host.config.records import ModelConfig, OutputConfig, TextConfig
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import RunConfig
from smtplugins.host.config.writing.keys import Key, option_keys, parts_of, record_keys

if TYPE_CHECKING:
    import os

    from smtplugins.host.host import Host

SCHEMA = "run.schema.json"
"""The file beside a run.yaml that its first line names, if it is there."""
_KINDS = {
    "decoder": "decoders",
    "features": "features",
    "learner": "learners",
    "metric": "metrics",
    "runner": "runners",
}
_OF_FEATURES = {"tuneable": {"type": "boolean", "description": "the weight is learnt"}}
_RECORDS = (TextConfig, RuleTable, ForestPass, ModelConfig, OutputConfig)
_SINGLE: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    Path: {"type": "string"},
}
_WRITTEN = {
    bool: "^([Tt]rue|[Ff]alse|yes|no|on|off|1|0)$",
    int: "^[+-]?[0-9]+$",
    float: "^[+-]?[0-9.]+([eE][+-]?[0-9]+)?$",
}
"""Values of options as texts, which are converted, too."""


def config_schema(host: Host) -> str:
    """The schema as JSON, with the decoders, features and others of the loaded plugins."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A run.yaml of smtplugins",
        **_record(RunConfig),
        "$defs": {kind: _named(host, kind) for kind in _KINDS.values()},
    }
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def schema_line(folder: str | os.PathLike[str], *, absolute: bool = False) -> str:
    """The first line of a run.yaml in a folder that holds the file of a schema, for editors; else nothing."""
    path = Path(folder) / SCHEMA
    if not path.is_file():
        return ""
    return f"# yaml-language-server: $schema={path.resolve() if absolute else SCHEMA}\n"


def _record(record: type) -> dict[str, Any]:
    """The schema of a record's keys."""
    keys = record_keys(record)
    required = [key.name for key in keys if key.required]
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {key.name: {**_key(key), "description": key.doc} for key in keys},
        **({"required": required} if required else {}),
    }


def _key(key: Key) -> dict[str, Any]:
    """The schema of a key; where there may be several values, one needs no list."""
    if typing.get_origin(key.type) is tuple:
        item = _value(key, typing.get_args(key.type)[0])
        return {"anyOf": [{"type": "array", "items": item}, item]}
    (part,) = parts_of(key.type)
    value = _value(key, part)
    return value if part is key.type else {"anyOf": [value, {"type": "null"}]}


def _value(key: Key, wanted: Any) -> dict[str, Any]:
    if wanted is Spec:
        return {"$ref": f"#/$defs/{_KINDS[key.name]}"} if key.name in _KINDS else {"type": ["string", "object"]}
    if wanted in (RuleTable, TextConfig):
        return {"anyOf": [{"type": "string"}, _record(wanted)]}
    if wanted in _RECORDS:
        # A section may have comments alone.
        return _record(wanted) | ({"type": ["object", "null"]} if wanted in (ModelConfig, OutputConfig) else {})
    return {"enum": list(SCHEMES)} if key.name == "escape" else dict(_SINGLE[wanted])


def _named(host: Host, kind: str) -> dict[str, Any]:
    """The schema of a name with options: ``NAME,key=value``, or a mapping with the key ``name``."""
    names = host.registry.names(kind)
    prefix = "|".join(map(re.escape, names))
    return {
        "anyOf": [
            {"enum": names},
            {"type": "string", "pattern": f"^({prefix}),"},
            {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"enum": names}},
                "allOf": list(_choices(host, kind, names)),
            },
        ]
    }


def _choices(host: Host, kind: str, names: list[str]) -> Iterator[dict[str, Any]]:
    """The options of each name; those of a plugin that cannot be imported may be any."""
    for name in names:
        try:
            keys = option_keys(host.registry.factory(kind, name))
        except PluginError:
            continue
        summary = host.registry.entry(kind, name).record.summary
        options = {key.name: _option(key) for key in keys if key.name != "name"}
        then = {
            "properties": {
                "name": {"description": summary},
                **options,
                **(_OF_FEATURES if kind == "features" else {}),
            },
            "additionalProperties": False,
            "required": [key.name for key in keys if key.required],
        }
        yield {"if": {"properties": {"name": {"const": name}}}, "then": then}


def _option(key: Key) -> dict[str, Any]:
    """The schema of an option, which takes what `contracts.spec.convert` converts."""
    given: dict[str, Any] = {} if key.required or key.default is None else {"default": _plain(key.default)}
    said = {"description": key.doc} if key.doc else {}
    types = [_of_type(part) for part in parts_of(key.type)]
    if any(one is None for one in types):
        return {**said, **given}
    optional = [] if parts_of(key.type) == (key.type,) else [{"type": "null"}]
    return {"anyOf": [*types, *optional], **said, **given}


def _of_type(part: Any) -> dict[str, Any] | None:
    """The schema of a type; None for one that is not known."""
    if typing.get_origin(part) is typing.Literal:
        values = list(typing.get_args(part))
        # YAML reads the choice "10" without quotes as a number.
        return {"enum": values + [int(value) for value in values if isinstance(value, str) and value.isdecimal()]}
    if part is str:
        return {"type": ["string", "number"]}
    if part in _WRITTEN:
        return {"anyOf": [_SINGLE[part], {"type": "string", "pattern": _WRITTEN[part]}]}
    return _SINGLE.get(part)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
