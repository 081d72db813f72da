"""How `smt train` builds a hierarchical system that is decoded in any order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from smtplugins.contracts.recipes import CONFIG, Ingredients, RecipeStep


class UmtRecipe:
    """Hierarchical rules within the ``limits`` of moses, chiang, cdec or thrax, for the decoder umt.

    Weights are learnt from the lists of the decoder ``tuned_with``: umt has none, and learns by ``--learner drl``.
    """

    config = CONFIG

    def __init__(
        self,
        limits: Literal["moses", "chiang", "cdec", "thrax"] = "moses",
        tuned_with: Literal["hiero", "umt"] = "hiero",
    ) -> None:
        self.tuning = ("--decoder", tuned_with) if tuned_with != "umt" else ()
        self._options = ("--rules", "--limits", limits)

    def steps(self, text: Ingredients) -> Iterator[RecipeStep]:
        """Align, extract, estimate, configure."""
        yield text.align()
        yield text.extract(*self._options, "-j", str(text.jobs))
        yield text.language_model()
        yield text.configure("umt")
