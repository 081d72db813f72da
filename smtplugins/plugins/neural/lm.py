"""Log probabilities of hypotheses under causal and masked language models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtformats.errors import quote
from smtplugins.contracts.errors import FeatureError, UsageError
from smtplugins.plugins.neural.batches import TOKENS, batches, encode, log_probabilities, padded
from smtplugins.plugins.neural.folder import ModelFolder
from smtplugins.plugins.neural.runtime import OnnxModel, bad_file
from smtplugins.plugins.neural.scoring import NeuralFeature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.tools.running import ScoreFolder

_LOGITS = 1 << 26
_WORDS = 1 << 18
_NEEDED = ("input_ids",)
_ALLOWED = ("attention_mask", "token_type_ids", "position_ids")
_FILES = ("model.onnx", "decoder_model.onnx")


class NeuralLm(NeuralFeature):
    """Log probability of a hypothesis under a language model in ONNX: the sum over tokens and the mean of a token.

    ``path`` is a folder as `optimum-cli export onnx` writes it, or an ONNX file in it. ``kind=masked`` is the
    pseudo-log-likelihood (Salazar et al. 2020): each token is masked in turn. ``prompt`` is text before the hypothesis
    that is read and not scored; ``{source}`` in it is the source. ``bos`` is the token at the start. ``eos=false``
    leaves out the end of the sentence. ``values`` says which columns there are.
    """

    def __init__(
        self,
        path: Path,
        *,
        kind: Literal["causal", "masked"] = "causal",
        values: Literal["both", "sum", "mean"] = "both",
        prompt: str = "",
        bos: str = "",
        eos: bool = True,
        tokenizer: Path | None = None,
        batch: int = 32,
        threads: int = 0,
        score_cache: ScoreFolder | None = None,
    ) -> None:
        super().__init__("neural-lm", batch, threads)
        folder = ModelFolder(self.who, path, threads, tokenizer)
        self._values = values
        if kind == "masked":
            for option, value in (("prompt", prompt), ("bos", bos)):
                if value:
                    raise UsageError(f"{self.who}: {option} is for kind=causal; a masked model has its own frame")
            self._scorer: CausalScorer | MaskedScorer = MaskedScorer(folder, batch)
        else:
            self._scorer = CausalScorer(folder, batch, prompt, bos, eos)
        self.reads_source = "{source}" in prompt
        scorer = f"neural-lm {kind}, prompt {prompt!r}, bos {bos!r}, eos {eos}"
        self.keep(score_cache, scorer, folder, 2)

    def compute(self, pairs: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Return sum and mean for pairs of source and hypothesis."""
        return self._scorer.score(pairs)

    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return sum_and_mean(self.name, self._values)


def sum_and_mean(name: str, values: str) -> tuple[str, ...]:
    """The columns of a log probability; ``:mean`` is an open name, so that `name=` renames both."""
    return {"sum": (name, ""), "mean": ("", name), "both": (name, f"{name}:mean")}[values]


def sums_and_means(scores: NDArray[Any], owners: NDArray[Any], count: int) -> NDArray[Any]:
    """Sum and mean of the tokens' scores for each of ``count`` hypotheses; 0 for one without tokens."""
    import numpy as np

    sums = np.bincount(owners, weights=scores, minlength=count)
    sizes = np.bincount(owners, minlength=count)
    return np.stack([sums, sums / np.maximum(sizes, 1)], axis=1)


