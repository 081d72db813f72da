"""show or clear the cache of loaded grammars"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from smtplugins.cli import options
from smtplugins.host import printing as tables

if TYPE_CHECKING:
    from pathlib import Path


def summary(name: str) -> str:
    """The summary on the help page."""
    return "show or clear the cache of loaded grammars: `cache show`, `cache clear`"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    shown = verbs.add_parser("show", help="list cached grammars: source file, format, size in bytes")
    options.add_table(shown)
    cleared = verbs.add_parser("clear", help="remove all cached grammars")
    for verb, command in ((shown, show), (cleared, clear)):
        options.add_cache(verb)
        options.add_common(verb)
        verb.set_defaults(command=command)


def show(args: argparse.Namespace) -> None:
    """List cached grammars."""
    from smtformats.caching.folders import entries

    rows = [
        {"bytes": entry.size, "format": entry.format or None, "source": entry.source or None, "path": str(entry.path)}
        for entry in entries(_folder(args))
    ]
    columns = ["bytes", "format", "source", "path"]
    options.show(tables.render(rows, columns, args.format))


def clear(args: argparse.Namespace) -> None:
    """Remove all cached grammars."""
    from smtformats.caching import folders as cache

    folder = _folder(args)
    count, size = cache.clear(folder)
    options.show(f"{folder}: {count} removed, {size} bytes")


def _folder(args: argparse.Namespace) -> Path:
    from smtformats.caching.folders import OFF, cache_folder
    from smtplugins.contracts.errors import UsageError

    folder = cache_folder(args.cache)
    if folder is None:
        raise UsageError(f"the cache is switched off ($SMT_CACHE or --cache is {OFF!r})")
    return folder
