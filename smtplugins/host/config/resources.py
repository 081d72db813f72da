"""The tables and features of a run."""

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
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.features.scoring import Active, activate
from smtplugins.host.files.opening import find_format

if TYPE_CHECKING:
    from smtformats import Format, GrammarColumns
    from smtplugins.host.config.run_yaml import ModelConfig
    from smtplugins.host.loading.registry import Registry


@dataclass(frozen=True)
class Table:
    """A file of rules.

    ``name`` names its columns of scores where the format leaves that open; ``limit`` is the number of target sides kept
    for a source side, 0 for all; ``max_span`` the longest span, if not the decoder's own; ``scores`` the number of
    scores of each rule, if known.
    """

    path: Path
    name: str = ""
    owner: str = ""
    limit: int = 0
    max_span: int | None = None
    format: str | None = None
    scores: int | None = None

    def load(self, formats: Iterable[Format] | None = None, cache: str | None = None) -> GrammarColumns:
        """Load the rules."""
        from smtplugins.host.files.opening import format_options, load_grammar, open_known

        known = None if formats is None else list(formats)
        with open_known(self.path, "grammar", self.format, known) as opened:
            record = opened.record
        options = format_options(record)
        spec = Spec.of(self.format or record.name)
        if not spec.options and "owner" in options and self.owner:
            spec = Spec(spec.name, {"owner": self.owner})
        elif not spec.options and "table" in options and self.name:
            spec = Spec(spec.name, {"table": self.name})
        return load_grammar(self.path, format=spec, cache=cache, formats=known)

    def dense_names(self, names: Iterable[str]) -> list[str]:
        """The features that every rule of the table has: the table's name, numbered if there are several."""
        own = re.compile(re.escape(self.name) + r"(?:\[(\d+)\]|_(\d+))?")
        numbered = [
            (int(match[1] or match[2] or 0), name) for name in names if self.name and (match := own.fullmatch(name))
        ]
        if numbered and self.scores is not None and len(numbered) != self.scores:
            expected = f"{self.scores} {'score' if self.scores == 1 else 'scores'} of each rule, as {self.name!r} says"
            raise FormatError(expected, str(len(numbered)), file=os.fspath(self.path))
        return [name for _, name in sorted(numbered)]


@dataclass(frozen=True)
class Resources:
    """Tables and features, in order; ``weights`` are the configuration's, even if the run has others."""

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
    """Make the features of a run and find what describes its tables. ``at`` is :meth:`RunConfig.at`."""
    if config.grammar_format is not None:
        with at("model", "grammar_format"):
            find_format(config.grammar_format, "grammar", formats)
    for i, path in enumerate(config.grammar):
        with at("model", "grammar", str(i)):
            # A missing table is an error before features load their files.
            os.stat(path)
    features = []
    if config.features:
        features = activate(registry, config.features, functools.partial(at, "model", "features"))
    tabular = [active for active in features if isinstance(getattr(active.feature, "table", None), Table)]
    described = {active.feature.table.path: active for active in tabular}
    tables = []
    for path in config.grammar:
        active = described.pop(path, None)
        table = _named(active) if active is not None else Table(path)
        tables.append(replace(table, format=config.grammar_format))
    for path, active in described.items():
        with at("model", "features", str(features.index(active))):
            raise UsageError(f"feature {active.label!r} describes {path}, which is not among the grammars of the model")
    rest = [active for active in features if active not in tabular]
    known = None if formats is None else tuple(formats)
    return Resources(tuple(tables), tuple(rest), known, cache, config.grammar_format)


def _named(active: Active) -> Table:
    table: Table = active.feature.table
    return replace(table, name=active.label)
