"""A rule or phrase table of a run."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats import Format, FormatError, GrammarColumns
from smtplugins.contracts.spec import Spec
from smtplugins.host.files.opening import format_options, load_rules, open_known, with_options

if TYPE_CHECKING:
    from smtformats.grammar.shared.lookup import PhraseLookup


@dataclass(frozen=True)
class RuleTable:
    """A file of rules, an entry of ``model.tables``.

    ``name`` names its columns of scores where the format leaves that open; ``owner`` is Joshua's. ``limit`` is the
    number of target sides kept for a source side, 0 for all; ``max_span`` the longest span, if not the decoder's own,
    -1 for rules that begin at the start of the sentence; ``scores`` the number of scores of each rule, if known.
    ``format`` is detected from the file, unless the model has a ``grammar_format``. ``position`` is the number of
    features and other tables before the table's scores in n-best lists. With ``tuneable: false`` its weights are not
    learnt. A phrase table with a ``backoff`` is used for words that no table before it translates as a whole, and that
    are at most so many; -1 for any number, 0 for a table that is always used.
    """

    path: Path
    name: str = ""
    owner: str = ""
    limit: int = 0
    max_span: int | None = None
    format: str | None = None
    scores: int | None = None
    position: int = 0
    tuneable: bool = True
    backoff: int = 0

    def load(self, formats: Iterable[Format] | None = None, cache: str | None = None) -> GrammarColumns:
        """Load the rules."""
        return load_rules(self.path, self._record(formats), cache)

    def lookup(self, formats: Iterable[Format] | None = None) -> PhraseLookup | None:
        """Open a table that is looked up by source phrase; ``None`` if the format has all its rules to load."""
        record = self._record(formats)
        return None if record.lookup is None else record.lookup(self.path)

    def _record(self, formats: Iterable[Format] | None) -> Format:
        """The table's format, with the table's name or owner as its option unless its options say another."""
        with open_known(self.path, "grammar", self.format, formats) as opened:
            record = opened.record
        given = {} if self.format is None else Spec.of(self.format).options
        known = format_options(record).keys() - given.keys()
        if "owner" in known and self.owner:
            return with_options(record, {"owner": self.owner})
        return with_options(record, {"table": self.name}) if "table" in known and self.name else record

    def dense_names(self, names: Iterable[str]) -> list[str]:
        """The features that every rule of the table has: the table's name, numbered if there are several."""
        own = re.compile(re.escape(self.name) + r"(?:\[(\d+)\]|_(\d+))?")
        numbered = [
            (int(match[1] or match[2] or 0), name) for name in names if self.name and (match := own.fullmatch(name))
        ]
        if numbered and self.scores is not None and len(numbered) != self.scores:
            expected = f"{self.scores} {'score' if self.scores == 1 else 'scores'} of each rule, as {self.name!r} says"
            raise FormatError(expected, str(len(numbered)), file=os.fspath(self.path))
        return [name for _, name in sorted(numbered)]

    def plain(self) -> str | dict[str, Any]:
        """The entry of a run.yaml: the path, with the fields that have other values than their defaults."""
        path = os.fspath(self.path)
        rest = [field for field in dataclasses.fields(self) if field.name != "path"]
        shown = {field.name: value for field in rest if (value := getattr(self, field.name)) != field.default}
        return {"path": path, **shown} if shown else path


def merged(tables: Iterable[RuleTable], features: Iterable[Spec]) -> tuple[Spec | RuleTable, ...]:
    """The features and the tables that have a name, in the order in which n-best lists have their scores."""
    named = sorted((table for table in tables if table.name), key=lambda table: table.position)
    order: list[Spec | RuleTable] = []
    for feature in features:
        while named and named[0].position <= len(order):
            order.append(named.pop(0))
        order.append(feature)
    return (*order, *named)
