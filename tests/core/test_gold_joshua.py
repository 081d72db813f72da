"""Joshua's small cases: what core makes of its rules, with the features and options that its decoder has.

Joshua puts ``<s>`` and ``</s>`` around a sentence; its glue rules hold them, and words are counted with them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import open_lines
from smtformats.caching.folders import cached_load
from smtformats.grammar import joshua, joshua_packed
from smtformats.hypergraph import plf
from smtplugins.core.grammar.parsing import Lattice, Options, PassThrough, parse
from smtplugins.core.grammar.tables import Grammar, Tables, fragment_scores
from smtplugins.core.graph import inference
from smtplugins.core.graph.derivations import Derivation
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.search.stateful_search import Stateful, lm_scorer, refine

from .golds import MARKERS, counts_of, lines_of, model_of, pairs, weighted, with_columns

pytestmark = pytest.mark.shared
LM, UNKNOWN = "lm_0", -100.0
A_WORD = -0.4342944819  # WordPenalty's value of a word, -log10 e
ROUNDED = 6e-4  # what Joshua prints has three digits behind the point, of float32 sums


@dataclass
class Case:
    """A folder of a case, as far as its configuration says what core has to know."""

    folder: Path
    owner: str = "pt"
    limit: int = 20
    lm: Path | None = None
    options: int = 0  # target sides for each source side, 0 for all
    labels: Mapping[str, float] = field(default_factory=lambda: {"X": UNKNOWN})
    target: Callable[[str], str] | None = None
    words: bool = True  # whether there is a word penalty
    tables: Tables = field(default_factory=Tables)

    def weights(self, config: str = "joshua.config") -> dict[str, float]:
        lines = (self.folder / config).read_text().splitlines()
        if (path := self.folder / "weights").exists():
            lines += path.read_text().splitlines()
        rows = (line.split() for line in lines if "=" not in line and not line.startswith("#"))
        return {fields[0]: float(fields[1]) for fields in rows if len(fields) == 2}

    def grammars(self, main: str, glue: str, weights: Mapping[str, float]) -> list[Grammar]:
        path = self.folder / main
        record = joshua_packed.FORMAT if path.is_dir() else joshua.FORMAT
        columns = cached_load(path, record, None, owner=self.owner)
        rules = Grammar(columns, self.tables, span_limit=self.limit)
        if self.options:
            # By the scores that rules have without context: all features, and the words of their own with the model.
            estimates = rules.scores(weights) + np.diff(columns.target_offsets) * A_WORD * weights["WordPenalty"]
            if self.lm is not None:
                estimates += weights[LM] * fragment_scores(model_of(self.lm), columns)
            rules = rules.limited(estimates.astype(np.float32), self.options)
        joining = cached_load(self.folder / glue, joshua.FORMAT, None, owner="glue")
        return [rules, Grammar(joining, self.tables, from_start=True)]

    def graph(
        self, source: Lattice, grammars: Sequence[Grammar], weights: Mapping[str, float], **search: Any
    ) -> Hypergraph:
        """Derivations with all features: all of them, or those that a search keeps."""
        penalties = {label: {"OOVPenalty": penalty} for label, penalty in self.labels.items()}
        minting = PassThrough(penalties, target=self.target, span_limit=20, except_for=MARKERS)
        forest = parse(source.between(), grammars, Options("GOAL", minting), weights)
        graph = weighted(forest, weights)
        if not len(graph):
            return graph
        if self.words:
            graph = with_columns(graph, {"WordPenalty": counts_of(graph) * A_WORD}, weights)
        if self.lm is None:
            return graph
        scorer = lm_scorer(model_of(self.lm), graph.words, markers=True)
        made = refine(graph, [Stateful(scorer, (LM,), (weights[LM],))], **(search or {"exact": True})).graph
        assert search or inference.paths(made) == inference.paths(graph)
        return made


ESCAPED = str.maketrans({"[": "-lsb-", "]": "-rsb-", "|": "-pipe-"})


def sentences(path: Path) -> list[Lattice]:
    return [Lattice.of_words(line.translate(ESCAPED).split()) for line in lines_of(path)]


def bare(derivation: Derivation) -> str:
    text = derivation.text.removeprefix("<s> ").removesuffix(" </s>")
    return text.replace("-lsb-", "[").replace("-rsb-", "]").replace("-pipe-", "|")


def assert_features(graph: Hypergraph, derivation: Derivation, features: str, score: str) -> None:
    """The sums that Joshua prints, and no others."""
    wanted = pairs(features)
    sums = zip(graph.names, derivation.features().tolist(), strict=True)
    actual = {name: value for name, value in sums if abs(value) > 1e-6}
    assert actual.keys() <= wanted.keys()
    assert {name: actual.get(name, 0.0) for name in wanted} == pytest.approx(wanted, abs=ROUNDED)
    assert derivation.score == pytest.approx(float(score), rel=1e-6, abs=ROUNDED)


def tree_of(graph: Hypergraph, derivation: Derivation) -> str:
    """The rules' target sides in brackets, the goal left out: labels and spans."""
    edges = iter(derivation.edges.tolist())

    def told() -> str:
        edge = next(edges)
        first, last = graph.tail_offsets[edge : edge + 2].tolist()
        below = [told() for _ in range(first, last)]
        rule = graph.grammar.rule(int(graph.rules[edge]))
        if rule.lhs == "Goal":
            return below[0]
        start, stop = graph.spans[edge].tolist()
        words = (symbol if isinstance(symbol, str) else below[symbol.index - 1] for symbol in rule.target)
        return f"({rule.lhs}{{{start}-{stop}}} {' '.join(words)})"

    return told()


