"""Scores of ONNX models equal those that numpy computes, whatever the batches; models that do not fit are refused."""

from __future__ import annotations

import gc
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtformats import Candidates, Columns, FormatError
from smtplugins.contracts.errors import FeatureError, UsageError
from smtplugins.host.host import Host
from smtplugins.plugins.neural import trial
from smtplugins.plugins.neural.lm import NeuralLm
from smtplugins.plugins.neural.runtime import OnnxModel
from smtplugins.plugins.neural.seq2seq import NeuralSeq2seq
from smtplugins.plugins.standard.runners import Processes
from tests.plugins.neural.tiny import (
    CLS,
    LISTS,
    PAD,
    SEP,
    TEXTS,
    causal,
    framed,
    ids,
    masked,
    quality,
    seq2seq,
    vector,
)

BATCHES = [1, 2, 32]


def close(found: Any, expected: Any) -> bool:
    return np.allclose(np.asarray(found), np.asarray(expected), rtol=0, atol=1e-5)


def table(scores: Any) -> tuple[list[str], Any]:
    assert isinstance(scores, Columns)
    rows = [scores.row(i) for i in range(len(scores))]
    return list(rows[0]), [list(row.values()) for row in rows]


def column(found: Candidates) -> list[float]:
    return [value for (value,) in found.values]


def sums(scores: list[list[float]]) -> list[list[float]]:
    return [[math.fsum(row), math.fsum(row) / max(1, len(row))] for row in scores]


def change(folder: Path, name: str, **values: Any) -> None:
    path = folder / name
    known = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**known, **values}), encoding="utf-8")


class TestLanguageModels:
    @pytest.mark.parametrize("batch", BATCHES)
    def test_causal(self, tmp_path: Path, batch: int) -> None:
        feature = NeuralLm(**trial.tiny_lm(tmp_path), batch=batch)
        for nbest in LISTS:
            names, rows = table(feature.score_candidates(None, nbest))
            assert names == ["neural-lm", "neural-lm:mean"]
            assert close(rows, sums([causal(text) for text in nbest.texts]))

    @pytest.mark.parametrize("batch", BATCHES)
    def test_masked(self, tmp_path: Path, batch: int) -> None:
        feature = NeuralLm(**trial.tiny_masked(tmp_path), batch=batch)
        for nbest in LISTS:
            _, rows = table(feature.score_candidates(None, nbest))
            assert close(rows, sums([masked(text) for text in nbest.texts]))

    def test_prompt_with_the_source_is_not_scored(self, tmp_path: Path) -> None:
        options = trial.tiny_lm(tmp_path)
        feature = NeuralLm(**options, prompt="de {source} en ", eos=False)
        _, rows = table(feature.score_candidates("ein haus", LISTS[0]))
        assert close(rows, sums([causal(text, "de ein haus en ", end=False) for text in TEXTS]))
        with pytest.raises(UsageError, match="needs the source"):
            feature.score_candidates(None, LISTS[0])

    @pytest.mark.parametrize(("values", "column"), [("sum", 0), ("mean", 1)])
    def test_one_column(self, tmp_path: Path, values: Any, column: int) -> None:
        feature = NeuralLm(**trial.tiny_lm(tmp_path), values=values)
        scores = feature.score_candidates(None, LISTS[0])
        assert close(scores, [row[column] for row in sums([causal(text) for text in TEXTS])])

    def test_renamed(self, tmp_path: Path, host: Host) -> None:
        path = trial.tiny_lm(tmp_path)["path"]
        (found,) = host.score(LISTS[:1], [f"neural-lm,path={path},name=gpt"])
        assert found.names() == ("gpt", "gpt:mean")

    def test_start_and_end(self, tmp_path: Path) -> None:
        options = trial.tiny_lm(tmp_path)
        change(tmp_path, "tokenizer_config.json", bos_token=None)
        first = NeuralLm(**options, bos="[CLS]", values="sum").score_candidates(None, LISTS[0])
        assert close(first, [sum(causal(text)) for text in TEXTS])
        # Without a token for the start, that for the end is taken.
        other = NeuralLm(**options, values="sum").score_candidates(None, LISTS[0])
        ended = NeuralLm(**options, bos="[SEP]", values="sum").score_candidates(None, LISTS[0])
        assert close(other, ended) and not close(other, first)
        with pytest.raises(UsageError, match=r"has no token '<s>'"):
            NeuralLm(**options, bos="<s>").score_candidates(None, LISTS[0])
        change(tmp_path, "tokenizer_config.json", eos_token=None)
        with pytest.raises(UsageError, match=r"no bos_token or eos_token is named; name one with bos=TOKEN"):
            NeuralLm(**options).score_candidates(None, LISTS[0])

    def test_an_empty_past_is_given_to_a_model_with_a_cache(self, tmp_path: Path) -> None:
        trial.tiny_tokenizer(tmp_path, framed=False)
        # The past of one head has as many dimensions as an embedding: it is joined with the tokens.
        nodes = [
            "past = Squeeze(past_key_values.0.key, axis)",
            "e = Gather(E, input_ids)",
            "all = Concat(past, e, axis=1)",
            "c = CumSum(all, one)",
            "h = Tanh(c)",
            "logits = MatMul(h, W)",
        ]
        weights = {**trial.tiny_weights(), "one": np.array(1)}
        inputs = {"input_ids": ("b", "t"), "past_key_values.0.key": ("b", 1, "past", trial.DIMENSIONS)}
        outputs = {"logits": ("b", "t", trial.WORDS)}
        trial.write_onnx(tmp_path / "model.onnx", nodes, weights, inputs, outputs)
        feature = NeuralLm(tmp_path, values="sum")
        assert close(feature.score_candidates(None, LISTS[0]), [sum(causal(text)) for text in TEXTS])

    def test_nothing_is_cut(self, tmp_path: Path) -> None:
        trial.tiny_lm(tmp_path)
        change(tmp_path, "config.json", max_position_embeddings=10)
        with pytest.raises(
            FeatureError, match="expected at most 10 tokens, which the model takes, found 26 in 'the house, big"
        ):
            NeuralLm(tmp_path).score_candidates(None, LISTS[0])


