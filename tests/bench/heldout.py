"""What learners reach on sentences that they did not learn from: three beds, six splits into halves, three seeds.

Each learner has its defaults (and variants that are named with their options) and starts at the same weights. A row is
the mean held-out BLEU over splits and seeds, its standard deviation over splits, the mean difference to the start
weights with its standard error over splits (halves of the same sentences: differences below two of these are noise),
and the length of the output divided by that of the references. ``beyond_noise`` has the differences of two rows that
are above two standard errors. Rows are also printed to standard error when they are ready: the forests take 20 minutes.

``Moses' kbmira`` is the oracle of ``tests/plugins/tuning``, which prints what Moses' own program prints: the rule of
``mira,rule=kbmira`` on the 16 hypotheses or less of each list that it keeps.

The beds: Moses' last development lists (150 sentences, 14 features); forests of cdec's rules as ``hiero`` makes them
(300 sentences); and short lists as neural systems write them: 16 hypotheses with a total, a length and the score of a
language model (200 sentences).
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SPLITS = range(1, 7)
SEEDS = (1, 2, 3)
METRIC = "bleu,tokenize=none"
SHORT = 16
KBMIRA = "Moses' kbmira"
PLUS = ("pro,plus=1", "pro,plus=1,smooth_brevity=true")
LISTS = (
    *("mert", "mira", "mira,rule=kbmira", KBMIRA, "perceptron", "pro", *PLUS),
    *("minrisk", "minrisk,objective=sentence"),
)
PUBLISHED = ",gain_precision=0.85,gain_decay=0.7"
FORESTS = ("mert", "mira", "mira" + PUBLISHED, "minrisk", "minrisk" + PUBLISHED, "perceptron" + PUBLISHED)
SEEDLESS = ("minrisk",)


@dataclass(frozen=True)
class Bed:
    """Training data that can be divided, start weights, and the learners that take it."""

    material: Any
    start: dict[str, float]
    learners: Sequence[str]


def heldout(shared: Path) -> dict[str, Any]:
    """The table of each bed."""
    if not (shared / "gold").exists():
        return {}
    import smtplugins as smt

    host = smt.load_plugins()
    here = Path.cwd()
    beds: dict[str, Callable[[Any, Path], Bed]] = {
        "Moses' lists": moses_lists, "short lists": short_lists, "cdec's rules, forests": forests
    }  # fmt: skip
    found: dict[str, Any] = {}
    try:
        for name, make in beds.items():
            bed = make(host, shared / "gold")
            found[name] = dict(_rows(host, bed))
    finally:
        os.chdir(here)
    return found


def moses_lists(host: Any, gold: Path) -> Bed:
    """The lists of the first and the last round of Moses' tuning, from the weights of the first."""
    folder = gold / "moses"
    lists = [str(folder / f"tune-pb/run{number}.best100.out.gz") for number in (1, 6)]
    return Bed(_joined(host, lists, folder / "in/val150.en"), _weights(host, folder / "model/moses.pb.ini"), LISTS)


def short_lists(host: Any, gold: Path) -> Bed:
    """Sixteen of Moses' 100 hypotheses of each sentence, of all ranks, with three scores of the whole hypothesis."""
    import numpy as np

    import smtplugins as smt
    from smtformats import Candidates

    folder, random = gold / "moses", np.random.default_rng(1)
    tuned = _weights(host, folder / "model/moses.pb.tuned.ini")
    lists: list[Candidates] = []
    references: list[str] = []
    for name, texts in (("pb/nbest100.labeled.distinct.txt.gz", "test50"), ("tune-pb/run6.best100.out.gz", "val150")):
        for nbest in smt.rescore(smt.read(str(folder / name)), tuned):
            ranks = sorted(random.permutation(len(nbest))[:SHORT].tolist())
            lms = [features.get("LM0", features.get("LM0[0]", 0.0)) for _, features, _ in nbest.rows()]
            rows = [[nbest.totals[i], float(len(nbest.texts[i].split())), lms[i]] for i in ranks]
            layouts = [("logprob", "words", "lm")] * len(ranks)
            lists.append(Candidates(str(len(lists)), [nbest.texts[i] for i in ranks], layouts, rows))
        references += (folder / f"in/{texts}.en").read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "references"
        path.write_text("".join(line + "\n" for line in references), encoding="utf-8")
        return Bed(_joined(host, lists, path), {"logprob": 1.0}, LISTS)


def forests(host: Any, gold: Path) -> Bed:
    """Forests of cdec's rules from weights set by hand."""
    folder = gold / "cdec"
    os.chdir(folder)
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "forests"
        host.decode("cdec.ini", os.devnull, "val300.in", weights="weights.init", forests=out)
        from smtplugins.host.learn.tuning_inputs import Inputs, material_of

        _, material = material_of(host, Inputs(None, ["val300.ref"], host.metric(METRIC), forests=out))
    return Bed(material, _weights(host, folder / "weights.init"), FORESTS)


