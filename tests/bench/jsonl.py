"""JSON lines of lists read and written, against orjson (`pip install orjson`) and Python code for unusual lines."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from unittest import mock

from measure import interleaved

LISTS, HYPOTHESES = 400, 32
FEATURES = ("lm", "tm0", "tm1", "tm2", "words", "distortion")
ALPHABETS = {"ascii": "abcdefghijklmnopqrstuvwxyz", "unicode": "abcdefghijklmnopqrstuvwxyzäöüéßжш"}


def made(alphabet: str) -> bytes:
    """A file of lists with texts of 20 words, a total and six features."""
    rng = random.Random(1)
    words = ["".join(rng.choices(alphabet, k=rng.randint(2, 9))) for _ in range(3000)]

    def text() -> str:
        return " ".join(rng.choices(words, k=20))

    def hypothesis() -> dict[str, Any]:
        scores = {name: round(rng.gauss(0, 10), 4) for name in FEATURES}
        return {"text": text(), "score": rng.gauss(0, 10), "scores": scores}

    rows = [{"id": k, "source": text(), "hypotheses": [hypothesis() for _ in range(HYPOTHESES)]} for k in range(LISTS)]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


@contextlib.contextmanager
def in_python() -> Iterator[None]:
    """Do without native code."""
    from smtformats.nbest import jsonl

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(jsonl, "reader_of", return_value=lambda line: None))
        for name in ("change_natively", "spell_natively"):
            stack.enter_context(mock.patch.object(jsonl, name, return_value=None))
        yield


def jsonl() -> dict[str, Any]:
    """CPU seconds of reading and writing, and their ratios."""
    return {name: _measured(made(alphabet)) for name, alphabet in ALPHABETS.items()}


def _measured(data: bytes) -> dict[str, Any]:
    import orjson

    from smtformats.files import Lines
    from smtformats.format import shortest
    from smtformats.nbest.jsonl import load, parse, write

    rows = [orjson.loads(line) for line in io.BytesIO(data)]
    lists = list(parse(Lines(io.BytesIO(data), "x")))
    kinds = {
        "composed": [replace(nbest, raw=None, origin="") for nbest in lists],
        "a new feature": [nbest.with_columns([("length",)] * len(nbest), [[1.5]] * len(nbest)) for nbest in lists],
        "new totals": [nbest.with_totals([0.1 * i for i in range(len(nbest))]) for nbest in lists],
    }

    def by_python(function: Callable[[], object]) -> Callable[[], object]:
        def run() -> None:
            with in_python():
                function()

        return run

    def written(kind: str) -> Callable[[], object]:
        return lambda: write(kinds[kind], io.StringIO(), shortest)

    def parsed() -> None:
        for _ in parse(Lines(io.BytesIO(data), "x")):
            pass

    reading = interleaved(
        {
            "orjson.loads": lambda: [None for line in io.BytesIO(data) if not orjson.loads(line)],
            "load": lambda: load(io.BytesIO(data), "x"),
            "parse": parsed,
            "parse in Python": by_python(parsed),
        }
    )
    runs: dict[str, Callable[[], object]] = {"orjson.dumps": lambda: [orjson.dumps(row) for row in rows]}
    for kind in kinds:
        runs |= {kind: written(kind), f"{kind}, in Python": by_python(written(kind))}
    writing = interleaved(runs, rounds=5)
    return {
        "mb": len(data) / 1e6,
        "reading_cpu_s": reading,
        "orjson_over_load": reading["orjson.loads"] / reading["load"],
        "orjson_over_parse": reading["orjson.loads"] / reading["parse"],
        "python_over_parse": reading["parse in Python"] / reading["parse"],
        "writing_cpu_s": writing,
        "python_over_native": {kind: writing[f"{kind}, in Python"] / writing[kind] for kind in kinds},
        "orjson_over_composed": writing["orjson.dumps"] / writing["composed"],
    }
