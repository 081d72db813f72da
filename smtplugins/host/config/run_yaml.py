"""Read run.yaml into a typed record; unknown keys and wrong values are errors with file, line and key.

Paths are relative to the file. ``--set decoder.pop_limit=200`` overrides any key. A cdec.ini, moses.ini or
joshua.config is detected by its shape and converted to the same record.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from smtformats.errors import quote
from smtformats.escapes import SCHEMES
from smtformats.files import BOM, open_bytes, shown_name
from smtformats.grammar.shared.lines import FLOAT32_END
from smtformats.records import dataclass
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.options import option
from smtplugins.contracts.spec import Spec, suggestion
from smtplugins.host.arguments import argument
from smtplugins.host.config.composing import ConfigError, compose
from smtplugins.host.config.old_keys import old_key_notes, translate
from smtplugins.host.config.records import ModelConfig as ModelConfig
from smtplugins.host.config.records import OutputConfig as OutputConfig
from smtplugins.host.config.records import TextConfig
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.written import as_yaml
from smtplugins.host.errors import message

Override = str | tuple[str, Any]
"""``decoder.pop_limit=200``, whose value is read as YAML, or the key and a value: ``("decoder.pop_limit", 200)``."""


@dataclass(frozen=True)
class RunConfig:
    """A run: plugins to load, data, decoder, model, learner, metric, runner, seed, output.

    ``escape`` is the scheme of the escapes that the words of the model have (``smt extract --escape``). References,
    learner, metric and seed are for tuning; decoding does not use them. ``runner`` decodes the sentences
    unless ``-j`` gives a number of processes.
    """

    plugins: tuple[str, ...] = option((), "plugins to load, each a module, an installed plugin's name or a .py file")
    source: Path | None = option(None, "the text to translate, and to tune on")
    source_format: Spec | None = option(None, "the format of the source; default: detected")
    text: TextConfig | None = option(
        None, "a folder of `smt prepare`: input is raw text, prepared as the text in it was"
    )
    escape: str | None = option(None, f"how the words of the model are escaped: {', '.join(SCHEMES)}; default: not")
    references: tuple[Path, ...] = option((), "reference translations of the source, to tune with")
    decoder: Spec | None = option(None, "the decoder and its options; `smt decoders` lists them")
    model: ModelConfig = field(default_factory=ModelConfig, metadata={"doc": "tables, features and weights"})
    learner: Spec | None = option(None, "learns the weights; `smt learners` lists them; default: mert")
    metric: Spec | None = option(None, "the metric to tune for; `smt metrics` lists them; default: bleu")
    runner: Spec | None = option(None, "decodes sentences in parallel: processes,jobs=4; default: one after the other")
    seed: int = option(1, "random seed of tuning")
    output: OutputConfig = field(default_factory=OutputConfig, metadata={"doc": "what is written, and how"})
    _tree: _Tree | None = field(default=None, init=False, repr=False, compare=False)
    _toolkit: str = field(default="", init=False, repr=False, compare=False)
    _notes: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)
    _unused: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about old keys, and the toolkit's settings that are not used."""
        return self._notes

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that decide translations: those of the model, and of prepared text."""
        return (*self.model.paths, *(self.text.paths if self.text is not None else ()))

    @property
    def toolkit(self) -> str:
        """The toolkit whose configuration this is: cdec, joshua or moses; "" for a run.yaml."""
        return self._toolkit

    def with_decoder(self, decoder: Spec) -> RunConfig:
        """The configuration with another decoder; errors in its options do not name the file."""
        return self._changed("_toolkit", "_notes", "_unused", decoder=decoder)

    def with_parts(self, **parts: Any) -> RunConfig:
        """The configuration with other values of keys; errors in them are told as those of its own."""
        return self._changed("_tree", "_toolkit", "_notes", "_unused", **parts)

    def with_features(self, features: Iterable[str | Mapping[str, Any] | Spec]) -> RunConfig:
        """The configuration with further features after its own; errors in them name the argument, not the file."""
        added = tuple(Spec.of(feature) for feature in features)
        model = dataclasses.replace(self.model, features=(*self.model.features, *added))
        config = self._changed("_tree", "_toolkit", "_notes", "_unused", model=model)
        if config._tree is not None:
            for i in range(len(self.model.features), len(model.features)):
                config._tree.arguments["model", "features", str(i)] = argument("features", "--feature")
        return config

    def _changed(self, *kept: str, **changes: Any) -> RunConfig:
        """Replace fields; of the private ones, only those ``kept`` have a value."""
        config = dataclasses.replace(self, **changes)
        for name in kept:
            object.__setattr__(config, name, getattr(self, name))
        return config

    @contextlib.contextmanager
    def at(self, *key: str) -> Iterator[None]:
        """Report a UsageError or OSError at this key of the file, or at one of its options."""
        try:
            yield
        except (UsageError, OSError) as error:
            if self._tree is None:
                raise
            raise self._tree.error_inside(key, self._tree.explained(key, message(error))) from error

    def to_yaml(self, folder: Path | None = None) -> str:
        """Write the record as a run.yaml with every key; paths are absolute, or relative to the folder it is for."""
        return as_yaml(self, folder)

    def shown(self, folder: Path | None = None) -> str:
        """The text of :meth:`to_yaml`, with settings of the toolkit that are not used as comments."""
        return self.to_yaml(folder) + "".join(f"# not used: {setting}\n" for setting in self._unused)


def load_config(
    path: str | os.PathLike[str],
    overrides: Iterable[Override] = (),
    *,
    format: str | None = None,
    ignore: Iterable[str] = (),
) -> RunConfig:
    """Read a run.yaml, cdec.ini, moses.ini or joshua.config and apply ``key=value`` overrides.

    ``format`` names the toolkit's format where the file's shape does not tell. A setting of a toolkit that changes
    translations and is not supported is an error unless its key is in ``ignore``.
    """
    name = shown_name(path)
    with open_bytes(path) as stream:
        data = stream.read()
    file = None if os.fspath(path) == "-" else Path(os.path.abspath(path))
    from smtplugins.host.config.toolkits import draft, toolkit_settings
    from smtplugins.host.config.toolkits.refusals import check_settings, setting_notes

    mark = BOM.encode()
    settings = toolkit_settings(data.removeprefix(mark), name, format)
    if settings is not None and data.startswith(mark):
        raise ConfigError(name, 1, "", "expected text without a byte order mark, found one: save the file without it")
    if settings is None:
        tree = _Tree(name, file.resolve().parent if file is not None else Path.cwd())
        plain = tree.plain(compose(data, name), ())
        if list(ignore):
            raise UsageError(
                f"{argument('ignore')} is for settings of a cdec.ini, moses.ini or joshua.config: {name} is a run.yaml"
            )
    else:
        made = draft(settings, file)
        # The toolkits resolve paths against the working directory.
        tree = _Tree(name, Path.cwd())
        tree.lines.update(made.lines)
        ignored = check_settings(made, list(ignore), name)
        tree.hints, tree.instead = made.hints(), made.instead
        plain = made.values
    notes = old_key_notes(name, tree.translate(plain), plain)
    for override in overrides:
        tree.override(plain, override)
    given = argument("overrides", "--set")
    notes += tuple(f"{given}: {key}: model.tables is the new spelling" for key in tree.translate(plain))
    record: RunConfig = tree.bind(plain, RunConfig, ())
    object.__setattr__(record, "_tree", tree)
    if settings is not None:
        object.__setattr__(record, "_toolkit", settings.origin.partition("-")[0])
        object.__setattr__(record, "_unused", (*made.unused(), *ignored))
        notes += setting_notes(name, made.unused(noted=True), ignored)
        notes += tuple(f"{name}: {remark}" for remark in made.remarks)
    object.__setattr__(record, "_notes", notes)
    return record


class _Tree:
    """Binds plain YAML values to dataclasses and remembers the line of each key."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.lines: dict[tuple[str, ...], int] = {}
        self.overridden: set[tuple[str, ...]] = set()
        self.seen: set[int] = set()
        self.places: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.arguments: dict[tuple[str, ...], str] = {}
        self.hints: dict[tuple[str, ...], tuple[str, str]] = {}
        self.instead: dict[str, str] = {}

    def explained(self, key: tuple[str, ...], text: str) -> str:
        """An error; that of a feature or search of a toolkit that no plugin offers says what to do."""
        from smtplugins.host.config.toolkits.draft import explained

        if key == ("decoder",) and not self.overridden:
            text += "".join(f"; {what}" for value, what in self.instead.items() if repr(value) in text)
        return explained(text, *self.hints[key]) if key in self.hints else text

    def translate(self, plain: Any) -> tuple[str, ...]:
        """Replace old keys, which are returned, and remember where their values stand in the file."""
        for at in [at for at in self.places if self.overridden & {at[:1], at[:2]}]:
            del self.places[at]
        if isinstance(plain, dict) and isinstance(model := plain.get("model"), dict):
            places, old = translate(model, self.folder, self.error, replaced=("model", "grammar") in self.overridden)
            self.places |= places
            return old
        return ()

    def error(self, key: tuple[str, ...], text: str) -> SmtError:
        """An error at a key, with the line of the nearest key in the file."""
        return self._error_at(self._place(key), text)

    def _place(self, key: tuple[str, ...]) -> tuple[str, ...]:
        """The key as the file has it."""
        return (*self.places.get(key[:3], key[:3]), *key[3:])

    def _error_at(self, key: tuple[str, ...], text: str) -> SmtError:
        if key[:3] in self.arguments:
            return UsageError(f"{self.arguments[key[:3]]}: {text}")
        places = [key, (*key, "name"), *(key[:n] for n in range(len(key) - 1, -1, -1))]
        near = next((place for place in places if place in self.lines), ())
        for given in self.overridden:
            if key[: len(given)] == given or (given[: len(key)] == key and key not in self.lines):
                return UsageError(f"{argument('overrides', '--set')}: {'.'.join(key)}: {text}")
        return ConfigError(self.name, self.lines.get(near), ".".join(key), text)

    def error_inside(self, key: tuple[str, ...], text: str) -> SmtError:
        """An error at a key, or at the key below it that the text begins with or quotes."""
        key = self._place(key)
        below = {path[len(key)] for path in {*self.lines, *self.overridden} if path[:-1] == key}
        for name in sorted(below):
            match = re.search(rf"(?:^|[ ']){re.escape(name)}(?:'|: )", text)
            if match is not None:
                return self._error_at((*key, name), text[match.end() :] if match[0].endswith(": ") else text)
        return self._error_at(key, text)

    def plain(self, node: Any, key: tuple[str, ...]) -> Any:
        """Convert a YAML node to plain values; remember lines, refuse tags, aliases and repeated keys."""
        import yaml

        line = self.lines[key] = node.start_mark.line + 1
        if isinstance(node, yaml.CollectionNode):
            if node.tag not in ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"):
                raise ConfigError(self.name, line, ".".join(key), f"expected plain values, found the tag {node.tag!r}")
            # An alias may refer to itself or expand without bound.
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
            # Invalid dates raise errors of datetime.
            raise ConfigError(self.name, line, ".".join(key), str(error).split("\n")[0]) from None

    def override(self, plain: Any, override: Override) -> None:
        """Put the value of ``a.b=value`` into the plain tree."""
        path, value = read_override(override) if isinstance(override, str) else override
        keys = path.strip().split(".")
        if not isinstance(plain, dict):
            raise self.error((), "expected keys and values")
        at = plain
        for key in keys[:-1]:
            inner = at.get(key)
            if at is plain and key == "text" and isinstance(inner, str):
                inner = {"path": inner}
            if isinstance(inner, (str, Spec)):
                spec = Spec.of(inner)
                inner = {"name": spec.name, **spec.options}
            if not isinstance(inner, (dict, type(None))):
                place = f"{argument('overrides', '--set')} {path}"
                raise UsageError(f"{place}: {key} has no keys inside; give it as a whole")
            at[key] = inner or {}
            at = at[key]
        at[keys[-1]] = value
        self.overridden.add(tuple(keys))

    def bind(self, value: Any, wanted: Any, key: tuple[str, ...]) -> Any:
        """Convert a plain value to the wanted type."""
        origin, args = typing.get_origin(wanted), typing.get_args(wanted)
        if origin in (typing.Union, types.UnionType):
            return None if value is None else self.bind(value, next(a for a in args if a is not type(None)), key)
        if origin is tuple:
            listed = value if isinstance(value, list) else [value]
            return tuple(self.bind(item, args[0], (*key, str(i))) for i, item in enumerate(listed))
        if wanted is Spec:
            return self._spec(value, key)
        if wanted in (RuleTable, TextConfig) and not isinstance(value, Mapping):
            return wanted(self.bind(value, Path, key))
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
        if wanted is float:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise self.error(key, f"expected a number, found {value!r}")
            return float(value)
        if not isinstance(value, str):
            raise self.error(key, f"expected text, found {value!r}")
        if key[:1] == ("plugins",) and value.endswith(".py"):
            return os.path.normpath(self.folder / value)
        return value

    def _record(self, value: Any, wanted: Any, key: tuple[str, ...]) -> Any:
        if value is None and key and wanted in (ModelConfig, OutputConfig):
            # A key whose keys below are all comments.
            value = {}
        if not isinstance(value, Mapping):
            shown = quote(value) if isinstance(value, str) else repr(value)
            raise self.error(key, f"expected keys and values, found {shown}")
        hints = _types(wanted)
        for name in value:
            if name not in hints:
                raise self.error((*key, name), f"unknown key{suggestion(name, hints)}")
        if wanted in (RuleTable, TextConfig) and "path" not in value:
            raise self.error(key, "expected a path: add the key `path`")
        record = wanted(**{name: self.bind(item, hints[name], (*key, name)) for name, item in value.items()})
        if isinstance(record, RunConfig) and record.escape is not None and record.escape not in SCHEMES:
            raise self.error(
                (*key, "escape"), f"unknown escaping {record.escape!r}{suggestion(record.escape, SCHEMES)}"
            )
        missing = record.missing if isinstance(record, ModelConfig) else None
        if missing is not None and not abs(missing) < FLOAT32_END:
            raise self.error((*key, "missing"), "expected a number that fits 32-bit floats, found a larger one")
        for field_ in dataclasses.fields(record) if isinstance(record, OutputConfig) else ():
            number, least = getattr(record, field_.name), field_.metadata.get("least")
            if number is not None and least is not None and number < least:
                raise self.error((*key, field_.name), f"expected a number from {least} on, found {number}")
        return record

    def _spec(self, value: Any, key: tuple[str, ...]) -> Spec:
        try:
            if isinstance(value, (str, Mapping, Spec)):
                spec = Spec.of(value)
                options = {name: self._path_option(name, option) for name, option in spec.options.items()}
                return Spec(spec.name, options)
        except UsageError as error:
            raise self.error(key, str(error)) from None
        raise self.error(key, f"expected NAME or {{name: NAME, option: value}}, found {value!r}")

    def _path_option(self, name: str, value: Any) -> Any:
        # Options called `path` or `..._path` are files relative to the configuration, like all its paths.
        if isinstance(value, str) and (name == "path" or name.endswith("_path")):
            return os.path.normpath(self.folder / value)
        return value


@functools.cache
def _types(record: type) -> dict[str, Any]:
    """The types of the keys of a record."""
    hints = typing.get_type_hints(record)
    return {field.name: hints[field.name] for field in dataclasses.fields(record) if field.init}


def check_value(key: str, value: Any) -> None:
    """Raise UsageError for a value that the key, as ``model.weights``, does not take."""
    tree, path = _Tree("", Path.cwd()), tuple(key.split("."))
    tree.overridden.add(path)
    for part in reversed(path):
        value = {part: value}
    tree.bind(value, RunConfig, ())


def read_override(text: str) -> tuple[str, Any]:
    """The key and the value of ``a.b=value``."""
    import yaml

    path, equals, value = text.partition("=")
    if not equals or not all(path.strip().split(".")):
        place = argument("overrides", "--set")
        raise UsageError(f"{place}: expected KEY=VALUE as decoder.pop_limit=200, found {text!r}")
    try:
        return path, yaml.safe_load(value)
    except (yaml.YAMLError, ValueError, AttributeError):
        raise UsageError(f"{argument('overrides', '--set')} {path}: expected a YAML value, found {value!r}") from None
