"""What toolkits wrote, read for tests: weights, inputs, logs, lists of translations; forests parsed from them."""

from __future__ import annotations

import gzip
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import all_formats, detect, open_bytes, open_lines
from smtformats.caching.folders import cached_load
from smtformats.corpus import cdec as cdec_corpus
from smtformats.corpus.segments import Segment
from smtformats.files import Lines, head
from smtformats.grammar import cdec as cdec_grammar
from smtformats.grammar import joshua as joshua_grammar
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.gather import Numbering
from smtformats.hypergraph import plf
from smtformats.hypergraph.graph import GraphColumns
from smtplugins.core.grammar.parsed_forest import Forest
from smtplugins.core.grammar.parsing import Options, PassThrough, parse
from smtplugins.core.grammar.tables import Grammar, Tables, glue
from smtplugins.core.graph import inference
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.lm.ngram_model import read_lm
from smtplugins.core.search.stateful_search import Stateful, lm_scorer, refine

MARKERS = frozenset(("<s>", "</s>"))
LM, OOV = "LanguageModel", "LanguageModel_OOV"


def text_of(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def lines_of(path: Path) -> list[str]:
    return text_of(path).splitlines()


def weights_of(path: Path) -> dict[str, float]:
    return {name: float(value) for name, value in map(str.split, lines_of(path))}


def segments(path: Path) -> list[Segment]:
    with open_lines(path) as lines:
        return list(cdec_corpus.parse(lines))


def graph_of(path: Path) -> GraphColumns:
    """A forest of any format."""
    with open_bytes(path) as stream:
        record = detect(head(stream, str(path)), all_formats(), str(path))
        graph = record.read(Lines(stream, str(path)))
    assert isinstance(graph, GraphColumns)
    return graph


def lattice_of(text: str) -> Hypergraph:
    """A lattice in Python's notation."""
    return Hypergraph.from_columns(next(plf.parse(Lines(BytesIO(text.encode()), "lattice"))))


@cache
def model_of(path: Path) -> Any:
    return read_lm(path)


def cdec_grammar_of(path: Path, tables: Tables, **options: Any) -> Grammar:
    return Grammar(cached_load(path, cdec_grammar.FORMAT, None), tables, **options)


def cdec_forest(folder: Path, segment: Segment, weights: dict[str, float]) -> Forest:
    """The forest of a segment with a grammar of its own, as cdec.ini of most of the golds has it."""
    tables = Tables()
    grammar = cdec_grammar_of(folder / segment.attributes["grammar"], tables, span_limit=15)
    options = Options(pass_through=PassThrough())
    return parse(segment.source.split(), [grammar, glue(tables)], options, weights)


def joshua_grammars(folder: Path, tables: Tables, main: str = "grammar", limit: int = 20) -> list[Grammar]:
    """A grammar of Joshua's and the glue rules beside it."""
    rest = next(path for path in (folder / "glue-grammar", folder / "grammar.glue") if path.exists())
    return [
        Grammar(cached_load(folder / main, joshua_grammar.FORMAT, None), tables, span_limit=limit),
        Grammar(cached_load(rest, joshua_grammar.FORMAT, None), tables, from_start=True),
    ]


def weighted(forest: Forest, weights: Mapping[str, float], id: str = "") -> Hypergraph:
    return Hypergraph.from_columns(forest.to_hypergraph(id)).reweighted(weights)


def with_columns(graph: Hypergraph, columns: Mapping[str, Any], weights: Mapping[str, float]) -> Hypergraph:
    """The graph with features that rules have values of."""
    numbering = Numbering(graph.names)
    ids = np.array([*graph.dense_names.tolist(), *map(numbering.add, columns)], dtype=np.int32)
    own = np.column_stack([np.asarray(values, dtype=np.float32) for values in columns.values()])
    made = replace(graph, names=numbering.table(), dense_names=ids, dense=np.hstack([graph.dense, own[graph.rules]]))
    return made.reweighted(weights)


def counts_of(graph: Hypergraph, which: Any = True, side: str = "target") -> Any:
    """How many words a side of each rule has, or those of them that are flagged."""
    symbols, offsets = (getattr(graph.grammar, name) for name in (side, f"{side}_offsets"))
    flags = np.append(np.broadcast_to(which, len(graph.words)), False)
    words = flags[np.maximum(symbols, -1)]
    return np.diff(np.concatenate([[0], np.cumsum(words)])[offsets])


def with_words(graph: Hypergraph, weights: Mapping[str, float], model: Any) -> Hypergraph:
    """The graph with cdec's features of target words: WordPenalty, and those that a model does not know."""
    unknown = np.array([number == 0 for number in model.ids(graph.words)], dtype=bool)
    columns = {"WordPenalty": -counts_of(graph) / math.log(10), OOV: counts_of(graph, unknown)}
    return with_columns(graph, columns, weights)


def edge_rows(graph: GraphColumns | Hypergraph, names: Sequence[str], numbers: dict[Any, int]) -> Any:
    """A row of bytes for each edge, whatever the numbers of nodes are: rule, head, tails, its values of these features.

    ``numbers`` are those of nodes, by label and span, and of rules, by their text; graphs to compare share them.
    """
    columns = graph if isinstance(graph, GraphColumns) else graph.to_columns()
    spans = columns.spans[columns.edge_offsets[:-1]].tolist()
    labels = [columns.labels[label] for label in columns.node_labels.tolist()]
    nodes = [numbers.setdefault((label, *span), len(numbers)) for label, span in zip(labels, spans, strict=True)]
    texts = [rule_text(columns.grammar.rule(i)) for i in range(len(columns.grammar))]
    rules = np.array([numbers.setdefault(text, len(numbers)) for text in texts])
    widths = np.diff(columns.tail_offsets)
    whole = np.full((len(columns), 2 + 2 + len(names)), -1.0)
    whole[:, 0], whole[:, 1] = rules[columns.rules], np.array(nodes)[columns.heads]
    whole[:, 2:4][np.arange(2) < widths[:, None]] = np.array(nodes)[columns.tails]
    whole[:, 4:] = 0.0
    own = np.array([names.index(name) if name in names else -1 for name in columns.names])[columns.features]
    edges = np.repeat(np.arange(len(columns)), np.diff(columns.feature_offsets))
    whole[edges[own >= 0], 4 + own[own >= 0]] = np.float32(columns.values[own >= 0])
    whole += 0.0  # no -0
    return np.sort(whole.view(f"V{whole.itemsize * whole.shape[1]}").ravel())


def rule_text(rule: Rule) -> str:
    shown = (
        " ".join(f"[{symbol.index}]" if isinstance(symbol, NonTerminal) else symbol for symbol in side)
        for side in (rule.source, rule.target)
    )
    return " ||| ".join((rule.lhs, *shown))


def with_lm(graph: Hypergraph, weights: dict[str, float], model: Any, **options: Any) -> Hypergraph:
    """A search with cdec's features of target words and its language model."""
    whole = with_words(graph, weights, model)
    made = refine(whole, [Stateful(lm_scorer(model, whole.words), (LM,), (weights[LM],))], **options)
    return made.graph


@dataclass(frozen=True)
class Listed:
    """A line of cdec's lists; its numbers have six digits."""

    text: str
    features: dict[str, float]
    score: float


def pairs(features: str) -> dict[str, float]:
    return {name: float(value) for name, _, value in (feature.rpartition("=") for feature in features.split())}


def lists_of(path: Path) -> dict[str, list[Listed]]:
    """The lists of a file by the ids of sentences."""
    lists: dict[str, list[Listed]] = {}
    for line in lines_of(path):
        key, text, features, score = line.split(" ||| ")
        lists.setdefault(key, []).append(Listed(text, pairs(features), float(score)))
    return lists


STAGES = {"Init. forest": "first", "Pass1 forest": "second", "Constr. forest": "constrained"}
SUMS = {"Partition": "first", "Pass1 partition": "second", "Contst. partition": "constrained"}


def said(log: str) -> list[dict[str, dict[str, str]]]:
    """What cdec's log says of each sentence: for its stages the size, paths, score, translation, and log Z."""
    sections: list[dict[str, dict[str, str]]] = []
    for line in log.splitlines():
        key, _, value = line.strip().partition(": ")
        key = " ".join(key.split())
        if key == "Init. forest (nodes/edges)":
            sections.append({})
        for names, cut in ((STAGES, " forest"), (SUMS, "artition")):
            name = key[: key.find(cut) + len(cut)]
            if cut in key and name in names:
                sections[-1].setdefault(names[name], {})[key.removeprefix(name).strip()] = value.strip()
    return sections


def assert_said(graph: Hypergraph, log: Mapping[str, str], *, above: int = 0, text: bool = True) -> None:
    """Nodes, edges, paths, the best score and translation, log Z; ``above``: edges that cdec has over our goal."""
    assert log["(nodes/edges)"] == f"{graph.nodes + above}/{len(graph) + above}"
    assert log["(paths)"] == f"{inference.paths(graph):g}"
    best = inference.viterbi(graph)
    assert best is not None
    assert best.score == pytest.approx(float(log["Viterbi logp"]), rel=1e-6, abs=1e-4)
    assert not text or best.text == log["Viterbi"]
    assert inference.inside(graph)[-1] == pytest.approx(float(log["log(Z)"]), rel=1e-6, abs=1e-4)


def assert_listed(graph: Hypergraph, wanted: list[Listed], k: int = 100, *, unique: bool = False) -> None:
    """The k best derivations: all scores; texts and features, but for those as good as the last one of a full list."""
    derivations = inference.kbest(graph, None, k, unique=unique)
    assert derivations.scores.tolist() == pytest.approx([line.score for line in wanted], rel=1e-6, abs=1e-4)
    last = wanted[-1].score + 1e-3 if len(wanted) == k else -math.inf
    left: dict[str, list[Any]] = {}
    for text, derivation in zip(derivations.texts(), derivations, strict=True):
        left.setdefault(text, []).append(derivation.features())
    for line in wanted:
        if line.score > last:
            mine = left.get(line.text, [])
            (same, *_) = [at for at, sums in enumerate(mine) if same_sums(graph, sums, line.features)] or [-1]
            assert same >= 0, line
            del mine[same]


def same_sums(graph: Hypergraph, sums: Any, features: Mapping[str, float]) -> bool:
    """Whether sums of float32, and what is written of them with six digits, are the same."""
    wanted = [features.get(name, 0.0) for name in graph.names]
    known = {name for name, value in features.items() if value} <= set(graph.names)
    return known and bool(np.allclose(sums, wanted, rtol=1e-5, atol=2e-6))


def objective_of(line: str) -> tuple[float, dict[str, float]]:
    """The objective and the features of a line of cdec's sums, which are logarithms, (-) before those of negatives."""
    objective, _, rest = line.partition("\t")[2].partition(";")
    values = (value.rpartition("=") for value in rest.split())
    return float(objective.rpartition("=")[2]), {
        name: math.exp(float(value.removeprefix("(-)"))) * (-1 if value.startswith("(-)") else 1)
        for name, _, value in values
    }
