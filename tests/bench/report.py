"""The page of a report of 1,000 sentences with 100 hypotheses each: what making it costs, and how large it is."""

from __future__ import annotations

import random
import time
from typing import Any

SENTENCES, HYPOTHESES, FEATURES = 1000, 100, 14


def report() -> dict[str, Any]:
    """CPU seconds of judging and of the page, and the size of the page."""
    from smtplugins.host.files.lists import as_stream
    from smtplugins.host.judge.evaluation import Texts
    from smtplugins.host.judge.judging import judge
    from smtplugins.host.judge.reporting import Report
    from smtplugins.host.loading.manager import load_plugins
    from smtplugins.plugins.standard.report import page

    lists, refs = made()
    metric = load_plugins().metric("bleu,tokenize=none")
    weights = {name: 1.0 / (i + 1) for i, name in enumerate(lists[0].layouts[0])}
    begun = time.process_time()
    judged = judge(as_stream(lists), [Texts(refs, "refs", False)], metric, weights=weights)
    between = time.process_time()
    text = page(Report("1,000 sentences", judged=judged))
    ended = time.process_time()
    return {
        "judging": between - begun,
        "page": ended - between,
        "megabytes": len(text.encode()) / 1e6,
    }


def made() -> tuple[list[Any], list[str]]:
    """Lists whose hypotheses differ in a few words and features, as those of a decoder do."""
    from smtformats import Candidates

    source = random.Random(1)
    words = ["".join(source.choices("aeioubdklmnrst", k=source.randint(2, 9))) for _ in range(3000)]
    names = tuple(f"feature{i}" for i in range(FEATURES))
    lists, refs = [], []
    for key in range(SENTENCES):
        best = source.choices(words, k=source.randint(8, 25))
        row = [round(-source.expovariate(0.1), 4) for _ in names]
        texts, values = [], []
        for _ in range(HYPOTHESES):
            text, value = list(best), list(row)
            for _ in range(source.randint(0, 3)):
                text[source.randrange(len(text))] = source.choice(words)
                for i in source.sample(range(FEATURES), 5):
                    value[i] = round(value[i] - source.gauss(0, 1), 4)
            texts.append(" ".join(text))
            values.append(value)
        lists.append(Candidates(str(key), texts, [names] * HYPOTHESES, values))
        refs.append(" ".join(source.choice(words) if source.random() < 0.3 else word for word in best))
    return lists, refs
