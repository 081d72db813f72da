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
_PAGE = """\
# The keys of a run.yaml

This page is made from the dataclasses that hold the keys. `smt config new --decoder NAME [--from DIR] -o run.yaml`
writes a file with all of them and the decoder's options, `smt config check run.yaml` tries it on a sentence, `smt
config show` prints what it sets, and `smt config schema` a JSON schema for editors: with `config new --schema`, or
where run.schema.json lies beside a run.yaml that is written, its first line names the schema.

Paths are relative to the file. A list of one value may be that value. What has a name and options is written
`NAME,key=value` or `{name: NAME, key: value}`; the options of decoders, features, learners, metrics and runners are
printed by `smt decoders show NAME` and so on. Options of features that are called `path` or end in `_path` are
relative to the file, too. All features take `name=`, the name of their column, and `tuneable=false`. `--set
model.weights=FILE` overrides a key.

Without `model.weights`, decoding and tuning begin with weights that are listed in a note: 0.2 for each probability of
a table (-0.2 for a cost), 0 for its other scores; `lm` 0.5, `distortion` and each orientation of `lexical-reordering`
0.3, `phrase-penalty` 0.2, `word-penalty` -1, which rewards words as its value is negative, `glue` 0, `oov` and
`pass-through` 1 for a negative value and -5 for a count, and 0 for features that have none. These are Moses' but for
`glue`. A table's probabilities are known by its format.

"""


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


def keys_page() -> str:
    """The page of all keys."""
    sections = []
    for name, record in SECTIONS.items():
        title = f"`{name}`" if name else "Keys"
        rows = [f"| `{key.name}` | {key.shown_type} | {_default(key)} | {key.doc} |\n" for key in record_keys(record)]
        sections.append(f"## {title}\n\n| key | type | default | meaning |\n|---|---|---|---|\n{''.join(rows)}")
    return _PAGE + "\n".join(sections)


def _default(key: Key) -> str:
    if key.required:
        return "required"
    shown = {True: "true", False: "false"}.get(key.default) if isinstance(key.default, bool) else key.default
    return "" if key.default in (None, "", ()) or dataclasses.is_dataclass(key.default) else f"`{shown}`"


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
