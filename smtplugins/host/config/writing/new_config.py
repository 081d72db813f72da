"""Write a new run.yaml for a decoder, with every key: set, to be filled in, or as a comment with its default."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.errors import first_of
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec, convert, suggestion
from smtplugins.host.arguments import argument
from smtplugins.host.config.override import with_own
from smtplugins.host.config.records import ModelConfig, OutputConfig
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import RunConfig, check_value
from smtplugins.host.config.writing.found_files import FoundFiles, UsualFeature, find_files, named_tables, takes_tables
from smtplugins.host.config.writing.keys import Key, option_keys, record_keys

if TYPE_CHECKING:
    from smtplugins.host.host import Host

_HEAD = """\
# {summary}.
# `#key: default  # meaning` is a key that is not set: remove the first # to set it. Paths are relative to this file.
# `smt config check -c FILE` tries it on a sentence.
"""
_SECTIONS = ("decoder", "model", "output")


def new_config(
    host: Host,
    decoder: str | Spec,
    paths: Sequence[str | os.PathLike[str]] = (),
    *,
    folder: str | os.PathLike[str] = ".",
    values: Mapping[str, Any] | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> str:
    """The text of a run.yaml for a decoder, which uses what is found in ``paths``, folders and files.

    ``folder`` is that of the run.yaml: paths become relative to it. ``values`` sets keys, as in
    ``{"source": "dev.ja", "decoder.pop_limit": 100}``, in which paths are relative to the folder already. ``note``
    is told what is not used, and what must be filled in.
    """
    spec = Spec.of(decoder)
    entry = host.registry.entry("decoders", spec.name)
    found = find_files(host, spec.name, paths)
    options = option_keys(host.registry.factory("decoders", spec.name))
    spec, others = with_own(spec, (values or {}).items())
    set_values = {**dict(others), **{f"decoder.{name}": value for name, value in spec.options.items()}}
    _check_values(set_values, options)
    for key in options:
        if (place := f"decoder.{key.name}") in set_values:
            set_values[place] = convert(set_values[place], key.type, f"decoder {spec.name!r}: {key.name}")
    text = _Text(Path(os.path.abspath(folder)), set_values)
    lines = [_HEAD.format(summary=f"decoder {spec.name}: {entry.record.summary}"), "\n"]
    for key in record_keys(RunConfig):
        if key.name == "decoder":
            lines += [f"decoder:  # {key.doc}\n", f"  name: {spec.name}\n"]
            lines += [text.line(option, f"decoder.{option.name}", "  ") for option in options]
        elif key.name == "model":
            lines.append(f"model:  # {key.doc}\n")
            lines += _model(host, spec.name, found, text)
        elif key.name == "output":
            lines.append(f"output:  # {key.doc}\n")
            lines += [text.line(own, f"output.{own.name}", "  ") for own in record_keys(OutputConfig)]
        else:
            lines.append(text.line(key, key.name, ""))
    unused = [*found.unused, *_replaced(found, set_values)]
    if unused:
        note(f"not used: {first_of([str(path) for path in unused], 10)}")
    if text.lacking:
        note(f"fill in: {', '.join(text.lacking)}")
    return "".join(lines)


def _replaced(found: FoundFiles, values: Mapping[str, Any]) -> Iterator[object]:
    """The files that were found for keys that are set."""
    if "model.tables" in values:
        yield from found.tables
    if "model.features" in values:
        for feature in found.features:
            yield from feature.files


def _check_values(values: Mapping[str, Any], options: Sequence[Key]) -> None:
    """Refuse keys that are unknown, and values of another type; those of options are checked where they are used."""
    known = {key.name: key for key in record_keys(RunConfig) if key.name not in _SECTIONS}
    for section, record in (("model", ModelConfig), ("output", OutputConfig)):
        known |= {f"{section}.{key.name}": key for key in record_keys(record)}
    names = [*known, *(f"decoder.{key.name}" for key in options)]
    for name, value in values.items():
        if name not in names:
            raise UsageError(f"{argument('values', '--set')}: unknown key {name!r}{suggestion(name, names)}")
        if name in known:
            check_value(name, value)


class _Text:
    """Lines of keys; ``lacking`` are those that must be filled in."""

    def __init__(self, folder: Path, values: Mapping[str, Any]) -> None:
        self.folder = folder
        self.values = dict(values)
        self.lacking: list[str] = []

    def line(self, key: Key, place: str, indent: str) -> str:
        """The line of a key: set, to be filled in, or a comment with its default."""
        doc = key.doc + (f": {key.shown_type}" if key.choices else "")
        if place in self.values:
            return _line(indent, key.name, self.values[place], doc)
        if key.required:
            self.lacking.append(place)
            return _line(indent, key.name, None, f"fill in: {doc or key.shown_type}")
        return _line(f"{indent}#", key.name, key.default, doc or key.shown_type)

    def relative(self, path: str | os.PathLike[str]) -> str:
        """A path as the run.yaml has it."""
        return os.path.relpath(os.path.abspath(path), self.folder)

    def spec(self, spec: Spec) -> str:
        """A name with options, whose paths become relative."""
        from smtplugins.host.config.written import plain

        named = {
            name: self.relative(value) if name == "path" or name.endswith("_path") else value
            for name, value in spec.options.items()
        }
        return _flow(plain(Spec(spec.name, named)))


def _model(host: Host, decoder: str, found: FoundFiles, text: _Text) -> Iterator[str]:
    """The lines of the tables and features of a decoder, and of other keys of a model."""
    for key in record_keys(ModelConfig):
        if f"model.{key.name}" in text.values or key.name not in ("tables", "features"):
            yield text.line(key, f"model.{key.name}", "  ")
        elif key.name == "tables" and takes_tables(host, decoder):
            yield f"  tables:  # {key.doc}\n"
            yield from _tables(named_tables(host, found.tables), text)
        elif key.name == "features" and found.features:
            yield f"  features:  # {key.doc}\n"
            for feature in found.features:
                yield from _feature(host, feature, text)
        else:
            yield text.line(key, f"model.{key.name}", "  ")


def _tables(tables: Mapping[Path, str | None], text: _Text) -> Iterator[str]:
    first, *keys = record_keys(RuleTable)
    name = None
    for path, name in tables.items():
        yield f"  - path: {_flow(text.relative(path))}\n"
        yield from (_line("    ", key.name, name, key.doc) for key in keys if key.name == "name" and name)
    if not tables:
        text.lacking.append("model.tables")
        yield f"  - path:  # fill in: {first.doc}\n"
    for key in keys:
        if key.name != "name" or not name:
            yield text.line(key, "", "    ")


def _feature(host: Host, feature: UsualFeature, text: _Text) -> Iterator[str]:
    summary = host.registry.entry("features", feature.spec.name).record.summary
    needed = [key.name for key in option_keys(host.registry.factory("features", feature.spec.name)) if key.required]
    for spec in feature.files:
        lacking = [name for name in needed if name not in spec.options]
        shown = Spec(spec.name, {**spec.options, **dict.fromkeys(lacking)})
        yield f"  - {text.spec(shown)}  # {summary}\n"
        text.lacking += [f"option {name!r} of feature {spec.name}" for name in lacking]
    if not feature.reads:
        yield f"  - {text.spec(feature.spec)}  # {summary}\n"
    elif not feature.files:
        options = "".join(f", {name}: " for name in needed)
        yield f"  #- {{name: {feature.spec.name}{options}}}  # {summary}\n"


def _line(indent: str, name: str, value: Any, doc: str) -> str:
    shown = "" if value is None else f" {_flow(value)}"
    return f"{indent}{name}:{shown}  # {doc}\n"


def _flow(value: Any) -> str:
    """A value on one line."""
    import yaml

    plain = os.fspath(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
    text: str = yaml.safe_dump(plain, default_flow_style=True, width=float("inf"), allow_unicode=True, sort_keys=False)
    return text.removesuffix("...\n").rstrip("\n")
