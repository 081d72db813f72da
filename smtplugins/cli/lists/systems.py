"""Formats of the files of several systems: an option for all, or for each by name."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence

from smtplugins.contracts.errors import UsageError


def add_formats(parser: argparse.ArgumentParser, files: str) -> None:
    """Add the option for the formats of ``files``."""
    parser.add_argument(
        "--from",
        dest="from_formats",
        action="append",
        default=[],
        metavar="[NAME=]FORMAT",
        help=f"format of {files}, or of one system, NAME[,key=value...] (default: detected; repeatable)",
    )


def formats_of(given: Sequence[str], systems: Collection[str]) -> str | dict[str, str] | None:
    """The formats by system, or one for all."""
    by_name: dict[str, str] = {}
    for text in given:
        name, equals, spec = text.partition("=")
        if not equals or name not in systems:
            if len(given) > 1:
                raise UsageError(f"--from: expected NAME=FORMAT with the name of a system, found {text!r}")
            return text
        by_name[name] = spec
    return by_name or None
