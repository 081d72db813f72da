"""The HTML report: a single self-contained page without network access, fonts or libraries.

Plots and tables are rendered here. Interactive parts are rendered in the browser from data in the page: lists, wins
and losses by ``page.js``, trees by ``trees.js``. Data never become markup: they are escaped here, and only become text
nodes there. The page's content security policy allows only its own script, identified by its hash.

The page is a ``string.Template`` with seven placeholders, because the hashes of script and styles must match the bytes
in the page exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from smtformats import Format, FormatError
from smtformats.format import Number
from smtplugins.contracts.errors import UsageError

if TYPE_CHECKING:
    from smtplugins.contracts.tools.judging import Report

CANDIDATES = 100
TREES = 200


def write(
    records: Iterable[Any], out: TextIO, number: Number, *, candidates: int = CANDIDATES, trees: int = TREES
) -> int:
    """Write a report.

    The page has at most the first ``candidates`` hypotheses of each list, plus the oracle, and the first ``trees``
    trees.
    """
    from smtplugins.contracts.tools.judging import Report

    reports = list(records)
    if len(reports) != 1 or not isinstance(reports[0], Report):
        raise FormatError("one report for a page", f"{len(reports)} records", file="<data>", line=1)
    for name, value in (("candidates", candidates), ("trees", trees)):
        if value < 1:
            raise UsageError(f"format 'html-report': {name}: expected 1 or more, found {value}")
    out.write(page(reports[0], candidates, trees))
    return 1


def page(report: Report, candidates: int = CANDIDATES, trees: int = TREES) -> str:
    """Render the page."""
    from html import escape
    from string import Template

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
        data=data.page_data(report, candidates, shown),
        script=script,
    )


def _part(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    import base64
    import hashlib

    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


FORMAT = Format(
    name="html-report",
    kind="report",
    summary="a self-contained HTML page: learning curves, weights, n-best lists, wins and losses, trees",
    write=write,
    suffixes=(".html",),
)
