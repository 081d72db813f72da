"""cdec's own forests: they come back byte for byte, and what is recomputed from them is what cdec's logs say."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from smtformats import all_formats, detect, open_bytes
from smtformats.files import Lines, head
from smtformats.format import Format, shortest
from smtformats.grammar.rules import Rule
from smtformats.hypergraph import cdec_binary, cdec_json, cdec_target
from smtformats.hypergraph.graph import GraphColumns

from .inference import kbest, log_partition, paths, text_of, viterbi

pytestmark = pytest.mark.shared
# Written by hand, so that what is composed differs; with a stray quote behind the object.
OTHERWISE_SPELT = {"quirks/h.json"}
REFUSED = {"json_legacy_testdata/hg_test.lattice"}
QUICK = re.compile(
    r"json_legacy_testdata/(?!urdu|dpmert)|quirks/|system_tests/|mert/(hgs|json)/[0-3]|exact_lm/forest(.4gram)?/[034]"
    r"|first50/.*/[0248]\."
)


def forests(folder: Path) -> dict[str, Path]:
    """All forests by their path below the folder."""
    files = [path for path in folder.rglob("*") if path.name.endswith((".json.gz", ".bin.gz"))]
    files += [path for path in (folder / "json_legacy_testdata").glob("hg_test.*") if path.suffix != ".gz"]
    files += (folder / "quirks").glob("*.json")
    return {str(path.relative_to(folder)): path for path in sorted(files)}


def read(path: Path) -> GraphColumns:
    with open_bytes(path) as stream:
        record = detect(head(stream, str(path)), all_formats(), str(path))
        graph = record.read(Lines(stream, str(path)))
    assert isinstance(graph, GraphColumns)
    return graph


def written(record: Format, graph: GraphColumns) -> bytes:
    assert record.write is not None
    if record.binary:
        out = io.BytesIO()
        record.write([graph], out, shortest)
        return out.getvalue()
    text = io.StringIO()
    record.write([graph], text, shortest)
    return text.getvalue().encode()


def check_bytes(files: dict[str, Path]) -> int:
    same = 0
    for name, path in files.items():
        with open_bytes(path) as stream:
            data = stream.read()
        record = detect(data[: 1 << 16], all_formats(), name)
        assert record is (cdec_binary.FORMAT if name.endswith(".bin.gz") else cdec_json.FORMAT)
        if name in REFUSED:
            data = data.removesuffix(b'"\n') + b"\n"
        graph = record.read(Lines(io.BytesIO(data), name))
        assert written(record, graph) == data, name
        bare = {key: value for key, value in graph.extras.get("spelling", {}).items() if key != "raw"} | {"read": 0}
        composed = written(record, replace(graph, extras=dict(graph.extras) | {"spelling": bare}))
        assert (composed == data) == (name not in OTHERWISE_SPELT), name
        same += 1
    return same


def test_bytes_of_some(shared: Path) -> None:
    files = {name: path for name, path in forests(shared / "gold/cdec").items() if QUICK.match(name)}
    assert check_bytes(files) == len(files) == 61


def test_twins(shared: Path) -> None:
    """The JSON and the binary form of a forest: the same, to the six digits that JSON has."""
    pairs = 0
    for name, path in forests(shared / "gold/cdec").items():
        twin = path.with_name(path.name.replace(".json.gz", ".bin.gz"))
        if not name.endswith(".json.gz") or not QUICK.match(name) or not twin.exists():
            continue
        text, binary = read(path), read(twin)
        for column in ("edge_offsets", "tails", "tail_offsets", "rules", "spans"):
            assert np.array_equal(getattr(text, column), getattr(binary, column)), (name, column)
        for column in ("prev", "hashes"):
            assert np.array_equal(text.extras[column], binary.extras[column]), (name, column)
        assert text.id == binary.id
        assert [text.labels[i] for i in text.node_labels] == [binary.labels[i] for i in binary.node_labels]
        for rule in range(len(text.grammar)):
            assert sides(text.grammar.rule(rule)) == sides(binary.grammar.rule(rule))
        assert features(text) == features(binary)
        pairs += 1
    assert pairs == 16


def features(graph: GraphColumns) -> list[tuple[int, str, str]]:
    """Edges with their features, in six digits, that are not zero."""
    edge_of = np.repeat(np.arange(len(graph)), np.diff(graph.feature_offsets)).tolist()
    names = list(graph.names)
    rows = zip(edge_of, graph.features.tolist(), graph.values.tolist(), strict=True)
    return sorted((edge, names[feature], f"{value:g}") for edge, feature, value in rows if value)


def sides(rule: Rule) -> tuple[object, ...]:
    return rule.lhs, rule.source, rule.target


Log = dict[str, str]


def logs(path: Path) -> dict[str, Log]:
    """What a log says of each sentence, by its id."""
    opener = gzip.open if path.suffix == ".gz" else open
    logs: dict[str, Log] = {}
    current: Log = {}
    with opener(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            key, separator, value = line.strip().partition(": " if ": " in line else " = ")
            if key == "id":
                current = logs.setdefault(value, {})
            elif separator:
                current[" ".join(key.split())] = value
    return logs


def weights(path: Path) -> dict[str, float]:
    rows = (line.split() for line in path.read_text().splitlines())
    return {row[0]: float(row[1]) for row in rows if row}


CASES = {
    "first50/forest.nolm": ("first50/onebest.log.gz", "first50/weights.tuned", "Init.", "Partition"),
    "first50/forest.lm": ("first50/onebest.log.gz", "first50/weights.tuned", "Pass1", "Pass1 partition"),
    "exact_lm/forest": ("exact_lm/full.log", "exact_lm/weights.tuned", "Pass1", "Pass1 partition"),
    "exact_lm/forest.4gram": ("exact_lm/full.4gram.log", "exact_lm/weights.tuned", "Pass1", "Pass1 partition"),
}


def check_log(graph: GraphColumns, log: Log, known: dict[str, float], stage: str, partition: str) -> None:
    scores = graph.edge_scores(known)
    score, edges = viterbi(graph, scores)
    assert log[f"{stage} forest (nodes/edges)"] == f"{graph.nodes}/{len(graph)}"
    assert log[f"{stage} forest (paths)"] == f"{float(paths(graph)):g}"
    assert float(log[f"{stage} forest Viterbi logp"]) == pytest.approx(score, abs=1e-4)
    assert float(log[f"{partition} log(Z)"]) == pytest.approx(log_partition(graph, scores), abs=1e-4)
    assert log[f"{stage} forest Viterbi"] == text_of(graph, edges)


@pytest.mark.parametrize("case", CASES)
def test_logs(shared: Path, case: str) -> None:
    assert check_logs(shared, case) >= 6


def check_logs(shared: Path, case: str) -> int:
    gold = shared / "gold/cdec"
    log, known, stage, partition = CASES[case]
    said, values = logs(gold / log), weights(gold / known)
    files = list((gold / case).glob("*.bin.gz"))
    for path in files:
        graph = read(path)
        check_log(graph, said[graph.id], values, stage, partition)
    return len(files)


def test_logs_of_json(shared: Path) -> None:
    """Six digits a value are enough."""
    gold = shared / "gold/cdec"
    said, values = logs(gold / "first50/onebest.log.gz"), weights(gold / "first50/weights.tuned")
    files = sorted((gold / "first50/forest.lm").glob("?.json.gz"))
    assert len(files) >= 5
    for path in files:
        graph = read(path)
        check_log(graph, said[graph.id], values, "Pass1", "Pass1 partition")


def test_target_graphs(shared: Path) -> None:
    """Scores of rules are all there is before a language model comes in: the first pass's."""
    gold = shared / "gold/cdec"
    said, values = logs(gold / "first50/onebest.log.gz"), weights(gold / "first50/weights.tuned")
    for name in ("1", "2", "4"):
        path = gold / f"first50/target_graph/{name}.gz"
        with open_bytes(path) as stream:
            assert detect(head(stream), all_formats(), "x") is cdec_target.FORMAT
        graph = read(path)
        assert graph.id == name
        check_log(graph, said[graph.id], values, "Init.", "Partition")


