"""Tuning loops: what each iteration decodes at, and what the result makes of other sentences, beside Moses' weights.

Five iterations with lists of 100, all learners and five seeds (learners without random numbers have one). A row is a
learner, ``mert, folds 0`` is one that learns from all sentences at once, and ``mert, forests`` is the loop with
``--whole``. ``decoded`` are the scores of the sentences learnt from, ``test`` those of the result on the test set, with
the start weights first. The starts are weights that nobody would tune from on purpose.

Japanese needs the extra ``align``: its system is built first from ``../shared/data/open``, which takes two minutes.
"""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ITERATIONS = 5
SEEDS = (1, 2, 3, 4, 5)
LEARNERS = {"mert": SEEDS, "mira": SEEDS, "pro": SEEDS, "minrisk": (1,), "perceptron": SEEDS, "mira,rule=kbmira": SEEDS}
METRIC = "bleu,tokenize=none"
THIRD = 3
ESCAPE = "moses"


@dataclass(frozen=True)
class Case:
    """A system, with paths from its folder; ``others`` are weights to compare with, ``escape`` that of its words."""

    folder: str
    config: str
    source: str
    references: str
    weights: str | None = None
    test: tuple[str, str] | None = None
    others: Mapping[str, str] | None = None
    escape: str | None = None


VAL, TEST = ("in/val150.de", "in/val150.en"), ("in/test300.de", "in/test300.en")
CASES = {
    "Moses, phrases": Case(
        "moses", "model/moses.pb.ini", *VAL, test=TEST, others={"Moses' mert": "model/moses.pb.tuned.ini"}
    ),
    "Moses, phrases, tuned": Case("moses", "model/moses.pb.tuned.ini", *VAL, test=TEST),
    "Moses, rules": Case("moses", "model/moses.hiero.ini", *VAL, test=TEST),
    "cdec, rules": Case(
        "cdec",
        "cdec.ini",
        "val300.in",
        "val300.ref",
        "weights.init",
        test=("test300.in", "test300.ref"),
        others={"cdec's mira": "weights.tuned"},
    ),
    "Japanese, phrases": Case("", "moses.ini", "dev.ja", "dev.en", test=("test.ja", "test.en"), escape=ESCAPE),
}
PHRASES = ("Moses, phrases", "Japanese, phrases")
STARTS: dict[str, Callable[[dict[str, float]], dict[str, float]]] = {
    "its own": lambda weights: weights,
    "wrong signs": lambda weights: {name: -value for name, value in weights.items()},
    "all 1": lambda weights: dict.fromkeys(weights, 1.0),
    "all 0.1": lambda weights: dict.fromkeys(weights, 0.1),
    "all 0": lambda weights: dict.fromkeys(weights, 0.0),
    "language model x 1000": lambda weights: {**weights, "LM0": 1000 * weights["LM0"]},
    "distortion x 1000": lambda weights: {**weights, "Distortion0": 1000 * weights["Distortion0"]},
    "words x 1000": lambda weights: {**weights, "WordPenalty0": 1000 * weights["WordPenalty0"]},
}


def loops(shared: Path, names: tuple[str, ...] = tuple(CASES)) -> dict[str, Any]:
    """The decoded scores of each run, how far the lowest of a learner is below the start, and the test scores."""
    if not (shared / "gold").exists():
        return {}
    import smtplugins as smt

    host = smt.load_plugins()
    here = Path.cwd()
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as made:
        try:
            for name in names:
                case = CASES[name]
                folder = shared / "gold" / case.folder if case.folder else _japanese(host, shared, Path(made))
                os.chdir(folder)
                results[name] = dict(_case(host, case))
        finally:
            os.chdir(here)
    return results


def loop_starts(shared: Path) -> dict[str, Any]:
    """What ten iterations of mert reach with Moses' phrases from bad weights, or the error they end in."""
    if not (shared / "gold").exists():
        return {}
    import smtplugins as smt

    host = smt.load_plugins()
    here = Path.cwd()
    case = CASES["Moses, phrases"]
    try:
        os.chdir(shared / "gold" / case.folder)
        own = dict(host.read_weights(case.config))
        return {
            name: _run(host, case, "mert", 1, start=make(own), iterations=2 * ITERATIONS)
            for name, make in STARTS.items()
        }
    finally:
        os.chdir(here)


def _case(host: Any, case: Case) -> Iterator[tuple[str, Any]]:
    start = dict(host.read_weights(case.weights or case.config))
    if case.test:
        named = {"start": start, **{name: host.read_weights(path) for name, path in (case.others or {}).items()}}
        yield "test", {name: _tested(host, case, weights) for name, weights in named.items()}
    for learner, seeds in LEARNERS.items():
        yield learner, _summary([_run(host, case, learner, seed, start=start) for seed in seeds])
    yield "mert, folds 0", _summary([_run(host, case, "mert", seed, start=start, folds=0) for seed in SEEDS])
    if case.weights is not None:
        yield "mert, forests", _summary([_run(host, case, "mert", 1, start=start, forests=True)])


