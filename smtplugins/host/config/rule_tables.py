"""A rule or phrase table of a run."""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats import Format, FormatError, GrammarColumns
from smtformats.records import dataclass
from smtplugins.contracts.options import option
from smtplugins.contracts.spec import Spec
from smtplugins.host.files.opening import format_options, load_rules, open_known, with_options

if TYPE_CHECKING:
    from smtformats.grammar.rules import Rule
    from smtformats.grammar.shared.lookup import PhraseLookup


_START = 0.2
_FIRST_RULES = 1000


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

    path: Path = option(doc="the file, or the folder of a packed table")
    name: str = option("", "the name of its scores, where the format has none")
    owner: str = option("", "Joshua's owner")
    limit: int = option(0, "target sides kept for a source side; 0 for all")
    max_span: int | None = option(None, "the longest span; default: the decoder's")
    format: str | None = option(None, "its format; default: detected")
    scores: int | None = option(None, "the number of scores of a rule, which is checked")
    position: int = option(0, "the number of features and tables before its scores in lists")
    tuneable: bool = option(True, "its weights are learnt")
    backoff: int = option(0, "used for words up to this length that no table before it has; 0: always; -1: any length")

    def load(self, formats: Iterable[Format] | None = None, cache: str | None = None) -> GrammarColumns:
        """Load the rules."""
        return load_rules(self.path, self._record(formats), cache)

    def lookup(self, formats: Iterable[Format] | None = None) -> PhraseLookup | None:
        """Open a table that is looked up by source phrase; ``None`` if the format has all its rules to load."""
        record = self._record(formats)
        return None if record.lookup is None else record.lookup(self.path)

    def start_weights(self, formats: Iterable[Format] | None = None) -> dict[str, float]:
        """The weights that tuning starts from, of features that are probabilities by the format or in every rule.

        A probability weighs 0.2, as in Moses, other features 0. The sign is that of a logarithm that is at most 0; a
        cost, which is at least 0, has the other. It is seen in the first rules, so that no large table is loaded.
        """
        rules = self.first_rules(formats)
        values: dict[str, list[float]] = {}
        if rules is None:
            opened = self.lookup(formats)
            values |= {name: [] for name in (() if opened is None else opened.columns(()).names[:])}
        for rule in rules or ():
            for name, value in zip(rule.names, rule.values, strict=True):
                values.setdefault(name, []).append(value)
        known = re.compile(self.probabilities(formats))
        weights = {name: _start(seen) if known.fullmatch(name) else 0.0 for name, seen in values.items()}
        # A feature of few rules is sparse: there may be millions.
        return {name: weight for name, weight in weights.items() if weight or len(values[name]) == len(rules or ())}

    def probabilities(self, formats: Iterable[Format] | None = None) -> str:
        """A regular expression for its features that are probabilities by its format; empty if none are known."""
        from smtformats.grammar.smt_table import source_of

        record = self._record(formats)
        return str(source_of(self.path)["probabilities"]) if record.mapped else record.probabilities

    def first_rules(self, formats: Iterable[Format] | None = None) -> list[Rule] | None:
        """Read the first rules alone; ``None`` if the table is looked up by source phrase and may not be listed."""
        record = self._record(formats)
        if not record.mapped and record.lookup is not None and record.lookup(self.path) is not None:
            return None
        with open_known(self.path, "grammar", self.format, formats) as table:
            table.record = record
            return list(itertools.islice(table.records(), _FIRST_RULES))

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


def _start(values: Sequence[float]) -> float:
    """The start weight of a probability with these logarithms or costs; one value for all is a penalty of phrases."""
    is_cost = bool(values) and min(values) >= 0 and max(values) > min(values)
    return -_START if is_cost else _START


def merged(tables: Iterable[RuleTable], features: Iterable[Spec]) -> tuple[Spec | RuleTable, ...]:
    """The features and the tables that have a name, in the order in which n-best lists have their scores."""
    named = sorted((table for table in tables if table.name), key=lambda table: table.position)
    order: list[Spec | RuleTable] = []
    for feature in features:
        while named and named[0].position <= len(order):
            order.append(named.pop(0))
        order.append(feature)
    return (*order, *named)
