"""Forced scores of hypotheses under an encoder-decoder model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.neural.batches import batches, encode, log_probabilities, padded
from smtplugins.plugins.neural.folder import ModelFolder
from smtplugins.plugins.neural.lm import check_lengths, check_logits, sum_and_mean, sums_and_means, token_limit
from smtplugins.plugins.neural.runtime import bad_file
from smtplugins.plugins.neural.scoring import NeuralFeature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.tools.running import ScoreFolder

_REMEDY = "export it with `optimum-cli export onnx --task text2text-generation --no-post-process`"
_REMEMBERED = 1 << 28
"""Bytes of states of sources: hypotheses of one come in many batches, as these are of similar length."""
_MASKS = ("encoder_attention_mask", "attention_mask")
_STATES = ("last_hidden_state", "encoder_hidden_states")


class NeuralSeq2seq(NeuralFeature):
    """Log probability of the hypothesis given the source under an encoder-decoder model: sum and mean of a token.

    ``path`` is a folder with encoder_model.onnx and decoder_model.onnx, as HF optimum exports them, tokenizer.json
    and config.json. ``prefix`` is text before the source (T5). ``source_start`` and ``target_start`` are tokens at the
    start in place of the tokenizer's own, parted by blanks, such as language codes (NLLB, mBART); those of the target
    are not scored.
    ``target_tokenizer`` is a tokenizer.json of the target side if it has its own. ``values`` says which columns
    there are.
    """

    def __init__(
        self,
        path: Path,
        *,
        values: Literal["both", "sum", "mean"] = "both",
        prefix: str = "",
        source_start: str = "",
        target_start: str = "",
        tokenizer: Path | None = None,
        target_tokenizer: Path | None = None,
        batch: int = 32,
        threads: int = 0,
        score_cache: ScoreFolder | None = None,
    ) -> None:
        super().__init__("neural-seq2seq", batch, threads)
        folder = self._folder = ModelFolder(self.who, path, threads, tokenizer)
        if target_tokenizer is not None and not target_tokenizer.is_file():
            raise UsageError(f"{self.who}: target_tokenizer: expected a tokenizer.json, found no {target_tokenizer}")
        self._encoder = folder.model("encoder_model.onnx", named=False)
        self._decoder = folder.model("decoder_model.onnx", named=False)
        self._values = values
        self._prefix = prefix
        self._starts = source_start.split(), target_start.split()
        self._target_path = target_tokenizer
        self._batch = batch
        self._tokenizers: tuple[Any, Any] | None = None
        self._before: list[int] = []
        self._ids: dict[str, int] = {}
        self._states: dict[str, NDArray[Any]] = {}
        scorer = f"neural-seq2seq, prefix {prefix!r}, starts {source_start!r} {target_start!r}"
        if target_tokenizer is not None:
            folder.uses(target_tokenizer)
        self.keep(score_cache, scorer, folder, 2)

    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return sum_and_mean(self.name, self._values)

    def _prepare(self) -> tuple[Any, Any]:
        folder = self._folder
        self._encoder.check_inputs(("input_ids", "attention_mask"), (), _REMEDY)
        self._decoder.check_inputs(("input_ids", "encoder_hidden_states"), _MASKS, _REMEDY)
        source = folder.tokenizer()
        target = folder.tokenizer(path=self._target_path) if self._target_path else source
        start = folder.number("decoder_start_token_id")
        last = folder.token(target, "eos_token")
        for name, value in (("decoder_start_token_id", start), ("eos_token", last)):
            if value is None:
                raise bad_file(folder.folder / "config.json", f"a {name}, there or in the other settings", "none")
        self._ids = {
            "start": start or 0,
            "eos": last or 0,
            "pad": folder.token(source, "pad_token") or 0,
        }
        self._before = [folder.numbered(source, token) for token in self._starts[0]]
        forced = [folder.numbered(target, token) for token in self._starts[1]]
        self._forced = [self._ids["start"], *forced]
        return source, target

    def _source_ids(self, tokenizer: Any, source: str) -> list[int]:
        text = self._prefix + source
        if not self._before:
            found: list[int] = tokenizer.encode(text).ids
            return found
        return [*self._before, *tokenizer.encode(text, add_special_tokens=False).ids, self._ids["eos"]]

    def _targets(self, tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
        """The decoder's tokens: those not scored, the text in the tokenizer's frame, and the end of the sentence."""
        # Given tokens at the start take the place of the tokenizer's own frame, which is that of another language.
        rows = [one.ids for one in encode(tokenizer, texts, special=len(self._forced) == 1)]
        end = self._ids["eos"]
        return [[*self._forced, *row, *([] if row[-1:] == [end] else [end])] for row in rows]

    def compute(self, pairs: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Return sum and mean of the tokens' log probabilities, the end of the sentence included."""
        import numpy as np

        if self._tokenizers is None:
            self._tokenizers = self._prepare()
        of_source, of_target = self._tokenizers
        sources = {source: self._source_ids(of_source, source) for source, _ in pairs}
        rows = self._targets(of_target, [text for _, text in pairs])
        limit = self._folder.limit()
        check_lengths(f"{self.who}, source", list(sources), list(sources.values()), limit)
        check_lengths(f"{self.who}, hypothesis", [text for _, text in pairs], [row[1:] for row in rows], limit)
        name = self._decoder.output(["logits"], _REMEDY)
        scores, owners = [np.empty(0)], [np.empty(0, dtype=np.int64)]
        for chosen in batches([len(row) for row in rows], self._batch, token_limit(self._decoder, name, self._folder)):
            states = self._encoded({pairs[i][0]: sources[pairs[i][0]] for i in chosen})
            numbers, mask = padded([rows[i] for i in chosen], self._ids["pad"])
            hidden, seen = _joined([states[pairs[i][0]] for i in chosen])
            arrays = {"input_ids": numbers[:, :-1], "attention_mask": mask[:, :-1]}
            arrays |= {"encoder_hidden_states": hidden, "encoder_attention_mask": seen}
            logits = self._decoder.run(arrays, name)
            check_logits(self._decoder, logits, numbers[:, :-1].shape, int(numbers.max()))
            scored = mask[:, 1:].astype(bool)
            scored[:, : len(self._forced) - 1] = False
            scores.append(log_probabilities(logits[scored], numbers[:, 1:][scored]))
            owners.append(np.repeat(np.array(chosen), scored.sum(axis=1)))
        return sums_and_means(np.concatenate(scores), np.concatenate(owners), len(rows))

    def _encoded(self, sources: dict[str, list[int]]) -> dict[str, NDArray[Any]]:
        """The encoder's states of a batch's sources; those of the last sources are remembered."""
        name = self._encoder.output(_STATES, _REMEDY)
        states = {source: self._states[source] for source in sources if source in self._states}
        missing = [source for source in sources if source not in states]
        for chosen in batches([len(sources[source]) for source in missing], self._batch):
            numbers, mask = padded([sources[missing[i]] for i in chosen], self._ids["pad"])
            hidden = self._encoder.run({"input_ids": numbers, "attention_mask": mask}, name)
            if hidden.ndim != 3 or hidden.shape[:2] != numbers.shape:
                expected = f"states of shape {numbers.shape[0]} x {numbers.shape[1]} x dimensions"
                raise bad_file(self._encoder.path, expected, str(hidden.shape))
            for row, size, i in zip(hidden, mask.sum(axis=1), chosen, strict=True):
                states[missing[i]] = row[: int(size)].copy()
        if sum(one.nbytes for one in self._states.values()) > _REMEMBERED:
            self._states.clear()
        self._states.update(states)
        return states


def _joined(states: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """States of sources as one array with zeros on the right, and their mask."""
    import numpy as np

    width = max(1, *map(len, states), 1)
    hidden = np.zeros((len(states), width, states[0].shape[1]), dtype=states[0].dtype)
    mask = np.zeros((len(states), width), dtype=np.int64)
    for i, one in enumerate(states):
        hidden[i, : len(one)] = one
        mask[i, : len(one)] = 1
    return hidden, mask
