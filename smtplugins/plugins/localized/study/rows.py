"""The nine rows of table 2: how each one's weights are learnt, and what it translates.

C. Tillmann and T. Zhang (ACL 2005), section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smtplugins.host.model import Model
from smtplugins.plugins.localized.events.devtest import Chosen, Modified, Numbers, choose
from smtplugins.plugins.localized.learning.material import (
    LETTERS,
    NEUTRAL_LETTERS,
    BlockMaterial,
    Recipe,
    learn_bigrams,
    learn_floats,
)
from smtplugins.plugins.localized.learning.options import teller
from smtplugins.plugins.localized.learning.problem import NEUTRAL

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Metric, Sentence
    from smtplugins.plugins.localized.study.systems import System

Say = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """A row of table 2: order of blocks, features, what float weights are from, the paper's BLEU with its interval."""

    number: int
    order: str
    letters: str
    floats: str
    paper: float
    interval: float

    @property
    def title(self) -> str:
        """The paper's name for the order of blocks."""
        return "MON" if self.order == "monotone" else "SWAP & OR" if "b" in self.letters else "SWAP"

    @property
    def components(self) -> str:
        """The features, as the paper writes them."""
        shown = f"(a)-({self.letters[-1]})" if len(self.letters) > 3 else ",".join(f"({one})" for one in self.letters)
        return shown + {"devtest": " (devtest)", "test": " (test)"}.get(self.floats, "")


ROWS = (
    Row(1, "monotone", "ac", "training", 32.3, 1.5),
    Row(2, "swap", "ac", "training", 32.3, 1.5),
    Row(3, "swap", "abc", "training", 33.9, 1.4),
    Row(4, "swap", "abcde", "training", 37.7, 1.5),
    Row(5, "swap", "abcdef", "together", 37.2, 1.6),
    Row(6, "swap", "abcde", "devtest", 37.8, 1.5),
    Row(7, "swap", "abcdef", "devtest", 38.2, 1.5),
    Row(8, "swap", "abcde", "test", 39.0, 1.5),
    Row(9, "swap", "abcdef", "test", 39.3, 1.6),
)


@dataclass
class Work:
    """One comparison: models are learnt when a row asks for them."""

    material: BlockMaterial
    system: System
    sets: Mapping[str, tuple[Sequence[Sentence], Sequence[Sequence[str]]]]
    metric: Metric
    floats: Recipe
    modified: Recipe
    bigrams: Recipe
    nbest: int
    seed: int
    say: Say
    _models: dict[str, Model] = field(default_factory=dict)
    chosen: dict[str, list[Chosen]] = field(default_factory=dict)

    def model(self, row: Row) -> Model:
        """The weights of a row."""
        if row.floats == "training":
            return self._float_weights(row.letters)
        if row.floats == "together":
            return self._once("together", lambda: self._with_bigrams(self._float_weights("abcde"), False))
        if row.letters == "abcde":
            return self._modified(row.floats)
        return self._once(f"bigrams, {row.floats}", lambda: self._with_bigrams(self._modified(row.floats), True))

    def _once(self, key: str, make: Callable[[], Model]) -> Model:
        if key not in self._models:
            self._models[key] = make()
        return self._models[key]

    def _float_weights(self, letters: str) -> Model:
        tell = teller(self.say, f"({letters})")
        return self._once(letters, lambda: learn_floats(self.material, letters, self.floats, seed=self.seed, tell=tell))

    def _with_bigrams(self, start: Model, fixed: bool) -> Model:
        tell = teller(self.say, "(abcdef)" + (", floats fixed" if fixed else ""))
        return learn_bigrams(self.material, start, self.bigrams, fixed=fixed, seed=self.seed, tell=tell)

    def _modified(self, name: str) -> Model:
        """Float weights from the best block sequences of some sentences: section 5.2."""

        def make() -> Model:
            sentences, references = self.sets[name]
            decodings = self.system.decode(self.model(ROWS[4]), sentences, "swap", graphs=True)
            chosen = choose(decodings, references, self.metric, Numbers(self.material), self.nbest)
            self.chosen[name] = chosen
            problem = Modified.of(chosen, self.material)
            size = len(problem.floats.training) + len(problem.neutral.training)
            self.say(f"{name}: {size} events of the best of {self.nbest} translations of {len(chosen)} sentences")
            tell = teller(self.say, name)
            # Alternatives are those of equation 10; how weights are learnt from them is the same as elsewhere.
            return learn_floats(problem, "abcde", self.modified, seed=self.seed, tell=tell)

        return self._once(f"floats, {name}", make)


def float_names(letters: str) -> tuple[str, ...]:
    """The names of the weights that letters stand for."""
    own = tuple(LETTERS[letter] for letter in letters)
    return own + tuple(NEUTRAL + LETTERS[letter] for letter in letters if letter in NEUTRAL_LETTERS)


def shown_weights(row: Row, model: Model) -> dict[str, Any]:
    """The weights of a row that count."""
    return {name: model.weights[name] for name in float_names(row.letters) if name in model.weights}
