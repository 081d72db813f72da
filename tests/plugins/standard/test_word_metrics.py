"""Error rates and GTM as metrics: options, signatures, several references; numbers are checked in tests/core."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import pytest

from smtplugins.contracts.errors import UsageError
from smtplugins.host.host import Host


def test_word_and_character_error_rate(host: Host) -> None:
    metric = host.metric("wer")
    stats = metric.stats(["the  cat", "a b"], [["the cat sat", "a c"], ["the dog", ""]])
    assert stats.tolist() == [[1, 3], [1, 2]]
    assert float(metric.score(stats.sum(axis=0))) == 40
    assert metric.sentence(stats).tolist() == pytest.approx([100 / 3, 50])
    assert metric.signature() == f"WER|nrefs:2|case:mixed|unit:word|tok:none|version:smtplugins-{version('smtplugins')}"
    assert (metric.name, metric.higher_is_better) == ("WER", False)
    letters = host.metric("wer,unit=char,lowercase=true")
    assert letters.stats(["THE  CAT"], [["the bat"]]).tolist() == [[1, 7]]
    assert letters.signature().startswith("CER|nrefs:1|case:lc|unit:char|tok:none|")


def test_tokenizers_are_sacrebleus(host: Host) -> None:
    assert host.metric("wer,tokenize=13a").stats(["Yes, no."], [["Yes , no ."]]).tolist() == [[0, 4]]
    with pytest.raises(UsageError, match="metric 'wer': tokenize: unknown tokenizer '13b'; did you mean '13a'"):
        host.metric("wer,tokenize=13b")


def test_gtm_measures(host: Host) -> None:
    hypotheses, references = ["a b c x", "q"], [["c a b", "r s"]]
    scores = {}
    for measure in ("f", "precision", "recall"):
        metric = host.metric(f"gtm,exponent=2,measure={measure}")
        stats = metric.stats(hypotheses, references)
        assert stats.tolist() == [pytest.approx([5**0.5, 4, 3]), [0, 1, 2]]
        scores[metric.name] = float(metric.score(stats.sum(axis=0)))
    assert scores == pytest.approx({"GTM": 20 * 5**0.5, "GTM-P": 20 * 5**0.5, "GTM-R": 20 * 5**0.5})
    assert host.metric("gtm").stats(hypotheses, references)[0, 0] == 3
    metric.stats(hypotheses, references)
    assert metric.signature().startswith("GTM-R|nrefs:1|case:mixed|e:2|measure:recall|tok:none|version:")


@pytest.mark.parametrize("value", ["0.5", "nan", "inf"])
def test_exponents_below_1_are_refused(host: Host, value: str) -> None:
    with pytest.raises(UsageError, match="metric 'gtm': exponent: expected 1 or more, found"):
        host.metric(f"gtm,exponent={value}")


def test_leading_axes_are_kept(host: Host) -> None:
    for spec in ("wer", "gtm"):
        metric = host.metric(spec)
        stats = metric.stats(["a b", "c"], [["a", "c d"]])
        assert metric.score(np.stack([stats, stats[::-1]])).shape == (2, 2)
        assert metric.score(stats.sum(axis=0)).shape == ()
