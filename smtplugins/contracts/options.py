"""Options as a dataclass: each field is an option, with its type, default, bounds and documentation.

A constructor that takes the dataclass as its parameter ``options`` has these options on the command line, in a run.yaml
and in ``smt ... show NAME``, one by one::

    @dataclass(frozen=True, kw_only=True)
    class GreedyOptions(CheckedOptions):
        beam_size: int = option(10, "hypotheses kept at each step", least=1)


    class Greedy:
        def __init__(self, *, options: GreedyOptions, resources: Resources) -> None: ...
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from smtplugins.contracts.errors import UsageError

T = TypeVar("T")
PARAMETER = "options"
"""The parameter of a constructor that takes a dataclass of options."""


def option(
    default: Any = dataclasses.MISSING, doc: str = "", *, least: float | None = None, probability: bool = False
) -> Any:
    """A field of a dataclass of options; without a default the option is required.

    ``doc`` says in one line what the option does. Values below ``least``, or outside 0 to 1 for a ``probability``, are
    errors.
    """
    said = {"doc": doc or None, "least": least, "probability": probability or None}
    return dataclasses.field(default=default, metadata={key: value for key, value in said.items() if value is not None})


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckedOptions:
    """Base of dataclasses of options: values out of bounds are errors."""

    def __post_init__(self) -> None:
        check_bounds(self)


def check_bounds(options: Any, owner: str = "") -> None:
    """Raise UsageError if a field of ``options`` is out of its bounds; ``owner`` begins the message."""
    place = f"{owner}: " if owner else ""
    for name, said in _metadata(options.__class__).items():
        value, least = getattr(options, name), said.get("least")
        if value is not None and least is not None and value < least:
            raise UsageError(f"{place}{name}: expected {least} or more, found {value}")
        if value is not None and said.get("probability") and not 0.0 <= value <= 1.0:
            raise UsageError(f"{place}{name}: expected a probability, found {value}")


@functools.cache
def _metadata(options: type) -> dict[str, dict[str, Any]]:
    """The documentation and bounds of each field; a field that is declared again keeps those of its base class."""
    merged: dict[str, dict[str, Any]] = {}
    for base in options.__mro__:
        for field in base.__dict__.get("__dataclass_fields__", {}).values():
            said = merged.setdefault(field.name, {})
            for key, value in field.metadata.items():
                if key not in said:
                    said[key] = value
    return merged


def options_class(make: Any, signature: inspect.Signature) -> type | None:
    """The dataclass of options that ``make`` takes, or is; ``None`` if its options are plain parameters."""
    if inspect.isclass(make) and dataclasses.is_dataclass(make):
        return make
    parameter = signature.parameters.get(PARAMETER)
    annotation = None if parameter is None else parameter.annotation
    return annotation if inspect.isclass(annotation) and dataclasses.is_dataclass(annotation) else None


def option_parameters(options: type) -> dict[str, inspect.Parameter]:
    """The fields of a dataclass of options as keyword parameters: those of the class itself first, then its bases'."""
    return dict(_option_parameters(options))


@functools.cache
def _option_parameters(options: type) -> dict[str, inspect.Parameter]:
    fields = {field.name: field for field in dataclasses.fields(options) if field.init}
    try:
        hints = typing.get_type_hints(options)
    except NameError:
        # Some names are there for type checkers only.
        hints = {name: field.type for name, field in fields.items()}
    # A field that a subclass declares again, with another default, stays where its base has it.
    owners = {name: base for base in options.__mro__ for name in inspect.get_annotations(base)}
    names = [name for base in options.__mro__ for name in fields if owners[name] is base]
    return {
        name: inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=_default(fields[name]), annotation=hints[name]
        )
        for name in names
    }


def option_docs(options: type) -> dict[str, str]:
    """The description of each option that has one, from its field or that of a base class."""
    return {name: said["doc"] for name, said in _metadata(options).items() if said.get("doc")}


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return inspect.Parameter.empty


def fill(made: type[T], values: object, **computed: Any) -> T:
    """Make a ``made`` and set its fields from ``values`` by name; ``computed`` values take precedence.

    ``made`` is a dataclass or a native struct of options. Fields of ``values`` that ``made`` has no name for are left
    out; ``computed`` names that it lacks are errors.
    """
    if dataclasses.is_dataclass(made):
        known = {field.name for field in dataclasses.fields(made)}
    else:
        known = {name for name in dir(made) if not name.startswith("_")}
    own = {name: value for name, value in vars(values).items() if name in known}
    return made(**{**own, **computed})


def grouped(make: Any, signature: inspect.Signature, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of ``make``; values that are fields of its dataclass of options are put into that dataclass."""
    record = options_class(make, signature)
    if record is None or record is make:
        return dict(values)
    names = {field.name for field in dataclasses.fields(record)}
    rest = {name: value for name, value in values.items() if name not in names}
    return {**rest, PARAMETER: record(**{name: value for name, value in values.items() if name in names})}
