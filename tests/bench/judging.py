"""Judging against sacrebleu: the same tests, seeds and p-values, from texts and from statistics alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from measure import interleaved

SENTENCES, SYSTEMS = 1000, 10


def made(sentences: int = SENTENCES, count: int = SYSTEMS) -> tuple[dict[str, list[str]], list[str]]:
    """References, and systems that are wrong in a third of the words, more or less."""
    rng = random.Random(1)
    words = ["".join(rng.choices("aeioubdklmnrst", k=rng.randint(2, 9))) for _ in range(3000)]
    refs = [[rng.choice(words) for _ in range(rng.randint(8, 40))] for _ in range(sentences)]
    systems = {}
    for i in range(count):
        change = random.Random(i + 2)
        noise = 0.3 + 0.002 * i
        systems[f"system{i}"] = [
            " ".join(change.choice(words) if change.random() < noise else word for word in one) for one in refs
        ]
    return systems, [" ".join(one) for one in refs]


def forget() -> None:
    """As in a process of its own: sacrebleu remembers what it tokenised."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    Tokenizer13a.__call__.cache_clear()
    TokenizerRegexp.__call__.cache_clear()


def judging() -> dict[str, Any]:
    """CPU seconds of a paired test of ten systems under BLEU, ours and sacrebleu's, and their ratio."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    from smtplugins.host.judge.evaluation import evaluate
    from smtplugins.host.judge.significance import SignificancePlan, judge
    from smtplugins.host.loading.manager import load_plugins

    host = load_plugins()
    metric = host.metric("bleu")
    systems, refs = made()
    stats = [[metric.stats(one, [refs])] for one in systems.values()]
    found: dict[str, Any] = {}
    for test, short, samples in (("bootstrap", "bs", 1000), ("ar", "ar", 1000)):
        plan = SignificancePlan((test,), samples)

        def theirs(short: str = short, samples: int = samples) -> Any:
            forget()
            return PairedTest(list(systems.items()), {"x": BLEU()}, [refs], test_type=short, n_samples=samples)()

        def ours(plan: SignificancePlan = plan) -> Any:
            forget()
            return evaluate(systems, [refs], [metric], plan=plan)

        def bare(plan: SignificancePlan = plan) -> Any:
            return judge(metric, stats, plan)

        runs: dict[str, Callable[[], object]] = {"sacrebleu": theirs, "evaluate": ours, "from statistics": bare}
        best = interleaved(runs, rounds=3)
        own = [one.p for one in ours().scores[1:]]
        found[test] = {
            **{f"{name}_cpu_s": value for name, value in best.items()},
            "evaluate_over_sacrebleu": best["evaluate"] / best["sacrebleu"],
            "without_statistics_over_sacrebleu": best["from statistics"] / best["sacrebleu"],
            "same_p_values": own == [one.p_value for one in theirs()[1]["BLEU"][1:]],
        }
    found["BLEU and chrF"] = evaluation()
    return found


def evaluation() -> dict[str, Any]:
    """CPU seconds of BLEU and chrF of 5 systems on 3,000 sentences with intervals and paired tests, and their ratio."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.significance import PairedTest

    from smtplugins.host.judge.evaluation import evaluate
    from smtplugins.host.judge.significance import SignificancePlan
    from smtplugins.host.loading.manager import load_plugins

    host = load_plugins()
    plain, words = made(3000, 5)
    # Each has tokens to be parted.
    systems = {name: [f"{text}." for text in texts] for name, texts in plain.items()}
    refs = [f"{text}." for text in words]
    plan = SignificancePlan(("bootstrap",), 1000)

    def theirs() -> Any:
        forget()
        metrics = {"BLEU": BLEU(), "chrF2": CHRF()}
        return PairedTest(list(systems.items()), metrics, [refs], test_type="bs", n_samples=1000)()

    def ours() -> Any:
        return evaluate(systems, [refs], [host.metric("bleu"), host.metric("chrf")], plan=plan)

    best = interleaved({"sacrebleu": theirs, "evaluate": ours}, rounds=3)
    own = ours().scores
    scores = [score.score for name in ("BLEU", "chrF2") for score in theirs()[1][name]]
    return {
        **{f"{name}_cpu_s": value for name, value in best.items()},
        "sacrebleu_over_evaluate": best["sacrebleu"] / best["evaluate"],
        "same_scores": [one.score for one in own] == scores,
    }
