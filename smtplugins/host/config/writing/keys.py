"""The keys of a run.yaml with their types, defaults and descriptions, from the dataclasses that hold them."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smtplugins.contracts.options import option_docs, option_parameters
from smtplugins.contracts.spec import Spec, documentation, parameters, shown_type
from smtplugins.host.config.passes import ForestPass
from smtplugins.host.config.records import ModelConfig, OutputConfig, TextConfig
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import RunConfig

REQUIRED = inspect.Parameter.empty
SECTIONS: Mapping[str, type] = {
    "": RunConfig,
    "text": TextConfig,
    "model": ModelConfig,
    "model.tables": RuleTable,
    "model.passes": ForestPass,
    "output": OutputConfig,
}
"""The records of a run.yaml, by the key that has them."""
_SHOWN: Mapping[Any, str] = {
    Path: "path",
    Spec: "name and options",
    RuleTable: "path or keys",
    TextConfig: "path or keys",
    ForestPass: "keys",
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
}


@dataclass(frozen=True)
class Key:
    """A key or option: its type, default (``REQUIRED`` if there is none) and description."""

    name: str
    type: Any
    default: Any
    doc: str

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is REQUIRED

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values of a choice between some; empty for other types."""
        return tuple(value for part in parts_of(self.type) for value in _literals(part))

    @property
    def shown_type(self) -> str:
        """The type in words."""
        if typing.get_origin(self.type) is tuple:
            return f"list of {_shown(typing.get_args(self.type)[0])}"
        return " or ".join(dict.fromkeys(filter(None, map(_shown, parts_of(self.type)))))


def record_keys(record: type) -> list[Key]:
    """The keys of a record of a run.yaml."""
    docs = option_docs(record)
    return [Key(name, one.annotation, one.default, docs.get(name, "")) for name, one in _fields(record)]


def option_keys(make: Any) -> list[Key]:
    """The options of what a plugin makes, such as a decoder."""
    docs = documentation(make)
    return [Key(name, one.annotation, one.default, docs.get(name, "")) for name, one in parameters(make).items()]


def parts_of(annotation: Any) -> tuple[Any, ...]:
    """The types of a union but for None, or the type itself."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return tuple(part for part in typing.get_args(annotation) if part is not type(None))
    return (annotation,)


def _fields(record: type) -> Iterator[tuple[str, inspect.Parameter]]:
    order = {field.name for field in dataclasses.fields(record) if field.init}
    return ((name, one) for name, one in option_parameters(record).items() if name in order)


def _literals(part: Any) -> tuple[Any, ...]:
    return typing.get_args(part) if typing.get_origin(part) is typing.Literal else ()


def _shown(part: Any) -> str:
    if literals := _literals(part):
        return " or ".join(str(value) for value in literals)
    if dataclasses.is_dataclass(part) and part not in _SHOWN:
        return "keys"
    return _SHOWN.get(part) or shown_type(part)
