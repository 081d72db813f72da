"""The plugin template's feature in C against the same feature in Python and a native one, in cube pruning."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from measure import interleaved
from search import parsed_sentences

NAME = b"smt_feature_v1"
SENTENCES = slice(0, 300, 15)


def tables(shared: Path, template: Path) -> dict[str, Any]:
    """CPU nanoseconds an edge, for 20 of cdec's sentences, above a search without stateful features."""
    from smtplugins.core.lm.ngram_model import read_lm
    from smtplugins.core.search.linear_gain import LinearGain
    from smtplugins.core.search.search_options import SearchOptions
    from smtplugins.core.search.stateful_search import (
        Stateful,
        contract_scorer,
        native_scorer,
        searcher,
        start_native,
    )

    gold = shared / "gold/cdec"
    if not (gold.exists() and shutil.which("cc")):
        return {}
    pairs = (line.split() for line in (gold / "weights.tuned").read_text().splitlines())
    weights = {name: float(value) for name, value in pairs}
    chosen = parsed_sentences(gold, weights, read_lm(gold / "lm/en.4.arpa.gz"), SENTENCES)
    sentence = SimpleNamespace(id="0", tokens=(), annotations={})
    with tempfile.TemporaryDirectory() as folder:
        feature = _compiled(template / "native/repetition.c", Path(folder))
        own: Any = None

        def run(kind: str) -> int:
            nonlocal own
            edges = 0
            for (forest, vocabulary), native in zip(chosen, natives, strict=True):
                if kind == "C":
                    if own is None:
                        own = native_scorer(feature, vocabulary, sentence)
                    start_native(own, vocabulary, sentence)
                    scorer = own
                elif kind == "Python":
                    scorer = contract_scorer(_repetition(sentence), vocabulary)
                else:
                    scorer = native
                parts = [] if kind == "none" else [Stateful(scorer, ("repetition",), (-1.0,))]
                edges += searcher(parts).search(forest, SearchOptions(pop_limit=200)).evaluated
            return edges

        # As many states as the repetitions have: two words.
        texts = ([vocabulary.word(i) for i in range(len(vocabulary))] for _, vocabulary in chosen)
        natives = [LinearGain([text], (0.0, 0.0, 0.0)).scorer_for(text) for text in texts]
        edges = {kind: run(kind) for kind in ("none", "C", "Python", "bigrams in C++")}
        seconds = interleaved({kind: lambda kind=kind: run(kind) for kind in edges if kind != "Python"}, rounds=9)
        seconds |= interleaved({"Python": lambda: run("Python")}, rounds=3)
    assert edges["C"] == edges["Python"]
    own_cost = {kind: 1e9 * seconds[kind] / edges[kind] for kind in edges}
    above = {kind: 1e9 * (seconds[kind] - seconds["none"]) / edges[kind] for kind in edges if kind != "none"}
    return {
        "edges": edges,
        "ns_per_edge": own_cost,
        "ns_per_edge_above_none": above,
        "python_over_c": above["Python"] / above["C"],
    }


def _compiled(source: Path, folder: Path) -> Any:
    from smtplugins.include import get_include

    command = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", "-I", get_include()]
    subprocess.run([*command, source, "-o", folder / "repetition.so"], check=True)
    library = ctypes.CDLL(str(folder / "repetition.so"))
    library.example_repetition.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return SimpleNamespace(smt_feature_v1=capsule(library.example_repetition(), NAME, None))


def _counts(word: str) -> bool:
    return len(word.encode()) > 1 or word.isalnum()


def _repetition(sentence: Any) -> Any:
    from smtplugins.contracts.adapters import SimpleStateful

    class Repetition(SimpleStateful):
        """As a plugin would write it."""

        def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
            parts = [tails[one] if isinstance(one, int) else (one, one) for one in target]
            parts = [part for part in parts if part]
            repeated = sum(left[1] == right[0] and _counts(right[0]) for left, right in itertools.pairwise(parts))
            return float(repeated), (parts[0][0], parts[-1][1]) if parts else ()

        def estimate_one(self, target: Sequence[str | int]) -> float:
            neighbours = itertools.pairwise(target)
            return float(sum(isinstance(one, str) and one == next_ and _counts(one) for one, next_ in neighbours))

    return Repetition().start(sentence)
