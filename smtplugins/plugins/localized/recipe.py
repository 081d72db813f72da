"""How `smt train` builds a system of blocks and orientations."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.recipes import LINKS, MODEL, TABLE, Ingredients, RecipeStep

_EVENTS, _FOLDER = "events", "model"


class LocalizedRecipe:
    """Blocks of up to ``max_length`` words on a side, and a model of them learnt from the training text alone.

    ``features`` are letters of components, and ``passes`` those with block bigrams, as in `smt localized train`.
    """

    config = f"{_FOLDER}/run.yaml"
    tuning = None

    def __init__(self, max_length: int = 5, features: str = "abcdef", passes: int = 40) -> None:
        from smtplugins.plugins.localized.learning.material import check_letters

        for name, value in (("max_length", max_length), ("passes", passes)):
            if value < 1:
                raise UsageError(f"{name}: expected 1 or more, found {value}")
        check_letters(features)
        self._length = str(max_length)
        self._options = ("--features", features, "--passes", str(passes))

    def steps(self, text: Ingredients) -> Iterator[RecipeStep]:
        """Align, extract blocks, estimate, collect events, learn from them."""
        yield text.align()
        yield text.extract("--phrases", "--max-length", self._length, escape=False)
        yield text.language_model(escape=False)
        given = ("-t", TABLE, "-s", text.source, "-r", text.target, "-a", LINKS, "--max-length", self._length)
        yield RecipeStep(
            name="events",
            summary="collect orientation events",
            command=("localized", "events", *given, "-o", _EVENTS),
            makes=(_EVENTS,),
            share=10,
        )
        given = ("--events", _EVENTS, "--lm", MODEL, "--seed", str(text.seed), *self._options)
        yield RecipeStep(
            name="learn",
            summary="learn the model of blocks",
            command=("localized", "train", *given, "-o", _FOLDER),
            makes=(_FOLDER,),
            share=20,
        )
