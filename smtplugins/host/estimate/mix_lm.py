"""`smt lm mix`: interpolate language models, with weights tuned on a text."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from smtformats.corpus.text import open_sentences
from smtformats.errors import FormatError
from smtformats.escapes import escape as escaped
from smtformats.files import shown_name
from smtformats.tokens import words
from smtplugins.contracts.errors import UsageError
from smtplugins.core.lm.mixing import Floats, ListedModel, MixedModel, WordNumbers, tune_weights, word_probabilities
from smtplugins.core.lm.ngram_model import write_arpa
from smtplugins.host.arguments import argument
from smtplugins.host.estimate.lm import binary_target
from smtplugins.host.files.escaping import check_scheme
from smtplugins.host.progress import progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

FileName: TypeAlias = "str | os.PathLike[str]"
_MARKS = frozenset({"<s>", "</s>", "<unk>", "<UNK>"})


@dataclass(frozen=True)
class TunedModel:
    """A model on the tuning text."""

    name: str
    weight: float | None = None
    perplexity: float | None = None
    """Of the words that the model knows."""
    unknown: int | None = None
    """The number of other words."""
    shared: float | None = None
    """The perplexity of the words that all models know, by which they compare."""


@dataclass(frozen=True)
class MixedLm:
    """The weights of an interpolation; without a tuning text there are no perplexities."""

    models: tuple[TunedModel, ...]
    mixed: TunedModel
    counts: tuple[int, ...]
    """N-grams of each order."""

    @property
    def weights(self) -> list[float]:
        """The weight of each model."""
        return [model.weight or 0.0 for model in self.models]

    def rows(self) -> list[dict[str, Any]]:
        """Rows of a table: each model, then the mixed one."""
        return [
            {"model": row.name, **{key: value for key, value in vars(row).items() if key != "name"}}
            for row in (*self.models, self.mixed)
        ]


def mix_files(
    models: Sequence[FileName],
    arpa: FileName | None,
    *,
    tune: FileName | None = None,
    weights: Sequence[float] = (),
    binary: FileName | None = None,
    escape: str | None = None,
    note: Callable[[str], None] = lambda text: None,
    quiet: bool = True,
) -> MixedLm:
    """Mix ARPA files with given weights, or with weights tuned on a text; `escape` is for the words of that text."""
    check_scheme(escape)
    if len(models) < 2:
        raise UsageError(f"expected two or more models, found {len(models)}")
    if (tune is None) != bool(weights):
        raise UsageError(f"expected either a text to tune on ({argument('tune')}) or weights ({argument('weights')})")
    chosen = _check_weights(weights, len(models)) if weights else []
    vocabulary = WordNumbers()
    listed = [ListedModel(path, vocabulary) for path in progress(models, "reading models", quiet=quiet)]
    for model in listed:
        model.bind(vocabulary)
    if binary is not None:
        binary_target(binary, max(model.model.order for model in listed), arpa)
    _tell(listed, vocabulary, note)
    if tune is None:
        mixed = MixedModel(listed, vocabulary, chosen)
        write_arpa(progress(mixed.arpa(), "writing, pieces", quiet=quiet), arpa, binary)
        rows = [TunedModel(model.name, weight) for model, weight in zip(listed, chosen, strict=True)]
        return MixedLm(tuple(rows), TunedModel("mixed"), tuple(mixed.counts))
    sentences = _sentences(tune, escape)
    scored = [word_probabilities(model.model, sentences) for model in listed]
    chosen = tune_weights(np.array([probs for probs, _ in scored])).tolist()
    shared = np.logical_and.reduce([known for _, known in scored])
    rows = [
        TunedModel(model.name, weight, *_judge(*scores, shared))
        for model, weight, scores in zip(listed, chosen, scored, strict=True)
    ]
    mixed = MixedModel(listed, vocabulary, chosen)
    loaded = write_arpa(progress(mixed.arpa(), "writing, pieces", quiet=quiet), arpa, binary, load=True)
    assert loaded is not None
    probs, known = word_probabilities(loaded, sentences)
    whole = TunedModel("mixed", None, *_judge(probs, known, shared))
    if whole.unknown:
        note(
            f"{shown_name(tune)}: {whole.unknown:,} of {len(known):,} words are unknown to all models, and not counted"
        )
    return MixedLm(tuple(rows), whole, tuple(mixed.counts))


def _check_weights(weights: Sequence[float], models: int) -> list[float]:
    name = argument("weights")
    if len(weights) != models:
        raise UsageError(f"{name}: expected a weight for each of {models} models, found {len(weights)}")
    if not all(0 <= weight <= 1 for weight in weights) or abs(sum(weights) - 1) > 1e-6:
        raise UsageError(f"{name}: expected weights from 0 to 1 that add up to 1, found {' '.join(map(str, weights))}")
    return [weight / sum(weights) for weight in weights]


def _sentences(text: FileName, scheme: str | None) -> list[str]:
    sentences = []
    with open_sentences(text) as lines:
        for line in lines:
            sentence = words(line if scheme is None else escaped(line, scheme))
            if mark := next((word for word in sentence if word in _MARKS), None):
                raise lines.error("text without <s>, </s> and <unk>, which models have of their own", f"{mark!r}")
            sentences.append(" ".join(sentence))
    if not any(sentences):
        raise FormatError("text, a sentence a line", "no words", file=shown_name(text))
    return sentences


def _judge(
    probs: Floats, known: NDArray[np.bool_], shared: NDArray[np.bool_]
) -> tuple[float | None, int, float | None]:
    """The last fields of a TunedModel."""
    return _perplexity(probs[known]), int(np.count_nonzero(~known)), _perplexity(probs[shared])


def _perplexity(probs: Floats) -> float | None:
    return float(np.exp(-np.log(probs).mean())) if len(probs) else None


def _tell(models: Sequence[ListedModel], vocabulary: WordNumbers, note: Callable[[str], None]) -> None:
    """Note which models lack words of the others."""
    for model in models:
        if model.size < vocabulary.size:
            note(
                f"{model.name} knows {model.size:,} of {vocabulary.size:,} words; the probability of the others is "
                "that of the other models alone"
            )
