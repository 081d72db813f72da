"""Metrics against sacrebleu's own scores and signatures; statistics that add up."""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np
import pytest
import sacrebleu.metrics as theirs

from smtplugins.contracts.errors import UsageError
from smtplugins.host.host import Host

REFS = [
    "The cat sat on the mat , didn't it ?",
    "He said : \u201eGuten Tag!\u201c - and left .",
    "Prices rose by 3.5 % in 2014 .",
    "",
    "Das Haus ist gro\u00df & alt &quot; .",
    "one",
    "\u6211\u5728\u5317\u4eac\u5927\u5b66 .",
    "to be or not to be , that is the question .",
]


def noisy(seed: int) -> list[str]:
    """The references with words lost, doubled, moved and re-cased."""
    rng = random.Random(seed)
    texts = []
    for text in REFS:
        words = text.split(" ")
        words = [word for word in words for _ in range(rng.choice([0, 1, 1, 1, 1, 2]))]
        if rng.random() < 0.3:
            rng.shuffle(words)
        texts.append(" ".join(word.swapcase() if rng.random() < 0.2 else word for word in words))
    return texts


HYPS, OTHER = noisy(1), noisy(2)
BLEU: list[dict[str, Any]] = [
    {},
    {"tokenize": "none"},
    {"tokenize": "intl"},
    {"tokenize": "char"},
    {"tokenize": "zh"},
    {"lowercase": True},
    {"smooth_method": "floor"},
    {"smooth_method": "floor", "smooth_value": 0.5},
    {"smooth_method": "add-k", "smooth_value": 2.0},
    {"smooth_method": "none"},
    {"max_ngram_order": 2},
    {"effective_order": True},
    {"trg_lang": "zh"},
]
CASES = [
    *(("bleu", theirs.BLEU, options) for options in BLEU),
    ("chrf", theirs.CHRF, {}),
    ("chrf", theirs.CHRF, {"word_order": 2}),
    ("chrf", theirs.CHRF, {"char_order": 4, "beta": 3, "lowercase": True, "whitespace": True}),
    ("chrf", theirs.CHRF, {"eps_smoothing": True}),
    ("ter", theirs.TER, {}),
    ("ter", theirs.TER, {"case_sensitive": True, "asian_support": True}),
    ("ter", theirs.TER, {"no_punct": True, "asian_support": True}),
    ("ter", theirs.TER, {"normalized": True, "no_punct": True, "case_sensitive": True}),
    ("ter", theirs.TER, {"normalized": True, "asian_support": True}),
]


@pytest.mark.parametrize(("name", "metric", "options"), CASES)
@pytest.mark.parametrize("references", [[REFS], [REFS, OTHER], [OTHER, REFS, HYPS[::-1]]], ids=["1", "2", "3"])
def test_corpus_score_and_signature_are_sacrebleus(
    host: Host, name: str, metric: Any, options: dict[str, Any], references: list[list[str]]
) -> None:
    ours, own = host.metric({"name": name, **options}), metric(**options)
    stats = ours.stats(HYPS, references)
    result = own.corpus_score(HYPS, references)
    assert stats.shape == (len(HYPS), stats.shape[1])
    # Python 3.12 on sums floats with a correction, so the last digit may differ.
    assert float(ours.score(stats.sum(axis=0))) == pytest.approx(result.score, rel=1e-13)
    assert ours.signature() == f"{result.name}|{own.get_signature()}"
    assert ours.name == result.name
    assert ours.higher_is_better == (name != "ter")


@pytest.mark.parametrize(("name", "metric", "options"), CASES)
def test_sentence_scores_are_sacrebleus(host: Host, name: str, metric: Any, options: dict[str, Any]) -> None:
    ours = host.metric({"name": name, **options})
    own = metric(**{**options, "effective_order": True} if name == "bleu" else options)
    found = ours.sentence(ours.stats(HYPS, [REFS, OTHER]))
    expected = [own.sentence_score(hyp, list(refs)).score for hyp, *refs in zip(HYPS, REFS, OTHER, strict=True)]
    assert found.tolist() == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf,word_order=2", "ter"])
def test_statistics_add_up(host: Host, name: str) -> None:
    metric = host.metric(name)
    whole = metric.stats(HYPS, [REFS, OTHER])
    parts = [metric.stats(HYPS[a:b], [REFS[a:b], OTHER[a:b]]) for a, b in ((0, 3), (3, 4), (4, len(HYPS)))]
    assert np.concatenate(parts).tolist() == whole.tolist()
    both = metric.stats([*HYPS, *OTHER], [[*REFS, *REFS]])
    summed = metric.stats(HYPS, [REFS]).sum(axis=0) + metric.stats(OTHER, [REFS]).sum(axis=0)
    assert metric.score(both.sum(axis=0)) == pytest.approx(metric.score(summed), rel=1e-12)


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_leading_axes_are_kept(host: Host, name: str) -> None:
    metric = host.metric(name)
    stats = metric.stats(HYPS, [REFS])
    grid = np.stack([stats, stats[::-1]])
    scores = metric.score(grid)
    assert scores.shape == (2, len(HYPS))
    assert scores[0].tolist() == scores[1, ::-1].tolist() == [float(metric.score(row)) for row in stats]
    assert metric.score(stats.sum(axis=0)).shape == ()


