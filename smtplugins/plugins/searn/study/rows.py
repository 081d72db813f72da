"""The rows of table 1 of Zhang, Sun and Li (2008), and rows of ours: what decodes, with which table and policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from smtplugins.contracts.spec import Spec

KINDS: Mapping[str, str] = {
    "amasis": "the paper's system",
    "phrase": "Pharaoh, for each --length",
    "history": "amasis with a policy that knows of earlier labels, for each --history",
    "labels": "the first of these with several labels tried, and what the policy says of them as a feature",
    "nulls": "amasis with words left out that often have no translation",
    "monotone": "amasis with all in the order of the source: what labels bring",
    "leaves": "Pharaoh's search with the table of amasis: what reordering without labels brings",
}
PAIRS = ("F-E", "G-E", "S-E")
PAPER: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "F-E": {"amasis": (27.44, 18.41), "1": (20.54, 14.07), "2": (27.71, 19.41), "3": (30.01, 20.77)},
    "G-E": {"amasis": (23.02, 15.97), "1": (17.53, 12.13), "2": (23.36, 15.77), "3": (24.40, 16.58)},
    "S-E": {"amasis": (27.51, 23.35), "1": (23.23, 20.24), "2": (28.88, 25.28), "3": (30.58, 26.51)},
}
"""BLEU in domain and out of domain, on WMT 2006; Pharaoh by the length of its phrases."""
RATIOS: Mapping[str, float] = {"F-E": 9.68, "G-E": 13.54, "S-E": 8.12}
"""Figure 4: entries of Amasis' table in per cent of those of Pharaoh's."""
# Moses' weights to begin with.
_SHARED = {"lm": 0.5, "word-penalty": -1.0, "oov": 1.0}
_SCORES = 0.2
OOV, TABLE = "oov", "table"


@dataclass(frozen=True)
class Row:
    """A system: ``length`` is that of the phrases of its table, 0 is the table of leaves; features by start weights."""

    kind: str
    key: str
    title: str
    decoder: str = "amasis"
    length: int = 0
    history: str | None = None
    """What its policy knows of earlier labels; without any policy it is None."""
    options: Mapping[str, Any] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    start: Mapping[str, float] = field(default_factory=dict)
    paper: str | None = None

    @property
    def table(self) -> str:
        """What its table is called."""
        return f"phrases-{self.length}" if self.length else "leaves"

    def weights(self) -> dict[str, float]:
        """Where tuning begins: a table's scores have one weight."""
        scores = {f"{TABLE}[{k}]": _SCORES for k in range(4 if self.length else 5)}
        penalty = {"phrase-penalty": _SCORES} if self.length else {}
        return {**scores, **penalty, **_SHARED, **self.start}

    def specs(self, table: str, lm: str, policy: str | None) -> tuple[Spec, ...]:
        """The features. A table that is one of them has its scores in lists also where they are 0."""
        found = [Spec("lm", {"path": lm}), Spec("translation-model", {"path": table, "name": TABLE})]
        found += [Spec("word-penalty"), Spec(OOV, {"value": -100})]
        found += [Spec("phrase-penalty")] if self.length else []
        more = ({"path": policy} if one == "itg-history" else {} for one in self.features)
        return (*found, *(Spec(name, options) for name, options in zip(self.features, more, strict=True)))


def rows_of(
    kinds: Sequence[str], lengths: Sequence[int], histories: Sequence[str], *, labels: int, distortion: int
) -> list[Row]:
    """The rows of a comparison, the paper's system first."""
    # No threshold, as amasis has none: what it allows depends on how large weights are.
    pharaoh = {"search": "stack", "distortion_limit": distortion, "beam_threshold": 0.0}
    moved = {"decoder": "phrase", "options": pharaoh, "features": ("distortion",), "start": {"distortion": 0.3}}
    judged = {"itg-history[0]": 0.2, "itg-history[1]": 0.0, "itg-history[2]": 0.0}
    makers: Mapping[str, Callable[[], list[Row]]] = {
        "amasis": lambda: [Row("amasis", "amasis", "Amasis", history="none", paper="amasis")],
        "phrase": lambda: [
            Row("phrase", f"phrase-{n}", f"phrase, length {n}", length=n, paper=str(n), **moved)  # type: ignore[arg-type]
            for n in lengths
        ],
        "history": lambda: [
            Row("history", "history-" + one.replace(",", "-"), f"Amasis, history {one}", history=one)
            for one in histories
        ],
        "labels": lambda: [
            Row(
                "labels",
                "labels",
                f"Amasis, {labels} labels tried",
                history=one,
                options={"labels": labels},
                features=("itg-history",),
                start=judged,
            )
            for one in (*histories, "none")[:1]
        ],
        "nulls": lambda: [
            Row("nulls", "nulls", "Amasis, words may be left out", history="none", start={"null": _SCORES})
        ],
        "monotone": lambda: [Row("monotone", "monotone", "Amasis, monotone", options={"policy": "monotone"})],
        "leaves": lambda: [Row("leaves", "leaves", "phrase, table of Amasis", **moved)],  # type: ignore[arg-type]
    }
    assert makers.keys() == KINDS.keys()
    return [row for kind, make in makers.items() if kind in kinds for row in make()]
