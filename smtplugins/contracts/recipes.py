"""Recipes: how a system is built from prepared text, as a list of commands (``smt train --model NAME``).

A recipe makes tables and models, and a configuration of the decoder that uses them. The steps of all systems stand
around it: before, texts are prepared; after, weights are tuned, ``run.yaml`` is written with them, and translations are
judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

LINKS = "align/links"
"""The word alignment of the training text."""
TABLES = "tables"
"""The folder of phrase tables, reordering tables or rule tables."""
TABLE = "tables/phrase-table.gz"
"""The phrase table."""
MODEL = "lm/lm.binary"
"""The language model of the target language."""
CONFIG = "start.yaml"
"""The configuration before weights are learnt."""


@dataclass(frozen=True, kw_only=True)
class RecipeStep:
    """A command of ``smt`` that is run in the folder of the system.

    ``command`` are its arguments, with paths relative to the folder. ``makes`` are the files and folders that it makes;
    what an interrupted run left of them is removed, unless the command ``resumes``: then it is run again with
    ``--resume``. ``output`` is the file for its standard output, one of ``makes``. ``share`` is its usual share of the
    time, against that of other steps.
    """

    name: str
    summary: str
    command: tuple[str, ...]
    makes: tuple[str, ...]
    output: str | None = None
    resumes: bool = False
    share: float = 1.0

    def __post_init__(self) -> None:
        if not self.makes or not self.command:
            raise ValueError(f"step {self.name}: expected a command and what it makes")
        if self.output is not None and self.output not in self.makes:
            raise ValueError(f"step {self.name}: expected its output {self.output} among what it makes")


@dataclass(frozen=True, kw_only=True)
class Ingredients:
    """The prepared text that a system is built from, settings of all recipes, and the steps that most of them share.

    ``source`` and ``target`` are the training text; ``monolingual`` are further texts of the target language.
    ``order`` is that of the language model. ``escape`` is the scheme for the words of tables. ``memory`` is the number
    of bytes beyond which to sort on disk.
    """

    source: str = "text/train/source"
    target: str = "text/train/target"
    monolingual: tuple[str, ...] = ()
    aligner: str | None = None
    order: int = 5
    escape: str = "moses"
    seed: int = 1
    jobs: int = 1
    memory: int | None = None

    def align(self) -> RecipeStep:
        """Align the words of the training text."""
        model = () if self.aligner is None else ("--model", self.aligner)
        seed = ("--seed", str(self.seed)) if self.aligner is not None and self.aligner.startswith("eflomal") else ()
        given = ("-s", self.source, "-t", self.target, *model, *seed, "-j", str(min(self.jobs, 2)))
        command = ("align", *given, "-o", LINKS)
        return RecipeStep(name="align", summary="align words", command=command, makes=(LINKS,), share=20)

    def extract(self, *options: str, escape: bool = True) -> RecipeStep:
        """Extract tables: ``options`` are those of `smt extract` besides the files, such as ``--phrases``.

        Without ``escape``, words are as in the text; some cannot stand in a table.
        """
        given = (*options, "-s", self.source, "-t", self.target, "-a", LINKS, *self._common(escape))
        command = ("extract", *given, "-o", TABLES)
        return RecipeStep(name="extract", summary="extract tables", command=command, makes=(TABLES,), share=20)

    def language_model(self, *, escape: bool = True) -> RecipeStep:
        """Estimate the language model of the target side and further texts, with words as in the tables."""
        texts = [part for name in (self.target, *self.monolingual) for part in ("-i", name)]
        given = ("--order", str(self.order), *texts, *self._common(escape))
        command = ("lm", *given, "--discount-fallback", "--binary", MODEL)
        return RecipeStep(name="lm", summary="estimate the language model", command=command, makes=(MODEL,), share=5)

    def configure(self, decoder: str, *options: str) -> RecipeStep:
        """Write the configuration of a decoder with the tables and the language model."""
        given = ("--decoder", decoder, "--from", TABLES, "--from", "lm", "--set", f"escape={self.escape}", *options)
        command = ("config", "new", *given, "-o", CONFIG)
        return RecipeStep(name="start", summary=f"write {CONFIG}", command=command, makes=(CONFIG,), share=0.5)

    def _common(self, escape: bool) -> tuple[str, ...]:
        memory = () if self.memory is None else ("--memory", f"{self.memory >> 10}K")
        return (*(("--escape", self.escape) if escape else ()), *memory)


class Recipe(Protocol):
    """Builds a kind of system; its options are the parameters of its constructor.

    ``config`` is the configuration that its steps make. ``tuning`` are options of ``smt tune`` that it needs beside
    those of all recipes; None for a system whose weights are not learnt in a loop.
    """

    config: str
    tuning: Sequence[str] | None

    def steps(self, text: Ingredients) -> Iterable[RecipeStep]:
        """The commands in their order."""
