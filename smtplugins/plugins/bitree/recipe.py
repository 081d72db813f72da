"""How `smt train` builds a tree transducer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.recipes import LINKS, Ingredients, RecipeStep

_FOLDER = "model"


class BitreeRecipe:
    """A generative transducer of trees of a ``shape``, which need no parser; nothing is learnt from the dev text."""

    config = f"{_FOLDER}/run.yaml"
    tuning = None

    def __init__(
        self,
        shape: Literal["right-branching", "left-branching", "balanced"] = "right-branching",
        iterations: int = 5,
    ) -> None:
        if iterations < 1:
            raise UsageError(f"iterations: expected 1 or more, found {iterations}")
        self._options = ("--generative", "--shape", shape, "--iterations", str(iterations))

    def steps(self, text: Ingredients) -> Iterator[RecipeStep]:
        """Align and learn."""
        yield text.align()
        given = ("-s", text.source, "-t", text.target, "-a", LINKS, "--seed", str(text.seed), "-j", str(text.jobs))
        yield RecipeStep(
            name="learn",
            summary="learn the transducer",
            command=("bitree", "train", *given, *self._options, "-o", _FOLDER),
            makes=(_FOLDER,),
            share=30,
        )
