"""the columns of grammars that are kept between runs"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from smtplugins.cli import options
from smtplugins.host import printing as tables

if TYPE_CHECKING:
    from pathlib import Path


def summary(name: str) -> str:
    """A line for the help page."""
    return "`cache show`: the columns of grammars kept between runs; `cache clear` removes them"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    shown = verbs.add_parser("show", help="list what is kept: which file and format it was made from, its bytes")
    options.add_table(shown)
    cleared = verbs.add_parser("clear", help="remove all of it")
    for verb, command in ((shown, show), (cleared, clear)):
        options.add_cache(verb)
        options.add_common(verb)
        verb.set_defaults(command=command)


def show(args: argparse.Namespace) -> None:
    """List the entries."""
    from smtformats.caching.folders import entries

    rows = [
        {"bytes": one.size, "format": one.format or None, "source": one.source or None, "path": str(one.path)}
        for one in entries(_folder(args))
    ]
    columns = ["bytes", "format", "source", "path"]
    options.show(tables.render(rows, columns, args.format))


def clear(args: argparse.Namespace) -> None:
    """Remove the entries."""
    from smtformats.caching import folders as cache

    folder = _folder(args)
    count, size = cache.clear(folder)
    options.show(f"{folder}: {count} removed, {size} bytes")


def _folder(args: argparse.Namespace) -> Path:
    from smtformats.caching.folders import OFF, cache_folder
    from smtplugins.host.errors import UsageError

    folder = cache_folder(args.cache)
    if folder is None:
        raise UsageError(f"the cache is switched off ($SMT_CACHE or --cache is {OFF!r})")
    return folder
