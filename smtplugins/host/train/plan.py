"""The plan of a system: the steps of its recipe, and those that all systems share around it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.recipes import Ingredients, Recipe, RecipeStep
from smtplugins.host.arguments import argument
from smtplugins.host.estimate.prepare import PrepareSettings

TEXT = "text/train"
WEIGHTS = "weights"
TUNING = "tuning"
CONFIG = "run.yaml"
REPORT = "report.html"


@dataclass(frozen=True)
class TextPair:
    """A file of source sentences and files of their translations, as the user has them."""

    source: Path
    targets: tuple[Path, ...]

    @classmethod
    def of(cls, name: str, paths: Sequence[str | os.PathLike[str]]) -> TextPair:
        """The files given for an argument."""
        if len(paths) < 2:
            raise UsageError(f"{argument(name)}: expected a source file and a reference file, found {len(paths)}")
        files = list(map(os.path.realpath, paths))
        if twice := next((path for k, path in enumerate(paths) if files[k] in files[:k]), None):
            raise UsageError(f"{argument(name)}: expected different files, found {os.fspath(twice)} twice")
        return cls(whole_path(paths[0]), tuple(map(whole_path, paths[1:])))

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files."""
        return (self.source, *self.targets)


@dataclass(frozen=True, kw_only=True)
class TrainPlan:
    """What to build from which texts; ``model`` names the recipe."""

    model: str
    train: TextPair
    dev: TextPair
    test: TextPair | None = None
    monolingual: tuple[Path, ...] = ()
    preparation: PrepareSettings = field(default_factory=lambda: PrepareSettings())
    metric: str = "bleu"
    learner: str | None = None
    iterations: int | None = None
    ingredients: Ingredients = field(default_factory=Ingredients)

    @property
    def record(self) -> dict[str, Any]:
        """The options that a resumed call must share; the contents of inputs are recorded by their hashes."""
        record: dict[str, Any] = {name: getattr(self, name) for name in ("model", "metric", "learner", "iterations")}
        texts = {"train": self.train.paths, "dev": self.dev.paths, "test": self.test.paths if self.test else ()}
        record |= {
            name: [str(path) for path in paths] for name, paths in (texts | {"lm_text": self.monolingual}).items()
        }
        # The number of jobs changes no result.
        basics = {name: value for name, value in asdict(self.ingredients).items() if name != "jobs"}
        return {**record, **asdict(self.preparation), **basics}

    @property
    def inputs(self) -> list[Path]:
        """All files that are read."""
        return [*self.train.paths, *self.dev.paths, *(self.test.paths if self.test else ()), *self.monolingual]

    def steps(self, recipe: Recipe) -> list[RecipeStep]:
        """All steps in their order."""
        made = [*self._prepared(), *recipe.steps(self._text)]
        if recipe.tuning is not None:
            made.append(self._tuned(recipe.config, recipe.tuning))
        made.append(self._configured(recipe))
        made += self._judged("dev", self.dev)
        if self.test is not None:
            made += self._judged("test", self.test)
        if recipe.tuning is not None:
            made.append(self._reported())
        names = [step.name for step in made]
        if twice := {name for name in names if names.count(name) > 1}:
            raise UsageError(f"two steps are called {min(twice)!r}")
        return made

    def unused(self, recipe: Recipe) -> Iterator[str]:
        """The arguments that change nothing in this recipe."""
        text = self._text
        without = {
            "align": replace(text, aligner=None),
            "order": replace(text, order=Ingredients.order),
            "lm_text": replace(text, monolingual=()),
        }
        for name, other in without.items():
            if other != text and list(recipe.steps(other)) == list(recipe.steps(text)):
                yield name
        if recipe.tuning is None:
            yield from (name for name in ("learner", "iterations") if getattr(self, name) is not None)

    @property
    def _text(self) -> Ingredients:
        """What the recipe is told."""
        extra = tuple(f"text/monolingual-{i}/target" for i in range(1, len(self.monolingual) + 1))
        return replace(self.ingredients, monolingual=extra)

    def _prepared(self) -> Iterator[RecipeStep]:
        """Prepare all texts as the training text is."""
        first = ("-s", str(self.train.source), "-t", str(self.train.targets[0]), *self._preparation())
        yield _prepare("prepare", "training text", TEXT, first, 2)
        pairs = {"dev": self.dev} | ({} if self.test is None else {"test": self.test})
        for name, pair in pairs.items():
            targets = [part for path in pair.targets for part in ("-t", str(path))]
            given = ("-s", str(pair.source), *targets, "--like", TEXT)
            yield _prepare(f"prepare-{name}", f"{name} text", f"text/{name}", given, 0.5)
        for number, path in enumerate(self.monolingual, 1):
            given = ("-t", str(path), "--like", TEXT, "--clean")
            name = f"monolingual-{number}"
            yield _prepare(f"prepare-{name}", "text of the language model", f"text/{name}", given, 1)

    def _preparation(self) -> Iterator[str]:
        """The options of `smt prepare` for the training text."""
        for one in fields(self.preparation):
            value = getattr(self.preparation, one.name)
            if value != one.default:
                yield f"--{one.name.replace('_', '-')}"
                yield from value if isinstance(value, tuple) else (str(value),) * (value is not True)

    @property
    def restores(self) -> bool:
        """Whether decoding spells translations as the user's text is, so that they are judged by that.

        Otherwise the prepared text is translated, and judged by prepared references.
        """
        return self.preparation.tokenize in (None, "none", "moses") and self.preparation.case != "lower"

    def _tuned(self, config: str, options: Sequence[str]) -> RecipeStep:
        text = self.ingredients
        given = ["-c", config, "-s", "text/dev/source", *_references("dev", self.dev), "-m", self.metric]
        given += ["--seed", str(text.seed), "-j", str(text.jobs)]
        given += [] if self.learner is None else ["--learner", self.learner]
        given += [] if self.iterations is None else ["--iterations", str(self.iterations)]
        command = ("tune", *given, *options, "--dir", TUNING, "-o", WEIGHTS)
        makes = (TUNING, WEIGHTS)
        return RecipeStep(name="tune", summary="learn weights", command=command, makes=makes, resumes=True, share=50)

    def _configured(self, recipe: Recipe) -> RecipeStep:
        """Write the configuration with the weights, for text as the user has it."""
        # Paths that are set are relative to the configuration's folder.
        files = {"text": TEXT, **({} if recipe.tuning is None else {"model.weights": WEIGHTS})}
        folder = os.path.dirname(recipe.config) or "."
        changes = [f"{key}={os.path.relpath(path, folder)}" for key, path in files.items()]
        given = [part for change in changes for part in ("--set", change)]
        command = ("config", "show", "-c", recipe.config, *given, "-o", CONFIG)
        return RecipeStep(name="config", summary=f"write {CONFIG}", command=command, makes=(CONFIG,), share=0.5)

    def _judged(self, name: str, pair: TextPair) -> Iterator[RecipeStep]:
        """Translate a text as the user has it, or as it was prepared, and judge the translations."""
        output, scores = f"{name}/translations", f"{name}/scores.json"
        source = str(pair.source) if self.restores else f"text/{name}/source"
        command = ("decode", "-c", CONFIG, "-i", source, "-o", output, "-j", str(self.ingredients.jobs))
        summary = f"translate the {name} text"
        yield RecipeStep(name=f"decode-{name}", summary=summary, command=command, makes=(output,), share=3)
        raw = [part for path in pair.targets for part in ("-r", str(path))]
        references = raw if self.restores else _references(name, pair)
        given = (*references, "-m", self.metric, "--bootstrap", "1000", "--seed", str(self.ingredients.seed))
        command = ("evaluate", f"{name}={output}", *given, "-f", "json")
        yield RecipeStep(
            name=f"evaluate-{name}",
            summary=f"judge the translations of the {name} text",
            command=command,
            makes=(scores,),
            output=scores,
        )

    def _reported(self) -> RecipeStep:
        command = ("report", TUNING, "-s", "text/dev/source", *_references("dev", self.dev), "-o", REPORT)
        return RecipeStep(name="report", summary="write the report", command=command, makes=(REPORT,))


def _prepare(name: str, what: str, folder: str, given: Iterable[str], share: float) -> RecipeStep:
    command = ("prepare", *given, "-o", folder)
    return RecipeStep(name=name, summary=f"prepare the {what}", command=command, makes=(folder,), share=share)


def whole_path(path: str | os.PathLike[str]) -> Path:
    """A path that holds in any folder."""
    name = os.fspath(path)
    if name == "-" or not (os.path.isfile(name) or os.path.isdir(name) or not os.path.exists(name)):
        what = "standard input" if name == "-" else f"the pipe or device {name}"
        raise UsageError(f"texts to train on are read more than once: expected a file, found {what}")
    return Path(os.path.abspath(name))


def _references(name: str, pair: TextPair) -> tuple[str, ...]:
    """The references of a prepared text."""
    names = ["target", *(f"target.{number}" for number in range(1, len(pair.targets)))]
    return tuple(part for target in names for part in ("-r", f"text/{name}/{target}"))
