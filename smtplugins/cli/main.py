"""``smt``: find the command, run it, and turn every failure into a message and an exit code."""

from __future__ import annotations

import argparse
import functools
import gc
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import smtplugins
from smtplugins.contracts.errors import PluginError, UsageError
from smtplugins.contracts.offers import resolve
from smtplugins.host.arguments import named_as_options
from smtplugins.host.errors import exit_code, exit_error, exit_place, failure_text, message
from smtplugins.host.loading.manager import load_plugins
from smtplugins.host.progress import hushed

if TYPE_CHECKING:
    from smtplugins.contracts.offers import Command, PluginInfo
    from smtplugins.host.host import Host

COMMANDS = {
    "plugins": ("plugins", "list plugins; `check NAME` tests a plugin, `new NAME` creates one"),
    "formats": ("offers", "list file formats, or show one with its options"),
    "features": ("offers", "list feature functions, or show one with its options"),
    "learners": ("offers", "list learners, or show one with its options"),
    "decoders": ("offers", "list decoders, or show one with its options"),
    "metrics": ("offers", "list metrics, or show one with its options"),
    "recipes": ("offers", "list recipes of `smt train`, or show one with its options"),
    "info": ("info", "describe files: format, counts, feature ranges, problems with line numbers"),
    "convert": ("convert", "convert a file to another format of its kind, or update the weights inside a file"),
    "score": ("lists.score", "append feature scores to every hypothesis of a list; nothing else in it changes"),
    "rescore": ("lists.rescore", "compute new total scores from weights and sort each list by them (stable)"),
    "best": ("lists.best", "write the hypothesis with the highest total of each list as plain text"),
    "dedup": ("lists.dedup", "keep each text once per list, with the best total or the log-sum of all"),
    "merge": ("lists.merge", "pool the candidates of several systems, joined by id, with each system's scores"),
    "evaluate": (
        "lists.evaluate",
        "score systems (text or lists) under any metric, with confidence intervals and significance tests",
    ),
    "oracle": ("lists.oracle", "oracle scores: the best hypothesis among the first 1, 2, 4, 8, ... of each list"),
    "mbr": (
        "lists.mbr",
        "minimum Bayes-risk decoding: choose the hypothesis with the highest expected score in its list",
    ),
    "tune": ("systems.tune", "learn weights from n-best lists or forests, or in a loop around a decoder (-c)"),
    "rerank": ("lists.rerank", "learn weights on one set of lists, sort another by them, and evaluate both"),
    "report": (
        "lists.report",
        "write an HTML report: learning curves, weights, feature contributions, trees step by step",
    ),
    "decode": ("systems.decode", "translate with the system of a run.yaml, cdec.ini, moses.ini or joshua.config"),
    "prepare": ("systems.prepare", "clean, tokenize and case text, and say what was dropped and why"),
    "align": ("systems.align", "align the words of a text, or symmetrise alignments of both directions"),
    "extract": ("systems.extract", "extract phrase tables, reordering tables or rule tables from word-aligned text"),
    "filter": ("systems.filter", "filter a phrase, rule or reordering table to the sentences to be translated"),
    "lm": ("systems.lm", "estimate an n-gram language model, as lmplz does"),
    "lm mix": ("systems.mix_lm", "interpolate language models into one, with weights tuned on a text"),
    "train": ("systems.train", "build a system from text: prepare, align, extract, estimate, tune, judge"),
    "config": (
        "config",
        "write a new run.yaml, check a configuration, or print it as a run.yaml: `config new`, `config check`..",
    ),
    "cache": ("cache", "show or clear the caches of loaded grammars and of scores: `cache show`, `cache clear`"),
}
"""The modules of core commands, of one or two words, and what they do, in the order of the help page."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    with named_as_options():
        try:
            code = _main(argv)
        except _EndedError as ended:
            # `smt train` ends its command, which is just telling that Ctrl-C interrupted it.
            code = 128 + ended.number
    if argv is None:
        # Python looks for garbage twice when it ends; once is enough.
        gc.disable()
    return code


def _main(argv: Sequence[str] | None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if " ".join(arguments[:2]) in COMMANDS:
        arguments[:2] = [" ".join(arguments[:2])]
    verbose = False
    if argv is None:
        _end_in_order()
        # On import numpy's BLAS starts threads that spin, 50 ms of CPU, and nothing here multiplies matrices.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        parser = find_parser(arguments, own_process=argv is None)
        if parser is None:
            return 0
        args = parse_arguments(parser, arguments[1:])
        verbose = bool(getattr(args, "verbose", 0))
        with hushed(bool(getattr(args, "quiet", False))):
            if arguments[0] in COMMANDS:
                _run(args, own_process=argv is None)
            else:
                args.command(args)
        if sys.stdout is not None:
            sys.stdout.flush()
        return 0
    except _EndedError as ended:
        return 128 + ended.number
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(f"smt: {stop.code}", file=sys.stderr)
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException as error:
        return _report_error(error, verbose)


def _run(args: argparse.Namespace, *, own_process: bool) -> None:
    """Run a core command with standard output reserved for its results; SystemExit of a plugin becomes an error."""
    from smtformats.files import reserve_output

    if own_process:
        reserve_output()
    try:
        args.command(args)
    except SystemExit as stop:
        raise exit_error(stop) from stop


def _report_error(error: BaseException, verbose: bool) -> int:
    """Print the error; return the exit code."""
    code = exit_code(error)
    if isinstance(error, BrokenPipeError):
        if _nobody_reads():
            return 0
        # The broken pipe is another one: a plugin's or standard error.
        code = 1
    if code is None or (verbose and code in (1, 2)):
        import traceback

        traceback.print_exc()
    text = "interrupted" if isinstance(error, KeyboardInterrupt) else message(error)
    try:
        print(f"smt: {text}", file=sys.stderr, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    return 1 if code is None else code


def _nobody_reads() -> bool:
    """Whether standard output is a pipe whose reader is gone; if so, redirect buffered output to /dev/null."""
    import select

    from smtformats.files import standard_output

    if sys.stdout is None:
        return False
    output = standard_output().fileno()
    poll = select.poll()
    poll.register(output, 0)
    if not any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0)):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), output)
    return True


class _EndedError(KeyboardInterrupt):
    """Ended by the signal ``number``. Not a ``SystemExit``, which a plugin may raise while it is loaded."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _end_in_order() -> None:
    """Turn SIGTERM and SIGHUP into exceptions, so that temporary files are removed as on any failure."""
    process = os.getpid()

    def end(number: int, frame: object) -> None:
        if os.getpid() != process:
            # A newly forked worker that has not set its own signal handlers yet.
            os._exit(128 + number)
        raise _EndedError(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        # A signal that is ignored, as under nohup, stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)


def find_parser(arguments: Sequence[str], *, own_process: bool = False) -> argparse.ArgumentParser | None:
    """Find the parser of the command in ``arguments[0]``; ``None`` after printing help or version.

    With ``own_process``, output that plugins print while they are loaded goes to standard error.
    """
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(help_page())
        return None
    name = arguments[0]
    if name == "--version":
        from importlib.metadata import version

        print(f"smtplugins {version('smtplugins')} ({os.path.dirname(smtplugins.__file__)})")
        return None
    if name in COMMANDS:
        return command_parser(name)
    verb = next((argument for argument in arguments[1:] if not argument.startswith("-")), None)
    if not own_process:
        return _plugin_parser(name, verb)
    from smtformats.files import release_output, reserve_output

    reserve_output()
    try:
        return _plugin_parser(name, verb)
    finally:
        release_output()


def parse_arguments(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse arguments, allowing options between files: ``convert IN --to FORMAT OUT``."""
    if any(action.nargs in (argparse.PARSER, argparse.REMAINDER) for action in parser._actions):
        return parser.parse_args(arguments)
    return parser.parse_intermixed_args(arguments)


def command_parser(name: str) -> argparse.ArgumentParser:
    """Make the parser of a core command; its module has ``run``, unless ``configure`` adds verbs of their own."""
    from smtplugins.cli.options import add_common

    place, summary = COMMANDS[name]
    module = importlib.import_module(f"smtplugins.cli.{place}")
    parser = argparse.ArgumentParser(
        prog=f"smt {name}", description=summary, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    module.configure(parser)
    if hasattr(module, "run"):
        add_common(parser)
        parser.set_defaults(command=module.run)
    return parser


def help_page() -> str:
    """The text of ``smt --help``. Plugin names come from metadata; no plugin is imported."""
    from smtplugins.host.loading.installed import installed_plugins

    names = sorted({plugin.name for plugin in installed_plugins()})
    lines = [
        "usage: smt COMMAND [options]",
        "",
        "Build, tune, run and judge statistical machine translation systems, and rerank their n-best lists.",
        "",
        "commands:",
    ]
    lines += [f"  {name:<10} {summary}" for name, (_, summary) in COMMANDS.items()]
    lines += [
        "",
        f"plugins: {', '.join(names) or 'none'}",
        "",
        "`smt COMMAND --help` shows a command's options, `smt PLUGIN --help` a plugin's own commands.",
        "Exit codes: 0 success, 1 bad data or failed run, 2 wrong call, 130 interrupted.",
    ]
    return "\n".join(lines)


def _plugin_parser(name: str, used: str | None) -> argparse.ArgumentParser:
    """Make the parser of a plugin's commands; only the ``used`` one has its arguments, as others may be broken."""
    from smtplugins.cli.options import note
    from smtplugins.contracts.spec import suggestion

    quiet: list[bool] = []
    host = load_plugins(note=lambda text: None if any(quiet) else note(text))
    info = next((plugin for plugin in host.plugins if plugin.name == name), None)
    if info is None:
        known = [*COMMANDS, *(plugin.name for plugin in host.plugins)]
        raise UsageError(f"unknown command {name!r}{suggestion(name, known)}")
    if info.status == "broken":
        raise PluginError(f"plugin {info.described()} is broken: {info.reason}")
    commands = [entry.record for entry in host.registry.entries("commands") if entry.plugin is info]
    if info.status == "disabled" or not commands:
        why = "is disabled" if info.status == "disabled" else "has no commands of its own"
        raise UsageError(f"plugin {info.described()} {why}")
    parser = argparse.ArgumentParser(prog=f"smt {name}", description=f"Commands of the plugin {name}.")
    verbs = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in commands:
        verb = verbs.add_parser(command.name, help=command.summary, description=command.summary)
        if command.name != used:
            continue
        try:
            resolve(command.configure)(verb)
        except (Exception, SystemExit) as error:
            what = f"command {command.name!r} of plugin {info.described()}"
            raise PluginError(f"{what} is broken: {failure_text(error)}") from error
        verb.set_defaults(command=functools.partial(_run_verb, host, info, command, quiet))
    return parser


def _run_verb(host: Host, info: PluginInfo, command: Command, quiet: list[bool], args: argparse.Namespace) -> None:
    """Run a plugin's command, which may raise ``SystemExit`` itself; in other plugins that it uses it is an error."""
    quiet.append(bool(getattr(args, "quiet", False)))
    try:
        resolve(command.run)(host, args)
    except SystemExit as stop:
        own: Any = host.hooks.get_plugin(info.name)
        if stop.code or exit_place(stop)[0] == own.__name__.partition(".")[0]:
            raise
        raise exit_error(stop) from stop
