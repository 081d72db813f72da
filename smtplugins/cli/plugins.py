"""list plugins with their origin and status, check one, or start a new one"""

from __future__ import annotations

import argparse
from typing import Any

from smtplugins.cli import options
from smtplugins.cli.main import COMMANDS
from smtplugins.contracts.errors import PluginError, SmtError, UsageError
from smtplugins.host import printing as tables


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    options.add_table(parser)
    options.add_common(parser)
    parser.set_defaults(command=show)
    verbs = parser.add_subparsers(metavar="VERB")
    check = verbs.add_parser("check", help="run the conformance kit on everything a plugin offers")
    check.add_argument("name", metavar="NAME", help="a plugin, as `smt plugins` names it")
    options.add_table(check)
    options.add_common(check)
    options.inherit(check)
    # Kept scores would hide that a feature gives others the second time.
    check.set_defaults(command=run_checks, score_cache="off")
    new = verbs.add_parser("new", help="create a plugin distribution that passes the conformance kit")
    new.add_argument("name", metavar="NAME", help="name of the new plugin: letters, digits and `-`")
    new.add_argument("folder", nargs="?", metavar="FOLDER", help="folder to create (default: ./smt-NAME)")
    options.add_common(new)
    options.inherit(new)
    new.set_defaults(command=make_new)


def show(args: argparse.Namespace) -> None:
    """List the plugins."""
    host = options.load_host(args)
    host.formats()  # which then are offers of their plugins
    rows: list[dict[str, Any]] = []
    for plugin in host.plugins:
        rows.append(
            {
                "name": plugin.name,
                "distribution": plugin.distribution,
                "version": plugin.version,
                "origin": plugin.origin,
                "status": plugin.status,
                "reason": plugin.reason,
                "hooks": list(plugin.hooks),
                "offers": {kind: list(names) for kind, names in plugin.offers.items()},
            }
        )
    options.show(tables.render(rows, ["name", "distribution", "version", "status", "hooks", "reason"], args.format))


def run_checks(args: argparse.Namespace) -> None:
    """Run the kit on a plugin."""
    import tempfile
    from pathlib import Path

    from smtplugins.contracts.spec import suggestion
    from smtplugins.testing.plugin import check_plugin

    host = options.load_host(args)
    info = next((plugin for plugin in host.plugins if plugin.name == args.name), None)
    if info is None:
        raise UsageError(
            f"unknown plugin {args.name!r}{suggestion(args.name, [plugin.name for plugin in host.plugins])}"
        )
    if info.status != "ok":
        raise PluginError(f"plugin {info.described()} is {info.status}: {info.reason}")
    with tempfile.TemporaryDirectory() as folder:
        results = check_plugin(host, args.name, Path(folder))
    rows = [
        {
            "kind": kind,
            "name": name,
            "check": check.check,
            "result": "ok" if check.ok else "FAILED",
            "message": check.message,
        }
        for kind, name, check in results
    ]
    options.show(tables.render(rows, ["kind", "name", "check", "result", "message"], args.format))
    failed = sum(row["result"] != "ok" for row in rows)
    if failed:
        raise SmtError(f"{failed} of {len(rows)} checks failed")


def make_new(args: argparse.Namespace) -> None:
    """Write a new plugin."""
    from pathlib import Path

    from smtplugins.host.loading.template import new_plugin

    if args.name in [plugin.name for plugin in options.load_host(args).plugins]:
        raise UsageError(f"a plugin named {args.name!r} is already installed; choose another name")
    if args.name in COMMANDS:
        raise UsageError(f"`smt {args.name}` is already a command; choose another name")
    folder = Path(args.folder or f"smt-{args.name}")
    for path in new_plugin(args.name, folder):
        options.show(str(path))