def joshua_lm(shared: Path) -> Path:
    return shared / "gold/joshua/lm/bn-en.5gram.arpa.gz"


def test_rules_of_many_gaps(shared: Path) -> None:
    folder = shared / "gold/joshua/n-ary"
    case = Case(folder, "phrase", lm=joshua_lm(shared), target=lambda word: f"{word}_OOV")
    weights = case.weights()
    assert weights["OOVPenalty"] == -100  # a reward: but no glue rule joins what is unknown
    grammars = case.grammars("grammar", "glue-grammar", weights)
    for source, line in zip(sentences(folder / "input.txt"), lines_of(folder / "output.gold"), strict=True):
        score, _, text = line.partition(" ")
        best = inference.viterbi(case.graph(source, grammars, weights))
        assert best is not None and bare(best) == text
        assert best.score == pytest.approx(float(score), abs=ROUNDED)


@pytest.mark.parametrize(
    ("config", "main", "output"),
    [
        ("joshua.config", "grammar.gz", "output.gold"),
        ("joshua-packed.config", "grammar.packed", "output-packed.gold"),
        ("joshua.config", "grammar.gz", "output-no-dot-chart.gold"),
    ],
)
def test_options_of_a_source_side(shared: Path, config: str, main: str, output: str) -> None:
    folder = shared / "gold/joshua/num_translation_options"
    case = Case(folder, limit=12, lm=joshua_lm(shared), options=3)
    weights = case.weights(config)
    grammars = case.grammars(main, "glue-grammar", weights)
    ((source, lines),) = [(source, lines_of(folder / output)) for source in sentences(folder / "input")]
    graph = case.graph(source, grammars, weights)
    derivations = inference.kbest(graph, None, 5, unique=True)
    assert len(derivations) == len(lines) == 4  # three, and the words themselves
    for derivation, line in zip(derivations, lines, strict=True):
        score, text, features = line.split(" ||| ")
        assert bare(derivation) == text
        assert_features(graph, derivation, features, score)


def test_labels_of_unknown_words(shared: Path) -> None:
    folder = shared / "gold/joshua/oov-list"
    listed = re.search(r"oov-list = (.*)", (folder / "joshua.config").read_text())
    assert listed is not None
    fields = listed[1].split()
    labels = {label: math.log(float(p)) for label, p in zip(fields[::2], fields[1::2], strict=True)}
    case = Case(folder, "phrase", lm=joshua_lm(shared), labels=labels, target=lambda word: f"{word}_OOV")
    weights = case.weights()
    grammars = case.grammars("grammar", "glue-grammar", weights)
    for source, line in zip(sentences(folder / "input.txt"), lines_of(folder / "output.gold"), strict=True):
        text, features, score = line.split(" ||| ")
        graph = case.graph(source, grammars, weights)
        best = inference.viterbi(graph)
        assert best is not None and bare(best) == text
        assert_features(graph, best, features, score)


@pytest.mark.parametrize("main", ["grammar", "grammar.packed"])
def test_all_derivations_of_a_reordering_rule(shared: Path, main: str) -> None:
    folder = shared / "gold/joshua/wa"
    case = Case(folder, words=False)
    weights = case.weights()
    grammars = case.grammars(main, "grammar.glue", weights)
    lines = lines_of(folder / "output.gold")
    (source,) = sentences(folder / "input")
    graph = case.graph(source, grammars, weights)
    derivations = inference.kbest(graph, None, 100)
    assert len(derivations) == len(lines) == 8
    for derivation, line in zip(derivations, lines, strict=True):
        _, _, text, features, score, _, tree = line.split(" ||| ")
        assert bare(derivation) == text
        assert_features(graph, derivation, features, score)
        # Joshua puts the trees of gaps that change places into each other's place.
        if " c1 " not in text:
            assert tree_of(graph, derivation) == tree


@pytest.mark.parametrize(("config", "main"), [("joshua.config", "grammar"), ("joshua-packed.config", "grammar.packed")])
def test_sparse_features(shared: Path, config: str, main: str) -> None:
    """There is no penalty for unknown words here, and none for words: the words themselves cost nothing."""
    folder = shared / "gold/joshua/sparse-features"
    case = Case(folder, labels={"X": 0.0}, words=False)
    weights = case.weights(config)
    grammars = case.grammars(main, "grammar.glue", weights)
    (source,) = sentences(folder / "input")
    graph = case.graph(source, grammars, weights)
    best = inference.viterbi(graph)
    _, text, features, score = lines_of(folder / "output.gold")[0].split(" ||| ")
    assert best is not None and bare(best) == text
    assert_features(graph, best, features, score)
    assert inference.paths(graph) == 2


