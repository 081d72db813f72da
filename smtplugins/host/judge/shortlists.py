"""Shortlists: minimum Bayes-risk decoding in two stages, a fast score before the exact expected gain.

A shortlist by the aggregated score is the "aggregate-to-fine" decoding of J. Vamvas and R. Sennrich, "Linear-time
Minimum Bayes Risk Decoding with Reference Aggregation" (2024). On 251 lists of 64 to 1024 different texts, of Moses and
of cdec's rules, 20 texts by the aggregated score always include the exact choice (BLEU and chrF, ``tests/bench mbr``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.host.arguments import argument

if TYPE_CHECKING:
    from smtformats import Candidates

TOTAL = "total"
AGGREGATE = "aggregate"


@dataclass(frozen=True)
class Shortlist:
    """Keep ``size`` distinct texts of a list: the highest by ``by``, a feature, ``total`` or ``aggregate``.

    Equal texts count as one hypothesis with their highest value.
    """

    size: int
    by: str = TOTAL

    def __post_init__(self) -> None:
        if self.size < 1 or not self.by:
            raise UsageError(
                f"{argument('shortlist')}: expected a number of hypotheses from 1 on, and {TOTAL}, {AGGREGATE} or "
                f"a feature, such as 20,{AGGREGATE}; found {self.size},{self.by}"
            )

    @classmethod
    def of(cls, given: int | tuple[int, str]) -> Shortlist:
        """Make it from its size, or from its size and what it is by."""
        if isinstance(given, bool):
            raise UsageError(f"{argument('shortlist')}: expected N or (N, BY), such as 20, found {given}")
        return cls(given) if isinstance(given, int) else cls(*given)

    def best(self, texts: Sequence[str], values: Sequence[float]) -> list[str]:
        """The texts of highest value, in their order before; of texts with the same value, the first."""
        chosen = sorted(range(len(texts)), key=lambda k: -values[k])[: self.size]
        return [texts[k] for k in sorted(chosen)]

    def features(self, candidates: Candidates, groups: Mapping[str, Sequence[int]], place: str) -> dict[str, float]:
        """The value of the feature for each text, 0 for a hypothesis without it; raises SmtError if no one has it."""
        columns = candidates.features()
        if self.by not in columns.names:
            raise SmtError(
                f"{place}: {argument('shortlist')}: no feature {self.by!r}{suggestion(self.by, columns.names)}"
            )
        found = {text: max(columns[i].get(self.by, 0.0) for i in members) for text, members in groups.items()}
        if any(map(math.isnan, found.values())):
            raise SmtError(f"{place}: {argument('shortlist')}: expected numbers of feature {self.by!r}, found nan")
        return found