def test_options_have_sacrebleus_defaults(host: Host) -> None:
    import inspect

    for name, own in (("bleu", theirs.BLEU), ("chrf", theirs.CHRF), ("ter", theirs.TER)):
        made = type(host.metric(name))
        ours = {key: one.default for key, one in inspect.signature(made).parameters.items()}
        known = {key: one.default for key, one in inspect.signature(own).parameters.items()}
        assert ours.keys() <= known.keys()
        assert ours == {key: known[key] for key in ours}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bleu,tokenize=13b", "metric 'bleu': tokenize: unknown tokenizer '13b'; did you mean '13a'"),
        ("bleu,tokenise=none", "metric 'bleu' has no option 'tokenise'; did you mean 'tokenize'"),
        ("bleu,smooth_method=backoff", "metric 'bleu': smooth_method: expected one of exp, floor, add-k, none, found"),
        ("bleu,smooth_value=high", "metric 'bleu': smooth_value: expected a number, found 'high'"),
        ("bleu,max_ngram_order=0", "metric 'bleu': max_ngram_order: expected 1 or more, found 0"),
        ("bleu,lowercase=sometimes", "metric 'bleu': lowercase: expected true or false, found 'sometimes'"),
        ("chrf,char_order=0", "metric 'chrf': char_order: expected 1 or more, found 0"),
        ("chrf,word_order=-1", "metric 'chrf': word_order: expected 0 or more, found -1"),
        ("chrf,beta=x", "metric 'chrf': beta: expected a whole number, found 'x'"),
        ("ter,normalised=true", "metric 'ter' has no option 'normalised'; did you mean 'normalized'"),
    ],
)
def test_wrong_options_are_named(host: Host, spec: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        host.metric(spec)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("option", ["tokenize=ja-mecab", "trg_lang=ja"])
def test_tokenizer_that_is_not_installed_is_a_wrong_call(
    host: Host, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setitem(sys.modules, "MeCab", None)
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    with pytest.raises(UsageError, match=r"metric 'bleu': .*pip install sacrebleu\[ja\]"):
        host.metric(f"bleu,{option}")


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_references_are_needed_and_as_many_as_hypotheses(host: Host, name: str) -> None:
    metric = host.metric(name)
    with pytest.raises(UsageError, match=f"metric '{metric.name}' needs references"):
        metric.stats(HYPS, [])
    with pytest.raises(ValueError, match="expected 8 references, found 7"):
        metric.stats(HYPS, [REFS, REFS[:-1]])
    with pytest.raises(ValueError, match="expected hypotheses, found none"):
        metric.stats([], [[]])


@pytest.mark.parametrize(
    "name",
    [
        "bleu",
        "bleu,tokenize=char,lowercase=true",
        "chrf,word_order=2",
        "ter",
        "ter,no_punct=true",
        "wer",
        "gtm,exponent=2",
    ],
)
def test_prepared_references_and_matrix(host: Host, name: str) -> None:
    metric = host.metric(name)
    held = metric.prepare([REFS, OTHER])
    assert len(held) == len(REFS)
    assert held.stats(HYPS).tolist() == metric.stats(HYPS, [REFS, OTHER]).tolist()
    chosen = [3, 1, 1, 7, 0, 2, 5, 6]
    references = [[stream[k] for k in chosen] for stream in (REFS, OTHER)]
    assert held.stats(HYPS, chosen, threads=2).tolist() == metric.stats(HYPS, references).tolist()
    table = metric.matrix(HYPS, REFS, threads=2)
    for j, other in enumerate(REFS):
        assert table[:, j].tolist() == metric.stats(HYPS, [[other] * len(HYPS)]).tolist()
    with pytest.raises(UsageError, match="needs references"):
        metric.prepare([])
    with pytest.raises(ValueError, match="expected references, found none"):
        metric.prepare([[]])


def test_segments_may_lack_some_references_as_in_sacrebleu(host: Host) -> None:
    streams: list[list[Any]] = [["a b", "c d"], [None, "c e"]]
    metric, own = host.metric("bleu,tokenize=none"), theirs.BLEU(tokenize="none")
    found = metric.stats(["a b", "c e"], streams)
    assert float(metric.score(found.sum(axis=0))) == own.corpus_score(["a b", "c e"], streams).score
    assert metric.signature() == f"BLEU|{own.get_signature()}"
    assert "nrefs:var" in metric.signature()
    with pytest.raises(ValueError, match="found a segment without any"):
        metric.stats(["a"], [[None]])


def test_tokenised_text_is_remarked_upon_once(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    metric = host.metric("bleu")
    for _ in range(2):
        metric.stats(["a house ."] * 100, [["a house ."] * 100])
    assert [record.message[:45] for record in caplog.records] == ["At least 100 lines end in a tokenized period "]
    caplog.clear()
    host.metric("bleu,tokenize=none").stats(["a house ."] * 100, [["a house ."] * 100])
    assert not caplog.records


def test_linear_form_of_bleu(host: Host) -> None:
    feature = host.metric("bleu,tokenize=none").linear(["a b c", "c d"])
    assert feature.gain("a b d".split()) == pytest.approx(-3 + 3 / 3.4 + 1 / (3.4 * 0.7))
    folded = host.metric("bleu,tokenize=none,lowercase=true,max_ngram_order=2").linear(
        ["A b"], precision=0.5, decay=0.5
    )
    assert folded.gain(["a", "B"]) == pytest.approx(-2 + 2 * 1 + 2)
    assert host.metric("bleu").linear(["a b"]) is None
    assert not hasattr(host.metric("chrf"), "linear")
