"""run.yaml: what a run uses, typed; unknown keys and wrong values are errors with file, line and key.

Paths are relative to the file. ``--set decoder.pop_limit=200`` overrides any key. A cdec.ini, moses.ini or
joshua.config is told by its shape and amounts to the same record.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.errors import quote
from smtplugins.contracts.spec import Spec, suggestion
from smtplugins.host.errors import SmtError, UsageError, message

if TYPE_CHECKING:
    from smtformats.config.settings import Settings
    from smtplugins.host.config.toolkits.draft import Draft


class ConfigError(SmtError):
    """A run.yaml that cannot be used."""

    def __init__(self, file: str, line: int | None, key: str, text: str) -> None:
        place = file + (f":{line}" if line is not None else "")
        super().__init__(f"{place}: {key}: {text}" if key else f"{place}: {text}")


@dataclass(frozen=True)
class ModelConfig:
    """What scores translations. ``grammar_format`` is that of all grammars, those of single sentences too.

    ``missing`` is the weight of those features of the model that ``weights`` has none for: 0, unless it is given.
    """

    grammar: tuple[Path, ...] = ()
    grammar_format: str | None = None
    features: tuple[Spec, ...] = ()
    weights: Path | None = None
    missing: int | None = None


@dataclass(frozen=True)
class OutputConfig:
    """Results: ``dir`` is the folder of a tuning run, ``nbest`` the length of lists, here and there.

    ``unique``, ``format`` and ``fields`` (what lists have beside texts and features, ``host/files/list_fields.py``) are
    of lists that are written; tuning does not use them.
    """

    dir: Path | None = None
    nbest: int = 1
    unique: bool = False
    format: str = "moses-nbest"
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunConfig:
    """A run: plugins to load, data, decoder, model, learner, metric, runner, seed, output.

    References, learner, metric and seed are for tuning; decoding alone does not use them. ``runner`` maps sentences,
    unless the number of processes is given (``-j``).
    """

    plugins: tuple[str, ...] = ()
    source: Path | None = None
    source_format: str | None = None
    references: tuple[Path, ...] = ()
    decoder: Spec | None = None
    model: ModelConfig = field(default_factory=ModelConfig)
    learner: Spec | None = None
    metric: Spec | None = None
    runner: Spec | None = None
    seed: int = 1
    output: OutputConfig = field(default_factory=OutputConfig)
    _tree: _Tree | None = field(default=None, init=False, repr=False, compare=False)
    _toolkit: str = field(default="", init=False, repr=False, compare=False)
    _notes: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of the settings of a toolkit: those that are not used."""
        return self._notes

    @property
    def toolkit(self) -> str:
        """The toolkit whose configuration this was read from: cdec, joshua or moses; none of a run.yaml."""
        return self._toolkit

    def with_decoder(self, decoder: Spec) -> RunConfig:
        """The same with another decoder, which is not the file's any more."""
        made = dataclasses.replace(self, decoder=decoder)
        object.__setattr__(made, "_toolkit", self._toolkit)
        object.__setattr__(made, "_notes", self._notes)
        return made

    @contextlib.contextmanager
    def at(self, *key: str) -> Iterator[None]:
        """A wrong call or a missing file is an error at this key of the file, or at one of its options."""
        try:
            yield
        except (UsageError, OSError) as error:
            if self._tree is None:
                raise
            raise self._tree.error_inside(key, message(error)) from error

    def to_yaml(self) -> str:
        """The record as a run.yaml with every key, paths absolute."""
        import yaml

        def dumped(unicode: bool) -> str:
            text: str = yaml.safe_dump(
                _plain(self), sort_keys=False, allow_unicode=unicode, default_flow_style=None, width=110
            )
            return text

        text = dumped(True)
        # YAML breaks lines at these; it reads them back only if they are escaped.
        return dumped(False) if any(char in text for char in "\x85\u2028\u2029") else text


def load_config(
    path: str | os.PathLike[str],
    overrides: Iterable[str] = (),
    *,
    format: str | None = None,
    ignore: Iterable[str] = (),
) -> RunConfig:
    """Read a run.yaml, cdec.ini, moses.ini or joshua.config and apply ``key=value`` overrides.

    ``format`` names the toolkit's format where its shape does not tell it. A toolkit's setting that changes
    translations and is not supported is an error; ``ignore`` has the keys of those to go on without.
    """
    return _read(path, overrides, format, ignore)[0]


