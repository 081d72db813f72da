"""The decoder umt beside hiero with K=1 and K=30, and cdec with both; and how each grows with the length of a sentence.

cdec's grammars, language model and tuned weights; its times are those of ``bench/peers.json`` with ``lm_rescoring_s``
the part that the search is, placed on this machine by ``bench/calibrate.py``. All of ours in one process, in turn, the
best of several rounds. The model is Moses' own for growth: sentences one behind the other, cut to length, with spans of
15 words and with any.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LENGTHS = (10, 20, 40, 60, 80)
COUNT = 40
SPANS = {"spans of 15": 15, "any span": 1000}
DECODERS = {
    "umt": {"name": "umt"},
    "umt, paper's bounds": {"name": "umt", "cff_lm": 0, "cff_joins": False, "cff_scale": 8.5},
    "hiero K=1": {"name": "hiero", "pop_limit": 1},
    "hiero K=30": {"name": "hiero", "pop_limit": 30},
}
GROWING = ("umt", "hiero K=30")
_SEARCH = ("search", "pop_limit", "pops")


def umt(shared: Path, rounds: int = 7) -> dict[str, Any]:
    """Milliseconds of a sentence for parsing and search, ratios against umt, and growth with a table and bars."""
    if not (shared / "gold").exists():
        return {}
    import smtplugins as smt

    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    host = smt.load_plugins()
    here = Path.cwd()
    try:
        os.chdir(shared / "gold/cdec")
        decoding = _decoding(host, shared, rounds)
        os.chdir(shared / "gold/moses")
        growth = {name: _growth(host, limit, rounds) for name, limit in SPANS.items()}
    finally:
        os.chdir(here)
    for name, found in growth.items():
        _draw(name, found)
    return {"decoding": decoding, "growth": growth}


def _translator(host: Any, config: str, decoder: dict[str, Any], weights: str | None, **more: Any) -> Any:
    from smtplugins.host.config.run_yaml import load_config

    known = load_config(config).decoder
    assert known is not None
    own = decoder["name"] == "hiero"
    options = {key: value for key, value in known.options.items() if own or key not in _SEARCH}
    given = host.read_weights(weights) if weights is not None else None
    made = host.translator(config, [f"decoder={json.dumps({**options, **decoder, **more})}"], weights=given)
    made.decoder.load(made.model)
    return made


def _phases(translator: Any, sentences: Sequence[Any]) -> dict[str, float]:
    """Milliseconds of a sentence, and its mean model score and counts."""
    done = list(translator.decode(sentences))
    count = len(done)
    sums = {name: sum(one.stats.get(name, 0.0) for one in done) / count for name in ("nodes", "edges", "pops")}
    times = {name: 1000 * sum(one.stats[f"cpu.{name}"] for one in done) / count for name in ("parsing", "search")}
    return {**times, **sums, "mean_score": sum(one.score or 0.0 for one in done) / count}


def _best(runs: dict[str, tuple[Any, Sequence[Any]]], rounds: int) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for name, (translator, sentences) in runs.items():
            now = _phases(translator, sentences)
            best = found.setdefault(name, now)
            for key in ("parsing", "search"):
                best[key] = min(best[key], now[key])
    return found


def _decoding(host: Any, shared: Path, rounds: int) -> dict[str, Any]:
    from smtplugins.host.decode.sentences import read_sentences

    sentences = list(read_sentences(host, "test300.in"))
    runs = {
        name: (_translator(host, "cdec.ini", decoder, "weights.tuned"), sentences) for name, decoder in DECODERS.items()
    }
    found: dict[str, Any] = _best(runs, rounds)
    for row, seconds in _cdec(shared).items():
        found[row] = {name: 1000 * value / len(sentences) for name, value in seconds.items()}
    search = found["umt"]["search"]
    for one in found.values():
        one["search_over_umt"] = one["search"] / search
    return found


def _cdec(shared: Path) -> dict[str, dict[str, float]]:
    """Seconds that cdec takes here for the 300 sentences."""
    peers = json.loads((shared / "bench/peers.json").read_text())
    script = [sys.executable, str(shared / "bench/calibrate.py")]
    here = json.loads(subprocess.run(script, check=True, stdout=subprocess.PIPE, text=True).stdout)
    factor = here["score_ns"] / peers["machine"]["calibration"]["score_ns"]
    rows = {row["pop_limit"]: row for row in peers["cdec"]["rows"]}
    return {
        f"cdec K={limit}": {
            "search": factor * rows[limit]["lm_rescoring_s"],
            "parsing": factor * (rows[limit]["translate_s"] - rows[limit]["lm_rescoring_s"]),
        }
        for limit in (1, 30)
    }


def _growth(host: Any, limit: int, rounds: int) -> dict[str, Any]:
    from smtplugins.contracts.data import Sentence

    config = "model/moses.hiero.tuned.ini"
    words = Path("in/long75.de").read_text(encoding="utf-8").split()
    made = {name: _translator(host, config, DECODERS[name], None, max_span=limit) for name in GROWING}
    found: dict[str, Any] = {name: {} for name in GROWING}
    for length in LENGTHS:
        starts = [i * length % (len(words) - length) for i in range(COUNT)]
        cut = [Sentence(str(i), tuple(words[start : start + length])) for i, start in enumerate(starts)]
        best = _best({name: (one, cut) for name, one in made.items()}, max(2, rounds // 2))
        for name, one in best.items():
            found[name][str(length)] = one
    for one in found.values():
        one["exponents"] = {key: _exponent({n: one[str(n)][key] for n in LENGTHS}) for key in ("parsing", "search")}
    return found


def _exponent(times: dict[int, float]) -> float:
    """The power of the length that a time grows with: the slope of a line through the logarithms."""
    points = [(math.log(length), math.log(value)) for length, value in times.items()]
    x, y = (sum(one[i] for one in points) / len(points) for i in (0, 1))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def _draw(title: str, found: dict[str, Any]) -> None:
    """Bars of the search, as they stand in the README of the plugin."""
    most = max(one[str(length)]["search"] for one in found.values() for length in LENGTHS)
    print(f"search, {title}", file=sys.stderr)
    for name, one in found.items():
        for length in LENGTHS:
            row = one[str(length)]
            bar = "#" * max(1, round(40 * row["search"] / most))
            print(
                f"{name:>12} {length:>3} words {row['nodes']:8,.0f} nodes {row['edges']:12,.0f} edges "
                f"{row['search']:9.3f} ms {bar}",
                file=sys.stderr,
            )
        print(f"{name:>12} grows with the power {one['exponents']['search']:.2f} of the length", file=sys.stderr)
