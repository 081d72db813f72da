"""How `smt train` builds a system whose decoder follows a policy of labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.recipes import LINKS, MODEL, Ingredients, RecipeStep

_LABELS, _FOLDER = "labels", "policy"


class AmasisRecipe:
    """Source items with labels, a policy of them learnt by SEARN, and tuned weights.

    ``history`` are features of earlier labels (none for none), ``base`` and ``iterations`` those of `smt searn train`.
    """

    config = f"{_FOLDER}/run.yaml"
    tuning: tuple[str, ...] = ()

    def __init__(
        self,
        history: str = "label,depth",
        base: Literal["perceptron", "logistic"] = "perceptron",
        iterations: int = 3,
    ) -> None:
        from smtplugins.plugins.searn.learning.train_command import read_history

        if iterations < 1:
            raise UsageError(f"iterations: expected 1 or more, found {iterations}")
        read_history(history)
        self._options = ["--base", base, "--iterations", str(iterations)]
        if history != "none":
            self._options += ["--history", history]

    def steps(self, text: Ingredients) -> Iterator[RecipeStep]:
        """Align, label, estimate, learn the policy."""
        yield text.align()
        given = ("-s", text.source, "-t", text.target, "-a", LINKS)
        yield RecipeStep(
            name="label",
            summary="label source items",
            command=("searn", "label", *given, "-o", _LABELS),
            makes=(_LABELS,),
            share=5,
        )
        yield text.language_model(escape=False)
        learn = ("-i", _LABELS, "--lm", MODEL, "--seed", str(text.seed), "-j", str(text.jobs), *self._options)
        yield RecipeStep(
            name="learn",
            summary="learn the policy",
            command=("searn", "train", *learn, "-o", _FOLDER),
            makes=(_FOLDER,),
            resumes=True,
            share=20,
        )