def show_config(
    path: str | os.PathLike[str],
    overrides: Iterable[str] = (),
    *,
    format: str | None = None,
    ignore: Iterable[str] = (),
) -> str:
    """The same as a run.yaml with every key it sets, paths absolute; settings that are not used as comments."""
    return read_and_show(path, overrides, format=format, ignore=ignore)[1]


def read_and_show(
    path: str | os.PathLike[str],
    overrides: Iterable[str] = (),
    *,
    format: str | None = None,
    ignore: Iterable[str] = (),
) -> tuple[RunConfig, str]:
    """A configuration, and how it is shown."""
    record, unused = _read(path, overrides, format, ignore)
    return record, record.to_yaml() + "".join(f"# not used: {one}\n" for one in unused)


def _read(
    path: str | os.PathLike[str], overrides: Iterable[str], format: str | None, ignore: Iterable[str]
) -> tuple[RunConfig, list[str]]:
    """The record of a configuration, and which settings of a toolkit are not used."""
    from smtformats.files import open_bytes, shown_name

    name = shown_name(path)
    with open_bytes(path) as stream:
        data = stream.read()
    file = None if os.fspath(path) == "-" else Path(os.path.abspath(path))
    settings = _settings(data, name, format)
    if settings is None:
        tree = _Tree(name, file.resolve().parent if file is not None else Path.cwd())
        plain = tree.plain(_compose(data, name), ())
        unused: list[str] = []
        if list(ignore):
            raise UsageError(
                f"--ignore is for settings of a cdec.ini, moses.ini or joshua.config: {name} is a run.yaml"
            )
    else:
        from smtplugins.host.config.toolkits import draft

        made = draft(settings, file)
        # The toolkits look for files from where they are started.
        tree = _Tree(name, Path.cwd())
        tree.lines.update(made.lines)
        ignored = _check_settings(made, list(ignore), name)
        plain, unused = made.values, [*made.unused(), *ignored]
    for override in overrides:
        tree.override(plain, override)
    record: RunConfig = tree.bind(plain, RunConfig, ())
    object.__setattr__(record, "_tree", tree)
    if settings is not None:
        object.__setattr__(record, "_toolkit", settings.origin.partition("-")[0])
        object.__setattr__(record, "_notes", _notes(name, made.unused(), ignored))
    return record, unused


def _check_settings(made: Draft, ignore: Sequence[str], name: str) -> list[str]:
    """Refuse settings that change translations, but for those to ignore, which are returned as they are shown."""
    from smtplugins.host.config.toolkits.draft import bare

    keys = {one.key for one in made.refused}
    for key in ignore:
        if bare(key) not in {bare(one) for one in (*keys, *(one.key for one in made.settings.entries))}:
            known = suggestion(key, keys) if keys else "; none of its settings is refused"
            raise UsageError(f"--ignore {key}: {name} has no such setting{known}")
    ignored = made.ignore(ignore)
    if made.refused:
        first, *rest = sorted(made.refused, key=lambda one: one.line)
        text = f"expected {first.expected}, found {first.found}: it changes translations and is not supported"
        more = "".join(f"; line {one.line}: {one.key}: expected {one.expected}, found {one.found}" for one in rest)
        all_keys = " ".join(f"--ignore {key}" for key in dict.fromkeys(one.key for one in (first, *rest)))
        raise ConfigError(name, first.line, first.key, f"{text}{more} ({all_keys} goes on without)")
    return [f"line {one.line}: {one.key} {one.found}, which changes translations" for one in ignored]


def _notes(name: str, unused: Sequence[str], ignored: Sequence[str]) -> tuple[str, ...]:
    found = []
    if ignored:
        found.append(f"{name}: ignored: {'; '.join(ignored)}")
    if unused:
        found.append(f"{name}: not used, without an effect on translations: {'; '.join(unused)}")
    return tuple(found)


