"""The tables and features of a run."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from smtformats.records import dataclass
from smtplugins.host.config.loaded_passes import LoadedPass, load_passes
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.features.scoring import Active, activate, check_label
from smtplugins.host.files.opening import find_format, open_known

if TYPE_CHECKING:
    from pathlib import Path

    from smtformats import Format
    from smtplugins.host.config.run_yaml import ModelConfig
    from smtplugins.host.loading.registry import Registry


@dataclass(frozen=True)
class Resources:
    """Tables and features, in order; ``weights`` are the configuration's, even if the run has others.

    ``passes`` come after the first, which has ``features``.
    """

    tables: tuple[RuleTable, ...] = ()
    features: tuple[Active, ...] = ()
    formats: tuple[Format, ...] | None = None
    cache: str | None = None
    grammar_format: str | None = None
    weights: Mapping[str, float] | None = None
    passes: tuple[LoadedPass, ...] = ()


def _is_ours(path: Path) -> bool:
    """Whether a table is a folder of our own, which is one whatever it was made of."""
    from smtformats.grammar.smt_table import HEADER

    return (path / HEADER).is_file()


def resources(
    registry: Registry,
    config: ModelConfig,
    formats: Iterable[Format] | None = None,
    cache: str | None = None,
    at: Callable[..., contextlib.AbstractContextManager[None]] = lambda *key: contextlib.nullcontext(),
) -> Resources:
    """Check the tables of a run and make its features. ``at`` is :meth:`RunConfig.at`."""
    if config.grammar_format is not None:
        with at("model", "grammar_format"):
            find_format(config.grammar_format, "grammar", formats)
    known = None if formats is None else tuple(formats)
    tables: list[RuleTable] = []
    for i, table in enumerate(config.tables):
        with at("model", "tables", str(i)):
            # A missing table is an error before features load their files.
            os.stat(table.path)
            named = table.format or (None if _is_ours(table.path) else config.grammar_format)
            if named is not None and os.path.isdir(table.path) != find_format(named, "grammar", known).folder:
                # An error, unless the files of a folder are the table.
                open_known(table.path, "grammar", named, known).close()
            if table.name:
                check_label(table.name, [other.name for other in tables])
        tables.append(replace(table, format=named))
    features = []
    if config.features:
        features = activate(registry, config.features, functools.partial(at, "model", "features"))
    for i, active in enumerate(features):
        with at("model", "features", str(i)):
            check_label(active.label, [table.name for table in tables])
    taken = [*(table.name for table in tables if table.name), *(active.label for active in features)]
    passes = load_passes(registry, config.passes, taken, at)
    return Resources(tuple(tables), tuple(features), known, cache, config.grammar_format, passes=tuple(passes))