def test_a_system_test(shared: Path) -> None:
    """The forest that cdec's own tests rescore, and the list of its derivations."""
    folder = shared / "gold/cdec/system_tests/cfg_rescore"
    graph = read(folder / "input0.hg.bin.gz")
    known = weights(folder / "weights")
    (log,) = logs(folder / "ours.stderr").values()
    # cdec puts a goal with one edge on top.
    check_log(graph, log | {"Init. forest (nodes/edges)": "7/9"}, known, "Init.", "Partition")
    assert log["Init. forest (nodes/edges)"] == "8/10"
    wanted = [line.split(" ||| ") for line in (folder / "ours.stdout").read_text().splitlines()]
    best = kbest(graph, graph.edge_scores(known), 100)
    assert [(text_of(graph, derivation), f"{score:g}") for score, derivation in best] == [
        (row[1], row[3]) for row in wanted
    ]


def derivations(path: Path) -> Iterator[tuple[str, str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            fields = line.rstrip("\n").split(" ||| ")
            yield fields[0], fields[3]


def test_lists(shared: Path) -> None:
    """The k best derivations of a forest have the scores of cdec's list."""
    gold = shared / "gold/cdec"
    known = weights(gold / "exact_lm/weights.tuned")
    lists: dict[str, list[float]] = {}
    for name, score in derivations(gold / "exact_lm/full.kbest100.txt"):
        lists.setdefault(name, []).append(float(score))
    for name in ("0", "3", "4"):
        graph = read(gold / f"exact_lm/forest/{name}.bin.gz")
        best = kbest(graph, graph.edge_scores(known), 100)
        assert [score for score, _ in best] == pytest.approx(lists[name], abs=1e-4)


def test_unit_test_data(shared: Path) -> None:
    """The values that cdec's unit tests name."""
    graph = read(shared / "gold/cdec/json_legacy_testdata/hg_test.tiny.bin.gz")
    score, edges = viterbi(graph, graph.edge_scores({"f1": 0.4, "f2": 0.8}))
    assert score == pytest.approx(-80.84)
    assert text_of(graph, edges) == "X <s>"