def _joined(host: Any, lists: Any, references: Path) -> Any:
    from smtplugins.host.learn.tuning_inputs import Inputs, material_of

    return material_of(host, Inputs(lists, [str(references)], host.metric(METRIC)))[1]


def _weights(host: Any, path: Path) -> dict[str, float]:
    return dict(host.read_weights(str(path)))


def _rows(host: Any, bed: Bed) -> Iterator[tuple[str, Any]]:
    import numpy as np

    halves = [_halves(len(_items(bed.material)), split) for split in SPLITS]
    start = np.array([_judged(_part(bed.material, test), bed.start) for _, test in halves])
    scores = {"start": start[:, 0]}
    bleu, length = start.mean(axis=0).tolist()
    yield "start", _told("start", {"bleu": round(bleu, 2), "length": round(length, 3)})
    for learner in bed.learners:
        seeds = SEEDS[:1] if learner.partition(",")[0] in SEEDLESS else SEEDS
        after = np.array([[_held_out(host, bed, learner, seed, *half) for seed in seeds] for half in halves])
        by_split = after.mean(axis=1)
        scores[learner] = by_split[:, 0]
        gain, error = _difference(scores[learner], scores["start"])
        row = {
            "bleu": round(float(by_split[:, 0].mean()), 2),
            "deviation": round(float(by_split[:, 0].std(ddof=1)), 2),
            "gain": gain,
            "error": error,
            "seeds": round(float(after[:, :, 0].std(axis=1, ddof=1).mean()), 2) if len(seeds) > 1 else None,
            "length": round(float(by_split[:, 1].mean()), 3),
        }
        yield learner, _told(learner, row)
    yield "beyond_noise", _told("beyond_noise", list(_clear(scores)))


def _told(name: str, row: Any) -> Any:
    print(name, row, file=sys.stderr, flush=True)
    return row


def _difference(scores: Any, others: Any) -> tuple[float, float]:
    """The mean difference over splits, and its standard error."""
    apart = scores - others
    return round(float(apart.mean()), 2), round(float(apart.std(ddof=1) / len(apart) ** 0.5), 2)


def _clear(scores: dict[str, Any]) -> Iterator[str]:
    """The pairs of rows, the better one first, whose difference is above two standard errors."""
    order = sorted(scores, key=lambda name: -scores[name].mean())
    for better, worse in itertools.combinations(order, 2):
        gain, error = _difference(scores[better], scores[worse])
        if gain > 2 * error:
            yield f"{better} above {worse}: {gain:+} ± {error}"


def _halves(count: int, split: int) -> tuple[list[int], list[int]]:
    import numpy as np

    order = np.random.default_rng(split).permutation(count).tolist()
    return sorted(order[: count // 2]), sorted(order[count // 2 :])


def _held_out(host: Any, bed: Bed, learner: str, seed: int, train: Sequence[int], test: Sequence[int]) -> Any:
    from smtplugins.host.learn.tuning import plan_of, tune

    if learner == KBMIRA:
        return _judged(_part(bed.material, test), _kbmira(_part(bed.material, train).matrix, bed.start, seed))
    plan = plan_of(host, learner, seed=seed)
    return _judged(_part(bed.material, test), tune(host, _part(bed.material, train), plan, bed.start))


def _kbmira(matrix: Any, start: dict[str, float], seed: int) -> dict[str, float]:
    sys.path.append(str(Path(__file__).resolve().parents[1] / "plugins/tuning"))
    from kbmira import Shuffled, best_of, counts_of, first_of_buckets, kbmira

    features, counts = [], []
    for part in itertools.starmap(slice, itertools.pairwise(matrix.lists.tolist())):
        rows = first_of_buckets(matrix.dense[part])
        features.append(matrix.dense[part][rows])
        counts.append(counts_of(matrix.stats[part])[rows])
    learnt = best_of(kbmira(features, counts, matrix.column(start), 60, Shuffled(seed))).weights
    return dict(zip(matrix.names, learnt.tolist(), strict=True))


def _items(material: Any) -> Any:
    return getattr(material.problem, "lists", None) or material.problem.graphs


def _part(material: Any, kept: Sequence[int]) -> Any:
    """Some of the lists, or of the forests with their references."""
    from dataclasses import replace

    from smtplugins.host.learn.training_data import Material

    problem = material.problem
    if hasattr(problem, "lists"):
        return material.part(kept)
    references = [[stream[k] for k in kept] for stream in problem.references]
    return Material(replace(problem, graphs=[problem.graphs[k] for k in kept], references=references), lambda: "")


def _judged(material: Any, weights: Any) -> tuple[float, float]:
    """BLEU of the best hypotheses, and their length by the length of the references."""
    from smtplugins.host.learn.training_data import _best

    if hasattr(material.problem, "lists"):
        matrix = material.matrix
        stats = matrix.stats[matrix.best(matrix.column(weights))].sum(axis=0)
    else:
        texts = [_best(graphs, weights) for graphs in material.problem.graphs]
        stats = material.metric.stats(texts, material.problem.references).sum(axis=0)
    return float(material.metric.score(stats)), float(stats[0] / stats[1])
