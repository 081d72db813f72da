"""Grammars made ready to parse with: a large table against Moses2's loading, and a grammar for each sentence.

The whole way is measured in a process of its own, from its start: imports, file or cache, trie, language model scores
of target sides, table limit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# What Moses2 loads with the table: its weights (of the language model: of natural logarithms), and its table limit.
TABLE = """
import json, re, sys, time
laps = {}

def lap(name):
    now = time.process_time()
    laps[name] = now - sum(laps.values())

lap("interpreter")
import numpy as np
from smtplugins.core.grammar.tables import Grammar, Tables, fragment_scores
from smtplugins.core.lm.ngram_model import read_lm
from smtplugins.host.files.opening import load_grammar
lap("imports")
table, model, folder = sys.argv[1:]
columns = load_grammar(table, cache=folder)
lap("file or cache")
lm = read_lm(model)
lap("language model")
grammar = Grammar(columns, Tables(), span_limit=20)
lap("trie")
fragments = fragment_scores(lm, columns)
lap("fragments")
weights = dict(zip(columns.names[:], (0.093789, 0.036011, 0.103278, 0.082635)))
scores = grammar.scores(weights)
estimates = scores + np.float32(0.169012 * 2.302585) * fragments
limited = grammar.limited(estimates, 20)
lap("scores and limit")
status = open("/proc/self/status").read()
kept = len(limited.parts[0].trie.rules)
print(json.dumps({
    "rules": len(columns), "kept": kept, "columns_mb": columns.nbytes / 1e6, "cpu_s": sum(laps.values()),
    "peak_rss_mb": int(re.search(r"VmHWM:\\s*(\\d+)", status)[1]) / 1024,
    "ms": {name: 1000 * seconds for name, seconds in laps.items()},
}))
"""


def loading(shared: Path) -> dict[str, Any]:
    """CPU time and memory, from the file, from the cache; and for each sentence of cdec's 300."""
    return {"table": _table(shared), "sentences": _sentences(shared)}


def _table(shared: Path) -> dict[str, Any]:
    paths = [str(shared / "gold/moses/model/rule-table.gz"), str(shared / "gold/cdec/lm/en.4.klm")]
    best: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        # Modules are compiled once, as they are where the package is installed.
        settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        settings["PYTHONPYCACHEPREFIX"] = f"{folder}/compiled"
        script = Path(folder) / "table.py"
        script.write_text(TABLE, encoding="utf-8")
        for _ in range(6):
            for name, cache in (("file", "off"), ("cache", f"{folder}/cache")):
                command = [sys.executable, str(script), *paths, cache]
                found = json.loads(subprocess.check_output(command, env=settings))
                if name not in best or found["cpu_s"] < best[name]["cpu_s"]:
                    best[name] = found
    peers = json.loads((shared / "bench/peers.json").read_text(encoding="utf-8"))
    here = json.loads(subprocess.check_output([sys.executable, str(shared / "bench/calibrate.py")]))
    theirs = min(row["load_s"] for row in peers["moses_chart"]["rows"] if row["program"] == "moses2")
    scaled = theirs * peers["machine"]["calibration"]["gunzip_mb_s"] / here["gunzip_mb_s"]
    return {
        **best,
        "gunzip_mb_s": here["gunzip_mb_s"],
        "moses2_load_s_here": scaled,
        "over_moses2": {name: found["cpu_s"] / scaled for name, found in best.items()},
    }


def _sentences(shared: Path) -> dict[str, Any]:
    from smtformats.grammar import cdec
    from smtformats.pieces import pieces
    from smtplugins.core.grammar.tables import Grammar, Tables

    folder = shared / "gold/cdec"
    paths = sorted(map(str, (folder / "grammars/test300").glob("*.gz")))
    lines = (folder / "weights.tuned").read_text(encoding="utf-8").splitlines()
    weights = {name: float(value) for name, value in map(str.split, lines)}
    best: dict[str, float] = {}
    rules = 0
    for _ in range(7):
        sums = dict.fromkeys(("inflate alone", "load", "Tables", "Grammar", "scores", "free"), 0.0)
        rules = 0
        for path in paths:
            begun = time.process_time()
            with open(path, "rb", buffering=0) as stream:
                for _ in pieces(stream):
                    pass
            marks = [begun, time.process_time()]
            with open(path, "rb", buffering=0) as stream:
                columns = cdec.FORMAT.load(stream, path) if cdec.FORMAT.load else None
            marks.append(time.process_time())
            assert columns is not None
            rules += len(columns)
            tables = Tables()
            marks.append(time.process_time())
            grammar = Grammar(columns, tables, span_limit=15)
            marks.append(time.process_time())
            scores = grammar.scores(weights)
            marks.append(time.process_time())
            del columns, tables, grammar, scores
            marks.append(time.process_time())
            for name, first, last in zip(sums, marks, marks[1:], strict=False):
                sums[name] += last - first
        best = {name: min(seconds, best.get(name, seconds)) for name, seconds in sums.items()}
    return {
        "sentences": len(paths),
        "rules": rules,
        "ms": {name: 1000 * seconds for name, seconds in best.items()},
        "us_per_sentence": {name: 1e6 * seconds / len(paths) for name, seconds in best.items()},
    }
