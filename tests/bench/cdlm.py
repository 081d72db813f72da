"""Discriminative language models from confusion sets: how each part grows."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import best_child, interleaved

RULES = (10_000, 100_000, 1_000_000)
CAP = 50
CAPS = {"cdec": (0,), "moses": (20, 0)}


def cdlm_grammar(shared: Path) -> dict[str, Any]:
    """Confusion grammars: seconds, rules a second and memory, for grammars of three sizes and those of toolkits."""
    found: dict[str, Any] = {}
    smt = shutil.which("smt") or "smt"
    with tempfile.TemporaryDirectory() as folder:
        paths = {count: Path(folder) / f"{count}" for count in RULES}
        for count, path in paths.items():
            with open(path, "w", encoding="utf-8") as out:
                out.writelines(_rules(count))
        options = ["--cap", str(CAP), "--cache", folder, "-q", "-o", f"{folder}/out"]
        commands = {str(count): [smt, "cdlm", "grammar", "-i", str(path), *options] for count, path in paths.items()}
        # The first run reads the text, later ones map its columns. Children first: they show the parent's memory, too.
        whole = best_child(commands, rounds=3)
        for count, path in paths.items():
            seconds, memory = whole[str(count)]
            found[f"{count} rules, cap {CAP}"] = {**_inside([path], CAP), "cpu_s": seconds, "peak_rss_mb": memory}
    for name, paths in _gold(shared).items():
        for cap in CAPS[name]:
            found[f"{name}, cap {cap or 'none'}"] = _inside(paths, cap)
    return found


def cdlm_features() -> dict[str, Any]:
    """Rule bigrams: rules a second, of a large grammar and of the rules of one sentence's forest."""
    from smtplugins.plugins.cdlm.features.class_making import make_classes
    from smtplugins.plugins.cdlm.features.model import OverRules, make_model
    from smtplugins.plugins.cdlm.features.tsrb import Tsrb, feature_name

    found: dict[str, Any] = {}
    for frequent in (22, 250):
        classes = make_classes({f"w{i}": 20_000 - i for i in range(20_000)}, frequent=frequent)
        rng = random.Random(1)
        either = (None, *classes.names)
        weights = {feature_name(left, right): rng.gauss(0, 1) for left in either for right in either}
        tsrb, part = Tsrb.of(classes), OverRules(make_model(weights, classes))
        for count in (1_500_000, 12_000):
            rules = _made_rules(count)
            names = len(tsrb.score_rules(rules).names)
            best = interleaved(
                {"tsrb": lambda: tsrb.score_rules(rules), "cdlm": lambda: part.score_rules(rules)},  # noqa: B023
                rounds=3 if count > 100_000 else 25,
            )
            each = {f"{name}_M_rules_per_s": count / seconds / 1e6 for name, seconds in best.items()}
            found[f"{count} rules, {frequent} words"] = {"columns": names, **each}
    return found


def _made_rules(count: int) -> Any:
    """Target sides of one to five words and up to two gaps, words as frequent as Zipf says."""
    import numpy as np

    from smtplugins.core.grammar.rules import Rules
    from smtplugins.core.vocabulary import Vocabulary

    rng = np.random.default_rng(1)
    gaps, words = rng.integers(0, 3, count), rng.integers(1, 6, count)
    offsets = np.concatenate([[0], np.cumsum(gaps + words)]).astype(np.int64)
    symbols = (20_000 ** rng.random(int(offsets[-1]))).astype(np.int32) - 1
    # Gaps at random places of each side.
    rows = np.repeat(np.arange(count), gaps + words)
    order = np.lexsort((rng.random(len(rows)), rows))
    rank = np.arange(len(rows)) - offsets[rows]
    symbols[order[rank < gaps[rows]]] = -1
    return Rules(Vocabulary(f"w{i}" for i in range(20_000)), symbols, offsets, ordered=False)


def _gold(shared: Path) -> dict[str, list[Path]]:
    gold = shared / "gold"
    if not gold.exists():
        return {}
    moses = gold / "moses/model/rule-table.gz"
    return {"cdec": sorted((gold / "cdec/grammars").glob("*/*.gz")), "moses": [moses]}


def _inside(paths: list[Path], cap: int) -> dict[str, Any]:
    """CPU seconds of each step in one process, the grammars being read."""
    from smtplugins.host.files.opening import load_grammar
    from smtplugins.plugins.cdlm.grammar.choices import Choices
    from smtplugins.plugins.cdlm.grammar.confusion_grammar import Confusions

    grammars = [load_grammar(path) for path in paths]
    best: dict[str, Any] = {}
    for _ in range(3):
        start = time.process_time()
        with Confusions(Choices(cap=cap)) as confusions:
            for one in grammars:
                confusions.add(one)
            confusions.finish()
            ready = time.process_time()
            size = sum(map(len, confusions.lines()))
            done = time.process_time()
            report = confusions.report
        best["collect_s"] = min(best.get("collect_s", ready - start), ready - start)
        best["lines_s"] = min(best.get("lines_s", done - ready), done - ready)
    best |= {"rules": report.rules, "uncapped": report.uncapped, "pairs": report.pairs, "mb": size / 1e6}
    return {**best, "pairs_per_s": report.pairs / best["lines_s"]}


