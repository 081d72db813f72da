"""Options shared by many commands, with one spelling, one meaning and one help text."""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from smtplugins.contracts.errors import UsageError
from smtplugins.host.command_options import jobs_of
from smtplugins.host.loading.manager import load_plugins

if TYPE_CHECKING:
    from smtplugins.host.config.run_yaml import Override, RunConfig
    from smtplugins.host.files.lists import ListStream
    from smtplugins.host.host import Host

TABLES = ("text", "json", "tsv", "latex")
_Result = TypeVar("_Result")
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command: plugins and verbosity."""
    group = parser.add_argument_group("general")
    group.add_argument(
        "--plugin", action="append", default=[], metavar="FILE.py|MODULE", help="load an additional plugin (repeatable)"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no progress bars or notes on standard error")
    group.add_argument("-v", "--verbose", action="count", default=0, help="show details, and tracebacks of errors")


def inherit(parser: argparse.ArgumentParser) -> None:
    """Keep options given before a subcommand: its own defaults do not override them."""
    for action in parser._actions:
        if action.option_strings:
            action.default = argparse.SUPPRESS


def add_input(parser: argparse.ArgumentParser, what: str = "n-best list", *, configured: bool = False) -> None:
    """Add the options for input file and format; with ``configured`` the configuration sets the default."""
    default, shown = (None, "the configuration's, else standard input") if configured else ("-", "standard input")
    parser.add_argument("-i", "--input", default=default, metavar="FILE", help=f"{what} (default: {shown})")
    add_file(parser)
    parser.add_argument(
        "--from",
        dest="from_format",
        metavar="FORMAT",
        help="input format, NAME[,key=value...] (default: detected)",
    )


def add_file(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the input as an argument, which is another spelling of ``-i``."""
    parser.add_argument(
        "file",
        nargs="*" if several else "?",
        action=_InputFile,
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="same as -i FILE",
    )


class _InputFile(argparse.Action):
    """Set ``input`` to the file that is given as an argument."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        take_input(parser, namespace, values)


def take_input(parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any) -> None:
    """Set ``input`` to what is given as an argument."""
    if getattr(namespace, "input", None) != parser.get_default("input"):
        parser.error("expected the input once, found both FILE and -i")
    namespace.input = values


def add_escape(parser: argparse.ArgumentParser | argparse._ArgumentGroup, what: str) -> None:
    """Add the option for the escapes of the model's words."""
    names = "moses (&#91; for [), joshua (-lsb-) or ptb (-LSB-); of these, moses alone is undone without loss"
    parser.add_argument("--escape", metavar="NAME", help=f"{what}: {names}")


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Add the option for the cache of loaded grammars."""
    parser.add_argument(
        "--cache",
        metavar="DIR|off",
        help="cache of loaded grammars (default: $SMT_CACHE, or smtplugins in $XDG_CACHE_HOME or ~/.cache)",
    )


def add_score_cache(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the option for the cache of scores."""
    parser.add_argument(
        "--score-cache",
        metavar="DIR|off",
        help="keep the scores of commands and models here, so that each is computed once (default: $SMT_SCORE_CACHE, "
        "or smtplugins/scores in $XDG_CACHE_HOME or ~/.cache)",
    )


