"""The model of word transduction: boosted trees of each configuration of atoms, and which of them is used where.

Section 7.4.2; the mixture is that of section 7.4.3. In a folder the trees of each configuration have a folder of their
own, ``words.json`` says at which lambda each was cut and how it was chosen, ``mixture.tsv`` which configuration is used
for words that another one than the best serves better.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError, UsageError
from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel
from smtplugins.plugins.bitree.boosting.examples import Examples
from smtplugins.plugins.bitree.words.atoms import DEPENDENCY
from smtplugins.plugins.bitree.words.material import NULL, sentence_rows
from smtplugins.plugins.bitree.words.predicting import Mixture, alone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.bitree.trees.source_trees import SourceTree

    Array = NDArray[Any]

RECORD, VERSION = "words.json", 1
MIXTURE, MIXTURE_FILE = "mixture", "mixture.tsv"


@dataclass(frozen=True, eq=False)
class WordModel:
    """Trees by configuration, and the mixture.

    ``trained`` says what it was learnt from, ``trees`` is the kind of source trees, if there were any.
    """

    models: Mapping[str, BoostedModel]
    mixture: Mixture
    trees: str | None = None
    trained: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # All have the atoms of the training text, which are numbered once for all.
        first = next(iter(self.models.values()))
        if any(one.atoms != first.atoms or one.problems != first.problems for one in self.models.values()):
            raise SmtError("word model: expected the same atoms and words in each configuration, found others")
        shared = {name: replace(one, atoms=first.atoms) for name, one in self.models.items()}
        object.__setattr__(self, "models", shared)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        first = next(iter(self.models.values()))
        return {atom: number for number, atom in enumerate(first.atoms)}

    @cached_property
    def _parts(self) -> dict[tuple[str, int], BoostedModel]:
        """Trees of single words, by configuration and number."""
        return {}

    def configuration(self, name: str) -> str:
        """``name``, if there is such a configuration; ``best`` is the one that was best of all on the tuning text."""
        if name == "best":
            return self.mixture.best
        letters = name.replace("+", "")
        if letters != MIXTURE and letters not in self.models:
            known = ", ".join([MIXTURE, "best", *self.models])
            raise UsageError(f"expected a configuration of {known}, found {name!r}")
        return letters

    def needs_trees(self, configuration: str) -> bool:
        """Whether it is about source trees."""
        used = self.models if configuration == MIXTURE else [configuration]
        return any(DEPENDENCY in name for name in used)

    def confidences(
        self, words: Sequence[str], tree: SourceTree | None = None, configuration: str = MIXTURE
    ) -> list[tuple[tuple[str, ...], Array]]:
        """For each word its translations, the most frequent first, and the confidence of each.

        A word that was not in the training text may become NULL alone, with confidence 0.
        """
        import numpy as np

        rows = sentence_rows(words, tree, self._numbers)
        found: list[tuple[tuple[str, ...], Array]] = []
        for word, row in zip(words, rows, strict=True):
            own = self.mixture.words.get(word, self.mixture.best) if configuration == MIXTURE else configuration
            model = self.models[own]
            at = model.numbers.get(word)
            if at is None:
                found.append(((NULL,), np.zeros(1)))
                continue
            examples = Examples(np.array([0, len(row)]), np.array(row, dtype=np.int32), model.atoms)
            part = self._parts.get((own, at)) or self._parts.setdefault((own, at), alone(model, at))
            found.append((model.classes[at], part.scores(0, examples)[0]))
        return found

    def save(self, folder: Path) -> None:
        """Write the model; the folder is there."""
        for name, model in self.models.items():
            model.save(folder / name)
        lines = (f"{word}\t{name}\n" for word, name in sorted(self.mixture.words.items()))
        (folder / MIXTURE_FILE).write_text("".join(lines), encoding="utf-8")
        record = {
            "version": VERSION,
            "configurations": list(self.models),
            "best": self.mixture.best,
            "trees": self.trees,
            "trained": dict(self.trained),
        }
        (folder / RECORD).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> WordModel:
        """Read what was saved."""
        from smtplugins.host.files.array_folders import read_record

        record = read_record(Path(folder), RECORD, "word models", VERSION)
        names, best = record.get("configurations"), record.get("best")
        if not isinstance(names, list) or not names or best not in names:
            raise SmtError(f"{Path(folder) / RECORD}: expected configurations and the best of them, found others")
        models = {str(name): BoostedModel.load(Path(folder) / str(name)) for name in names}
        own: dict[str, str] = {}
        path = Path(folder) / MIXTURE_FILE
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")[:-1], 1):
            word, tab, name = line.partition("\t")
            if not tab or name not in models:
                raise SmtError(f"{path}:{number}: expected a word and one of {', '.join(models)}, found {line!r}")
            own[word] = name
        trees = record.get("trees")
        return cls(models, Mixture(str(best), own), None if trees is None else str(trees), record.get("trained") or {})
