"""``NAME[,key=value...]``: the name of a feature, metric, learner, decoder or runner with its options, and their types.

A value with a comma is quoted: ``external,command="score --beam 5, --fast"``; quotes inside are doubled. Options are
the parameters of a constructor, with the types of its signature. The host itself reads two options of features:
``name=``, the name of the column, and ``tuneable=false``: its weight is not learnt, and Moses' n-best lists leave it
out.
"""

from __future__ import annotations

import functools
import inspect
import os
import types
import typing
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from smtformats.records import dataclass
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.options import PARAMETER, grouped, option_docs, option_parameters, options_class

_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0"}


@dataclass(frozen=True)
class Spec:
    """A name with options; values from a command line are strings, others may be typed."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Parse ``NAME[,key=value...]``."""
        name, *items = _split(text)
        if not name:
            raise UsageError(f"expected NAME[,key=value...], found {text!r}")
        return cls(name, cls._options(name, items))

    @classmethod
    def with_options(cls, name: str, text: str) -> Spec:
        """Read ``key=value,...``, the options of a name; none if the text is empty."""
        return cls(name, cls._options(name, _split(text)) if text else {})

    @staticmethod
    def _options(name: str, items: Sequence[str]) -> dict[str, Any]:
        options: dict[str, Any] = {}
        for item in items:
            key, equals, value = item.partition("=")
            key = key.rstrip()
            if not equals or not key:
                raise UsageError(f"expected key=value after {name!r}, found {item!r}")
            if key in options:
                raise UsageError(f"option {key!r} of {name!r} is given twice")
            options[key] = _unquote(value.lstrip())
        return options

    @classmethod
    def of(cls, value: str | Mapping[str, Any] | Spec) -> Spec:
        """Make a spec from a string, or a mapping with ``name``; return a spec as it is."""
        if isinstance(value, Spec):
            return value
        if isinstance(value, str):
            return cls.parse(value)
        options = dict(value)
        name = options.pop("name", None)
        if not isinstance(name, str):
            raise UsageError(f"expected a mapping with a `name`, found {dict(value)!r}")
        return cls(name, options)

    def __str__(self) -> str:
        return ",".join([self.name, *(f"{key}={_quote(str(value))}" for key, value in self.options.items())])


def _split(text: str) -> list[str]:
    parts, quote = [""], ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        if char == "," and not quote:
            parts.append("")
        else:
            parts[-1] += char
    if quote:
        raise UsageError(f"expected a closing {quote} in {text!r}")
    return [part.strip() for part in parts]


def _unquote(value: str) -> str:
    quote, inside = value[:1], value[1:-1]
    quoted = len(value) > 1 and quote in "\"'" and value[-1] == quote
    # Two quoted pieces, as in `"a" "b"`, are a single value, kept as it is.
    if quoted and quote not in inside.replace(quote * 2, ""):
        return inside.replace(quote * 2, quote)
    return value


def _quote(value: str) -> str:
    if value == value.strip() and not any(char in value for char in ",\"'"):
        return value
    quote = "'" if '"' in value and "'" not in value else '"'
    return quote + value.replace(quote, quote * 2) + quote


def suggestion(name: str, known: Iterable[str]) -> str:
    """The end of an error message: ``; did you mean ...?`` with similar names, else a list of all known names."""
    import difflib

    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    if close:
        return f"; did you mean {' or '.join(repr(one) for one in close)}?"
    return f"; known: {', '.join(names)}" if names else "; none is known"


_SIGNATURES: weakref.WeakKeyDictionary[Callable[..., Any], inspect.Signature] = weakref.WeakKeyDictionary()


def evaluated(make: Callable[..., Any]) -> inspect.Signature:
    """Return a signature with its annotations evaluated, except names that exist for type checkers only; cached."""
    try:
        known = _SIGNATURES.get(make)
        if known is None:
            known = _SIGNATURES[make] = _evaluate(make)
    except TypeError:
        # It cannot be hashed or weakly referenced.
        known = _evaluate(make)
    return known


def _evaluate(make: Callable[..., Any]) -> inspect.Signature:
    if inspect.isclass(make) and _is_plain(make):
        # inspect would parse the text of object's own signature, 4 ms.
        return inspect.Signature()
    try:
        return inspect.signature(make, eval_str=True)
    except NameError:
        found = inspect.signature(make)
    # An unknown name must not hide the types of other parameters.
    known = _names_at(make)
    each = [one.replace(annotation=_type_of(one.annotation, known)) for one in found.parameters.values()]
    return found.replace(parameters=each)


def _is_plain(make: Any) -> bool:
    """Whether a class is made like `object`, without arguments."""
    if type(make).__call__ is not type.__call__ or hasattr(make, "__signature__"):
        return False
    return make.__init__ is object.__init__ and make.__new__ is object.__new__


def _names_at(make: Callable[..., Any]) -> dict[str, Any]:
    """The global names that the annotations of a function or class refer to."""
    inner: Any = make
    while isinstance(inner, functools.partial):
        inner = inner.func
    if inspect.isclass(inner):
        inner = inspect.getattr_static(inner, "__init__")
    return getattr(inspect.unwrap(inner), "__globals__", {})


