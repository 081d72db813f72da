"""Benchmarks, by hand: ``python tests/bench [NAME ...] [-o FILE]``; ``-h`` shows the names.

Prints JSON; nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from amasis import amasis
from binary_tables import binary_tables
from bitree import bitree_boosting
from cdlm import cdlm_features, cdlm_grammar, cdlm_training
from cluster_model import cluster_model
from consensus import mbr
from decoding import decoding
from estimation import estimation, estimation_on_disk
from external import external
from extract import extract
from extract_rules import extract_rules
from grammar import grammar
from growth import growth
from heldout import heldout
from inference import inference
from jsonl import jsonl
from judging import judging
from large_tables import large_tables
from learners import learners
from lm import lm, lm_big, lm_kinds
from loading import loading
from localized import localized
from loops import PHRASES, loop_starts, loops
from measure import best_child, interleaved
from mert import mert
from metrics import metrics
from nbest import nbest
from neural import neural
from parsing import parsing
from phrase_loading import phrase_loading
from pools import pools
from prepare import prepare
from prose import prose
from python_feature import python_feature
from report import report
from runner_kills import runner_kills
from runners import runners
from search import search
from searn import searn_tagging
from searn_labels import searn_labels
from tables import tables
from train_kills import train_kills
from tuning import tuning
from umt import umt
from walk import walk

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/rescore-nbest"
SHARED = ROOT.parent / "shared"


def startup() -> dict[str, Any]:
    """What ``smt --help`` costs above a bare interpreter, and what it imports."""
    smt = shutil.which("smt") or "smt"
    found = best_child({"bare": [sys.executable, "-c", "pass"], "help": [smt, "--help"]}, rounds=25)
    bare, page = found["bare"][0], found["help"][0]
    return {"bare_ms": 1000 * bare, "help_ms": 1000 * page, "above_ms": 1000 * (page - bare)}


def long_list(lines: int) -> Iterator[str]:
    """Moses lists of 100 hypotheses, the example's again and again under new ids."""
    rows = (EXAMPLE / "moses.nbest").read_text(encoding="utf-8").splitlines(keepends=True)
    lists = [rows[start : start + 20] * 5 for start in range(0, len(rows), 20)]
    for key in range(lines // 100):
        for row in lists[key % len(lists)]:
            yield f"{key} |||" + row.partition(" |||")[2]


def lists() -> dict[str, Any]:
    """A million lines through the command line; and how parsing compares with only reading the lines."""
    smt = shutil.which("smt") or "smt"
    from smtformats import all_formats, open_lines

    moses = next(one for one in all_formats() if one.name == "moses-nbest")
    assert moses.parse is not None
    parse = moses.parse
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        big, small = folder / "big.nbest", folder / "small.nbest"
        # Streamed, as a child's peak memory is never below that of the process it was forked from.
        for path, length in ((big, 1_000_000), (small, 100_000)):
            with path.open("w", encoding="utf-8") as out:
                out.writelines(long_list(length))

        def read() -> int:
            with open_lines(small) as lines:
                return sum(1 for _ in lines)

        def parsed() -> int:
            with open_lines(small) as lines:
                return sum(len(one) for one in parse(lines))

        score = [smt, "score", "--feature", "length", "-o", "/dev/null"]
        commands = {
            f"{lines} lines, -j {jobs}": [*score, "-i", str(path), "-j", str(jobs)]
            for path, lines in ((small, 100_000), (big, 1_000_000))
            for jobs in (1, 2)
        }
        scored = best_child(commands, rounds=3)
        inside = interleaved({"read": read, "parse": parsed}, rounds=7)
    return {
        "smt score --feature length": {
            key: {"cpu_s": cpu, "lines_per_cpu_s": int(key.split()[0]) / cpu, "peak_rss_mb": memory}
            for key, (cpu, memory) in scored.items()
        },
        "parse_us_per_line": inside["parse"] * 10,
        "parse_over_only_reading": inside["parse"] / inside["read"],
    }


def main() -> None:
    """Run the benchmarks named, or all."""
    benchmarks: dict[str, Callable[[], dict[str, Any]]] = {"startup": startup, "lists": lists}
    benchmarks |= {"lm": lambda: lm(SHARED, EXAMPLE), "lm_big": lm_big, "lm_kinds": lambda: lm_kinds(SHARED)}
    benchmarks |= {"grammar": lambda: grammar(SHARED), "nbest": lambda: nbest(SHARED), "search": lambda: search(SHARED)}
    benchmarks |= {"parsing": lambda: parsing(SHARED), "loading": lambda: loading(SHARED)}
    benchmarks |= {"phrase_loading": lambda: phrase_loading(SHARED), "binary-tables": lambda: binary_tables(SHARED)}
    benchmarks |= {"large-tables": lambda: large_tables(SHARED)}
    benchmarks |= {
        "decoding": lambda: decoding(SHARED),
        "phrase": lambda: decoding(SHARED, only="phrase"),
        "growth": lambda: growth(SHARED),
    }
    benchmarks |= {"python_feature": lambda: python_feature(SHARED), "external": external}
    benchmarks |= {"prepare": lambda: prepare(SHARED)}
    benchmarks |= {"estimation": lambda: estimation(SHARED), "extract": lambda: extract(SHARED)}
    benchmarks |= {"estimation-on-disk": lambda: estimation_on_disk(SHARED)}
    benchmarks |= {"extract-rules": lambda: extract_rules(SHARED)}
    benchmarks |= {"judging": judging, "jsonl": jsonl, "neural": neural}
    benchmarks |= {"report": report, "runners": lambda: runners(SHARED)}
    benchmarks |= {"runner-kills": lambda: runner_kills(SHARED)}
    benchmarks |= {"inference": lambda: inference(SHARED)}
    benchmarks |= {"mert": lambda: mert(SHARED)}
    benchmarks |= {"metrics": lambda: metrics(SHARED), "mbr": lambda: mbr(SHARED)}
    benchmarks |= {"learners": lambda: learners(SHARED)}
    benchmarks |= {"tuning": tuning, "loops": lambda: loops(SHARED), "heldout": lambda: heldout(SHARED)}
    benchmarks |= {"pools": lambda: pools(SHARED)}
    benchmarks |= {"loops-phrases": lambda: loops(SHARED, PHRASES), "loop-starts": lambda: loop_starts(SHARED)}
    benchmarks |= {"walk": lambda: walk(SHARED)}
    benchmarks |= {"umt": lambda: umt(SHARED)}
    benchmarks |= {"localized": lambda: localized(SHARED)}
    benchmarks |= {"cdlm-grammar": lambda: cdlm_grammar(SHARED)}
    benchmarks |= {"cdlm-features": cdlm_features}
    benchmarks |= {"cdlm-training": lambda: cdlm_training(SHARED)}
    benchmarks |= {"amasis": lambda: amasis(SHARED)}
    benchmarks |= {"bitree-boosting": bitree_boosting}
    benchmarks |= {"searn-labels": lambda: searn_labels(SHARED)}
    benchmarks |= {"searn-tagging": searn_tagging}
    benchmarks |= {"tables": lambda: tables(SHARED, ROOT / "examples/plugin-template")}
    benchmarks |= {"cluster-model": cluster_model}
    speed = list(benchmarks)
    benchmarks |= {"prose": lambda: prose(args.seed)}
    benchmarks |= {"train-kills": lambda: train_kills(args.model, args.kills, args.seed)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", choices=[*benchmarks, []], help="which (default: all but prose and train-kills)"
    )
    parser.add_argument("-o", "--output", type=Path, help="write the JSON here, too")
    parser.add_argument("--seed", type=int, default=1, help="of `prose` and `train-kills` (default: 1)")
    parser.add_argument("--kills", type=int, default=100, help="how often `train-kills` kills (default: 100)")
    parser.add_argument("--model", default="phrase", help="what `train-kills` trains (default: phrase)")
    args = parser.parse_args()
    results = {name: benchmarks[name]() for name in args.names or speed}
    text = json.dumps(results, indent=1, ensure_ascii=False)
    print(text)
    if args.output:
        args.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
