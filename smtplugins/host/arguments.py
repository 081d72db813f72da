"""Arguments of the host's methods: one value where a list of one is meant, and their names in messages."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from smtplugins.contracts.errors import UsageError

if TYPE_CHECKING:
    from smtformats import Candidates
    from smtplugins.host.config.run_yaml import Override, RunConfig
    from smtplugins.host.files.lists import ListStream
    from smtplugins.host.files.opening import Path
    from smtplugins.host.host import Host

    Overrides: TypeAlias = str | Mapping[str, Any] | Iterable[Override]

_as_options = False


def listed(values: Any) -> list[Any]:
    """The values as a list; a text, path, mapping, spec, function or stream of lists is a single value."""
    from smtplugins.contracts.spec import Spec
    from smtplugins.host.files.lists import ListStream

    if isinstance(values, (str, os.PathLike, Mapping, Spec, ListStream)) or not isinstance(values, Iterable):
        return [values]
    return list(values)


def stream_of(host: Host, lists: ListStream | Iterable[Candidates] | Path) -> ListStream:
    """The lists as a stream; a path is opened with the formats of the host."""
    from smtplugins.host.files.lists import as_stream

    return host.read(lists) if isinstance(lists, (str, os.PathLike)) else as_stream(lists)


def weights_of(host: Host, weights: Mapping[str, float] | Path | None) -> Mapping[str, float] | None:
    """The weights; if they are a path, read them."""
    return host.read_weights(weights) if isinstance(weights, (str, os.PathLike)) else weights


def config_of(config: RunConfig | Path, overrides: Overrides, ignore: str | Iterable[str]) -> RunConfig:
    """The configuration, read with ``overrides`` if it is a path."""
    from smtplugins.host.config.run_yaml import RunConfig, load_config

    if not isinstance(config, RunConfig):
        changes = list(overrides.items()) if isinstance(overrides, Mapping) else listed(overrides)
        return load_config(config, changes, ignore=listed(ignore))
    if overrides or ignore:
        raise UsageError("overrides and ignore: expected none with a configuration that is loaded, found some")
    return config


def argument(name: str, option: str | None = None) -> str:
    """Name an argument in a message: as ``name`` to a caller from Python, as ``option`` to a user of the command line.

    The default option of ``allow_partial=True`` is ``--allow-partial``.
    """
    if not _as_options:
        return name
    return "--" + name.partition("=")[0].replace("_", "-") if option is None else option


@contextlib.contextmanager
def named_as_options() -> Iterator[None]:
    """Name arguments as options of the command line inside the block."""
    global _as_options
    before, _as_options = _as_options, True
    try:
        yield
    finally:
        _as_options = before