def test_trees(shared: Path) -> None:
    folder = shared / "gold/joshua/tree-output"
    case = Case(folder, limit=12, lm=joshua_lm(shared))
    weights = case.weights()
    grammars = case.grammars("grammar.gz", "glue-grammar", weights)
    trees = []
    for source in sentences(folder / "input"):
        graph = case.graph(source, grammars, weights)
        best = inference.viterbi(graph)
        trees.append("()" if best is None else tree_of(graph, best))
    assert trees == lines_of(folder / "output.gold")


def test_a_grammar_of_bengali(shared: Path) -> None:
    """A hundred sentences, with 20 translations of a source side, and the lists of one with all: as good or better."""
    folder = shared / "gold/joshua/bn-en-hiero"
    case = Case(folder, limit=12, lm=joshua_lm(shared), options=20)
    weights = case.weights()
    grammars = case.grammars("grammar.gz", "glue-grammar", weights)
    sources = sentences(folder / "input.bn")
    scores, texts = [], 0
    for source, line in zip(sources, lines_of(folder / "pop1000.1best.out"), strict=True):
        _, text, features, score = line.split(" ||| ")
        graph = case.graph(source, grammars, weights, pop_limit=1000)
        best = inference.viterbi(graph)
        assert best is not None
        scores.append(best.score)
        assert best.score > float(score) * (1 + 1e-6) - ROUNDED
        if bare(best) == text:
            texts += 1
            assert_features(graph, best, features, score)
    assert texts >= 99  # two of one sentence are as good
    assert np.mean(scores) > -214.688 - ROUNDED / 2

    case.options = 0
    everything = case.grammars("grammar.gz", "glue-grammar", weights)
    lists: dict[str, list[float]] = {}
    for line in lines_of(folder / "pop1000.nto0.top10.out.gz"):
        fields = line.split(" ||| ")
        lists.setdefault(fields[0], []).append(float(fields[3]))
    for number in range(0, 100, 4):
        wanted = np.array(lists[str(number)])
        graph = case.graph(sources[number], everything, weights, pop_limit=2000)
        assert (inference.kbest(graph, None, 10, unique=True).scores > wanted - ROUNDED).all()


def test_short_lattices(shared: Path) -> None:
    """The lists, with a feature of arcs; the model is BerkeleyLM's there: an unknown word is -100 in any context."""
    folder = shared / "gold/joshua/lattice-short"
    case = Case(folder, limit=1)
    weights = case.weights()
    grammars = case.grammars("grammar.test", "glue-grammar", weights)
    model = model_of(folder / "test.lm")
    expected: dict[int, list[list[str]]] = {}
    for line in lines_of(folder / "output.expected"):
        number, *fields = line.split(" ||| ")
        expected.setdefault(int(number), []).append(fields)
    with open_lines(folder / "input") as lines:
        sources = [Lattice.of(lattice, epsilon="<eps>") for lattice in plf.parse(lines, name="SourcePath")]
    for number, source in enumerate(sources):
        graph = case.graph(source, grammars, weights)
        scored: dict[str, tuple[float, Any]] = {}
        for derivation in inference.kbest(graph, None, 100):
            total = derivation.score + weights[LM] * flat(model, bare(derivation).split())
            if total > scored.get(bare(derivation), (-math.inf, None))[0]:
                scored[bare(derivation)] = total, derivation
        best = sorted(scored.items(), key=lambda item: -item[1][0])[:6]
        assert [score for _, (score, _) in best] == pytest.approx(
            [float(fields[-1]) for fields in expected[number]], abs=ROUNDED
        )
        for text, features, score in expected[number]:
            values = pairs(features)
            assert values.pop(LM) == pytest.approx(flat(model, text.split()), abs=ROUNDED)
            sums = dict(zip(graph.names, scored[text][1].features().tolist(), strict=True))
            assert {name: sums.get(name, 0.0) for name in values} == pytest.approx(values, abs=ROUNDED)
            assert scored[text][0] == pytest.approx(float(score), abs=ROUNDED)


def flat(model: Any, words: list[str]) -> float:
    """log10 p of a sentence, -100 for each unknown word, that costs nothing of what is before it."""
    runs: list[list[str]] = [[]]
    for word, number in zip(words, model.ids(words), strict=True):
        if number == 0:
            runs.append([])
        else:
            runs[-1].append(word)
    total = UNKNOWN * (len(runs) - 1)
    for at, run in enumerate(runs):
        scores = model.full_scores(" ".join(run), bos=at == 0, eos=at == len(runs) - 1)
        total += sum(score for score, *_ in scores)
    return total
