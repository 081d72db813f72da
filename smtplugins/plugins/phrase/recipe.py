"""How `smt train` builds a phrase-based system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from smtformats.reordering.models import ReorderingModel
from smtformats.tokens import BadField
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.recipes import CONFIG, Ingredients, RecipeStep


class PhraseRecipe:
    """Phrases of up to ``max_length`` words, and a ``reordering`` model (none for none) named as in Moses.

    ``smoothing`` of relative frequencies: none, good-turing or kneser-ney.
    """

    config = CONFIG
    tuning: tuple[str, ...] = ()

    def __init__(
        self,
        max_length: int = 7,
        reordering: str = "wbe-msd-bidirectional-fe",
        smoothing: Literal["none", "good-turing", "kneser-ney"] = "none",
    ) -> None:
        if max_length < 1:
            raise UsageError(f"max_length: expected 1 or more, found {max_length}")
        self._options = ["--phrases", "--max-length", str(max_length), "--smoothing", smoothing]
        if reordering != "none":
            try:
                ReorderingModel.parse(reordering)
            except BadField as bad:
                raise UsageError(f"reordering: expected {bad.expected}, found {bad.found}") from None
            self._options += ["--reordering", reordering]

    def steps(self, text: Ingredients) -> Iterator[RecipeStep]:
        """Align, extract, estimate, configure."""
        yield text.align()
        yield text.extract(*self._options)
        yield text.language_model()
        yield text.configure("phrase")
