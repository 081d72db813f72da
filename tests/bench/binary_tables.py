"""Moses' binary tables beside the text they were made of: CPU seconds and memory to be ready, and to be used.

The tables are those of the reference data and one of 1.06 million phrase pairs, that of ``phrase_loading`` with more
copies; its ProbingPT folder and compact tables are written by the writers of the tests, as CreateProbingPT and
processPhraseTableMin write them (encoding None, scores in one set of codes). Each is read in a process of its own, the
best of three by CPU, whose peak is above that of the imports. ``again`` is a start with the cache that the first one
left, which text and tables of rules have. Phrases and rules are used by parsing sentences into forests, reordering
tables by looking up the phrase pairs of a text table.
"""

from __future__ import annotations

import gzip
import json
import math
import runpy
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phrase_loading import FILES, _large

WRITERS = Path(__file__).resolve().parents[1] / "formats"
COPIES = 20
PAIRS = 20_000
FRESH = """
import gzip, json, pathlib, resource, sys, time
path, kind, cache, used = sys.argv[1:]
from smtformats.grammar.shared.probing_lookup import open_folder
from smtplugins.contracts.data import Sentence
from smtplugins.core.grammar.reordering import load_reordering
from smtplugins.host.config.resources import Resources
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.decode.parsing import SentenceParser
from smtplugins.host.decode.parsing_options import ParsingOptions
from smtplugins.host.decode.phrase_options import AS_WRITTEN
from smtplugins.host.files.opening import find_format
import numpy, smtformats._scan, smtformats.grammar.shared.scanning, smtformats.grammar.shared.probing_table
import smtformats.caching.grammars, smtformats.caching.reordering, smtplugins.core._core, isal.isal_zlib
find_format("moses-phrases")
lines = pathlib.Path(used).read_text(encoding="utf-8").splitlines()
peak = lambda: int(pathlib.Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
before, begun = peak(), time.process_time()
if kind == "reordering":
    table = load_reordering(path, model="wbe-msd-bidirectional-fe-allff", cache=cache)
    ready, opened = time.process_time() - begun, peak()
    sides = zip(*(line.split(" ||| ")[:2] for line in lines))
    table.scores(*map(list, sides))
else:
    resources = Resources((RuleTable(pathlib.Path(path), "TM", format=kind),), cache=cache)
    rules = kind == "moses-rules" or "scfg" in path
    options = ParsingOptions() if rules else ParsingOptions(glue=False)
    parser = SentenceParser(resources, options, None if rules else AS_WRITTEN)
    weighted = parser.weighted({})
    ready, opened = time.process_time() - begun, peak()
    edges = 0
    for number, line in enumerate(lines):
        edges += weighted.forest(Sentence(str(number), tuple(line.split()))).stats["edges"]
used = time.process_time() - begun - ready
shown = {"ready_ms": 1000 * ready, "ready_mb": (opened - before) / 1024, "peak_mb": (peak() - before) / 1024}
print(json.dumps(shown | {"us_of_each": 1e6 * used / len(lines)}))
"""


def binary_tables(shared: Path) -> dict[str, Any]:
    """Milliseconds to be ready, megabytes then and at the peak, and microseconds for each sentence or pair."""
    gold = shared / "gold/moses/binary"
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for group, (tables, used) in {**_gold(gold, folder), **_made(shared, folder)}.items():
            found[group] = {}
            for shown, (path, kind) in tables.items():
                size = sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path]))
                found[group][shown] = {"mb": size / 1e6, **_measured(path, kind, used, folder)}
            print(json.dumps({group: found[group]}), file=sys.stderr)
    return found


def _measured(path: Path, kind: str, used: Path, folder: Path) -> dict[str, Any]:
    cache = Path(tempfile.mkdtemp(dir=folder))
    runs = {"first": [_run(path, kind, "off", used) for _ in range(3)]}
    _run(path, kind, str(cache), used)
    if any(cache.iterdir()):
        runs["again"] = [_run(path, kind, str(cache), used) for _ in range(3)]
    return {name: min(several, key=lambda run: float(run["ready_ms"])) for name, several in runs.items()}


