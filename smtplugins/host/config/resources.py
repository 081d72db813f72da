"""What a decoder works with besides its weights: tables of rules, and the features made for the run."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from smtformats import FormatError
from smtplugins.host.errors import UsageError
from smtplugins.host.features.scoring import Active, activate
from smtplugins.host.files.opening import find_format

if TYPE_CHECKING:
    from smtformats import Format, GrammarColumns
    from smtplugins.host.config.run_yaml import ModelConfig
    from smtplugins.host.loading.registry import Registry


@dataclass(frozen=True)
class Table:
    """A file of rules.

    ``name`` is what its columns of numbers are called, where the format leaves that open; ``limit`` how many target
    sides of a source side count, 0 for all; ``max_span`` the longest span, where it is not the decoder's own;
    ``scores`` how many numbers each rule has, if that is said.
    """

    path: Path
    name: str = ""
    owner: str = ""
    limit: int = 0
    max_span: int | None = None
    format: str | None = None
    scores: int | None = None

    def load(self, formats: Iterable[Format] | None = None, cache: str | None = None) -> GrammarColumns:
        """Its rules."""
        from smtplugins.host.files.opening import format_options, load_grammar, open_known

        known = None if formats is None else list(formats)
        with open_known(self.path, "grammar", self.format, known) as opened:
            record = opened.record
        options = format_options(record)
        spelt = self.format or record.name
        if "," in spelt:
            # Its options are said already.
            pass
        elif "owner" in options and self.owner:
            spelt += f",owner={self.owner}"
        elif "table" in options and self.name:
            spelt += f",table={self.name}"
        return load_grammar(self.path, format=spelt, cache=cache, formats=known)

    def dense_names(self, names: Iterable[str]) -> list[str]:
        """Those of a table's features that each of its rules has: its own name, by number if there are several."""
        own = re.compile(re.escape(self.name) + r"(?:\[(\d+)\]|_(\d+))?")
        found = [
            (int(match[1] or match[2] or 0), name) for name in names if self.name and (match := own.fullmatch(name))
        ]
        if found and self.scores is not None and len(found) != self.scores:
            expected = f"{self.scores} {'score' if self.scores == 1 else 'scores'} of each rule, as {self.name!r} says"
            raise FormatError(expected, str(len(found)), file=os.fspath(self.path))
        return [name for _, name in sorted(found)]


@dataclass(frozen=True)
class Resources:
    """Tables, and features in their order; ``weights`` are the configuration's, whichever the run has."""

    tables: tuple[Table, ...] = ()
    features: tuple[Active, ...] = ()
    formats: tuple[Format, ...] | None = None
    cache: str | None = None
    grammar_format: str | None = None
    weights: Mapping[str, float] | None = None


def resources(
    registry: Registry,
    config: ModelConfig,
    formats: Iterable[Format] | None = None,
    cache: str | None = None,
    at: Callable[..., contextlib.AbstractContextManager[None]] = lambda *key: contextlib.nullcontext(),
) -> Resources:
    """Makes the features of a run, and finds out what is said of its tables. ``at`` is :meth:`RunConfig.at`."""
    if config.grammar_format is not None:
        with at("model", "grammar_format"):
            find_format(config.grammar_format, "grammar", formats)
    for i, path in enumerate(config.grammar):
        with at("model", "grammar", str(i)):
            # Said before the features load their files.
            os.stat(path)
    features = []
    if config.features:
        features = activate(registry, config.features, functools.partial(at, "model", "features"))
    tabular = [one for one in features if isinstance(getattr(one.feature, "table", None), Table)]
    described = {one.feature.table.path: one for one in tabular}
    tables = []
    for path in config.grammar:
        one = described.pop(path, None)
        table = _named(one) if one is not None else Table(path)
        tables.append(replace(table, format=config.grammar_format))
    for path, one in described.items():
        with at("model", "features", str(features.index(one))):
            raise UsageError(f"feature {one.label!r} describes {path}, which is not among the grammars of the model")
    rest = [one for one in features if one not in tabular]
    known = None if formats is None else tuple(formats)
    return Resources(tuple(tables), tuple(rest), known, cache, config.grammar_format)


def _named(one: Active) -> Table:
    table: Table = one.feature.table
    return replace(table, name=one.label)
