"""Features and metrics from neural models: ONNX files in this process, and Python workers in environments of their own.

The libraries of the extra `neural` (onnxruntime, tokenizers) are imported when the first list is scored.
"""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer


@hookimpl
def smt_features() -> Iterator[Offer]:
    """Features of whole hypotheses."""
    yield Offer(
        name="neural-lm",
        make="smtplugins.plugins.neural.lm:NeuralLm",
        summary="log probability under a causal or masked language model in ONNX: sum and mean of a token",
        reference="Salazar et al. (2020), for masked models",
        needs=frozenset({"target"}),
        trial="smtplugins.plugins.neural.trial:tiny_lm",
    )
    yield Offer(
        name="neural-seq2seq",
        make="smtplugins.plugins.neural.seq2seq:NeuralSeq2seq",
        summary="log probability given the source under an encoder-decoder model in ONNX: sum and mean of a token",
        needs=frozenset({"target", "source"}),
        trial="smtplugins.plugins.neural.trial:tiny_seq2seq",
    )
    yield Offer(
        name="neural-similarity",
        make="smtplugins.plugins.neural.encoders:NeuralSimilarity",
        summary="cosine of source and hypothesis under a sentence encoder in ONNX",
        reference="Reimers and Gurevych (2019, 2020)",
        needs=frozenset({"target", "source"}),
        trial="smtplugins.plugins.neural.trial:tiny_encoder",
    )
    yield Offer(
        name="neural-quality",
        make="smtplugins.plugins.neural.encoders:NeuralQuality",
        summary="quality estimation of source and hypothesis by a regression head in ONNX",
        needs=frozenset({"target", "source"}),
        trial="smtplugins.plugins.neural.trial:tiny_quality",
    )
    yield Offer(
        name="neural-worker",
        make="smtplugins.plugins.neural.worker:NeuralWorker",
        summary="scores of a model that runs in a Python of your own: COMET, MetricX, language models, your file",
        needs=frozenset({"target"}),
        trial="smtplugins.plugins.neural.trial:tiny_worker",
    )


@hookimpl
def smt_metrics() -> Iterator[Offer]:
    """Metrics of segments."""
    yield Offer(
        name="neural-quality",
        make="smtplugins.plugins.neural.encoders:NeuralQualityMetric",
        summary="mean quality estimation by a regression head in ONNX; reads sources, no references",
        trial="smtplugins.plugins.neural.trial:tiny_quality",
    )
    yield Offer(
        name="neural-similarity",
        make="smtplugins.plugins.neural.encoders:NeuralSimilarityMetric",
        summary="mean cosine with the references, or the sources, under a sentence encoder in ONNX",
        reference="Reimers and Gurevych (2019)",
        trial="smtplugins.plugins.neural.trial:tiny_encoder",
    )
    yield Offer(
        name="neural-worker",
        make="smtplugins.plugins.neural.worker:NeuralWorkerMetric",
        summary="mean of a model's scores, in a Python of your own: COMET, MetricX, BLEURT, BERTScore, your file",
        trial="smtplugins.plugins.neural.trial:tiny_worker",
    )


@hookimpl
def smt_commands() -> Iterator[Command]:
    """``smt neural worker``."""
    yield Command(
        name="worker",
        summary="list the ready-made workers, or print one as a program of a single file",
        configure="smtplugins.plugins.neural.worker_command:configure",
        run="smtplugins.plugins.neural.worker_command:run",
    )
