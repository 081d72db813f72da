"""list formats, features, learners, decoders or metrics; `show NAME` prints one with its options"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Mapping
from typing import Any

from smtplugins.cli import options
from smtplugins.contracts.errors import PluginError, UsageError
from smtplugins.host import printing as tables
from smtplugins.host.files.opening import format_options


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    kind = parser.prog.split()[-1]
    parser.add_argument("verb", nargs="?", choices=("show",), help="`show NAME` prints one with its options")
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"one of the {kind}")
    options.add_table(parser)
    parser.set_defaults(kind=kind)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    host, kind = options.load_host(args), args.kind
    if (args.verb is None) != (args.name is None):
        raise UsageError(f"expected `smt {kind}` or `smt {kind} show NAME`")
    entries = [host.registry.entry(kind, args.name)] if args.name else list(host.registry.entries(kind))
    describe = _format_row if kind == "formats" else _offer_row
    rows = [describe(host, entry, kind) for entry in entries]
    if args.name is None:
        columns = (
            ["name", "kind", "access", "plugin", "summary"] if kind == "formats" else ["name", "plugin", "summary"]
        )
        none = f"no {kind} are loaded"
        options.show(tables.render(rows, columns, args.format) if rows or args.format == "json" else none)
        return
    facts = [{"what": name, "value": value} for name, value in rows[0].items() if name != "options" and value]
    choices = rows[0].get("options", [])
    if args.format == "json":
        options.show(tables.render(rows, [], "json"))
        return
    options.show(tables.render(facts, ["what", "value"], args.format))
    if choices:
        options.show()
        columns = ["option", "type", "default"]
        columns += ["meaning"] if any("meaning" in choice for choice in choices) else []
        options.show(tables.render(choices, columns, args.format))


def _offer_row(host: Any, entry: Any, kind: str) -> dict[str, Any]:
    from smtplugins.contracts.spec import documentation, parameters

    offer = entry.record
    unavailable = host.registry.unavailable(offer)
    make: Any = None
    try:
        make = host.registry.factory(kind, offer.name)
    except PluginError as error:
        unavailable = unavailable or str(error)
    return {
        "name": offer.name,
        "plugin": entry.plugin.name,
        "summary": offer.summary + (f" (unavailable: {unavailable})" if unavailable else ""),
        "details": inspect.cleandoc((make and make.__doc__) or "").split("\n\n")[0].replace("\n", " "),
        "reference": offer.reference,
        "needs": sorted(offer.needs),
        "requires": list(offer.requires),
        "options": _choices(parameters(make), documentation(make)) if make is not None else [],
    }


def _format_row(host: Any, entry: Any, kind: str) -> dict[str, Any]:
    record = entry.record
    return {
        "name": record.name,
        "kind": record.kind,
        "access": ("r" if record.parse else "") + ("w" if record.write else ""),
        "plugin": entry.plugin.name,
        "summary": record.summary,
        "suffixes": list(record.suffixes),
        "details": inspect.cleandoc(inspect.getmodule(record.parse or record.write).__doc__ or ""),
        "options": _choices(format_options(record), {}),
    }


def _choices(options: Mapping[str, inspect.Parameter], docs: Mapping[str, str]) -> list[dict[str, str]]:
    """A row for each option, with its description if there is one."""
    from smtplugins.contracts.spec import shown_type

    return [
        {
            "option": name,
            "type": shown_type(parameter.annotation),
            "default": "(required)" if parameter.default is inspect.Parameter.empty else str(parameter.default),
        }
        | ({"meaning": docs[name]} if name in docs else {})
        for name, parameter in options.items()
    ]
