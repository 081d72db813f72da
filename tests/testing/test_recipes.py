"""The kit's checks of recipes: those of ours pass, each fault is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import smtplugins
from smtplugins.contracts.offers import Offer
from smtplugins.contracts.recipes import CONFIG, Ingredients, RecipeStep
from smtplugins.testing.checks import run_checks

OURS = [entry.record for entry in smtplugins.load_plugins().registry.entries("recipes")]


@pytest.mark.parametrize("offer", OURS, ids=lambda offer: offer.name)
def test_ours_pass(offer: Offer, tmp_path: Path) -> None:
    results = run_checks("recipes", offer, tmp_path)
    assert [result for result in results if not result.ok] == []
    assert len(results) == 5


class Good:
    config = CONFIG
    tuning: Sequence[str] | None = ()

    def steps(self, text: Ingredients) -> list[RecipeStep]:
        """Two steps."""
        return [text.align(), text.configure("phrase")]


class Empty(Good):
    def steps(self, text: Ingredients) -> list[RecipeStep]:
        return []


class Twice(Good):
    def steps(self, text: Ingredients) -> list[RecipeStep]:
        return [text.align(), *super().steps(text)]


class Outside(Good):
    def steps(self, text: Ingredients) -> list[RecipeStep]:
        return [replace(text.align(), makes=("../links",)), text.configure("phrase")]


class Over(Good):
    def steps(self, text: Ingredients) -> list[RecipeStep]:
        return [*super().steps(text), replace(text.align(), name="again")]


class Inside(Good):
    def steps(self, text: Ingredients) -> list[RecipeStep]:
        return [*super().steps(text), replace(text.align(), name="again", makes=("align/links/more",))]


class Elsewhere(Good):
    config = "other/run.yaml"


class Joined(Good):
    tuning = "--decoder hiero"


@pytest.mark.parametrize(
    ("made", "check", "message"),
    [
        (Empty, "has_steps", "expected steps, found none"),
        (Twice, "has_steps", "expected a name for each step, found align, align, start"),
        (Outside, "steps_stay_in_their_folder", "step align: expected a path within the folder, found ../links"),
        (Over, "steps_stay_in_their_folder", "step again: align/links is made by step align"),
        (Inside, "steps_stay_in_their_folder", "align/links/more and align/links of step align are one in the other"),
        (Elsewhere, "makes_a_configuration", "expected a step that makes other/run.yaml"),
        (Joined, "makes_a_configuration", "expected `tuning` to be options or None, found '--decoder hiero'"),
    ],
)
def test_each_fault_is_found(made: Callable[[], Good], check: str, message: str, tmp_path: Path) -> None:
    offer = Offer(name="faulty", make=made, summary="a recipe with a fault")
    failed = {result.check: result.message for result in run_checks("recipes", offer, tmp_path) if not result.ok}
    assert message in failed[check]
