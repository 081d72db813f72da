"""A report as one page of HTML that needs nothing else: no network, no fonts, no libraries, in either direction.

Plots and tables are made here, what is looked up by hand from data that stands in the page: the lists, wins and losses
by ``page.js``, the drawings of trees by ``trees.js``. Nothing of the data is ever markup: here it is escaped, there it
only becomes text nodes, and the page's policy lets run no script but its own, told by its hash.

The page is a plain template, so there is no use for a template library: seven places are filled in, and the hashes of
script and styles have to be of what stands in the page to the last byte.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path
from string import Template
from typing import Any, TextIO

from smtformats import Format, FormatError
from smtformats.format import Number
from smtplugins.host.errors import UsageError
from smtplugins.host.judge.reporting import Report

CANDIDATES = 100
TREES = 200


def write(
    records: Iterable[Any], out: TextIO, number: Number, *, candidates: int = CANDIDATES, trees: int = TREES
) -> int:
    """Write a report.

    Of longer lists only the first ``candidates`` hypotheses and the oracle are in the page, of more trees the first
    ``trees``.
    """
    reports = list(records)
    if len(reports) != 1 or not isinstance(reports[0], Report):
        raise FormatError("one report for a page", f"{len(reports)} records", file="<data>", line=1)
    for name, value in (("candidates", candidates), ("trees", trees)):
        if value < 1:
            raise UsageError(f"format 'html-report': {name}: expected 1 or more, found {value}")
    out.write(page(reports[0], candidates, trees))
    return 1


def page(report: Report, candidates: int = CANDIDATES, trees: int = TREES) -> str:
    """The page."""
    from html import escape

    from smtplugins.plugins.standard.report import data, sections
    from smtplugins.plugins.standard.report.trees import Shown

    shown = Shown.of(report.built, trees)
    style = _part("page.css") + ("" if shown is None else _part("trees.css"))
    script = "".join(map(_part, ("tools.js", "page.js", *(["trees.js"] if shown is not None else []))))
    return Template(_part("page.html")).substitute(
        title=escape(report.title),
        policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        contents=sections.contents(report),
        sections="\n".join(sections.sections(report, shown)),
        data=data.encoded(report, candidates, shown),
        script=script,
    )


def _part(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


FORMAT = Format(
    name="html-report",
    kind="report",
    summary="a page of HTML with everything in it: curves, weights, lists to look into, wins and losses, trees",
    write=write,
    suffixes=(".html",),
)
