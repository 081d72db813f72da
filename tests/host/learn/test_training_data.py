"""Lists and forests joined with references; lists of several decodings merged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import Candidates
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.core.graph.hypergraph import HypergraphBuilder
from smtplugins.host.files.lists import ListStream
from smtplugins.host.files.opening import find_format, write_all
from smtplugins.host.host import Host
from smtplugins.host.judge.evaluation import texts_of
from smtplugins.host.learn.training_data import Statistics, append_list, select_unseen, union
from tests.host.teaching import BLEU, REFS, lists, teaching_host


@pytest.fixture(scope="module")
def host() -> Host:
    return teaching_host()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ref").write_text("".join(f"{ref}\n" for ref in REFS))


def test_ids_and_references(host: Host) -> None:
    for given, refs, message in (
        (lists()[1:], REFS, "expected a list for id 0, line 1 of <texts>, found none; allow_partial=True"),
        (lists(), REFS[:4], "expected an id below 4, as <texts> has 4 lines .*found '4'"),
        ([*lists(), lists()[0]], REFS, "expected each id once, found 0 again"),
        ([Candidates("x", ["a"], [("f",)], [[1.0]])], REFS, "expected line numbers of <texts> as ids, found 'x'"),
    ):
        with pytest.raises(SmtError, match=message):
            host.tune(given, [refs], learner="given", metric=BLEU)
    assert host.tune(lists()[1:], [REFS], learner="given", metric=BLEU, allow_partial=True)["good"] == 1


def forest(number: int, words: Mapping[str, float]) -> Any:
    """A choice of words, each with its value of `good`, behind a word that all have."""
    from smtformats.grammar.rules import NonTerminal, Rule
    from smtformats.hypergraph.graph import Edge

    gap = NonTerminal("X", 1)
    rules = [Rule("X", (word,), (word,)) for word in words]
    rules.append(Rule("S", ("so", gap), ("so", gap)))
    builder = HypergraphBuilder()
    low = builder.add([Edge((), k, {"good": value}) for k, value in enumerate(words.values())], "X")
    builder.add([Edge((low,), len(words), {"glue": 1.0})], "S")
    return builder.build(str(number), rules)


def make() -> None:
    graphs = forest(0, {"right": 1.0, "wrong": 2.0}), forest(1, {"bad": 5.0, "left": 3.0})
    Path("forests").mkdir()
    write_all(find_format("cdec-json-hypergraph"), [graph.to_columns() for graph in graphs], "forests/")


def test_the_best_derivations_are_judged(host: Host) -> None:
    make()
    metric = {"name": "bleu", "tokenize": "none", "max_ngram_order": 2}
    refs = [["so right", "so left"]]
    done = host.tune((), refs, learner="given,value=-1", metric=metric, forests=Path("forests"), start={"good": 1.0})
    assert (done.begun < 60, done.score) == (True, pytest.approx(100))
    assert dict(done) == {"good": -1}
    with pytest.raises(UsageError, match="learner 'toy-perceptron' learns from lists, not from forests"):
        host.tune((), refs, learner="toy-perceptron", forests=Path("forests"))
    with pytest.raises(UsageError, match="folds: expected lists"):
        host.tune((), refs, learner="given", forests=Path("forests"), folds=2)
    with pytest.raises(SmtError, match="expected a list for id 2, line 3 of <texts>, found none"):
        host.tune((), [["a"] * 3], learner="given", forests=Path("forests"))
    with pytest.raises(SmtError, match="forests: expected an id below 1, as <texts> has 1 lines"):
        host.tune((), [["a"]], learner="given", forests=Path("forests"))


def test_statistics_are_the_metrics_and_each_text_is_shown_once(host: Host) -> None:
    metric = host.metric(BLEU)
    shown: list[str] = []

    class Watched:
        name, higher_is_better = metric.name, True

        def stats(self, hypotheses: Any, references: Any, sources: Any = None) -> Any:
            shown.extend(hypotheses)
            return metric.stats(hypotheses, references, sources)

    streams = [texts_of(REFS), texts_of(["z"] * 5)]
    for judge in (Statistics(metric, streams), Statistics(Watched(), streams)):  # type: ignore[arg-type]
        stats = list(judge.each([(["a cat", "we saw", "a cat"], 3), (["he"], 2)]))
        for rows, texts, at in zip(stats, (["a cat", "we saw", "a cat"], ["he"]), (3, 2), strict=True):
            wanted = metric.stats(texts, [[REFS[at]] * len(texts), ["z"] * len(texts)])
            assert rows.tolist() == np.asarray(wanted).tolist()
    assert shown == ["a cat", "we saw", "he"]


def test_lists_of_several_decodings() -> None:
    def nbest(key: str, *rows: tuple[str, float]) -> Candidates:
        layouts = [("f",) if value else ("f", "zero") for _, value in rows]
        values = [[value] if value else [value, 0.0] for _, value in rows]
        return Candidates(key, [text for text, _ in rows], layouts, values, [1.0] * len(rows))

    first = [nbest("0", ("a", 1.0), ("b", 1.0), ("a", 1.0)), nbest("1", ("c", 0.0))]
    second = [nbest("1", ("c", 0.0), ("c", 2.0)), nbest("0", ("a", 2.0)), nbest("2", ("d", 1.0))]
    lists = list(union([ListStream(lambda given=given: iter(given), "x") for given in (first, second)]))  # type: ignore[misc]
    assert [(c.id, c.texts, [row[0] for row in c.values]) for c in lists] == [
        ("0", ["a", "b", "a"], [1, 1, 2]),
        ("1", ["c", "c"], [0, 2]),
        ("2", ["d"], [1]),
    ]
    assert lists[0].totals == [1.0] * 3
    seen: dict[bytes, int] = {}
    assert select_unseen(first[0], seen) is not None
    # A feature that is 0 is none.
    assert select_unseen(Candidates("0", ["b"], [("g", "f")], [[0.0, 1.0]]), seen, 2) is None
    assert list(seen.values()) == [1, 2]
    assert append_list(first[0], Candidates("0", ["x"], [()], [[]])).totals is None