class TestSeq2seq:
    @pytest.mark.parametrize("batch", BATCHES)
    def test_forced_scores(self, tmp_path: Path, batch: int) -> None:
        feature = NeuralSeq2seq(**trial.tiny_seq2seq(tmp_path), batch=batch)
        for nbest in LISTS:
            source = nbest.source or ""
            names, rows = table(feature.score_candidates(source, nbest))
            assert names == ["neural-seq2seq", "neural-seq2seq:mean"]
            assert close(rows, sums([seq2seq(framed(source), [PAD, *framed(text)]) for text in nbest.texts]))

    def test_pairs_of_many_sources(self, tmp_path: Path) -> None:
        feature = NeuralSeq2seq(**trial.tiny_seq2seq(tmp_path), batch=3)
        pairs = [(source, text) for source in ("", "ein haus", "das ist gut") for text in TEXTS]
        expected = sums([seq2seq(framed(source), [PAD, *framed(text)]) for source, text in pairs])
        assert close(feature.compute(pairs), expected)

    def test_tokens_at_the_start_and_a_prefix(self, tmp_path: Path) -> None:
        options = trial.tiny_seq2seq(tmp_path)
        starts = {"source_start": "[MASK]", "target_start": "[CLS] a", "prefix": "to: "}
        feature = NeuralSeq2seq(**options, **starts, target_tokenizer=tmp_path / "tokenizer.json")
        source = [4, *ids("to: ein haus"), SEP]
        expected = sums([seq2seq(source, [PAD, CLS, *ids("a"), *ids(text), SEP], forced=3) for text in TEXTS])
        assert close(feature.compute([("ein haus", text) for text in TEXTS]), expected)

    def test_what_a_model_lacks_is_named(self, tmp_path: Path) -> None:
        options = trial.tiny_seq2seq(tmp_path)
        (tmp_path / "decoder_model.onnx").rename(tmp_path / "decoder_model_merged.onnx")
        with pytest.raises(UsageError, match=r"expected decoder_model.onnx, found decoder_model_merged.onnx, encoder"):
            NeuralSeq2seq(**options)
        # An encoder is no decoder.
        (tmp_path / "decoder_model.onnx").write_bytes((tmp_path / "encoder_model.onnx").read_bytes())
        expected = (
            r"decoder_model.onnx: expected inputs encoder_hidden_states, input_ids and perhaps .*, found input_ids,"
        )
        with pytest.raises(FormatError, match=expected):
            NeuralSeq2seq(**options).compute([("a", "b")])
        trial.tiny_seq2seq(tmp_path)
        change(tmp_path, "config.json", decoder_start_token_id=None)
        with pytest.raises(FormatError, match=r"config.json: expected a decoder_start_token_id"):
            NeuralSeq2seq(**options).compute([("a", "b")])


