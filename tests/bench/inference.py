"""Inference on cdec's forests: nanoseconds an edge, milliseconds a list, against the reference in plain Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from measure import interleaved

FORESTS = ("3", "9")  # of 27,000 and 35,000 edges


def inference(shared: Path) -> dict[str, Any]:
    """The first pass's forests of two sentences, with tuned weights."""
    folder = shared / "gold/cdec/first50"
    return {name: _measured(folder, name) for name in FORESTS} if folder.is_dir() else {}


def _measured(folder: Path, name: str) -> dict[str, Any]:
    from smtformats import all_formats, open_bytes
    from smtformats.files import Lines
    from smtplugins.core.graph import inference
    from smtplugins.core.graph.hypergraph import Hypergraph

    sys.path.append(str(Path(__file__).resolve().parents[2]))
    from tests.core import reference

    record = next(one for one in all_formats() if one.name == "cdec-binary-hypergraph")
    with open_bytes(folder / f"forest.nolm/{name}.bin.gz") as stream:
        columns = record.read(Lines(stream, name))
    rows = (line.split() for line in (folder / "weights.tuned").read_text(encoding="utf-8").splitlines())
    weights = {name: float(value) for name, value in rows}
    graph = Hypergraph.from_columns(columns).reweighted(weights)
    scores = graph.scores_or(None)
    best = inference.viterbi(graph)
    assert best is not None
    text = best.text

    def runs(core: Any) -> dict[str, Any]:
        return {
            "inside log": lambda: core.inside(graph),
            "inside max": lambda: core.inside(graph, None, "max"),
            "outside log": lambda: core.outside(graph),
            "posteriors": lambda: core.posteriors(graph),
            "max-marginals": lambda: core.posteriors(graph, None, "max"),
            "covariance": lambda: core.covariance(graph, None, scores),
            "feature expectations": lambda: core.feature_expectations(graph),
            "viterbi": lambda: core.viterbi(graph),
            "1000-best": lambda: core.kbest(graph, None, 1000),
            "1000-best unique": lambda: core.kbest(graph, None, 1000, unique=True),
            "1000 samples": lambda: core.sample(graph, None, 1000),
            "forced decoding": lambda: core.intersect(graph, text),
        }

    native = runs(inference) | {
        "from_columns": lambda: Hypergraph.from_columns(columns),
        "reweighted": lambda: graph.reweighted(weights),
        "bundles": graph.bundles,
    }
    found = interleaved(native, rounds=9)
    slow = interleaved(runs(reference), rounds=1)
    return {
        "nodes": graph.nodes,
        "edges": len(graph),
        "bundles": len(graph.bundles()),
        "ns_per_edge": {key: 1e9 * seconds / len(graph) for key, seconds in found.items()},
        "ms": {key: 1e3 * seconds for key, seconds in found.items()},
        "reference_over_native": {key: slow[key] / found[key] for key in slow},
    }
