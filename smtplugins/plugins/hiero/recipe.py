"""How `smt train` builds a hierarchical system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from smtplugins.contracts.recipes import CONFIG, Ingredients, RecipeStep


class HieroRecipe:
    """Hierarchical rules within the ``limits`` of moses, chiang, cdec or thrax."""

    config = CONFIG
    tuning: tuple[str, ...] = ()

    def __init__(self, limits: Literal["moses", "chiang", "cdec", "thrax"] = "moses") -> None:
        self._options = ("--rules", "--limits", limits)

    def steps(self, text: Ingredients) -> Iterator[RecipeStep]:
        """Align, extract, estimate, configure."""
        yield text.align()
        yield text.extract(*self._options, "-j", str(text.jobs))
        yield text.language_model()
        yield text.configure("hiero")
