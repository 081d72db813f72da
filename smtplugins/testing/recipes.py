"""Checks of recipes: steps that stay in their folder, have names of their own, and make a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.recipes import Ingredients, RecipeStep
from smtplugins.testing.checks import Check, Subject, can_be_made, is_documented

if TYPE_CHECKING:
    from smtplugins.contracts.offers import Offer
    from smtplugins.host.host import Host

_TEXTS = (Ingredients(), Ingredients(monolingual=("text/more/target",), aligner="ibm1", jobs=2, seed=3, memory=1 << 20))


def subject(offer: Offer, folder: Path, host: Host, *, options: Mapping[str, Any] | None = None) -> Subject:
    """Return a recipe to check."""
    return Subject(offer, folder, host, options)


def has_steps(subject: Subject) -> None:
    """``steps`` gives steps with names of their own, the same ones each time."""
    recipe = subject.make()
    for text in _TEXTS:
        steps = list(recipe.steps(text))
        assert steps, "expected steps, found none"
        for step in steps:
            assert isinstance(step, RecipeStep), f"expected RecipeStep, found {step!r}"
        names = [step.name for step in steps]
        assert len(set(names)) == len(names), f"expected a name for each step, found {', '.join(names)}"
        assert list(recipe.steps(text)) == steps, "expected the same steps for the same text"


def steps_stay_in_their_folder(subject: Subject) -> None:
    """What steps make has paths within the folder, and no step makes what another has made."""
    recipe = subject.make()
    for text in _TEXTS:
        made: dict[str, str] = {}
        for step in recipe.steps(text):
            for name in step.makes:
                inside = not name.startswith("/") and ".." not in PurePosixPath(name).parts
                assert inside, f"step {step.name}: expected a path within the folder, found {name}"
                assert name not in made, f"step {step.name}: {name} is made by step {made[name]}"
                for other, maker in made.items():
                    apart = not {name, other} & {*_folders(name), *_folders(other)}
                    assert apart, f"step {step.name}: {name} and {other} of step {maker} are one in the other"
                made[name] = step.name


def _folders(name: str) -> list[str]:
    """The folders that a path is in."""
    return list(map(str, PurePosixPath(name).parents))


def makes_a_configuration(subject: Subject) -> None:
    """A step makes ``config``, or the folder that it is in; ``tuning`` is a sequence of options, or None."""
    recipe = subject.make()
    for text in _TEXTS:
        made = {name for step in recipe.steps(text) for name in step.makes}
        places = {str(path) for path in (PurePosixPath(recipe.config), *PurePosixPath(recipe.config).parents)}
        assert made & places, f"expected a step that makes {recipe.config}, found {', '.join(sorted(made))}"
    tuning = recipe.tuning
    good = tuning is None or (not isinstance(tuning, str) and all(isinstance(part, str) for part in tuning))
    assert good, f"expected `tuning` to be options or None, found {tuning!r}"


CHECKS: tuple[Check, ...] = (
    is_documented,
    can_be_made,
    has_steps,
    steps_stay_in_their_folder,
    makes_a_configuration,
)