def _rules(count: int) -> Iterator[str]:
    """A grammar in which few source sides have many target sides, and most have few."""
    rng = random.Random(1)
    words = [f"w{i}" for i in range(20_000)]
    for _ in range(count):
        source = int(count ** rng.random() / 2)
        gaps = ("", "", "[X,1]", "[X,1] [X,2]")[source % 4].split()
        target = [*gaps, *(words[int(len(words) ** rng.random()) - 1] for _ in range(rng.randint(1, 4)))]
        rng.shuffle(target)
        shown = " ".join(target).replace("[X,", "[")
        yield f"[X] ||| s{source} {' '.join(gaps)} ||| {shown} ||| p={rng.random():.3f}\n"


def cdlm_training(shared: Path, sentences: int = 1000) -> dict[str, Any]:
    """Confusion sets of plain text, and minimum risk on them: speed, size, one evaluation and one pass of L-BFGS.

    The grammar is that of cdec's for 100 sentences, ten target sides of a source side; the language model and the
    classes are those of the first half of the training text, the sentences are of the second.
    """
    if not (shared / "gold/cdec/grammars").exists() or not (shared / "data/multi30k").exists():
        return {}
    import smtplugins as smt
    from smtplugins.plugins.cdlm.sets.confusing import ConfusionSetting, keep_sets, read_text

    host = smt.load_plugins()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _material(shared, folder, sentences)
        text = read_text(host, folder / "text")
        found: dict[str, Any] = {}
        for label, options in SETTINGS.items():
            setting = ConfusionSetting(
                folder / "grammar", folder / "lm.arpa", folder / "classes", unknown="copy", **options
            )
            begun = time.process_time()
            told = keep_sets(host, setting, text, folder / label, cache=name)
            seconds = time.process_time() - begun
            found[label] = {**told.record(), "wall_s": seconds, **_risk(host, folder / label, text)}
    return found


SETTINGS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "density 50": {"density": 50.0},
    "pop limit 30, beam 5": {"pop_limit": 30, "beam": 5.0},
}


def _material(shared: Path, folder: Path, sentences: int) -> None:
    """Grammar, language model, classes and text, made by the commands."""
    import gzip
    import subprocess

    with gzip.open(shared / "data/multi30k/train.en.gz", "rt", encoding="utf-8") as lines:
        whole = list(lines)
    half = len(whole) // 2
    (folder / "old").write_text("".join(whole[:half]), encoding="utf-8")
    (folder / "text").write_text("".join(whole[half : half + sentences]), encoding="utf-8")
    grammars = sorted((shared / "gold/cdec/grammars/val300").glob("*.gz"))[:100]
    smt = shutil.which("smt") or "smt"
    for command in (
        ["lm", "--order", "5", "-i", "old", "-o", "lm.arpa"],
        ["cdlm", "classes", "-i", "old", "-o", "classes"],
        ["cdlm", "grammar", "-i", *map(str, grammars), "--cap", "10", "--best=-EgivenFCoherent", "-o", "grammar"],
    ):
        subprocess.run([smt, *command], check=True, cwd=folder, stderr=subprocess.DEVNULL)


def _risk(host: Any, folder: Path, text: list[Any]) -> dict[str, Any]:
    """Reading sets, and what minimum risk makes of them."""
    import numpy as np
    from measure import interleaved

    from smtplugins.contracts.learners import ForestProblem
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.core.learn.minimising import Space, minimise
    from smtplugins.host.files.opening import open_known
    from smtplugins.plugins.tuning.forest_risk import forest_risk
    from smtplugins.plugins.tuning.gains import ForestSource

    begun = time.process_time()
    with open_known(folder, "hypergraph", None, host.formats()) as opened:
        records = map(Hypergraph.from_columns, opened.records())
        graphs = {int(graph.id): graph.with_scores(None) for graph in records}
    read = time.process_time()
    references = [[text[key].text for key in sorted(graphs)]]
    problem = ForestProblem([[graphs[key]] for key in sorted(graphs)], references, host.metric("bleu,tokenize=none"))
    source = ForestSource(problem, {"blm": 1.0, "OOV": -100.0}, 1.0, 100)
    refined = time.process_time()
    edges = sum(len(one.graph) for graphs in source.sentences for one in graphs)
    with forest_risk(problem, {"blm": 1.0, "OOV": -100.0}, 100) as forests:
        objective = forests.objective(1.0, 0.0)
    weights = np.zeros(len(source.names))
    weights[source.names.index("blm")] = 1.0
    fixed = source.names.index("OOV") if "OOV" in source.names else None
    objective(weights)  # refines the forests
    best = interleaved({"risk": lambda: objective(weights)}, rounds=5)["risk"]
    free = np.ones(len(weights), dtype=bool)
    if fixed is not None:
        weights[fixed], free[fixed] = -100.0, False
    space = Space(free, np.full(len(weights), -np.inf), np.full(len(weights), np.inf))
    start = time.process_time()
    done = minimise(objective, weights, space, l2=1e-4, iterations=100)
    return {
        "features": len(source.names),
        "read_s": read - begun,
        "refined_s": refined - read,
        "refined_edges": edges,
        "risk_s": best,
        "risk_ns_per_edge": 1e9 * best / edges,
        "lbfgs_s": time.process_time() - start,
        "lbfgs_iterations": done.iterations,
        "risk_before_after": [objective(weights)[0], objective(done.weights)[0]],
    }
