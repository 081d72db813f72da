"""The reference decoder against enumeration, against hiero, and in its own words."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import GraphBuilder
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.models import Model
from smtplugins.contracts.spec import Spec
from smtplugins.core.graph.derivations import Derivations
from smtplugins.core.graph.inference import kbest
from smtplugins.host.config.resources import Resources
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.parsing_options import NO_LIMIT
from smtplugins.host.decode.sentences import read_sentences
from smtplugins.host.decode.translator import make_translator
from smtplugins.host.features.scoring import activate
from smtplugins.host.host import Host
from smtplugins.plugins.reference.chart import Applied, parse
from smtplugins.testing.decoders import rule_systems as grammars
from tests.seeds import seeds

README = Path(__file__).resolve().parents[3] / "smtplugins/plugins/reference/README.md"
WORDS = "abc"
TARGETS = ["the", "a", "house", "red", "dog", "."]
MOST = 3000
FEATURES = [
    "word-penalty,value=cdec",
    "source-word-penalty,name=source",
    "phrase-penalty,name=phrases",
    "oov",
    "glue",
]


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    """A trigram model with back-off over the target words."""
    source = random.Random(5)
    grams = [("the", "red"), ("red", "house"), ("a", "dog"), ("dog", "."), ("<s>", "the"), (".", "</s>")]
    longer = [("the", "red", "house"), ("<s>", "the", "red"), ("dog", ".", "</s>")]
    words = ["<unk>", "<s>", "</s>", *TARGETS[:-1], "."]
    lines = ["\\data\\", f"ngram 1={len(words)}", f"ngram 2={len(grams)}", f"ngram 3={len(longer)}", ""]
    number = lambda: f"{-source.uniform(0.2, 2):.4f}"  # noqa: E731
    lines += ["\\1-grams:", *(f"{number()}\t{word}\t{number()}" for word in words), ""]
    lines += ["\\2-grams:", *(f"{number()}\t{' '.join(gram)}\t{number()}" for gram in grams), ""]
    lines += ["\\3-grams:", *(f"{number()}\t{' '.join(gram)}" for gram in longer), "", "\\end\\", ""]
    path = tmp_path / "lm.arpa"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def write(path: Path, rules: Sequence[Rule]) -> Path:
    path.write_text("".join(map(grammars._line, rules)), encoding="utf-8")
    return path


def random_rules(source: random.Random, labels: Sequence[str] = ("X", "X", "Y"), size: int = 14) -> list[Rule]:
    made: dict[Any, Rule] = {}
    while len(made) < size:
        gaps = [NonTerminal(source.choice(labels), k + 1) for k in range(source.choice((0, 0, 1, 1, 2, 3)))]
        left: list[str | NonTerminal] = list(gaps)
        right: list[str | NonTerminal] = source.sample(gaps, len(gaps))
        for _ in range(source.randint(0 if len(gaps) > 1 else 1, 2)):
            left.insert(source.randint(0, len(left)), source.choice(WORDS))
        for _ in range(source.randint(0, 2)):
            right.insert(source.randint(0, len(right)), source.choice(TARGETS))
        rule = Rule(source.choice(labels), tuple(left), tuple(right), ("p",), (round(source.uniform(-1, 1), 2),))
        made.setdefault((rule.lhs, rule.source, rule.target), rule)
    return list(made.values())


def decoded(
    host: Host,
    name: str,
    resources: Resources,
    sentences: Sequence[Sentence],
    weights: dict[str, float],
    **options: Any,
) -> list[Decoding]:
    decoder = host.registry.make("decoders", {"name": name, **options}, given={"resources": resources})
    return list(decoder.decode(sentences, Model(weights), graphs=True))


def sum_of(found: Derivations) -> dict[str, float]:
    """The features of all derivations, added up."""
    rows = [row.features() for row in found]
    return dict(zip(found.graph.names[:], sum(rows).tolist(), strict=True)) if rows else {}  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", seeds(24))
def test_all_derivations_are_those_of_hiero(seed: int, host: Host, tmp_path: Path, model_file: Path) -> None:
    """With a language model, each convention, grammars of their own: the same derivations with the same scores."""
    source = random.Random(seed)
    markers = seed % 3 == 2
    marked = "rules" if markers else "sentence"
    specs = [*FEATURES, f"lm,path={model_file},base=10,oov=true,markers={marked}"]
    features = tuple(activate(host.registry, specs))
    tables = [RuleTable(write(tmp_path / "one.txt", random_rules(source, size=22)), owner="one")]
    unknown = seed % 3 == 1  # only then does it matter at which place a word is known
    tables.append(
        RuleTable(write(tmp_path / "two.txt", random_rules(source, size=5)), max_span=2 if unknown else NO_LIMIT)
    )
    own = str(write(tmp_path / "own.txt", random_rules(source, size=4)))
    sentences = [Sentence("empty", ())]
    for number in range(5):
        words = tuple(source.choice("aaabbbcccd") for _ in range(source.randint(1, 5)))
        sentences.append(Sentence(str(number), words, grammars=(own,) if number % 2 else ()))
    names = ("p", "word-penalty", "source", "phrases", "oov", "glue", "lm[0]", "lm[1]")
    weights = {name: round(source.uniform(-1, 1), 3) for name in names}
    options = {
        "search": "full",
        "markers": markers,
        "glue": seed % 4 != 3,
        "goal": ("S", "X")[seed % 4 == 3],
        "max_span": (None, 3)[seed % 2],
        "pass_through": ("all", "unknown", "none")[seed % 3],
    }
    resources = Resources(tuple(tables), features)
    both = [decoded(host, name, resources, sentences, weights, **options) for name in ("hiero", "reference")]
    for theirs, ours in zip(*both, strict=True):
        assert ours.found == theirs.found
        assert ours.graph is not None and theirs.graph is not None
        lists = [kbest(one.graph(), k=MOST) for one in (theirs, ours)]  # type: ignore[misc]
        assert lists[1].scores.tolist() == pytest.approx(lists[0].scores.tolist(), abs=1e-4)
        if not ours.found:
            assert (ours.best, ours.score, ours.graph().nodes) == ("", None, 0)
            continue
        assert ours.score == pytest.approx(theirs.score, abs=1e-4)
        if len(lists[0]) < MOST:
            sums = [sum_of(one) for one in lists]
            for name in {*sums[0], *sums[1]}:
                assert sums[1].get(name, 0.0) == pytest.approx(sums[0].get(name, 0.0), rel=1e-4, abs=1e-3), name
        if len(lists[0]) == 1 or lists[0].scores[0] > lists[0].scores[1] + 1e-3:
            assert ours.best == theirs.best
            for name in {*ours.features, *theirs.features}:
                assert ours.features.get(name, 0.0) == pytest.approx(theirs.features.get(name, 0.0), abs=1e-4)


def test_pruning_never_finds_better_and_more_pops_never_worse(host: Host, tmp_path: Path, model_file: Path) -> None:
    source = random.Random(3)
    features = tuple(activate(host.registry, [f"lm,path={model_file}"]))
    resources = Resources((RuleTable(write(tmp_path / "rules.txt", random_rules(source, size=30))),), features)
    sentences = [Sentence(str(i), tuple(source.choice(WORDS) for _ in range(6))) for i in range(6)]
    weights = {"p": 1.0, "lm": 0.5}
    best = decoded(host, "reference", resources, sentences, weights, search="full")
    totals = []
    for limit in (1, 3, 30, 100_000):
        found = decoded(host, "reference", resources, sentences, weights, pop_limit=limit)
        for one, exact in zip(found, best, strict=True):
            assert one.score is not None and exact.score is not None
            assert one.score <= exact.score + 1e-9
            # What was pruned does not touch the score of what is left.
            assert sum(weights[name] * value for name, value in one.features.items()) == pytest.approx(one.score)
            lm = features[0].feature._model.score_sentences([one.best])[0][0] * features[0].feature._scale
            assert one.features["lm"] == pytest.approx(lm, abs=1e-5)
            assert one.stats["pops"] <= limit * one.stats["nodes"]
        totals.append(sum(one.score or 0.0 for one in found))
    assert totals[0] < totals[2] <= totals[3] == pytest.approx(sum(one.score or 0.0 for one in best))


def test_parse_knows_spans_gaps_and_chains() -> None:
    x, y = NonTerminal("X", 1), NonTerminal("Y", 2)
    rules = [
        Applied(Rule("X", ("a",), ()), "t"),
        Applied(Rule("Y", (x,), (x,)), "t"),
        Applied(Rule("X", (x, "b", y), ()), "t"),
        Applied(Rule("X", ("b", "a"), ()), "t", limit=1),
        Applied(Rule("S", ("b",), ()), "t", from_start=True),
    ]
    chart = {node: [tails for _, tails in cubes] for node, cubes in parse("aba", rules).items()}
    assert chart == {
        (0, 1, "X"): [()],
        (0, 1, "Y"): [((0, 1, "X"),)],
        (2, 3, "X"): [()],
        (2, 3, "Y"): [((2, 3, "X"),)],
        (0, 3, "X"): [((0, 1, "X"), (2, 3, "Y"))],
        (0, 3, "Y"): [((0, 3, "X"),)],
    }


def test_circles_of_unary_rules_are_cut(host: Host, tmp_path: Path) -> None:
    x, y = NonTerminal("X", 1), NonTerminal("Y", 1)
    rules = [Rule("X", ("a",), ("A",), ("p",), (1.0,)), Rule("Y", (x,), (x,)), Rule("X", (y,), (y,), ("p",), (1.0,))]
    resources = Resources((RuleTable(write(tmp_path / "rules.txt", rules)),))
    (found,) = decoded(host, "reference", resources, [Sentence("0", ("a",))], {"p": 1.0}, search="full")
    assert (found.best, found.score) == ("A", 1.0)


def test_what_it_cannot_do_is_an_error(host: Host, tmp_path: Path) -> None:
    table = RuleTable(write(tmp_path / "rules.txt", random_rules(random.Random(1))))
    with pytest.raises(UsageError, match="pop_limit: expected 1 or more, found 0"):
        decoded(host, "reference", Resources((table,)), [], {}, pop_limit=0)
    with pytest.raises(UsageError, match="sentence 0: the decoder `reference` takes sentences, not lattices"):
        decoded(host, "reference", Resources((table,)), [Sentence("0", (), lattice=GraphBuilder().graph("0", ()))], {})
    with pytest.raises(UsageError, match="does not support `limit`"):
        decoded(host, "reference", Resources((replace(table, limit=3),)), [Sentence("0", ("a",))], {})
    (tmp_path / "scores").write_text("1\n")
    features = tuple(activate(host.registry, [f"column,path={tmp_path / 'scores'}"]))
    with pytest.raises(UsageError, match="'column' has neither score_rules nor start"):
        decoded(host, "reference", Resources((table,), features), [], {})


def test_the_method_is_short() -> None:
    assert len((README.parent / "chart.py").read_text().splitlines()) < 150


def test_the_example_prints_what_the_readme_says(tmp_path: Path) -> None:
    code, printed = re.search(r"```python\n(.*?)```.*?```\n(.*?)```", README.read_text(), re.DOTALL).groups()  # type: ignore[union-attr]
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == printed


@pytest.mark.shared
def test_sentences_of_cdec(host: Host, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real grammars and a 4-gram model: as good as hiero within pruning, and scored as an independent sum says."""
    monkeypatch.chdir(shared / "gold/cdec")
    weights = host.read_weights("weights.tuned")
    found = {}
    for name in ("hiero", "reference"):
        options = {"pop_limit": 30, "max_span": 15}
        config = replace(load_config("cdec.ini"), decoder=Spec(name, options))
        system = make_translator(host, config, weights, "off")
        sentences = list(read_sentences(host, "test300.in"))[:5]
        found[name] = list(system.decode(sentences))
    lm = next(one.feature for one in activate(host.registry, ["lm,path=lm/en.4.klm,base=10"]))
    for theirs, ours in zip(*found.values(), strict=True):
        assert ours.score is not None
        assert ours.score == pytest.approx(theirs.score, abs=0.02)
        assert sum(weights.get(name, 0.0) * value for name, value in ours.features.items()) == pytest.approx(ours.score)
        assert ours.features["LanguageModel"] == pytest.approx(lm._model.score_sentences([ours.best])[0][0], abs=1e-4)