def token_limit(model: OnnxModel, output: str, folder: ModelFolder) -> int:
    """The most tokens in a batch, so that its scores over the vocabulary fit into 256 MB."""
    words = model.outputs[output][-1:]
    size = words[0] if words and isinstance(words[0], int) else folder.number("vocab_size")
    return max(1, min(TOKENS, _LOGITS // max(1, size or _WORDS)))


def check_logits(model: OnnxModel, logits: NDArray[Any], shape: tuple[int, ...], highest: int) -> None:
    """Raise FormatError unless a model's output has a score for each word at each position."""
    if logits.ndim != 3 or logits.shape[:2] != shape:
        raise bad_file(model.path, f"logits of shape {shape[0]} x {shape[1]} x words", str(logits.shape))
    if highest >= logits.shape[2]:
        raise bad_file(
            model.path, f"a vocabulary with the token {highest} of the tokenizer", f"{logits.shape[2]} tokens"
        )


def check_lengths(who: str, texts: Sequence[str], rows: Sequence[Sequence[int]], limit: int | None) -> None:
    """Raise FeatureError for a text of more tokens than the model takes: nothing is cut off silently."""
    for text, row in zip(texts, rows, strict=True):
        if limit is not None and len(row) > limit:
            found = f"{len(row)} in {quote(text)}"
            raise FeatureError(f"{who}: expected at most {limit} tokens, which the model takes, found {found}")


class CausalScorer:
    """Forced scores of a decoder-only model."""

    def __init__(self, folder: ModelFolder, batch: int, prompt: str, bos: str, eos: bool) -> None:
        self.model = folder.model(*_FILES)
        self._folder = folder
        self._options = (prompt, bos, eos)
        self._batch = batch
        self._tokenizer: Any = None
        self._frame: tuple[int, int | None] = (0, None)

    def _prepare(self) -> None:
        folder, (_, bos, eos) = self._folder, self._options
        self.model.check_inputs(_NEEDED, _ALLOWED, "expected a causal language model, task text-generation")
        self._tokenizer = tokenizer = folder.tokenizer()
        last = folder.token(tokenizer, "eos_token")
        first = folder.numbered(tokenizer, bos) if bos else folder.token(tokenizer, "bos_token")
        if first is None:
            # Models without a token for the start are trained on texts parted by that for the end.
            first = last
        if first is None:
            raise UsageError(
                f"{folder.who}: {folder.folder}: no bos_token or eos_token is named; name one with bos=TOKEN"
            )
        self._frame = first, last if eos else None

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Return sum and mean of the tokens' log probabilities."""
        import numpy as np

        if self._tokenizer is None:
            self._prepare()
        rows, starts = self._rows(pairs)
        check_lengths(self._folder.who, [text for _, text in pairs], rows, self._folder.limit())
        name = self.model.output(["logits"])
        scores, owners = [np.empty(0)], [np.empty(0, dtype=np.int64)]
        for chosen in batches([len(row) for row in rows], self._batch, token_limit(self.model, name, self._folder)):
            numbers, mask = padded([rows[i] for i in chosen], self._frame[0])
            positions = np.broadcast_to(np.arange(numbers.shape[1]), numbers.shape)
            arrays = {"input_ids": numbers, "attention_mask": mask, "position_ids": positions}
            logits = self.model.run({**arrays, "token_type_ids": np.zeros_like(mask)}, name)
            check_logits(self.model, logits, numbers.shape, int(numbers.max()))
            # Position t predicts token t + 1.
            scored = mask[:, 1:].astype(bool) & (positions[:, 1:] >= np.array([starts[i] for i in chosen])[:, None])
            scores.append(log_probabilities(logits[:, :-1][scored], numbers[:, 1:][scored]))
            owners.append(np.repeat(np.array(chosen), scored.sum(axis=1)))
        return sums_and_means(np.concatenate(scores), np.concatenate(owners), len(rows))

    def _rows(self, pairs: Sequence[tuple[str, str]]) -> tuple[list[list[int]], list[int]]:
        """The token sequences, and where in them the scored tokens begin."""
        prompt = self._options[0]
        first, last = self._frame
        end = [] if last is None else [last]
        prompts = {source: self._ids(prompt.replace("{source}", source)) for source, _ in pairs} if prompt else {}
        encoded = encode(self._tokenizer, [text for _, text in pairs], special=False)
        rows, starts = [], []
        for (source, _), one in zip(pairs, encoded, strict=True):
            before = [first, *prompts.get(source, [])]
            rows.append([*before, *one.ids, *end])
            starts.append(len(before))
        return rows, starts

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return found


class MaskedScorer:
    """Pseudo-log-likelihoods: the log probability of each token given all others."""

    def __init__(self, folder: ModelFolder, batch: int) -> None:
        self.model = folder.model("model.onnx")
        self._folder = folder
        self._batch = batch
        self._tokenizer: Any = None
        self._mask = self._pad = 0

    def _prepare(self) -> None:
        folder = self._folder
        self.model.check_inputs(_NEEDED, _ALLOWED[:2], "expected a masked language model, task fill-mask")
        self._tokenizer = folder.tokenizer()
        mask = folder.token(self._tokenizer, "mask_token")
        if mask is None:
            raise UsageError(f"{folder.who}: {folder.folder}: expected a mask_token in its settings, found none")
        self._mask, self._pad = mask, folder.token(self._tokenizer, "pad_token") or 0

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Return sum and mean of the tokens' log probabilities, each with the token masked."""
        import numpy as np

        if self._tokenizer is None:
            self._prepare()
        encoded = encode(self._tokenizer, [text for _, text in pairs])
        texts = [text for _, text in pairs]
        check_lengths(self._folder.who, texts, [one.ids for one in encoded], self._folder.limit())
        places = [
            (i, k) for i, one in enumerate(encoded) for k, special in enumerate(one.special_tokens_mask) if not special
        ]
        name = self.model.output(["logits"])
        scores = np.empty(len(places))
        lengths = [len(encoded[i].ids) for i, _ in places]
        for chosen in batches(lengths, self._batch, token_limit(self.model, name, self._folder)):
            numbers, mask = padded([encoded[places[j][0]].ids for j in chosen], self._pad)
            at = np.array([places[j][1] for j in chosen])
            every = np.arange(len(chosen))
            wanted = numbers[every, at]
            numbers[every, at] = self._mask
            arrays = {"input_ids": numbers, "attention_mask": mask, "token_type_ids": np.zeros_like(mask)}
            logits = self.model.run(arrays, name)
            check_logits(self.model, logits, numbers.shape, max(int(numbers.max()), int(wanted.max())))
            scores[chosen] = log_probabilities(logits[every, at], wanted)
        owners = np.array([i for i, _ in places], dtype=np.int64)
        return sums_and_means(scores, owners, len(pairs))
