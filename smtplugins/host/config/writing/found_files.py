"""Find tables, language models and other files in folders, and the features of a decoder that use them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats import FormatError
from smtformats.errors import first_of
from smtformats.grammar.shared.moses_tables import TABLE
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.core.extract.phrase_pairs import EXTRACT_FILES
from smtplugins.host.arguments import argument
from smtplugins.host.estimate.phrase_tables import LEXICAL_TABLES
from smtplugins.host.estimate.rule_tables import GLUE
from smtplugins.host.files.opening import format_options, open_known

if TYPE_CHECKING:
    from smtplugins.host.host import Host

_BESIDE = (*LEXICAL_TABLES, GLUE, *EXTRACT_FILES)
"""What `smt extract` writes for other programs: our decoders make their own glue rules."""
_TABLES = "model.tables"
_NAMED = 10
"""The number of files that an error names."""


@dataclass(frozen=True)
class UsualFeature:
    """A usual feature of a decoder: used once for each of its files, or always if it reads none."""

    spec: Spec
    reads: bool
    files: tuple[Spec, ...] = ()


@dataclass(frozen=True)
class FoundFiles:
    """The tables that were found, the usual features of the decoder, and files that are not used."""

    tables: tuple[Path, ...]
    features: tuple[UsualFeature, ...]
    unused: tuple[Path, ...]


def takes_tables(host: Host, decoder: str) -> bool:
    """Whether a decoder uses the tables and features of a run."""
    from smtplugins.contracts.spec import evaluated

    return "resources" in evaluated(host.registry.factory("decoders", decoder)).parameters


def find_files(host: Host, decoder: str, paths: Sequence[str | os.PathLike[str]] = ()) -> FoundFiles:
    """Find what a decoder uses in folders, which are not searched deeper, and files.

    In a folder, two files for the same use are an error, as they may hold the same; named files are all used.
    """
    usual = [_usual(text) for text in getattr(host.registry.factory("decoders", decoder), "usual_features", ())]
    readers = {number: reads for number, spec in enumerate(usual) if (reads := _reader(host, spec.name)) is not None}
    with_tables = takes_tables(host, decoder)
    uses: dict[str | int, list[tuple[Path, Mapping[str, Any]]]] = {_TABLES: [], **{number: [] for number in readers}}
    unused: list[Path] = []
    for given in map(Path, paths):
        found: dict[str | int, list[tuple[Path, Mapping[str, Any]]]] = {}
        for path in _files(host, given):
            use = None if path != given and _is_beside(path) else _use(host, path, readers, with_tables)
            if use is None:
                unused.append(path)
            else:
                found.setdefault(use[0], []).append((path, use[1]))
        if not found:
            raise UsageError(
                f"{given}: decoder {decoder!r} has no use for it: expected tables or files of its features"
            )
        for what, those in found.items():
            if len(those) > 1:
                _refuse(given, "tables" if what == _TABLES else usual[int(what)].name, [path for path, _ in those])
            uses[what] += those
    features = []
    for number, spec in enumerate(usual):
        made = [
            _named(Spec(spec.name, {**spec.options, **options}), k)
            for k, (_, options) in enumerate(uses.get(number, ()))
        ]
        features.append(UsualFeature(spec, number in readers, tuple(made)))
    return FoundFiles(tuple(path for path, _ in uses[_TABLES]), tuple(features), tuple(unused))


def named_tables(host: Host, paths: Sequence[Path]) -> dict[Path, str | None]:
    """Name the scores of further tables as Moses numbers them, where the format has none and repeats the first's."""
    names: dict[Path, str | None] = {}
    number = 0
    for path in paths:
        with open_known(path, "grammar", None, host.formats("grammar")) as opened:
            nameless = "table" in format_options(opened.record)
        names[path] = f"{TABLE.rstrip('0')}{number}" if nameless and number else None
        number += nameless
    return names


def _named(spec: Spec, number: int) -> Spec:
    """The feature as one of several of its name: all but the first have a name for their columns."""
    return Spec(spec.name, {**spec.options, "name": f"{spec.name}{number}"}) if number else spec


def _usual(text: str) -> Spec:
    """The usual feature, with options as a run.yaml has them: numbers, true and false."""
    import yaml

    spec = Spec.parse(text)
    return Spec(spec.name, {name: yaml.safe_load(value) for name, value in spec.options.items()})


def _reader(host: Host, name: str) -> Callable[[Path], Mapping[str, Any] | None] | None:
    """What tells the options of a feature for a file, if the feature reads one."""
    offer = host.registry.entry("features", name).record
    return None if offer.files is None else offer.options_for


def _files(host: Host, given: Path) -> Iterator[Path]:
    """The file, the folder that is a table, or what is in the folder."""
    if not given.is_dir():
        os.stat(given)
        yield given
    elif _is_table(host, given):
        yield given
    else:
        yield from (given / name for name in sorted(os.listdir(given)) if not name.startswith("."))


def _is_beside(path: Path) -> bool:
    return path.name.split(".gz")[0] in _BESIDE or path.name.startswith(tuple(f"{name}." for name in EXTRACT_FILES))


def _use(
    host: Host, path: Path, readers: Mapping[int, Callable[[Path], Mapping[str, Any] | None]], tables: bool
) -> tuple[str | int, Mapping[str, Any]] | None:
    for number, reads in readers.items():
        options = reads(path)
        if options is not None:
            return number, options
    return (_TABLES, {}) if tables and _is_table(host, path) else None


def _is_table(host: Host, path: Path) -> bool:
    try:
        with open_known(path, "grammar", None, host.formats("grammar")) as opened:
            return opened.record.kind == "grammar"
    except (FormatError, UsageError, EOFError):
        return False


def _refuse(folder: Path, what: str, paths: Sequence[Path]) -> None:
    names = first_of([path.name for path in paths], _NAMED)
    option = argument("paths", "--from")
    raise UsageError(f"{folder}: expected one file for {what}, found {names}; name those to use: {option} {paths[0]}")


def used_lines(host: Host, paths: Sequence[str | os.PathLike[str]], escape: str | None = None) -> str:
    """The lines of a run.yaml that use files: tables, and the features that read language models and the like.

    Empty if there are none, as for a table without rules. ``escape`` is the scheme that the words of the files are
    escaped with.
    """
    from smtplugins.host.config.records import ModelConfig
    from smtplugins.host.config.rule_tables import RuleTable
    from smtplugins.host.config.written import as_yaml

    offers = [entry.record for entry in host.registry.entries("features") if entry.record.files is not None]
    tables: list[RuleTable] = []
    features: list[Spec] = []
    for path in map(Path, paths):
        uses = [(offer.name, options) for offer in offers if (options := offer.options_for(path)) is not None]
        for name, options in uses:
            features.append(_named(Spec(name, dict(options)), sum(spec.name == name for spec in features)))
        if not uses and _is_table(host, path):
            tables.append(RuleTable(path))
    if not tables and not features:
        return ""
    lines = as_yaml(ModelConfig(tuple(tables), features=tuple(features))).splitlines()
    return "\n".join([*([f"escape: {escape}"] if escape else []), "model:", *(f"  {line}" for line in lines)])
