"""show or clear the caches of loaded grammars and of scores"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from smtplugins.cli import options
from smtplugins.host import printing as tables

if TYPE_CHECKING:
    from smtplugins.host.host import Host


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    shown = verbs.add_parser(
        "show", help="list cached grammars (source file, format, bytes) and count the scores of each command or model"
    )
    options.add_table(shown)
    cleared = verbs.add_parser("clear", help="remove all cached grammars and scores; `off` leaves one of them")
    for verb, command in ((shown, show), (cleared, clear)):
        options.add_cache(verb)
        options.add_score_cache(verb)
        options.add_common(verb)
        verb.set_defaults(command=command)


def show(args: argparse.Namespace) -> None:
    """List cached grammars and kept scores."""
    host = options.load_host(args)
    grammars, scores = _folders(host, args)
    rows: list[dict[str, Any]] = []
    if grammars is not None:
        rows += [
            {"bytes": entry.size, "format": entry.format or None, "source": entry.source or None, "path": entry.path}
            for entry in host.cached_grammars(grammars)
        ]
    if scores is not None:
        known = set()
        for kept in host.kept_scores(scores):
            # A database with the scores of several commands has its size once.
            size = None if kept.path in known else kept.size
            known.add(kept.path)
            about = {"source": kept.scorer or None, "scores": kept.count, "version": kept.version or None}
            rows.append({"bytes": size, "format": "scores" if kept.scorer else "damaged", **about, "path": kept.path})
    more = ["scores", "version"] if any("scores" in row for row in rows) else []
    rows = [{**row, "path": str(row["path"])} for row in rows]
    options.show(tables.render(rows, ["bytes", "format", *more, "source", "path"], args.format))


def clear(args: argparse.Namespace) -> None:
    """Remove all cached grammars and kept scores."""
    host = options.load_host(args)
    grammars, scores = _folders(host, args)
    if grammars is not None:
        count, size = host.clear_cache(grammars)
        options.show(f"{grammars}: {count} removed, {size} bytes")
    if scores is not None:
        count, size = host.clear_scores(scores)
        options.show(f"{scores}: {count} scores removed, {size} bytes")


def _folders(host: Host, args: argparse.Namespace) -> tuple[Any, Any]:
    """The folders of grammars and of scores, None for the one that is switched off; both of them is an error."""
    from smtplugins.contracts.errors import UsageError

    folders: list[Any] = []
    for find, named in ((host.cache_folder, args.cache), (host.score_folder, args.score_cache)):
        try:
            folders.append(find(named))
        except UsageError:
            folders.append(None)
    if folders == [None, None]:
        host.cache_folder(args.cache)
    return folders[0], folders[1]
