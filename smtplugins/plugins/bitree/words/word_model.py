"""The model of word transduction: boosted trees for each configuration of atoms, and the mixture of them.

Section 7.4.2; the mixture is that of section 7.4.3. In a model folder, the trees of each configuration have their own
folder, ``words.json`` records the lambda of each and how it was chosen, and ``mixture.tsv`` the configuration of words
for which another than the best is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError, UsageError
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
    """Boosted trees by configuration, and the mixture.

    ``trained`` describes the training, ``trees`` is the kind of source trees, if any.
    """

    models: Mapping[str, BoostedModel]
    mixture: Mixture
    trees: str | None = None
    trained: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # All share the atoms of the training text.
        first = next(iter(self.models.values()))
        if any(model.atoms != first.atoms or model.problems != first.problems for model in self.models.values()):
            raise SmtError("word model: expected the same atoms and words in each configuration, found others")
        shared = {name: replace(model, atoms=first.atoms) for name, model in self.models.items()}
        object.__setattr__(self, "models", shared)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        first = next(iter(self.models.values()))
        return {atom: number for number, atom in enumerate(first.atoms)}

    @cached_property
    def _parts(self) -> dict[tuple[str, int], BoostedModel]:
        """A cache of the trees of single words, by configuration and problem number."""
        return {}

    def configuration(self, name: str) -> str:
        """Check a configuration's name; ``best`` is replaced by the best one on the tuning text."""
        if name == "best":
            return self.mixture.best
        letters = name.replace("+", "")
        if letters != MIXTURE and letters not in self.models:
            known = ", ".join([MIXTURE, "best", *self.models])
            raise UsageError(f"expected a configuration of {known}, found {name!r}")
        return letters

    def needs_trees(self, configuration: str) -> bool:
        """Whether a configuration needs source trees."""
        used = self.models if configuration == MIXTURE else [configuration]
        return any(DEPENDENCY in name for name in used)

    def confidences(
        self, words: Sequence[str], tree: SourceTree | None = None, configuration: str = MIXTURE
    ) -> list[tuple[tuple[str, ...], Array]]:
        """The translations of each word, most frequent first, and their confidences.

        A word that is not in the training text can only become NULL, with confidence 0.
        """
        import numpy as np

        rows = sentence_rows(words, tree, self._numbers)
        result: list[tuple[tuple[str, ...], Array]] = []
        for word, row in zip(words, rows, strict=True):
            own = self.mixture.words.get(word, self.mixture.best) if configuration == MIXTURE else configuration
            model = self.models[own]
            at = model.numbers.get(word)
            if at is None:
                result.append(((NULL,), np.zeros(1)))
                continue
            examples = Examples(np.array([0, len(row)]), np.array(row, dtype=np.int32), model.atoms)
            part = self._parts.get((own, at)) or self._parts.setdefault((own, at), alone(model, at))
            result.append((model.classes[at], part.scores(0, examples)[0]))
        return result

    def save(self, folder: Path) -> None:
        """Write the model into an existing folder."""
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
        """Load a model written by save()."""
        from smtplugins.contracts.tools.files import read_record

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
