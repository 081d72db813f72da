"""``external``: what a candidate costs beside the function itself, by protocol and batch, and from the cache."""

from __future__ import annotations

import resource
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

SCORER = """\
import json, sys
for line in sys.stdin:
    one = json.loads(line)
    if "items" in one:
        print(json.dumps({"scores": {item["key"]: -len(item["hyp"]) / 7 for item in one["items"]}}))
    else:
        print(-len(one["hyp"]) / 7)
"""


def _seconds() -> tuple[float, float]:
    """CPU seconds of this process and of children that have ended, and the clock."""
    cpu = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        cpu += used.ru_utime + used.ru_stime
    return cpu, time.perf_counter()


def _cost(work: Callable[[], Any], count: int) -> tuple[dict[str, float], Any]:
    before = _seconds()
    result = work()
    after = _seconds()
    cpu, clock = ((b - a) / count * 1e6 for a, b in zip(before, after, strict=True))
    return {"cpu_us": round(cpu, 2), "us": round(clock, 2)}, result


def external(lists: int = 1000, size: int = 64) -> dict[str, Any]:
    """Microseconds a candidate, of CPU (this process and the command's) and of the clock; the function alone is 0."""
    import smtplugins as smt
    from smtplugins.contracts.spec import Spec

    made = [
        smt.candidates([f"this is a house with number {i} and more of it {k} ." for k in range(size)], id=i,
                       source=f"das ist ein haus mit nummer {i} und so weiter")
        for i in range(lists)
    ]  # fmt: skip
    count = lists * size

    def direct(texts: Sequence[str]) -> list[float]:
        return [-len(text) / 7 for text in texts]

    function, wanted = _cost(lambda: [direct(nbest.texts) for nbest in made], count)
    found: dict[str, Any] = {"candidates": count, "function": function}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "scorer.py"
        program.write_text(SCORER)
        command = f"{shlex.quote(sys.executable)} -S {shlex.quote(str(program))}"

        def run(cache: str, **options: Any) -> dict[str, float]:
            host = smt.load_plugins(score_cache=cache)
            spec = Spec("external", {"command": command, **options})
            # Reading and adding columns is not the feature's: the feature `length` has the same, and is subtracted.
            base, _ = _cost(lambda: [one.values for one in host.score(made, ["length"])], count)
            cost, values = _cost(lambda: [one.values for one in host.score(made, [spec])], count)
            assert values == [[[score] for score in scores] for scores in wanted]
            return {key: round(cost[key] - base[key] - function[key], 2) for key in cost}

        kept = str(Path(folder) / "kept")
        for batch in (1, 8, 64, 512):
            found[f"batches of {batch}"] = run("off", protocol="batches", batch=batch)
        found["batches of 64, 2 workers"] = run("off", protocol="batches", workers=2)
        found["batches of 64, first run with a cache"] = run(kept, protocol="batches")
        found["second run"] = run(kept, protocol="batches")
        found["lines"] = run("off")
    return found
