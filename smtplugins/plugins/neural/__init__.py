"""Features and metrics from neural models: ONNX files in this process, and Python workers in environments of their own.

The libraries of the extra `neural` (onnxruntime, tokenizers) are imported when the first list is scored.
"""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Offer


@hookimpl
def smt_features() -> Iterator[Offer]:
    """Features of whole hypotheses from ONNX models."""
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


@hookimpl
def smt_metrics() -> Iterator[Offer]:
    """Metrics of segments from ONNX models."""
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
