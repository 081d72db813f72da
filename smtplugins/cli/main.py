"""``smt``: finds the command, runs it, and turns every failure into a message and an exit code."""

from __future__ import annotations

import argparse
import functools
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtplugins.contracts.offers import Command, PluginInfo
    from smtplugins.host.host import Host

COMMANDS = {
    "plugins": "plugins",
    "formats": "offers",
    "features": "offers",
    "learners": "offers",
    "decoders": "offers",
    "metrics": "offers",
    "info": "info",
    "convert": "convert",
    "score": "lists.score",
    "rescore": "lists.rescore",
    "best": "lists.best",
    "dedup": "lists.dedup",
    "evaluate": "lists.evaluate",
    "oracle": "lists.oracle",
    "mbr": "lists.mbr",
    "tune": "systems.tune",
    "rerank": "lists.rerank",
    "report": "lists.report",
    "decode": "systems.decode",
    "align": "systems.align",
    "extract": "systems.extract",
    "lm": "systems.lm",
    "config": "config",
    "cache": "cache",
}
"""The core commands in the order of the help page, and the module of each."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    verbose = False
    if argv is None:
        _end_in_order()
        # numpy's BLAS starts threads that spin when it is imported, 50 ms of CPU, and nothing here multiplies matrices.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        parser = find_parser(arguments, own_process=argv is None)
        if parser is None:
            return 0
        args = parsed(parser, arguments[1:])
        verbose = bool(getattr(args, "verbose", 0))
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
        return _failed(error, verbose)


def _run(args: argparse.Namespace, *, own_process: bool) -> None:
    """A command of ours: standard output is for what it writes itself, and it never ends by ``SystemExit``."""
    from smtformats.files import reserve_output
    from smtplugins.host.errors import exit_error

    if own_process:
        reserve_output()
    try:
        args.command(args)
    except SystemExit as stop:
        raise exit_error(stop) from stop


def _failed(error: BaseException, verbose: bool) -> int:
    """Say what went wrong; returns the exit code."""
    from smtplugins.host.errors import exit_code, message

    code = exit_code(error)
    if isinstance(error, BrokenPipeError):
        if _nobody_reads():
            return 0
        # Another pipe is broken, one of a plugin or standard error.
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
    """Whether standard output is a pipe whose other end is closed; buffers then have nowhere to go, without a word."""
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
    """The signal of this number came: no ``SystemExit``, which a plugin may raise while it is loaded."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _end_in_order() -> None:
    """Being ended from outside goes the way of every other failure: files written aside are removed."""
    process = os.getpid()

    def end(number: int, frame: object) -> None:
        if os.getpid() != process:
            # A worker that was forked just now and has not yet set signals of its own.
            os._exit(128 + number)
        raise _EndedError(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        # Ignored, as under nohup, it stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)


def find_parser(arguments: Sequence[str], *, own_process: bool = False) -> argparse.ArgumentParser | None:
    """The parser of the command named first; ``None`` after printing help or version.

    In a process of its own, what plugins print while they are loaded goes to standard error.
    """
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(help_page())
        return None
    name = arguments[0]
    if name == "--version":
        from importlib.metadata import version

        import smtplugins

        print(f"smtplugins {version('smtplugins')} ({os.path.dirname(smtplugins.__file__)})")
        return None
    if name in COMMANDS:
        return command_parser(name)
    if not own_process:
        return _plugin_parser(name)
    from smtformats.files import release_output, reserve_output

    reserve_output()
    try:
        return _plugin_parser(name)
    finally:
        release_output()


def parsed(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """The options, which may stand between the files: ``convert IN --to FORMAT OUT``."""
    if any(one.nargs in (argparse.PARSER, argparse.REMAINDER) for one in parser._actions):
        return parser.parse_args(arguments)
    return parser.parse_intermixed_args(arguments)


def command_parser(name: str) -> argparse.ArgumentParser:
    """The parser of a core command."""
    module = importlib.import_module(f"smtplugins.cli.{COMMANDS[name]}")
    parser = argparse.ArgumentParser(
        prog=f"smt {name}", description=module.summary(name), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    module.configure(parser)
    return parser


def help_page() -> str:
    """What ``smt --help`` prints. Plugins are named from their metadata, none is imported."""
    from smtplugins.host.loading.installed import plugin_names

    lines = [
        "usage: smt COMMAND [options]",
        "",
        "Work with the output of machine translation systems.",
        "",
        "commands:",
    ]
    for name, module in COMMANDS.items():
        lines.append(f"  {name:<10} {importlib.import_module(f'smtplugins.cli.{module}').summary(name)}")
    names = ", ".join(plugin_names()) or "none"
    lines += [
        "",
        f"plugins: {names}",
        "",
        "`smt COMMAND --help` shows a command's options, `smt PLUGIN --help` a plugin's own commands.",
        "Exit codes: 0 done, 1 bad data, 2 wrong call, 130 interrupted.",
    ]
    return "\n".join(lines)


def _plugin_parser(name: str) -> argparse.ArgumentParser | None:
    from smtplugins.contracts.spec import suggestion
    from smtplugins.host.errors import PluginError, UsageError
    from smtplugins.host.loading.manager import load_plugins

    host = load_plugins()
    info = next((one for one in host.plugins if one.name == name), None)
    if info is None:
        known = [*COMMANDS, *(one.name for one in host.plugins)]
        raise UsageError(f"unknown command {name!r}{suggestion(name, known)}")
    if info.status == "broken":
        raise PluginError(f"plugin {info.described()} is broken: {info.reason}")
    commands = [entry.record for entry in host.registry.entries("commands") if entry.plugin is info]
    if info.status == "disabled" or not commands:
        why = "is switched off" if info.status == "disabled" else "has no commands of its own"
        raise UsageError(f"plugin {info.described()} {why}")
    parser = argparse.ArgumentParser(prog=f"smt {name}", description=f"Commands of the plugin {name}.")
    verbs = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in commands:
        verb = verbs.add_parser(command.name, help=command.summary, description=command.summary)
        command.configure(verb)
        verb.set_defaults(command=functools.partial(_run_verb, host, info, command))
    return parser


def _run_verb(host: Host, info: PluginInfo, command: Command, args: argparse.Namespace) -> None:
    """A plugin's command, which may end by ``SystemExit`` itself; other plugins that it uses may not end it."""
    from smtplugins.host.errors import exit_error, exit_place

    try:
        command.run(host, args)
    except SystemExit as stop:
        own: Any = host.hooks.get_plugin(info.name)
        if stop.code or exit_place(stop)[0] == own.__name__.partition(".")[0]:
            raise
        raise exit_error(stop) from stop