class TestEncoders:
    @pytest.mark.parametrize("batch", BATCHES)
    @pytest.mark.parametrize("pooling", ["mean", "cls"])
    def test_similarity(self, tmp_path: Path, host: Host, batch: int, pooling: str) -> None:
        path = trial.tiny_encoder(tmp_path)["path"]
        spec = f"neural-similarity,path={path},pooling={pooling},batch={batch}"
        for found, nbest in zip(host.score(LISTS, [spec]), LISTS, strict=True):
            source = vector(nbest.source or "", pooling)
            assert close(column(found), [source @ vector(text, pooling) for text in nbest.texts])

    def test_own_vectors_of_the_model(self, tmp_path: Path, host: Host) -> None:
        trial.tiny_encoder(tmp_path)
        nodes = [
            "e = Gather(E, input_ids)",
            "f = Cast(attention_mask, to=1)",
            "m = Unsqueeze(f, last)",
            "em = Mul(e, m)",
            "sentence_embedding = ReduceSum(em, axis, keepdims=0)",
        ]
        inputs = {"input_ids": ("b", "t"), "attention_mask": ("b", "t")}
        outputs = {"sentence_embedding": ("b", trial.DIMENSIONS)}
        trial.write_onnx(tmp_path / "model.onnx", nodes, trial.tiny_weights(), inputs, outputs)
        (found,) = host.score(LISTS[:1], [f"neural-similarity,path={tmp_path},pooling=output"])
        embedded = trial.tiny_weights()["E"].astype(np.float64)

        def unit(text: str) -> Any:
            total = embedded[framed(text)].sum(axis=0)
            return total / np.linalg.norm(total)

        assert close(column(found), [unit("ein haus") @ unit(text) for text in TEXTS])
        with pytest.raises(
            FormatError, match=r"expected an output last_hidden_state or .*, found sentence_embedding; pool"
        ):
            list(host.score(LISTS[:1], [f"neural-similarity,path={tmp_path}"]))

    @pytest.mark.parametrize("batch", BATCHES)
    @pytest.mark.parametrize("order", ["source-target", "target-source"])
    def test_quality(self, tmp_path: Path, host: Host, batch: int, order: str) -> None:
        path = trial.tiny_quality(tmp_path)["path"]
        spec = f"neural-quality,path={path},order={order},batch={batch}"
        (found,) = host.score(LISTS[:1], [spec])
        pairs = [("ein haus", text) for text in TEXTS]
        expected = [quality(*(pair if order == "source-target" else pair[::-1])) for pair in pairs]
        assert close(column(found), expected)
        metric = host.registry.make("metrics", spec)
        rows = metric.stats(TEXTS, [], ["ein haus"] * len(TEXTS))
        assert close(rows[:, 0], expected) and close(metric.score(rows.sum(axis=0)), np.mean(expected))
        with pytest.raises(UsageError, match="needs the sources"):
            metric.stats(TEXTS, [])

    def test_label_of_an_output_with_several(self, tmp_path: Path, host: Host) -> None:
        trial.tiny_quality(tmp_path)
        nodes = ["e = Gather(E, input_ids)", "logits = ReduceSum(e, axis, keepdims=0)"]
        outputs = {"logits": ("b", trial.DIMENSIONS)}
        trial.write_onnx(tmp_path / "model.onnx", nodes, trial.tiny_weights(), {"input_ids": ("b", "t")}, outputs)
        with pytest.raises(FormatError, match=r"expected one number for each pair, found 6 labels; choose .* label=K"):
            list(host.score(LISTS[:1], [f"neural-quality,path={tmp_path}"]))
        with pytest.raises(FormatError, match=r"expected an output with the label 6, found 6 labels"):
            list(host.score(LISTS[:1], [f"neural-quality,path={tmp_path},label=6"]))
        (found,) = host.score([smt.candidates(["a"], id=1, source="b")], [f"neural-quality,path={tmp_path},label=2"])
        embedded = trial.tiny_weights()["E"]
        assert close(column(found), [embedded[framed("b", "a")].sum(axis=0)[2]])

    def test_long_texts_are_cut_as_the_model_was_trained(self, tmp_path: Path, host: Host) -> None:
        trial.tiny_quality(tmp_path)
        change(tmp_path, "tokenizer_config.json", model_max_length=10)
        pair = smt.candidates(["bcde"], id=1, source="fghij")
        (found,) = host.score([pair], [f"neural-quality,path={tmp_path}"])
        assert close(column(found), [quality("fghi", "bcd")])

    def test_similarity_with_the_best_reference(self, tmp_path: Path, host: Host) -> None:
        path = trial.tiny_encoder(tmp_path)["path"]
        metric = host.registry.make("metrics", f"neural-similarity,path={path},scale=100")
        texts, references = ["a", "b c"], [["b", "b c"], ["a c", "x"]]
        expected = [
            max(float(vector(text) @ vector(stream[i])) for stream in references) for i, text in enumerate(texts)
        ]
        rows = metric.stats(texts, references)
        assert close(rows, [[value, 1.0] for value in expected])
        assert close(metric.score(rows.sum(axis=0)), 100 * np.mean(expected))
        assert metric.signature() == (
            f"neural-similarity|model:{path}/model.onnx|pooling:mean|against:references|mean:segments|scale:100"
        )
        with pytest.raises(UsageError, match="needs the references"):
            metric.stats(texts, [])
        against = host.registry.make("metrics", f"neural-similarity,path={path},against=source")
        assert close(against.stats(["a"], [], ["b"])[0, 0], vector("a") @ vector("b"))


