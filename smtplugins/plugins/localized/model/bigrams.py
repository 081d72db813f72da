"""Weights of block bigrams, features (f): an artefact of a model, besides its named weights.

C. Tillmann and T. Zhang (ACL 2005), equation 3. Saved as a folder: the block set (``events/blocks.py``), ``first`` and
``second`` (int32, pairs of blocks in order), ``weights`` (float32), ``bigrams.json``.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.tools.files import read_array, read_record, write_arrays
from smtplugins.plugins.localized.events.blocks import BlockSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

VERSION = 1
RECORD = "bigrams.json"


@dataclass(frozen=True)
class BigramWeights:
    """A weight for each pair of neighbouring blocks, independent of orientation."""

    blocks: BlockSet
    first: Array
    second: Array
    weights: Array

    def __len__(self) -> int:
        return len(self.first)

    def digest(self) -> str:
        """Return a hash of pairs, weights and block set."""
        total = hashlib.sha256()
        for array in (self.first, self.second, self.weights, *self.blocks.arrays()):
            total.update(array.tobytes() + b"\0")
        total.update(bytes(self.blocks.words.blob))
        return total.hexdigest()

    def save(self, folder: Path) -> None:
        """Write the arrays into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.blocks.save(folder)
        write_arrays(folder, {"first": self.first, "second": self.second, "weights": self.weights})
        record = {"version": VERSION, "bigrams": len(self)}
        (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> BigramWeights:
        """Load weights from a folder."""
        read_record(folder, RECORD, "weights of block bigrams", VERSION)
        first, second = (read_array(folder, name, "i") for name in ("first", "second"))
        bigrams = cls(BlockSet.load(folder), first, second, read_array(folder, "weights", "f"))
        if not len(bigrams.first) == len(bigrams.second) == len(bigrams.weights):
            raise SmtError(f"{folder}: expected arrays first, second and weights of equal length, found other lengths")
        return bigrams
