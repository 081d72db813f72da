"""Pools of lists: what several decodings found, each hypothesis once, of all iterations or of the last ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from smtformats import Candidates
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.learners import ListProblem
from smtplugins.host.files.opening import find_format, write_all
from smtplugins.host.host import Host
from smtplugins.host.judge.evaluation import texts_of
from smtplugins.host.learn.cross_validation import fold_of
from smtplugins.host.learn.pools import LISTS, ListPool, Work
from smtplugins.host.learn.training_data import Material
from tests.host.teaching import BLEU, REFS, lists, teaching_host

# A row per iteration: the hypotheses of each sentence, by id.
DECODED: Sequence[Mapping[str, Sequence[str]]] = (
    {"0": ["a b", "a c"], "1": ["d"]},
    {"0": ["a c", "a e"], "1": ["d", "f"]},
    {"0": ["a e", "a c", "a g"]},
)


@pytest.fixture(scope="module")
def host() -> Host:
    return teaching_host()


def pooled(host: Host, folder: Path, rounds: int) -> list[dict[str, Any]]:
    """What the pool holds after each iteration; lists are on disk, as in a resumed run."""
    metric = host.metric(BLEU)
    sentences = [Sentence("0", "x"), Sentence("1", "y")]
    pool = ListPool(Work(host, sentences, [texts_of(["a b", "d f"])], metric, 10, None), rounds)
    states = []
    for number, decoded in enumerate(DECODED, 1):
        place = folder / str(number)
        place.mkdir(parents=True)
        rows = [
            Candidates(
                key, list(texts), [("f",)] * len(texts), [[float(len(text))] for text in texts], [0.0] * len(texts)
            )
            for key, texts in decoded.items()
        ]
        write_all(find_format("jsonl-nbest"), rows, place / LISTS)
        best, new = pool.add(place, None)  # type: ignore[arg-type]
        assert best == {key: texts[0] for key, texts in decoded.items()}
        problem = pool.material().problem
        assert isinstance(problem, ListProblem)
        for nbest, stats in zip(problem.lists, problem.stats, strict=True):
            reference = [["a b", "d f"][int(nbest.id)]] * len(nbest)
            assert stats.tolist() == metric.stats(nbest.texts, [reference]).tolist()
        kept = {nbest.id: nbest.texts for nbest in problem.lists}
        assert pool.count == sum(map(len, kept.values()))
        states.append({"new": new, "kept": kept})
    return states


@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_what_the_last_iterations_decoded_is_kept(host: Host, tmp_path: Path, rounds: int) -> None:
    for number, state in enumerate(pooled(host, tmp_path, rounds), 1):
        # By hand: each text once, in the order in which it was first found, if one of the last iterations has it.
        last = DECODED[max(0, number - rounds) if rounds else 0 : number]
        wanted = {}
        for key in ("0", "1"):
            first_found = dict.fromkeys(text for decoded in DECODED[:number] for text in decoded.get(key, ()))
            if texts := [text for text in first_found if any(text in decoded.get(key, ()) for decoded in last)]:
                wanted[key] = texts
        assert state == {"new": (3, 2, 1)[number - 1], "kept": wanted}


@pytest.mark.parametrize("folds", [2, 3, 5])
def test_the_sentences_of_a_fold_are_judged_as_among_all(host: Host, folds: int) -> None:
    metric, weights = host.metric(BLEU), {"good": 1.0, "noise": -0.5}
    known = lists()
    stats = [metric.stats(nbest.texts, [[REFS[k]] * len(nbest)]) for k, nbest in enumerate(known)]
    material = Material(ListProblem(known, stats, metric), metric.signature)
    whole = material.best_stats(weights).tolist()
    parts = [[k for k in range(len(known)) if fold_of(k, len(known), folds) == fold] for fold in range(folds)]
    assert [material.best_stats(weights, part[0], part[-1] + 1).tolist() for part in parts] == [
        [whole[k] for k in part] for part in parts
    ]