class TestFiles:
    @pytest.mark.parametrize(
        ("break_it", "error", "match"),
        [
            (lambda folder: (folder / "model.onnx").unlink(), UsageError, "expected model.onnx .*, found no ONNX file"),
            (
                lambda folder: (folder / "model.onnx").write_bytes(b"x" * 99),
                FormatError,
                "onnx: expected an ONNX model",
            ),
            (lambda folder: (folder / "model.onnx").write_bytes(b""), FormatError, "onnx: expected an ONNX model"),
            (
                lambda folder: (folder / "tokenizer.json").unlink(),
                UsageError,
                "expected a tokenizer.json, found none; save",
            ),
            (lambda folder: (folder / "tokenizer.json").write_text("{}"), FormatError, "json: expected a tokenizer of"),
            (lambda folder: (folder / "config.json").write_text("[1]"), FormatError, "json: expected a JSON object"),
            (lambda folder: (folder / "config.json").write_text("{"), FormatError, "json: expected a JSON object"),
            (
                lambda folder: (folder / "config.json").write_text('{"n_ctx": "x"}'),
                FormatError,
                "a whole number as n_ctx",
            ),
        ],
    )
    def test_damaged_files_are_named(
        self, tmp_path: Path, break_it: Callable[[Path], None], error: type[Exception], match: str
    ) -> None:
        options = trial.tiny_lm(tmp_path)
        break_it(tmp_path)
        with pytest.raises(error, match=match):
            NeuralLm(**options).score_candidates(None, LISTS[0])

    def test_every_cut_of_a_model_is_an_error(self, tmp_path: Path) -> None:
        options = trial.tiny_lm(tmp_path)
        data = (tmp_path / "model.onnx").read_bytes()
        for size in range(0, len(data), 131):
            (tmp_path / "model.onnx").write_bytes(data[:size])
            with pytest.raises(FormatError, match=r"model\.onnx: expected"):
                NeuralLm(**options).score_candidates(None, LISTS[0])

    def test_a_vocabulary_too_small_and_a_wrong_shape(self, tmp_path: Path) -> None:
        options = trial.tiny_lm(tmp_path)
        nodes = ["e = Gather(E, input_ids)", "logits = Identity(e)"]
        inputs, outputs = {"input_ids": ("b", "t")}, {"logits": ("b", "t", trial.DIMENSIONS)}
        trial.write_onnx(tmp_path / "model.onnx", nodes, trial.tiny_weights(), inputs, outputs)
        with pytest.raises(FormatError, match=r"expected a vocabulary with the token .*, found 6 tokens"):
            NeuralLm(**options).score_candidates(None, LISTS[0])
        nodes = ["e = Gather(E, input_ids)", "logits = ReduceSum(e, axis, keepdims=0)"]
        trial.write_onnx(tmp_path / "model.onnx", nodes, trial.tiny_weights(), inputs, {"logits": ("b", "t")})
        with pytest.raises(FormatError, match="expected logits of shape 4 x 26 x words"):
            NeuralLm(**options).score_candidates(None, LISTS[0])

    def test_a_named_file_and_a_folder_onnx(self, tmp_path: Path) -> None:
        trial.tiny_lm(tmp_path)
        (tmp_path / "onnx").mkdir()
        named = (tmp_path / "model.onnx").rename(tmp_path / "onnx/model.onnx")
        expected = [sum(causal(text)) for text in TEXTS]
        for path in (tmp_path, named):
            assert close(NeuralLm(path, values="sum").score_candidates(None, LISTS[0]), expected)

    def test_wrong_options(self, tmp_path: Path) -> None:
        options = trial.tiny_lm(tmp_path)
        for wrong, match in (
            ({"batch": 0}, "batch: expected a whole number from 1 on, found 0"),
            ({"threads": -1}, "threads: expected a whole number from 0 on, found -1"),
            ({"path": tmp_path / "none"}, "expected a folder with a model"),
            ({"tokenizer": tmp_path / "none"}, "tokenizer: expected a tokenizer.json, found no"),
            ({"kind": "masked", "prompt": "x"}, "prompt is for kind=causal"),
        ):
            with pytest.raises(UsageError, match=match):
                NeuralLm(**{**options, **wrong})

    def test_threads_are_those_asked_for(self, tmp_path: Path) -> None:
        trial.tiny_lm(tmp_path)
        model = OnnxModel(tmp_path / "model.onnx", threads=1)
        assert model.inputs.keys() == {"input_ids", "attention_mask"}
        assert model._session.get_session_options().intra_op_num_threads == 1


def test_sessions_from_before_a_fork_are_not_ended_after_it(tmp_path: Path) -> None:
    # Their threads are not there; the first worker opens the model again, the second lets it go.
    feature = NeuralLm(**trial.tiny_lm(tmp_path), threads=2)
    expected = [table(feature.score_candidates(None, nbest)) for nbest in LISTS[:2]]

    def score(nbest: Candidates) -> Any:
        return table(held[0].score_candidates(None, nbest))

    def drop(nbest: Candidates) -> int:
        held.clear()
        return gc.collect() * 0

    held = [feature]
    del feature
    assert list(Processes(1).map(score, LISTS[:2])) == expected
    assert list(Processes(1).map(drop, LISTS[:2])) == [0, 0]
