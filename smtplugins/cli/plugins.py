"""the plugins there are, where they come from, whether they work"""

from __future__ import annotations

import argparse
from typing import Any

from smtplugins.cli import options
from smtplugins.host import printing as tables


def summary(name: str) -> str:
    """A line for the help page."""
    return "the plugins there are; `check NAME` tests one, `new NAME` starts one"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    options.add_table(parser)
    options.add_common(parser)
    parser.set_defaults(command=show)
    verbs = parser.add_subparsers(metavar="VERB")
    check = verbs.add_parser("check", help="run the conformance kit on all that a plugin offers")
    check.add_argument("name", metavar="NAME", help="a plugin, as `smt plugins` names it")
    options.add_table(check)
    options.add_common(check)
    options.inherit(check)
    check.set_defaults(command=run_checks)
    new = verbs.add_parser("new", help="write a plugin distribution that passes the kit at once")
    new.add_argument("name", metavar="NAME", help="its name: letters, digits and `-`")
    new.add_argument("folder", nargs="?", metavar="FOLDER", help="where (default: ./smt-NAME)")
    options.add_common(new)
    options.inherit(new)
    new.set_defaults(command=make_new)


def show(args: argparse.Namespace) -> None:
    """List the plugins."""
    host = options.load_host(args)
    rows: list[dict[str, Any]] = []
    for one in host.plugins:
        rows.append(
            {
                "name": one.name,
                "distribution": one.distribution,
                "version": one.version,
                "origin": one.origin,
                "status": one.status,
                "reason": one.reason,
                "hooks": list(one.hooks),
                "offers": {kind: list(names) for kind, names in one.offers.items()},
            }
        )
    options.show(tables.render(rows, ["name", "distribution", "version", "status", "hooks", "reason"], args.format))


def run_checks(args: argparse.Namespace) -> None:
    """Run the kit on a plugin."""
    import tempfile
    from pathlib import Path

    from smtplugins.contracts.spec import suggestion
    from smtplugins.host.errors import PluginError, SmtError, UsageError
    from smtplugins.testing.plugin import check_plugin

    host = options.load_host(args)
    info = next((one for one in host.plugins if one.name == args.name), None)
    if info is None:
        raise UsageError(f"unknown plugin {args.name!r}{suggestion(args.name, [one.name for one in host.plugins])}")
    if info.status != "ok":
        raise PluginError(f"plugin {info.described()} is {info.status}: {info.reason}")
    with tempfile.TemporaryDirectory() as folder:
        results = check_plugin(host, args.name, Path(folder))
    rows = [
        {"kind": kind, "name": name, "check": one.check, "result": "ok" if one.ok else "FAILED", "message": one.message}
        for kind, name, one in results
    ]
    options.show(tables.render(rows, ["kind", "name", "check", "result", "message"], args.format))
    failed = sum(row["result"] != "ok" for row in rows)
    if failed:
        raise SmtError(f"{failed} of {len(rows)} checks failed")


def make_new(args: argparse.Namespace) -> None:
    """Write a new plugin."""
    from pathlib import Path

    from smtplugins.cli.main import COMMANDS
    from smtplugins.host.errors import UsageError
    from smtplugins.host.loading.template import new_plugin

    if args.name in [one.name for one in options.load_host(args).plugins]:
        raise UsageError(f"a plugin named {args.name!r} is installed already; two of one name exclude each other")
    if args.name in COMMANDS:
        raise UsageError(f"`smt {args.name}` is a command already; a plugin of that name would hide its own commands")
    folder = Path(args.folder or f"smt-{args.name}")
    for path in new_plugin(args.name, folder):
        options.show(str(path))
