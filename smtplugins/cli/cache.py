"""show or clear the cache of loaded grammars"""

from __future__ import annotations

import argparse

from smtplugins.cli import options
from smtplugins.host import printing as tables


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
    rows = [
        {"bytes": entry.size, "format": entry.format or None, "source": entry.source or None, "path": str(entry.path)}
        for entry in options.load_host(args).cached_grammars(args.cache)
    ]
    options.show(tables.render(rows, ["bytes", "format", "source", "path"], args.format))


def clear(args: argparse.Namespace) -> None:
    """Remove all cached grammars."""
    host = options.load_host(args)
    count, size = host.clear_cache(args.cache)
    options.show(f"{host.cache_folder(args.cache)}: {count} removed, {size} bytes")