def _type_of(annotation: Any, known: dict[str, Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, known)
    except NameError:
        return annotation


GIFTS = frozenset({"loading", "note", "resources", "score_cache"})
"""Parameters that the host fills; they are not options.

``note`` prints a note to the user, ``score_cache`` is where scores are kept (``ScoreCache`` of ``tools.running``);
``resources`` are the tables and features of a decoder, ``loading()`` tells how the host was loaded.
"""


def parameters(make: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The options of ``make``: its parameters and the fields of its dataclass of options, without ``GIFTS``."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    signature = evaluated(make)
    record = options_class(make, signature)
    options: dict[str, inspect.Parameter] = {}
    for name, parameter in signature.parameters.items():
        if name == PARAMETER and record not in (None, make):
            options |= option_parameters(record)
        elif parameter.kind in kinds and name not in GIFTS:
            options[name] = parameter
    return options


def documentation(make: Callable[..., Any]) -> dict[str, str]:
    """The description of each option of ``make`` that has one in a dataclass of options."""
    record = options_class(make, evaluated(make))
    return {} if record is None else option_docs(record)


def shown_type(annotation: Any) -> str:
    """Format a type for a person; an empty string if there is none."""
    if annotation is inspect.Parameter.empty:
        return ""
    # Python 3.13 calls it pathlib._local.Path.
    return inspect.formatannotation(annotation).replace("pathlib._local.", "").replace("pathlib.", "")


def build(
    what: str, make: Callable[..., Any], options: Mapping[str, Any], given: Mapping[str, Any] | None = None
) -> Any:
    """Call ``make`` with checked and converted options, and with those ``given`` values that are its parameters."""
    signature = evaluated(make)
    gifts = {name: value for name, value in (given or {}).items() if name in signature.parameters}
    return make(**arguments(what, make, options), **gifts)


def arguments(what: str, make: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of ``make``, with its dataclass of options made: what that refuses is an error, too."""
    return grouped(make, evaluated(make), checked(what, make, options))


def checked(what: str, make: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Check options against the signature of ``make`` and convert them to its types."""
    known = parameters(make)
    for name in options:
        if name not in known:
            raise UsageError(f"{what} has no option {name!r}{suggestion(name, known)}")
    missing = [name for name, one in known.items() if one.default is inspect.Parameter.empty and name not in options]
    if missing:
        raise UsageError(f"{what} needs the option{'s' * (len(missing) > 1)} {', '.join(missing)}")
    return {name: convert(value, known[name].annotation, f"{what}: {name}") for name, value in options.items()}


def convert(value: Any, wanted: Any, place: str) -> Any:
    """Convert a value to the annotated type: strings are parsed, other values checked."""
    origin = typing.get_origin(wanted)
    if wanted in (inspect.Parameter.empty, Any) or isinstance(wanted, str):
        return value
    if origin in (typing.Union, types.UnionType):
        return _convert_union(value, typing.get_args(wanted), place)
    if origin is typing.Literal:
        allowed = typing.get_args(wanted)
        for one in allowed:
            if value == one or (isinstance(value, str) and value == str(one)):
                return one
        raise UsageError(f"{place}: expected one of {', '.join(map(str, allowed))}, found {value!r}")
    if wanted is bool:
        if isinstance(value, bool):
            return value
        if str(value).lower() in _TRUE | _FALSE:
            return str(value).lower() in _TRUE
        raise UsageError(f"{place}: expected true or false, found {value!r}")
    if wanted in (int, float):
        if isinstance(value, bool):
            raise UsageError(f"{place}: expected a number, found {value!r}")
        try:
            return wanted(value) if wanted is float or not isinstance(value, float) else _whole(value)
        except (TypeError, ValueError, OverflowError):
            kind = "a whole number" if wanted is int else "a number"
            raise UsageError(f"{place}: expected {kind}, found {value!r}") from None
    if wanted is str:
        if isinstance(value, (str, int, float, Path)) and not isinstance(value, bool):
            return str(value)
        raise UsageError(f"{place}: expected text, found {value!r}")
    if wanted in (Path, os.PathLike) or origin is os.PathLike:
        if not isinstance(value, (str, os.PathLike)):
            raise UsageError(f"{place}: expected a path, found {value!r}")
        return Path(value)
    return value


def _whole(value: float) -> int:
    if value != int(value):
        raise ValueError
    return int(value)


def _convert_union(value: Any, choices: tuple[Any, ...], place: str) -> Any:
    if value is None and type(None) in choices:
        return None
    if isinstance(value, str) and value.lower() == "none" and type(None) in choices and str not in choices:
        return None
    rest = [one for one in choices if one is not type(None)]
    for one in rest:
        try:
            return convert(value, one, place)
        except UsageError:
            if len(rest) == 1:
                raise
    raise UsageError(f"{place}: expected one of {', '.join(map(shown_type, rest))}, found {value!r}")
