"""Extract hierarchical rules from word-aligned text and write their tables.

Chiang (2007), section 3, defines the rules, their limits and how an initial phrase pair shares its count among them.
Moses' extract-rules, cdec's extractor (Lopez 2007) and Joshua's Thrax (Weese et al. 2011) have other limits; with each
tool's limits the rules and counts are those of the tool.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from smtplugins.core._core import RuleExtraction, RuleLimits
from smtplugins.core.extract.phrase_pairs import BitextCounts, table_bytes

MAX_SPAN = 255
MAX_GAPS = 99
"""The most gaps that cdec can number."""
COUNTS = ("fractional", "unit", "places")
"""``fractional``: an initial phrase pair shares a count of one among its rules. ``unit``: it gives each rule one.
``places``: each position of a rule's source words counts one, however far the gaps at the rule's ends reach."""

RULE_FORMATS = ("moses-rules", "cdec-grammar", "joshua-grammar")

_UNLIMITED = 999
_GLUE: Mapping[str, str] = MappingProxyType(
    {
        "moses-rules": "<s> [X] ||| <s> [S] ||| 1 ||| 0-0 ||| 0 ||| |||\n"
        "[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0 1-1 ||| 0 ||| |||\n"
        "[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1 ||| 0 ||| |||\n",
        "joshua-grammar": "[GOAL] ||| <s> ||| <s> ||| 0\n"
        "[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| -1\n"
        "[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0\n"
        "[GOAL] ||| <s> [X,1] </s> ||| <s> [X,1] </s> ||| 0\n",
    }
)


@dataclass(eq=False)
class BadRules(ValueError):
    """Invalid extraction settings. ``setting`` is a field of `RuleSettings`."""

    setting: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.setting}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True, kw_only=True)
class RuleSettings:
    """Which rules to extract and how to count them; the defaults are those of Moses' `train-model`."""

    max_span: int = 15
    """Maximum words of an initial phrase, on each side."""
    max_source_symbols: int = 5
    """Maximum words and gaps of a rule."""
    max_target_symbols: int = _UNLIMITED
    max_source_words: int | None = None
    """Maximum words of a rule without gaps, if it differs from the symbols of a rule with gaps."""
    max_target_words: int | None = None
    max_nonterminals: int = 2
    min_hole: int = 2
    """Minimum source words of a gap."""
    min_target_hole: int = 1
    min_words: int = 1
    """Minimum words of a rule with gaps, on each side."""
    adjacent: bool = False
    """Whether gaps may be adjacent on the source side."""
    adjacent_target: bool = True
    aligned: bool = True
    """Whether a rule with gaps needs a pair of aligned words."""
    tight: bool = False
    """Whether phrases may not begin or end with unaligned words."""
    counts: str = "fractional"

    def __post_init__(self) -> None:
        least = {"max_nonterminals": 0, "min_words": 0, "max_span": 1}
        for name in ("max_source_symbols", "max_target_symbols", "min_hole", "min_target_hole"):
            least[name] = 1
        for name in ("max_source_words", "max_target_words"):
            if getattr(self, name) is not None:
                least[name] = 1
        for name, lowest in least.items():
            if getattr(self, name) < lowest:
                raise BadRules(name, f"{lowest} or more", str(getattr(self, name)))
        for name, highest in (("max_span", MAX_SPAN), ("max_nonterminals", MAX_GAPS)):
            if getattr(self, name) > highest:
                raise BadRules(name, f"at most {highest}", str(getattr(self, name)))
        if self.counts not in COUNTS:
            raise BadRules("counts", f"one of {', '.join(COUNTS)}", repr(self.counts))
        if self.max_nonterminals:
            self._check_room()

    def _check_room(self) -> None:
        """Raise BadRules if no rule with a gap fits the limits."""
        room = self.min_words + 1
        words = f"{self.min_words} word{'' if self.min_words == 1 else 's'}"
        for name in ("max_source_symbols", "max_target_symbols"):
            if getattr(self, name) < room:
                raise BadRules(name, f"{room} or more (a gap and {words})", str(getattr(self, name)))
        for hole in (self.min_hole, self.min_target_hole):
            if self.max_span < self.min_words + hole:
                least = self.min_words + hole
                gap = f"a gap of {hole} word{'' if hole == 1 else 's'}"
                raise BadRules("max_span", f"{least} or more ({gap} and {words})", str(self.max_span))

    def native(self) -> RuleLimits:
        """The settings for the native extractor."""
        return RuleLimits(
            span=self.max_span,
            source_words=_cap(self.max_source_symbols if self.max_source_words is None else self.max_source_words),
            target_words=_cap(self.max_target_symbols if self.max_target_words is None else self.max_target_words),
            source_symbols=_cap(self.max_source_symbols),
            target_symbols=_cap(self.max_target_symbols),
            gaps=_cap(self.max_nonterminals),
            source_gap=_cap(self.min_hole),
            target_gap=_cap(self.min_target_hole),
            words=_cap(self.min_words),
            adjacent_source=self.adjacent,
            adjacent_target=self.adjacent_target,
            linked_word=self.aligned,
            tight=self.tight,
            counts=COUNTS.index(self.counts),
        )


_MOSES = RuleSettings()
_TIGHT = replace(_MOSES, tight=True, min_hole=1)
LIMITS: Mapping[str, RuleSettings] = MappingProxyType(
    {
        "moses": _MOSES,
        "chiang": replace(_TIGHT, max_span=10),
        "cdec": replace(_TIGHT, counts="places"),
        "thrax": replace(
            _TIGHT, max_span=10, max_target_symbols=5, max_source_words=10, max_target_words=10, counts="unit"
        ),
    }
)
"""The limits of Moses' train-model, Chiang (2007), cdec's extractor and Joshua's Thrax."""

USUAL_LIMITS: Mapping[str, str] = MappingProxyType(dict(zip(RULE_FORMATS, ("moses", "cdec", "thrax"), strict=True)))


def glue_grammar(table_format: str) -> str | None:
    """The glue rules of a table format; None for cdec, which makes them itself."""
    return _GLUE.get(table_format)


class ExtractedRules(BitextCounts):
    """Count the rules of a text fed in pieces, then give their table.

    ``settings`` default to those of the format's toolkit. ``skip_bad`` leaves out sentence pairs with links outside the
    sentences. ``lexical`` counts words for lexical tables, as the toolkit does. ``folder`` is an empty folder for rules
    that need more than ``memory`` bytes. The table does not depend on ``threads`` or ``memory``.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        settings: RuleSettings | None = None,
        *,
        table_format: str = RULE_FORMATS[0],
        skip_bad: bool = False,
        lexical: bool = True,
        threads: int = 1,
        memory: int | None = None,
    ) -> None:
        self._lexical = lexical
        self._native: RuleExtraction = RuleExtraction(
            (settings or LIMITS[USUAL_LIMITS[table_format]]).native(),
            RULE_FORMATS.index(table_format),
            skip_bad,
            lexical,
            threads,
            table_bytes(memory),
            os.fspath(folder),
        )

    def table(self) -> Iterator[bytes]:
        """Pieces of the table, in the order of `LC_ALL=C sort`."""
        if self._lexical:
            self._native.count_lexical()
        self._native.finish()
        return iter(self._native.next, b"")

    @property
    def rules(self) -> int:
        """The number of distinct rules, once all are counted."""
        return self._native.rules


def _cap(limit: int) -> int:
    """Cap a limit at a number that no rule can reach."""
    return min(limit, 1 << 20)
