"""Options that many commands share: one spelling, one meaning, one help text."""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtplugins.host.files.lists import ListStream
    from smtplugins.host.host import Host

TABLES = ("text", "json", "tsv", "latex")
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def add_common(parser: argparse.ArgumentParser) -> None:
    """Plugins, verbosity: for every command."""
    group = parser.add_argument_group("general")
    group.add_argument(
        "--plugin", action="append", default=[], metavar="FILE.py|MODULE", help="load one more plugin (repeatable)"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no progress and no notes on standard error")
    group.add_argument("-v", "--verbose", action="count", default=0, help="tracebacks of failures")


def inherit(parser: argparse.ArgumentParser) -> None:
    """In a verb's parser: options that are not given leave those alone that were given before the verb."""
    for action in parser._actions:
        if action.option_strings:
            action.default = argparse.SUPPRESS


def add_input(parser: argparse.ArgumentParser, what: str = "n-best list", *, configured: bool = False) -> None:
    """Input file and format; with ``configured``, none is that of the configuration."""
    default, shown = (None, "the configuration's, else standard input") if configured else ("-", "standard input")
    parser.add_argument("-i", "--input", default=default, metavar="FILE", help=f"{what} (default: {shown})")
    parser.add_argument(
        "--from",
        dest="from_format",
        metavar="FORMAT",
        help="format of the input, NAME[,key=value...] (default: by shape)",
    )


def add_cache(parser: argparse.ArgumentParser) -> None:
    """The folder where columns of grammars are kept."""
    parser.add_argument(
        "--cache",
        metavar="DIR|off",
        help="where columns of grammars are kept between runs "
        "(default: $SMT_CACHE, or smtplugins in $XDG_CACHE_HOME or ~/.cache)",
    )


def add_ignore(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Settings of a toolkit to go on without."""
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="KEY",
        help="go on without this setting of a toolkit's configuration, though it changes translations (repeatable)",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Output file, format and digits."""
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where to write (default: standard output)")
    parser.add_argument(
        "--to",
        dest="to_format",
        metavar="FORMAT",
        help="format of the output, NAME[,key=value...] (default: the input's)",
    )
    add_precision(parser)


def add_precision(parser: argparse.ArgumentParser) -> None:
    """Digits of printed numbers."""
    parser.add_argument(
        "--precision",
        type=int,
        metavar="N",
        help="significant digits of new numbers (default: as many as read back the same)",
    )


def add_references(parser: argparse.ArgumentParser) -> None:
    """References, joined by id."""
    parser.add_argument(
        "-r",
        "--ref",
        action="append",
        default=[],
        metavar="FILE",
        help="references: a line per sentence, or with ids as JSON lines, a table or SGM (repeatable)",
    )


def add_sources(parser: argparse.ArgumentParser) -> None:
    """Side files joined by id."""
    parser.add_argument(
        "-s",
        "--source",
        metavar="FILE",
        help="source sentences; line 1 of a text belongs to id 0, JSON lines and tables have ids",
    )
    parser.add_argument(
        "--annotation",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a line per sentence for features that need annotations:NAME (repeatable)",
    )
    add_partial(parser)


def add_partial(parser: argparse.ArgumentParser) -> None:
    """Permission for ids that are not everywhere."""
    parser.add_argument("--allow-partial", action="store_true", help="accept ids that are not in all files")


def add_post(parser: argparse.ArgumentParser) -> None:
    """What is done to hypotheses before any metric."""
    parser.add_argument(
        "--post",
        metavar="none|bpe|spm|detok:LANG|CMD",
        help="what is done to hypotheses before any metric: pieces joined, text detokenised, or a command's lines",
    )


def add_table(parser: argparse.ArgumentParser) -> None:
    """Shape of a table."""
    parser.add_argument("-f", "--format", choices=TABLES, default="text", help="how to print the table")


def add_manifest(parser: argparse.ArgumentParser) -> None:
    """A record of the run."""
    parser.add_argument("--manifest", metavar="FILE", help="write versions, options and input hashes as JSON")


def load_host(args: argparse.Namespace) -> Host:
    """The host with the plugins of this run."""
    from smtplugins.host.loading.manager import load_plugins

    return load_plugins(args.plugin)


def open_lists(host: Host, args: argparse.Namespace) -> ListStream:
    """The input lists, joined with the side files that were given."""
    from smtplugins.host.errors import UsageError

    annotations = {}
    for one in getattr(args, "annotation", []):
        name, equals, path = one.partition("=")
        if not equals or not name or not path:
            raise UsageError(f"--annotation: expected NAME=FILE, found {one!r}")
        annotations[name] = path
    return host.read(
        args.input,
        source=getattr(args, "source", None),
        annotations=annotations,
        format=args.from_format,
        allow_partial=getattr(args, "allow_partial", False),
    )


def write_lists(host: Host, lists: ListStream, args: argparse.Namespace) -> None:
    """The lists to the output, with progress on a terminal."""
    from smtplugins.host.files.conversion import write_records

    write_records(
        host,
        iter(lists),
        lists.format,
        args.output,
        args.to_format,
        precision=args.precision,
        note=(lambda text: None) if args.quiet else note,
        quiet=args.quiet,
    )


def memory_limit(args: argparse.Namespace) -> int | None:
    """The bytes that ``--memory`` allows, if it was given."""
    from smtplugins.host.errors import UsageError

    if args.memory is None:
        return None
    parts = re.fullmatch(r"(\d{1,9})([KMGT]?)B?", args.memory, re.ASCII | re.IGNORECASE)
    if parts is None:
        raise UsageError(f"--memory: expected a size like 500M or 8G, found {args.memory!r}")
    return int(parts[1]) << _UNITS[parts[2].upper()]


def show(text: str = "", end: str = "\n") -> None:
    """Print a result to standard output, which ``print`` does not reach: see ``smtformats.files.reserve_output``."""
    from smtformats.files import standard_output

    print(text, end=end, file=standard_output(), flush=True)


def note(text: str) -> None:
    """A remark on standard error."""
    print(f"smt: note: {text}", file=sys.stderr)


class Manifest:
    """The record of a run, if one was asked for: inputs are hashed before the run, the rest is written after it."""

    def __init__(self, args: argparse.Namespace, inputs: Iterable[str | None]) -> None:
        self._args = args
        self._inputs: dict[str, str] = {}
        if args.manifest:
            from smtplugins.host import runs

            folder = os.path.dirname(args.manifest) or "."
            if not os.path.isdir(folder):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
            plugins = [one for one in args.plugin if os.path.isfile(one)]
            self._inputs = runs.input_hashes([one for one in inputs if one] + plugins)

    def write(self, host: Host, **more: Any) -> None:
        """Write it."""
        if not self._args.manifest:
            return
        from smtplugins.host import runs

        options = {
            name: value
            for name, value in vars(self._args).items()
            if name != "command" and value not in (None, [], False)
        }
        record = runs.manifest(command=runs.argv(), options=options, inputs=self._inputs, plugins=host.plugins, **more)
        runs.write_manifest(self._args.manifest, record)
