"""Parse the name of a lexicalised reordering model in Moses' spelling: ``wbe-msd-bidirectional-fe``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from smtformats.errors import quote
from smtformats.records import dataclass
from smtformats.tokens import BadField

CLASSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "msd": ("monotone", "swap", "discontinuous"),
        "mslr": ("monotone", "swap", "left", "right"),
        "monotonicity": ("monotone", "other"),
        "leftright": ("right", "left"),
    }
)
"""The orientations of each model type, in column order."""
_EXTRACTIONS = ("wbe", "phrase", "hier")
_DIRECTIONS = ("backward", "unidirectional", "forward", "bidirectional")
_CONDITIONS = ("f", "fe")
_WEIGHTS = ("allff", "collapseff")


@dataclass(frozen=True)
class ReorderingModel:
    """The parts of a model name.

    ``orientation`` is a key of ``CLASSES``; ``direction`` is backward, forward or bidirectional; ``condition`` is f
    (source phrase only) or fe, empty if the name does not say; ``extraction`` is wbe, phrase or hier. If ``collapsed``,
    the scores of a direction share one weight.
    """

    orientation: str
    direction: str = "backward"
    condition: str = ""
    extraction: str = "wbe"
    collapsed: bool = False

    @classmethod
    def parse(cls, text: str) -> ReorderingModel:
        """Parse a name, with its parts in any order. Raises BadField."""
        parts = text.split("-")

        def part(known: tuple[str, ...], default: str) -> str:
            matches = [name for name in parts if name in known]
            if len(matches) > 1:
                raise BadField(f"one of {', '.join(known)} in a model name", quote(text))
            return matches[0] if matches else default

        orientation = part(tuple(CLASSES), "")
        direction = part(_DIRECTIONS, "backward").replace("unidirectional", "backward")
        condition, extraction, weights = part(_CONDITIONS, ""), part(_EXTRACTIONS, "wbe"), part(_WEIGHTS, "allff")
        known = {*CLASSES, *_DIRECTIONS, *_CONDITIONS, *_EXTRACTIONS, *_WEIGHTS}
        if not orientation or not known.issuperset(parts):
            raise BadField("a model name like wbe-msd-bidirectional-fe", quote(text))
        return cls(orientation, direction, condition, extraction, weights == "collapseff")

    @property
    def classes(self) -> tuple[str, ...]:
        """The orientations, in the column order of one direction."""
        return CLASSES[self.orientation]

    @property
    def directions(self) -> tuple[str, ...]:
        """Backward, forward or both, in column order."""
        return ("backward", "forward") if self.direction == "bidirectional" else (self.direction,)

    @property
    def scores(self) -> int:
        """The number of scores on a line of the table."""
        return len(self.classes) * len(self.directions)

    @property
    def weights(self) -> int:
        """The number of weights Moses has for the scores."""
        return len(self.directions) if self.collapsed else self.scores

    @property
    def fields(self) -> int:
        """The number of fields on a line, 0 if the name does not say."""
        return {"f": 2, "fe": 3}.get(self.condition, 0)