def _config(host: Any, case: Case) -> Any:
    import json

    from smtplugins.host.config.run_yaml import load_config

    given = {"source": os.path.abspath(case.source), "references": [os.path.abspath(case.references)]}
    overrides = [f"{key}={json.dumps(value)}" for key, value in given.items()]
    overrides += [] if case.escape is None else [f"escape={case.escape}"]
    return load_config(case.config, [*overrides, "metric={name: bleu, tokenize: none}"])


def _run(
    host: Any, case: Case, learner: str, seed: int, *, start: Any, iterations: int = ITERATIONS, **options: Any
) -> dict[str, Any]:
    """What each iteration decoded at, and the result's test score; or the error."""
    import json

    from smtplugins.contracts.errors import SmtError
    from smtplugins.host.learn.loop import LoopPlan, tune_decoder
    from smtplugins.host.learn.tuning import plan_of

    plan = LoopPlan(plan_of(host, learner, seed=seed), iterations=iterations, nbest=100, **options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        try:
            weights = tune_decoder(host, _config(host, case), plan, folder, start=start)
        except SmtError as error:
            return {"error": str(error).removeprefix(f"{folder}: ")}
        record = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    decoded = [round(row["decoded"], 2) for row in record["iterations"]]
    return {"decoded": decoded, "test": _tested(host, case, weights) if case.test else None}


def _tested(host: Any, case: Case, weights: Any) -> float:
    """The score of the test set."""
    assert case.test is not None
    source, reference = (Path(path).read_text(encoding="utf-8").splitlines() for path in case.test)
    translator = host.translator(_config(host, case), weights=dict(weights))
    texts = [decoded.best or "" for decoded in translator.decode(source)]
    metric = host.metric(METRIC)
    return round(float(metric.score(metric.stats(texts, [reference]).sum(axis=0))), 2)


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """All runs, how far the lowest iteration is below the start, the best scores, and the mean of the test scores."""
    whole = [run for run in runs if "error" not in run]
    tests = [run["test"] for run in whole if run["test"] is not None]
    return {
        "runs": runs,
        "lowest_below_start": round(max((run["decoded"][0] - min(run["decoded"]) for run in whole), default=0.0), 2),
        "best": [max(run["decoded"]) for run in whole],
        "test": round(sum(tests) / len(tests), 2) if tests else None,
    }


def _japanese(host: Any, shared: Path, folder: Path) -> Path:
    """Build a phrase system for Japanese in the folder; each third sentence of the development set, to tune on.

    Its first 200 are from one manual, and what fits them fits the test set less than the start weights.
    """
    data = shared / "data/open/ja-en"
    for name in ("train.ja", "train.en"):
        with gzip.open(data / f"{name}.gz") as text:
            (folder / name).write_bytes(text.read())
    for name, step in (("dev", THIRD), ("test", 1)):
        for language in ("ja", "en"):
            lines = (data / f"{name}.{language}").read_text(encoding="utf-8").splitlines(keepends=True)
            (folder / f"{name}.{language}").write_text("".join(lines[::step]), encoding="utf-8")
    texts = [folder / "train.ja", folder / "train.en"]
    links = folder / "train.align"
    with links.open("w", encoding="utf-8") as out:
        for alignment in host.align(*texts, jobs=2):
            out.write(" ".join(f"{i}-{j}" for i, j in alignment.points) + "\n")
    # Tables have brackets and bars for themselves.
    escaped = {"escape": ESCAPE}
    host.extract_phrases(*texts, links, folder / "tables", reordering="wbe-msd-bidirectional-fe", **escaped)
    host.estimate_lm(folder / "train.en", 3, folder / "lm.arpa", **escaped)
    (folder / "moses.ini").write_text(MOSES_INI, encoding="utf-8")
    return folder


MOSES_INI = """\
[input-factors]
0
[mapping]
0 T 0
[distortion-limit]
6
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=4 path=tables/phrase-table.gz input-factor=0 \
output-factor=0 table-limit=20
LexicalReordering name=LexicalReordering0 num-features=6 type=wbe-msd-bidirectional-fe-allff input-factor=0 \
output-factor=0 path=tables/reordering-table.wbe-msd-bidirectional-fe.gz
Distortion
KENLM name=LM0 factor=0 path=lm.arpa order=3
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -1
PhrasePenalty0= 0.2
TranslationModel0= 0.2 0.2 0.2 0.2
LexicalReordering0= 0.3 0.3 0.3 0.3 0.3 0.3
Distortion0= 0.3
LM0= 0.5
"""
