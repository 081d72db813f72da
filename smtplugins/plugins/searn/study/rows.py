"""The rows of table 1 of Zhang, Sun and Li (2008), and rows of ours: decoder, table and policy of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from smtplugins.contracts.spec import Spec

KINDS: Mapping[str, str] = {
    "amasis": "the paper's system",
    "phrase": "Pharaoh, for each --length",
    "history": "amasis with a policy that sees earlier labels, for each --history",
    "labels": "the first --history with several labels tried, and the policy's probabilities as features",
    "nulls": "amasis that may leave out words that often have no translation",
    "monotone": "amasis in the order of the source, to show the effect of labels",
    "leaves": "Pharaoh's search with the table of amasis, to show reordering without labels",
}
TABLES = {"systems": "the paper's table 1", "sizes": "figures 4 and 5"}
HISTORY = "label,label2,depth,fragment"
PAIRS = ("F-E", "G-E", "S-E")
PAPER_ROWS = ("amasis", "phrase-1", "phrase-2", "phrase-3")
_SCORED = {
    "F-E": ((27.44, 18.41), (20.54, 14.07), (27.71, 19.41), (30.01, 20.77)),
    "G-E": ((23.02, 15.97), (17.53, 12.13), (23.36, 15.77), (24.40, 16.58)),
    "S-E": ((27.51, 23.35), (23.23, 20.24), (28.88, 25.28), (30.58, 26.51)),
}
PAPER = {pair: dict(zip(PAPER_ROWS, scores, strict=True)) for pair, scores in _SCORED.items()}
"""BLEU in domain and out of domain, on WMT 2006, by row; Pharaoh by the length of its phrases."""
RATIOS: Mapping[str, float] = {"F-E": 9.68, "G-E": 13.54, "S-E": 8.12}
"""Figure 4: entries of Amasis' table in per cent of those of Pharaoh's."""
# Moses' initial weights.
_SHARED = {"lm": 0.5, "word-penalty": -1.0, "oov": 1.0}
_SCORES = 0.2
OOV, SCORES = "oov", "table"


@dataclass(frozen=True)
class AmasisRow:
    """A system: its decoder, options, table, policy and features.

    ``length`` is that of the table's phrases, 0 for the table of leaves; ``history`` names the policy's history
    features, None without a policy; ``start`` has initial weights beyond those that all rows have.
    """

    kind: str
    key: str
    title: str
    decoder: str = "amasis"
    length: int = 0
    history: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    start: Mapping[str, float] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """The name of its table."""
        return f"phrases-{self.length}" if self.length else "leaves"

    def weights(self) -> dict[str, float]:
        """The weights that tuning begins with: the same for all scores of a table."""
        scores = {f"{SCORES}[{k}]": _SCORES for k in range(4 if self.length else 5)}
        penalty = {"phrase-penalty": _SCORES} if self.length else {}
        return {**scores, **penalty, **_SHARED, **self.start}

    def specs(self, lm: str, policy: str | None) -> tuple[Spec, ...]:
        """The features."""
        specs = [Spec("lm", {"path": lm}), Spec("word-penalty"), Spec(OOV, {"value": -100})]
        specs += [Spec("phrase-penalty")] if self.length else []
        return (*specs, *(Spec(name, {"path": policy} if name == "itg-history" else {}) for name in self.features))


def rows_of(
    kinds: Sequence[str], lengths: Sequence[int], histories: Sequence[str], *, labels: int, distortion: int
) -> list[AmasisRow]:
    """The rows of some kinds, the paper's system first."""
    # No threshold, as amasis has none: what it prunes depends on the size of the weights.
    pharaoh = {"search": "stack", "distortion_limit": distortion, "beam_threshold": 0.0}
    moved: dict[str, Any] = {"decoder": "phrase", "options": pharaoh, "features": ("distortion",)}
    moved["start"] = {"distortion": 0.3}
    judged = {"itg-history[0]": 0.2, "itg-history[1]": 0.0, "itg-history[2]": 0.0}
    tried: dict[str, Any] = {"options": {"labels": labels}, "features": ("itg-history",), "start": judged}
    rows = [
        AmasisRow("amasis", "amasis", "Amasis", history="none"),
        *(AmasisRow("phrase", f"phrase-{n}", f"phrase, length {n}", length=n, **moved) for n in lengths),
        *(
            AmasisRow("history", "history-" + names.replace(",", "-"), f"Amasis, history {names}", history=names)
            for names in histories
        ),
        AmasisRow("labels", "labels", f"Amasis, {labels} labels tried", history=[*histories, "none"][0], **tried),
        AmasisRow("nulls", "nulls", "Amasis, words may be left out", history="none", start={"null": _SCORES}),
        AmasisRow("monotone", "monotone", "Amasis, monotone", options={"policy": "monotone"}),
        AmasisRow("leaves", "leaves", "phrase, table of Amasis", **moved),
    ]
    return [row for row in rows if row.kind in kinds]