def _run(path: Path, kind: str, cache: str, used: Path) -> dict[str, Any]:
    command = [sys.executable, "-c", FRESH, str(path), kind, cache, str(used)]
    found: dict[str, Any] = json.loads(subprocess.check_output(command))
    return found


def _gold(gold: Path, folder: Path) -> dict[str, Any]:
    """The tables of the reference data with what they are used for."""
    moses, scfg = gold / "moses", gold / "moses-scfg"
    compact = {path.name: (path, "moses-compact") for path in sorted((moses / "compact").glob("*.minphr"))}
    probing = {f"probing/{path.name}": (path, "moses-probing") for path in sorted((moses / "probing").iterdir())}
    orders = {path.name: (path, "reordering") for path in sorted((moses / "compact").glob("*.minlexr"))}
    pairs = _text(folder / "pairs", gzip.decompress((moses / "phrase-table.gz").read_bytes()).splitlines(keepends=True))
    rules = {"text": (scfg / "rule-table.gz", "moses-rules"), "probing": (scfg / "probing", "moses-probing")}
    return {
        "phrases": ({"text": (moses / "phrase-table.gz", "moses-phrases"), **compact, **probing}, moses / "in.de"),
        "rules": (rules, scfg / "in.de"),
        "reordering": (
            {
                "text": (moses / "reordering-table.gz", "reordering"),
                **orders,
                "probing/log-lex": (moses / "probing/log-lex", "reordering"),
            },
            pairs,
        ),
    }


def _made(shared: Path, folder: Path) -> dict[str, Any]:
    """The large tables: text, ProbingPT and compact."""
    model = shared / "gold/moses/model"
    text = {kind: _text(folder / kind, _large(model / file, COPIES)) for kind, file in FILES.items()}
    lines = text["phrases"].read_text(encoding="utf-8").splitlines()
    sentences = (shared / "gold/moses/binary/moses/in.de").read_text(encoding="utf-8").splitlines()
    used = _text(folder / "in", (b" ".join(b"m" + w.encode() for w in s.split()) + b"\n" for s in sentences))
    pairs = _text(folder / "some", (line.encode() + b"\n" for line in lines[:: max(len(lines) // PAIRS, 1)]))
    probing = runpy.run_path(str(WRITERS / "grammar/probing_folders.py"))["write_folder"](folder / "probing", lines)
    (folder / "phrases.minphr").write_bytes(_compact_phrases(lines))
    (folder / "orders.minlexr").write_bytes(_compact_orders(text["reordering"]))
    phrases = {
        "text": (text["phrases"], "moses-phrases"),
        "compact": (folder / "phrases.minphr", "moses-compact"),
        "probing": (probing, "moses-probing"),
    }
    orders = {"text": (text["reordering"], "reordering"), "compact": (folder / "orders.minlexr", "reordering")}
    time.sleep(0.1)  # what changed a moment ago is not kept
    return {f"{len(lines)} phrases": (phrases, used), f"{len(lines)} reordering": (orders, pairs)}


def _text(path: Path, lines: Iterator[bytes] | list[bytes]) -> Path:
    with path.open("wb") as out:
        out.writelines(lines)
    return path


def _logs(text: str) -> tuple[float, ...]:
    values = [float(value) for value in text.split()]
    return tuple(struct.unpack("<f", struct.pack("<f", math.log(v) if v else -100.0))[0] for v in values)


def _compact_phrases(lines: list[str]) -> bytes:
    entries: dict[bytes, list[Any]] = {}
    numbers = {"__STOP__": 0}
    for line in lines:
        source, target, scores, points, *_ = line.split(" ||| ")
        words = [numbers.setdefault(word, len(numbers)) for word in target.split()]
        where = [tuple(map(int, point.split("-"))) for point in points.split()]
        entries.setdefault(source.encode(), []).append((words, _logs(scores), where))
    write = runpy.run_path(str(WRITERS / "compact_tables.py"))["phrase_file"]
    data: bytes = write(entries, list(numbers), joined=True)
    return data


def _compact_orders(path: Path) -> bytes:
    rows = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            source, target, scores = line.split(" ||| ")
            rows[f"{source} ||| {target} ||| ".encode()] = _logs(scores)
    write = runpy.run_path(str(WRITERS / "compact_tables.py"))["reordering_file"]
    data: bytes = write(rows, joined=True)
    return data