def add_ignore(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the option to ignore unsupported toolkit settings."""
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="KEY",
        help="ignore this unsupported setting of a toolkit's configuration, though it changes translations "
        "(repeatable)",
    )


def add_config(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, *, required: bool, argument: bool = False
) -> None:
    """Add the configuration, also as an ``argument`` where it is the only file, and what changes it."""
    place = parser.add_mutually_exclusive_group(required=required) if argument else parser
    place.add_argument(
        "-c",
        "--config",
        required=required and not argument,
        metavar="FILE",
        help="run.yaml, cdec.ini, moses.ini or joshua.config",
    )
    if argument:
        place.add_argument("config", nargs="?", default=argparse.SUPPRESS, metavar="FILE", help="same as -c FILE")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a key, such as decoder.pop_limit=200 (repeatable)",
    )
    add_ignore(parser)


def add_features(parser: argparse.ArgumentParser | argparse._ArgumentGroup, weight: str) -> None:
    """Add the option for features beside those of a configuration."""
    parser.add_argument(
        "--feature",
        action="append",
        default=[],
        metavar="NAME[,key=value...]",
        help=f"add a feature to those of the configuration; {weight} (repeatable)",
    )


def add_output(parser: argparse.ArgumentParser, *, default: str = "the input's") -> None:
    """Add the options for output file, format and number precision; ``default`` describes the default format."""
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (default: standard output)")
    parser.add_argument(
        "--to",
        dest="to_format",
        metavar="FORMAT",
        help=f"output format, NAME[,key=value...] (default: that of the file's suffix, else {default})",
    )
    add_precision(parser)


def add_precision(parser: argparse.ArgumentParser) -> None:
    """Add the option for the precision of numbers."""
    parser.add_argument(
        "--precision",
        type=int,
        metavar="N",
        help="significant digits of new numbers (default: the fewest that read back equal)",
    )


def add_references(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the option for references, which are joined by id."""
    parser.add_argument(
        "-r",
        "--ref",
        action="append",
        default=[],
        metavar="FILE",
        help="references: a text with a line per sentence, or JSON lines, a table or SGM with ids (repeatable)",
    )


def add_metric(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, *, several: bool = False, default: str | None = None
) -> None:
    """Add the metric; None stands for bleu, or the configuration's metric."""
    parser.add_argument(
        "-m",
        "--metric",
        action="append" if several else "store",
        default=default,
        metavar="NAME[,key=value...]",
        help=f"metric with options, such as bleu,tokenize=none ({'repeatable; ' * several}default: bleu)",
    )


def add_metric_source(parser: argparse.ArgumentParser) -> None:
    """Add source sentences that only metrics use."""
    parser.add_argument("-s", "--source", metavar="FILE", help="source sentences, for metrics that read them")


def add_set_weight(parser: argparse.ArgumentParser) -> None:
    """Add the option for single weights."""
    parser.add_argument(
        "--set-weight",
        action="append",
        default=[],
        metavar="NAME=X",
        help="add a weight or change its value (repeatable)",
    )


def set_weights(args: argparse.Namespace) -> dict[str, float]:
    """The weights of ``--set-weight``."""
    weights = {}
    for argument in args.set_weight:
        name, equals, value = argument.rpartition("=")
        try:
            weights[name] = float(value)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise UsageError(f"--set-weight: expected NAME=NUMBER, found {argument!r}")
    return weights


def add_missing_weight(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the weight of features without one."""
    parser.add_argument(
        "--missing-weight", type=float, metavar="X", help="weight of features without one (default: an error)"
    )


def add_sources(parser: argparse.ArgumentParser) -> None:
    """Add the options for source and annotation files, which are joined by id."""
    add_source(parser)
    parser.add_argument(
        "--annotation",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a line per sentence for features that need annotations:NAME (repeatable)",
    )
    add_partial(parser)


def add_source(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add source sentences, joined by id."""
    parser.add_argument(
        "-s",
        "--source",
        metavar="FILE",
        help="source sentences: a text (line 1 is id 0), or JSON lines or a table with ids",
    )


def add_partial(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the option to accept ids missing from some files."""
    parser.add_argument("--allow-partial", action="store_true", help="accept ids that are missing from some files")


def add_post(parser: argparse.ArgumentParser) -> None:
    """Add the option to postprocess hypotheses."""
    parser.add_argument(
        "--post",
        metavar="none|bpe|spm|detok:LANG|CMD",
        help="postprocess hypotheses before scoring: join BPE or SentencePiece subwords, detokenise, or pipe lines "
        "through a command",
    )


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the option for the output style of tables."""
    parser.add_argument("-f", "--format", choices=TABLES, default="text", help="how to print the table")


def chosen_table(rows: list[dict[str, Any]], style: str) -> str:
    """How often each system of a pool was chosen, as a table."""
    from smtplugins.host import printing

    more = ["set"] if any("set" in row for row in rows) else []
    rows = [{**row, "share": f"{row['share']:.1f} %"} for row in rows]
    return printing.render(rows, [*more, "pool", "chosen", "sentences", "share", "alone"], style)


def add_manifest(parser: argparse.ArgumentParser) -> None:
    """Add the option to write a manifest."""
    parser.add_argument("--manifest", metavar="FILE", help="write versions, options and input hashes as JSON")


def load_host(args: argparse.Namespace) -> Host:
    """Load the host with the plugins of this run."""
    return load_plugins(args.plugin, score_cache=getattr(args, "score_cache", None), note=notes(args))


def load_configured(args: argparse.Namespace, overrides: Iterable[Override]) -> tuple[Host, RunConfig]:
    """Read the configuration; load the host with the plugins of both."""
    from smtplugins.host.config.run_yaml import load_config

    config = load_config(args.config, overrides, ignore=args.ignore)
    args.plugin = [*args.plugin, *config.plugins]
    return load_host(args), config


def call(method: Callable[..., _Result], args: argparse.Namespace, **given: Any) -> _Result:
    """Call a method of the host: an argument is ``given``, else the option of its name; None stands for its default.

    Its ``format`` is ``--from``, and it notes to standard error.
    """
    import inspect

    options = {**vars(args), "format": getattr(args, "from_format", None), "jobs": jobs_of(args), "note": notes(args)}
    named = {name: options[name] for name in inspect.signature(method).parameters if name in options}
    return method(**{name: value for name, value in {**named, **given}.items() if value is not None})


def add_derivations(
    parser: argparse.ArgumentParser, *, length: bool = True, weights: bool = True, searched: str = "their own scores"
) -> None:
    """Add the options for lists from forests: their length, unless one derivation is enough, and weights."""
    group = parser.add_argument_group(
        "forests", "A forest, search graph or lattice is read as the list of its best derivations."
    )
    if length:
        group.add_argument(
            "-k", "--derivations", type=int, metavar="N", help="length of the list of a forest (default: 100)"
        )
        group.add_argument("--unique", action="store_true", help="count derivations of the same text once")
    if weights:
        group.add_argument(
            "-w", "--weights", metavar="FILE", help=f"weights to search forests with (default: {searched})"
        )
        add_missing_weight(group)


def open_lists(host: Host, args: argparse.Namespace, path: str | None = None, **given: Any) -> ListStream:
    """Open the input lists, joined with source and annotation files if given; ``given`` replaces options.

    Of forests they are the best derivations, under the weights if there are any.
    """
    annotations = {}
    for argument in getattr(args, "annotation", []):
        name, equals, file = argument.partition("=")
        if not equals or not name or not file:
            raise UsageError(f"--annotation: expected NAME=FILE, found {argument!r}")
        annotations[name] = file
    return call(host.read, args, path=args.input if path is None else path, annotations=annotations, **given)


def searched(host: Host, lists: ListStream, args: argparse.Namespace) -> ListStream:
    """The lists of forests under the weights of ``-w``, if it is given."""
    if args.weights is None:
        return lists
    from smtplugins.host.forests.forest_lists import of_forests

    forests = of_forests(lists)
    return forests.rescore(host.read_weights(args.weights), missing=args.missing_weight, note=notes(args))


def feature_files(args: argparse.Namespace) -> list[str]:
    """The files that options of the features name."""
    from smtplugins.contracts.spec import Spec

    return [path for feature in args.feature for path in Spec.parse(feature).options.values() if os.path.isfile(path)]


def write_lists(host: Host, lists: ListStream, args: argparse.Namespace) -> None:
    """Write lists to the output, with a progress bar on a terminal."""
    call(host.write, args, lists=lists, path=args.output, format=args.to_format)


def write_best(host: Host, lists: ListStream, args: argparse.Namespace) -> None:
    """Write the best texts to the output."""
    call(host.write_best, args, lists=lists, path=args.output)


def memory_limit(args: argparse.Namespace) -> int | None:
    """The value of ``--memory`` in bytes, or None."""
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
    """Print a note to standard error."""
    print(f"smt: note: {text}", file=sys.stderr)


def notes(args: argparse.Namespace) -> Callable[[str], None]:
    """What prints notes: nothing with ``--quiet``."""
    return (lambda text: None) if args.quiet else note


def note_uses(args: argparse.Namespace, paths: Iterable[str]) -> None:
    """Note the lines of a run.yaml that use what was written; nothing with ``--quiet``."""
    if args.quiet:
        return
    from smtplugins.host.config.writing.found_files import used_lines

    lines = used_lines(load_host(args), list(paths), args.escape)
    if lines:
        note(f"in a run.yaml, or by `smt config new`:\n{lines}")


class Manifest:
    """The manifest of a run, if requested: inputs are hashed before the run, the file is written after it."""

    def __init__(self, args: argparse.Namespace, inputs: Iterable[str | None]) -> None:
        self._args = args
        self._inputs: dict[str, str] = {}
        if args.manifest:
            from smtplugins.host import runs

            folder = os.path.dirname(args.manifest) or "."
            if not os.path.isdir(folder):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
            plugins = [path for path in args.plugin if os.path.isfile(path)]
            self._inputs = runs.input_hashes([path for path in inputs if path] + plugins)

    def write(self, host: Host, **more: Any) -> None:
        """Write the manifest, if requested."""
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
