"""What the name of a lexicalised reordering model says, as Moses spells it: ``wbe-msd-bidirectional-fe``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from smtformats.errors import quote
from smtformats.tokens import BadField

CLASSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "msd": ("monotone", "swap", "discontinuous"),
        "mslr": ("monotone", "swap", "left", "right"),
        "monotonicity": ("monotone", "other"),
        "leftright": ("right", "left"),
    }
)
"""The orientations that a table tells apart, in the order of its columns."""
_EXTRACTIONS = ("wbe", "phrase", "hier")
_DIRECTIONS = ("backward", "unidirectional", "forward", "bidirectional")
_CONDITIONS = ("f", "fe")
_WEIGHTS = ("allff", "collapseff")


@dataclass(frozen=True)
class ReorderingModel:
    """The parts of a name.

    ``orientation`` is one of ``CLASSES``, ``direction`` backward, forward or bidirectional, ``condition`` f (the source
    phrase alone) or fe, empty where the name leaves it open. ``extraction`` is how orientations were counted: wbe,
    phrase or hier. ``collapsed``: the scores of a direction have one weight.
    """

    orientation: str
    direction: str = "backward"
    condition: str = ""
    extraction: str = "wbe"
    collapsed: bool = False

    @classmethod
    def parse(cls, text: str) -> ReorderingModel:
        """The parts of a name, in any order. What is wrong with it is a BadField."""
        parts = text.split("-")

        def part(known: tuple[str, ...], default: str) -> str:
            matches = [one for one in parts if one in known]
            if len(matches) > 1:
                raise BadField(f"one of {', '.join(known)} in the name of a model", quote(text))
            return matches[0] if matches else default

        orientation = part(tuple(CLASSES), "")
        direction = part(_DIRECTIONS, "backward").replace("unidirectional", "backward")
        condition, extraction, weights = part(_CONDITIONS, ""), part(_EXTRACTIONS, "wbe"), part(_WEIGHTS, "allff")
        known = {*CLASSES, *_DIRECTIONS, *_CONDITIONS, *_EXTRACTIONS, *_WEIGHTS}
        if not orientation or not known.issuperset(parts):
            raise BadField("the name of a model, as wbe-msd-bidirectional-fe", quote(text))
        return cls(orientation, direction, condition, extraction, weights == "collapseff")

    @property
    def classes(self) -> tuple[str, ...]:
        """The orientations, in the order of the columns of one direction."""
        return CLASSES[self.orientation]

    @property
    def directions(self) -> tuple[str, ...]:
        """Backward, forward or both, in the order of the columns."""
        return ("backward", "forward") if self.direction == "bidirectional" else (self.direction,)

    @property
    def scores(self) -> int:
        """How many numbers a line of the table has."""
        return len(self.classes) * len(self.directions)

    @property
    def weights(self) -> int:
        """How many weights Moses has for them."""
        return len(self.directions) if self.collapsed else self.scores

    @property
    def fields(self) -> int:
        """How many fields a line has, 0 if the name leaves it open."""
        return {"f": 2, "fe": 3}.get(self.condition, 0)