def _settings(data: bytes, name: str, format: str | None) -> Settings | None:
    """The settings of a toolkit's configuration; none if it has the shape of none."""
    from smtformats import all_formats
    from smtformats.files import HEAD_BYTES, Lines
    from smtplugins.host.files.opening import find_format

    if format is not None:
        found = [find_format(format, "config")]
    else:
        found = [one for one in all_formats() if one.kind == "config" and one.matches(data[:HEAD_BYTES])]
    if len(found) != 1:
        return None
    settings: Settings = found[0].read(Lines(io.BytesIO(data), name))
    return settings


def _compose(data: bytes, name: str) -> Any:
    """The YAML node of a file."""
    import yaml

    try:
        node = yaml.compose(data.decode("utf-8"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise ConfigError(name, data[: error.start].count(b"\n") + 1, "", "expected UTF-8 text") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise ConfigError(name, line, "", f"expected YAML, found: {error.problem}") from None
    except yaml.reader.ReaderError as error:
        line = data.decode("utf-8")[: error.position].count("\n") + 1
        raise ConfigError(name, line, "", f"expected YAML, found a character that is none: {error.reason}") from None
    except RecursionError:
        raise ConfigError(name, None, "", "expected a run configuration, found brackets nested too deep") from None
    if node is None:
        raise ConfigError(name, 1, "", "expected a run configuration, found an empty file")
    return node


class _Tree:
    """Binds plain YAML values to dataclasses, knowing on which line each key stood."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.lines: dict[tuple[str, ...], int] = {}
        self.overridden: set[tuple[str, ...]] = set()
        self.seen: set[int] = set()

    def error(self, key: tuple[str, ...], text: str) -> SmtError:
        """An error at a key, with the line of the nearest key that stood in the file."""
        near = next((key[:n] for n in range(len(key), -1, -1) if key[:n] in self.lines), ())
        for given in self.overridden:
            if key[: len(given)] == given or (given[: len(key)] == key and key not in self.lines):
                return UsageError(f"--set: {'.'.join(key)}: {text}")
        return ConfigError(self.name, self.lines.get(near), ".".join(key), text)

    def error_inside(self, key: tuple[str, ...], text: str) -> SmtError:
        """An error at a key, or at the key below it that the text begins with or quotes."""
        below = {one[len(key)] for one in {*self.lines, *self.overridden} if one[:-1] == key}
        for name in sorted(below):
            found = re.search(rf"(?:^|[ ']){re.escape(name)}(?:'|: )", text)
            if found is not None:
                return self.error((*key, name), text[found.end() :] if found[0].endswith(": ") else text)
        return self.error(key, text)

    def plain(self, node: Any, key: tuple[str, ...]) -> Any:
        """A YAML node as dictionaries, lists and scalars, safely; remembers lines, refuses a key given twice."""
        import yaml

        line = self.lines[key] = node.start_mark.line + 1
        if isinstance(node, yaml.CollectionNode):
            if node.tag not in ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"):
                raise ConfigError(self.name, line, ".".join(key), f"expected plain values, found the tag {node.tag!r}")
            # An alias of a collection may refer to itself, or grow without bound.
            if id(node) in self.seen:
                raise ConfigError(self.name, line, ".".join(key), "expected values written out, found an alias")
            self.seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            result: dict[str, Any] = {}
            for key_node, value_node in node.value:
                if not isinstance(key_node, yaml.ScalarNode):
                    raise ConfigError(self.name, key_node.start_mark.line + 1, ".".join(key), "expected a plain key")
                inner = (*key, str(key_node.value))
                if key_node.value in result:
                    raise ConfigError(
                        self.name, key_node.start_mark.line + 1, ".".join(inner), "the key is given twice"
                    )
                result[str(key_node.value)] = self.plain(value_node, inner)
                self.lines[inner] = key_node.start_mark.line + 1
            return result
        if isinstance(node, yaml.SequenceNode):
            return [self.plain(child, (*key, str(i))) for i, child in enumerate(node.value)]
        try:
            return yaml.SafeLoader("").construct_object(node, deep=True)
        except (yaml.YAMLError, ValueError, AttributeError) as error:
            # Dates that are none raise what datetime raises.
            raise ConfigError(self.name, line, ".".join(key), str(error).split("\n")[0]) from None

    def override(self, plain: Any, text: str) -> None:
        """Put ``a.b=value`` into the plain tree; the value is read as YAML."""
        import yaml

        path, equals, value = text.partition("=")
        keys = path.strip().split(".")
        if not equals or not all(keys):
            raise UsageError(f"--set: expected KEY=VALUE as decoder.pop_limit=200, found {text!r}")
        try:
            read = yaml.safe_load(value)
        except (yaml.YAMLError, ValueError, AttributeError):
            raise UsageError(f"--set {path}: expected a YAML value, found {value!r}") from None
        if not isinstance(plain, dict):
            raise self.error((), "expected keys and values")
        at = plain
        for key in keys[:-1]:
            inner = at.get(key)
            if isinstance(inner, (str, Spec)):
                spec = Spec.of(inner)
                inner = {"name": spec.name, **spec.options}
            if not isinstance(inner, (dict, type(None))):
                raise UsageError(f"--set {path}: {key} has no keys inside; give it as a whole")
            at[key] = inner or {}
            at = at[key]
        at[keys[-1]] = read
        self.overridden.add(tuple(keys))

    def bind(self, value: Any, wanted: Any, key: tuple[str, ...]) -> Any:
        """A plain value as the wanted type."""
        origin, args = typing.get_origin(wanted), typing.get_args(wanted)
        if origin in (typing.Union, types.UnionType):
            return None if value is None else self.bind(value, next(a for a in args if a is not type(None)), key)
        if origin is tuple:
            listed = value if isinstance(value, list) else [value]
            return tuple(self.bind(one, args[0], (*key, str(i))) for i, one in enumerate(listed))
        if wanted is Spec:
            return self._spec(value, key)
        if dataclasses.is_dataclass(wanted):
            return self._record(value, wanted, key)
        if wanted is Path:
            if not isinstance(value, str) or not value:
                raise self.error(key, f"expected a path, found {value!r}")
            return Path(os.path.normpath(self.folder / value))
        if wanted is bool:
            if not isinstance(value, bool):
                raise self.error(key, f"expected true or false, found {value!r}")
            return value
        if wanted is int:
            if isinstance(value, bool) or not isinstance(value, int):
                raise self.error(key, f"expected a whole number, found {value!r}")
            return value
        if not isinstance(value, str):
            raise self.error(key, f"expected text, found {value!r}")
        if key[:1] == ("plugins",) and value.endswith(".py"):
            return os.path.normpath(self.folder / value)
        return value

    def _record(self, value: Any, wanted: Any, key: tuple[str, ...]) -> Any:
        if not isinstance(value, Mapping):
            found = quote(value) if isinstance(value, str) else repr(value)
            raise self.error(key, f"expected keys and values, found {found}")
        every = typing.get_type_hints(wanted)
        hints = {one.name: every[one.name] for one in dataclasses.fields(wanted) if one.init}
        for name in value:
            if name not in hints:
                raise self.error((*key, name), f"unknown key{suggestion(name, hints)}")
        record = wanted(**{name: self.bind(one, hints[name], (*key, name)) for name, one in value.items()})
        if isinstance(record, OutputConfig) and record.nbest < 1:
            raise self.error((*key, "nbest"), f"expected a number from 1 on, found {record.nbest}")
        return record

    def _spec(self, value: Any, key: tuple[str, ...]) -> Spec:
        try:
            if isinstance(value, (str, Mapping, Spec)):
                spec = Spec.of(value)
                options = {name: self._path_option(name, one) for name, one in spec.options.items()}
                return Spec(spec.name, options)
        except UsageError as error:
            raise self.error(key, str(error)) from None
        raise self.error(key, f"expected NAME or {{name: NAME, option: value}}, found {value!r}")

    def _path_option(self, name: str, value: Any) -> Any:
        # Options called `path` (and `..._path`) are files beside the configuration, like all its paths.
        if isinstance(value, str) and (name == "path" or name.endswith("_path")):
            return os.path.normpath(self.folder / value)
        return value


def _plain(value: Any) -> Any:
    if isinstance(value, Spec):
        # As a mapping it has no place for `name=`, which names the column.
        if "name" in value.options:
            return str(value)
        return {"name": value.name, **value.options} if value.options else value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shown = {one.name: _plain(getattr(value, one.name)) for one in dataclasses.fields(value) if one.init}
        return {name: one for name, one in shown.items() if one not in (None, [], {})}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return os.fspath(value) if isinstance(value, Path) else value
