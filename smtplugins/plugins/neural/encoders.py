"""Encoders of sentences: similarity of two texts, and regression heads on pairs of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.neural.batches import batches, encode, padded
from smtplugins.plugins.neural.folder import ModelFolder
from smtplugins.plugins.neural.pairs import PairTokens, Row
from smtplugins.plugins.neural.runtime import bad_file
from smtplugins.plugins.neural.scoring import ModelMetric, NeuralFeature, Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.tools.running import ScoreFolder

_ALLOWED = ("attention_mask", "token_type_ids")
_REMEMBERED = 1 << 14
Order = Literal["source-target", "target-source"]
Pooling = Literal["mean", "cls", "output"]


def _arrays(rows: Sequence[Row], pad: int) -> dict[str, NDArray[Any]]:
    """Input arrays of the tokens of texts or pairs, padded on the right."""
    numbers, mask = padded([ids for ids, _ in rows], pad)
    kinds, _ = padded([kinds for _, kinds in rows])
    return {"input_ids": numbers, "attention_mask": mask, "token_type_ids": kinds}


class SentenceEncoder:
    """Unit vectors of texts. Longer texts than the model takes are cut, as in sentence-transformers."""

    def __init__(self, folder: ModelFolder, pooling: Pooling, batch: int) -> None:
        self.model = folder.model("model.onnx")
        self.folder = folder
        self.pooling = pooling
        self._batch = batch
        self._tokenizer: Any = None
        self._pad = 0
        self._known: dict[str, NDArray[Any]] = {}

    def _prepare(self) -> None:
        self.model.check_inputs(("input_ids",), _ALLOWED, "expected an encoder, task feature-extraction")
        self._tokenizer = self.folder.tokenizer(self.folder.limit())
        self._pad = self.folder.token(self._tokenizer, "pad_token") or 0

    def described(self) -> str:
        """What scores depend on beside the model's files."""
        return f"neural-similarity, pooling {self.pooling}"

    def vectors(self, texts: Sequence[str]) -> NDArray[Any]:
        """Return a unit vector for each text; zeros for a text without tokens. The last texts are remembered."""
        import numpy as np

        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        found = {text: self._known[text] for text in texts if text in self._known}
        if missing:
            found.update(zip(missing, self._encoded(missing), strict=True))
            if len(self._known) + len(missing) > _REMEMBERED:
                self._known.clear()
            self._known.update(found)
        return np.stack([found[text] for text in texts])

    def _encoded(self, texts: Sequence[str]) -> NDArray[Any]:
        import numpy as np

        if self._tokenizer is None:
            self._prepare()
        sentence = self.pooling == "output"
        name = self.model.output(
            ["sentence_embedding"] if sentence else ["last_hidden_state", "token_embeddings"],
            "pooling=output takes sentence_embedding, pooling=mean and cls the states of tokens",
        )
        rows = [(one.ids, one.type_ids) for one in encode(self._tokenizer, texts)]
        found: list[Any] = [None] * len(texts)
        for chosen in batches([len(ids) for ids, _ in rows], self._batch):
            arrays = _arrays([rows[i] for i in chosen], self._pad)
            states = self.model.run(arrays, name)
            shape = arrays["input_ids"].shape[: 1 if sentence else 2]
            if states.ndim != len(shape) + 1 or states.shape[:-1] != shape:
                expected = f"{name} of shape {' x '.join(map(str, shape))} x dimensions"
                raise bad_file(self.model.path, expected, str(states.shape))
            for i, pooled in zip(chosen, self._pooled(states, arrays["attention_mask"]), strict=True):
                found[i] = pooled
        vectors = np.stack(found).astype(np.float64)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        units: NDArray[Any] = vectors / np.where(norms > 0, norms, 1.0)
        return units

    def _pooled(self, states: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        if self.pooling == "output":
            return states
        if self.pooling == "cls":
            first: NDArray[Any] = states[:, 0]
            return first
        kept = mask[:, :, None].astype(np.float32)
        mean: NDArray[Any] = (states * kept).sum(axis=1, dtype=np.float64) / np.maximum(mask.sum(axis=1), 1)[:, None]
        return mean

    def cosines(self, pairs: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Return the cosine of each pair; each different text is encoded once."""
        import numpy as np

        if not pairs:
            return np.zeros(0)
        texts = dict.fromkeys(text for pair in pairs for text in pair)
        place = {text: i for i, text in enumerate(texts)}
        vectors = self.vectors(list(place))
        first, second = (np.array([place[pair[k]] for pair in pairs], dtype=np.int64) for k in (0, 1))
        cosines: NDArray[Any] = np.einsum("ij,ij->i", vectors[first], vectors[second]).clip(-1.0, 1.0)
        return cosines


class PairRegression:
    """Scores of pairs by a model with a regression head. Longer pairs than the model takes are cut, longest side first.

    ``order`` is that of the two texts in the model's input, ``label`` the column of an output with several.
    """

    def __init__(self, folder: ModelFolder, order: Order, label: int | None, batch: int) -> None:
        if label is not None and label < 0:
            raise UsageError(f"{folder.who}: label: expected a column of the output from 0 on, found {label}")
        self.model = folder.model("model.onnx")
        self.folder = folder
        self.order = order
        self._label = label
        self._batch = batch
        self._tokens: PairTokens | None = None
        self._pad = 0

    def _prepare(self) -> PairTokens:
        self.model.check_inputs(("input_ids",), _ALLOWED, "expected a regression head, task text-classification")
        limit = self.folder.limit()
        tokenizer = self.folder.tokenizer(limit)
        self._pad = self.folder.token(tokenizer, "pad_token") or 0
        self._tokens = PairTokens(tokenizer, limit, swapped=self.order == "target-source")
        return self._tokens

    def described(self) -> str:
        """What scores depend on beside the model's files."""
        return f"neural-quality {self.order}" + ("" if self._label is None else f", label {self._label}")

    def scores(self, pairs: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Return a number for each pair of source and target."""
        import numpy as np

        tokens = self._tokens or self._prepare()
        name = self.model.output(["logits", "score", "scores"])
        rows = tokens.rows(pairs)
        scores = np.empty(len(pairs))
        for chosen in batches([len(ids) for ids, _ in rows], self._batch):
            found = self.model.run(_arrays([rows[i] for i in chosen], self._pad), name)
            scores[chosen] = self._column(found, len(chosen))
        return scores

    def _column(self, found: NDArray[Any], count: int) -> NDArray[Any]:
        if found.shape == (count,) and self._label in (None, 0):
            return found
        if found.ndim != 2 or len(found) != count:
            raise bad_file(self.model.path, f"an output of shape {count} or {count} x labels", str(found.shape))
        label = 0 if self._label is None and found.shape[1] == 1 else self._label
        if label is None or label >= found.shape[1]:
            wanted = "one number for each pair" if label is None else f"an output with the label {label}"
            raise bad_file(self.model.path, wanted, f"{found.shape[1]} labels; choose a column with label=K")
        column: NDArray[Any] = found[:, label]
        return column


class NeuralSimilarity(NeuralFeature):
    """Cosine of the source and the hypothesis under a multilingual sentence encoder in ONNX.

    ``pooling`` makes a vector of the states of tokens: their mean, that of the first token (``cls``), or the model's
    own output sentence_embedding.
    """

    def __init__(
        self,
        path: Path,
        *,
        pooling: Pooling = "mean",
        tokenizer: Path | None = None,
        batch: int = 32,
        threads: int = 0,
        score_cache: ScoreFolder | None = None,
    ) -> None:
        super().__init__("neural-similarity", batch, threads)
        self._encoder = SentenceEncoder(ModelFolder(self.who, path, threads, tokenizer), pooling, batch)
        self.keep(score_cache, self._encoder.described(), self._encoder.folder)

    def compute(self, pairs: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Return the cosine of each pair."""
        return self._encoder.cosines(pairs)[:, None]


class NeuralQuality(NeuralFeature):
    """Quality estimation: the number that a regression head in ONNX gives to a source and a hypothesis.

    ``order`` is that of the two in the model's input, ``label`` the column of an output with several.
    """

    def __init__(
        self,
        path: Path,
        *,
        order: Order = "source-target",
        label: int | None = None,
        tokenizer: Path | None = None,
        batch: int = 32,
        threads: int = 0,
        score_cache: ScoreFolder | None = None,
    ) -> None:
        super().__init__("neural-quality", batch, threads)
        self._head = PairRegression(ModelFolder(self.who, path, threads, tokenizer), order, label, batch)
        self.keep(score_cache, self._head.described(), self._head.folder)

    def compute(self, pairs: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Return the model's number for each pair."""
        return self._head.scores(pairs)[:, None]


class NeuralQualityMetric(ModelMetric):
    """Mean quality estimation of the hypotheses, from the sources alone: references are not read.

    ``lower=true``: lower is better. The other options are those of the feature.
    """

    def __init__(
        self,
        path: Path,
        *,
        order: Order = "source-target",
        label: int | None = None,
        tokenizer: Path | None = None,
        batch: int = 32,
        threads: int = 0,
        lower: bool = False,
        scale: float = 1.0,
        score_cache: ScoreFolder | None = None,
    ) -> None:
        super().__init__("neural-quality", batch, threads, scale)
        self._head = PairRegression(ModelFolder(self.who, path, threads, tokenizer), order, label, batch)
        self._label = label
        self.higher_is_better = not lower
        self.keep(score_cache, self._head.described(), self._head.folder)

    def keys(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None
    ) -> list[Texts]:
        """Source and hypothesis."""
        if sources is None:
            raise UsageError(f"{self.who} needs the sources: add them with `--source FILE` (source=FILE)")
        return list(zip(sources, hypotheses, strict=True))

    def judge(self, keys: Sequence[Sequence[str]]) -> NDArray[Any]:
        """Return the model's number for each pair."""
        return self._head.scores([(key[0], key[1]) for key in keys])

    def settings(self) -> Mapping[str, str]:
        """The model's file and what is done with it."""
        label = {} if self._label is None else {"label": str(self._label)}
        return {"model": str(self._head.model.path), "order": self._head.order, **label}


class NeuralSimilarityMetric(ModelMetric):
    """Mean cosine of the hypotheses and their most similar references, or their sources (``against=source``)."""

    def __init__(
        self,
        path: Path,
        *,
        against: Literal["references", "source"] = "references",
        pooling: Pooling = "mean",
        tokenizer: Path | None = None,
        batch: int = 32,
        threads: int = 0,
        scale: float = 1.0,
        score_cache: ScoreFolder | None = None,
    ) -> None:
        super().__init__("neural-similarity", batch, threads, scale)
        self._encoder = SentenceEncoder(ModelFolder(self.who, path, threads, tokenizer), pooling, batch)
        self._against = against
        self.keep(score_cache, self._encoder.described(), self._encoder.folder)

    def keys(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None
    ) -> list[Texts]:
        """The texts to compare with, and the hypothesis."""
        others = references
        if self._against == "source":
            others = [] if sources is None else [sources]
        if not others:
            option = "`--source FILE` (source=FILE)" if self._against == "source" else "`-r FILE` (references=FILE)"
            raise UsageError(f"{self.who} needs the {self._against}: add it with {option}")
        return [(*(stream[i] for stream in others), text) for i, text in enumerate(hypotheses)]

    def judge(self, keys: Sequence[Sequence[str]]) -> NDArray[Any]:
        """Return the highest cosine for each key."""
        import numpy as np

        pairs = [(other, key[-1]) for key in keys for other in key[:-1]]
        cosines = self._encoder.cosines(pairs)
        ends = np.cumsum([0] + [len(key) - 1 for key in keys])[:-1]
        best: NDArray[Any] = np.maximum.reduceat(cosines, ends)
        return best

    def settings(self) -> Mapping[str, str]:
        """The model's file and what is done with it."""
        return {"model": str(self._encoder.model.path), "pooling": self._encoder.pooling, "against": self._against}
