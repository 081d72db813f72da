"""Trained models: saved and loaded; one column that is the same in decoders, on forests and on lists."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtformats import Candidates, Columns
from smtplugins.cli.main import main
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.contracts.spec import Spec
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import viterbi
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.translator import Translator
from smtplugins.host.host import Host
from smtplugins.plugins.cdlm.features.class_making import make_classes, word_counts
from smtplugins.plugins.cdlm.features.classes import ClassMap
from smtplugins.plugins.cdlm.features.model import OverRules, cdlm, load_model, save_model
from smtplugins.plugins.cdlm.features.tsrb import Alphabet, feature_name
from smtplugins.plugins.cdlm.sets.graphs import graph_bigrams, with_rule_columns, with_tsrb

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"
HIERO, CLASSROOM = EXAMPLES / "decode-hiero", EXAMPLES / "classroom"
DECODERS = {
    "hiero": HIERO,
    "reference": HIERO,
    "umt": HIERO,
    "phrase": CLASSROOM,
    "reference-phrase": CLASSROOM,
    "swap": CLASSROOM,
}


def classes_of(example: Path) -> ClassMap:
    return make_classes(word_counts((example / "text.en").read_text(encoding="utf-8").splitlines()), frequent=12)


def weights_of(classes: ClassMap) -> dict[str, float]:
    """Weights of all pairs of classes, and of the two other features."""
    source = random.Random(1)
    names = itertools.product((None, *classes.names), repeat=2)
    return {"blm": 0.7, "wp": -0.3} | {feature_name(*one): source.gauss(0, 1) for one in names}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and a class map for each example."""
    folder = tmp_path_factory.mktemp("models")
    for example in (HIERO, CLASSROOM):
        classes = classes_of(example)
        save_model(folder / example.name, weights_of(classes), classes, {"lines": 34})
        classes.write(folder / f"{example.name}.classes")
    return folder


def translator(host: Host, models: Path, decoder: str, *, others: Mapping[str, float], own: float = 0.0) -> Translator:
    """The example's features and, behind them, the model's own ones, its part over rules and all of it."""
    example = DECODERS[decoder]
    config = load_config(example / "run.yaml")
    lm = example / "en.arpa"
    features = [
        f"blm,path={lm}",
        "word-penalty,name=wp,value=1",
        f"tsrb,path={models}/{example.name}.classes",
        f"cdlm,name=part,path={models}/{example.name}",
        f"cdlm,name=all,path={models}/{example.name},parts=all,lm_path={lm}",
    ]
    model = replace(config.model, features=(*config.model.features, *map(Spec.parse, features)))
    options = {**dict(config.decoder.options)} if decoder in ("hiero", "phrase") else {}
    config = replace(config, model=model, decoder=Spec(decoder, options))
    given = host.read_weights(example / "weights")
    return host.translator(config, weights={**given, **others}, cache="off")


def sentences(example: Path, count: int, words: int | None = None) -> list[Sentence]:
    lines = (example / "source.de").read_text(encoding="utf-8").splitlines()[:count]
    return [Sentence(str(i), tuple(line.split()[:words])) for i, line in enumerate(lines)]


def decoded(
    made: Translator, example: Path, count: int = 5, threads: int = 1, words: int | None = None
) -> Iterator[Decoding]:
    return made.decoder.decode(sentences(example, count, words), made.model, threads=threads, graphs=True)


def worth(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


def pairs_of(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in weights.items() if name.startswith("tsrb:")}


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("weighted", ["part", "all", "tsrb"])
def test_columns_are_sums_of_features_in_every_decoder(host: Host, models: Path, decoder: str, weighted: str) -> None:
    """Whichever of them the search goes by."""
    weights = load_model(models / DECODERS[decoder].name).weights
    pairs = pairs_of(weights)
    others = pairs if weighted == "tsrb" else {weighted: 1.0}
    found = 0
    words = 5 if decoder == "reference-phrase" else None  # it looks at all that can be
    for one in decoded(translator(host, models, decoder, others=others), DECODERS[decoder], 3, words=words):
        features = dict(one.features)
        assert features["part"] == pytest.approx(worth(features, pairs), abs=1e-4)
        assert features["all"] == pytest.approx(worth(features, weights), abs=1e-4)
        found += sum(name.startswith("tsrb:") for name in features)
    assert found


def tree_of(graph: Hypergraph, edges: list[int]) -> str:
    """A derivation, its edges from the goal down, as brackets."""
    waiting = iter(edges)

    def below() -> str:
        edge = next(waiting)
        rule = graph.grammar.rule(int(graph.rules[edge]))
        tails = [below() for _ in graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]]]
        inner = (one if isinstance(one, str) else tails[one.index - 1] for one in rule.target)
        return f"({rule.lhs}{{0-1}} {' '.join(inner)})"

    return below()


def test_decoders_forests_and_lists_agree(host: Host, models: Path) -> None:
    """The same derivation on a list with trees, and columns put on a forest that has none of them."""
    model = load_model(models / HIERO.name)
    pairs = pairs_of(model.weights)
    alphabet, part = Alphabet(classes_of(HIERO)), OverRules(model)
    specs = [
        f"tsrb,path={models}/{HIERO.name}.classes",
        f"cdlm,name=part,path={models}/{HIERO.name}",
        f"cdlm,name=all,path={models}/{HIERO.name},parts=all,lm_path={HIERO}/en.arpa",
    ]
    for one in decoded(translator(host, models, "hiero", others={"all": 0.5}), HIERO, 9):
        assert one.graph is not None
        graph = one.graph()
        own = [k for k, name in enumerate(graph.names) if name.startswith("tsrb:")]
        bare = stripped(graph)
        again = with_part(with_tsrb(bare, alphabet), rule_scores(part, bare))
        for rule in range(len(graph.grammar)):
            named = {name: value for name, value in graph.rule_features(rule).items() if name.startswith("tsrb:")}
            found = again.rule_features(rule)
            assert found.pop("part", 0.0) == pytest.approx(worth(named, pairs), abs=1e-4)
            assert found == named
        assert own
        best = viterbi(graph)
        assert best is not None
        listed = Candidates("0", [best.text], [()], [[]], extras={"tree": [tree_of(graph, best.edges.tolist())]})
        (scored,) = host.score([listed], specs)
        row = scored.features().row(0)
        wanted = {name: value for name, value in dict(one.features).items() if name.startswith("tsrb:") and value}
        assert {name: value for name, value in row.items() if name.startswith("tsrb:")} == wanted
        assert row["part"] == pytest.approx(one.features["part"], abs=1e-4)
        assert row["all"] == pytest.approx(one.features["all"], abs=1e-4)


def test_forests_of_phrases(host: Host, models: Path) -> None:
    """The gap before a phrase is no part of it."""
    alphabet, part = Alphabet(classes_of(CLASSROOM)), OverRules(load_model(models / CLASSROOM.name))
    weights = pairs_of(load_model(models / CLASSROOM.name).weights)
    for one in decoded(translator(host, models, "phrase", others={"part": 0.5}), CLASSROOM, 4):
        assert one.graph is not None
        graph = one.graph()
        bare = stripped(graph)
        again = with_tsrb(bare, alphabet)
        for rule in range(len(graph.grammar)):
            named = {name: value for name, value in graph.rule_features(rule).items() if name.startswith("tsrb:")}
            assert again.rule_features(rule) == named
            assert rule_scores(part, bare)[rule] == pytest.approx(worth(named, weights), abs=1e-4)


def rule_scores(part: OverRules, graph: Hypergraph) -> Any:
    """The score of each rule of a graph."""
    return part.pairs.sums(graph_bigrams(graph, part.alphabet), len(graph.grammar))


def with_part(graph: Hypergraph, values: Any) -> Hypergraph:
    """The graph with a feature ``part`` that has a value for each rule."""
    return with_rule_columns(graph, Columns.dense(("part",), np.asarray(values, dtype=np.float64)[:, None]))


def stripped(graph: Hypergraph) -> Hypergraph:
    """The graph without features on rules."""
    return replace(
        graph,
        rule_feature_ids=np.empty(0, np.int32),
        rule_values=np.empty(0, np.float32),
        rule_feature_offsets=np.zeros(len(graph.grammar) + 1, np.int64),
        dense_names=np.empty(0, np.int32),
        dense=np.empty((len(graph), 0), np.float32),
        names=type(graph.names)(b"", np.zeros(1, np.int64)),
    )


def test_forests_are_rescored_with_all_of_a_model(host: Host, models: Path) -> None:
    """``score_forest`` splits nodes by the language model's states; the values are those of the decoder."""
    from smtplugins.host.features.scoring import activate
    from smtplugins.testing.features.forest_scoring import score_forest

    spec = f"cdlm,name=all,path={models}/{HIERO.name},parts=all,lm_path={HIERO}/en.arpa"
    active = activate(host.registry, [spec])
    made = translator(host, models, "hiero", others={})
    for one in decoded(made, HIERO, 4):
        assert one.graph is not None
        bare = stripped(one.graph())
        graph = score_forest(bare.with_scores(np.zeros(len(bare))), active, {"all": 1.0}, exact=True).graph
        best = viterbi(graph)
        assert best is not None
        assert best.features()[list(graph.names).index("all")] == pytest.approx(best.score, abs=1e-3)
        tree = tree_of(graph, best.edges.tolist())
        (row,) = host.score([Candidates("0", [best.text], [()], [[]], extras={"tree": [tree]})], [spec])
        assert row.features().row(0)["all"] == pytest.approx(best.score, abs=1e-3)


def test_native_and_python_scorers_find_the_same(host: Host, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from smtplugins.plugins.cdlm.features.model import Whole

    for decoder in ("hiero", "phrase"):
        example = DECODERS[decoder]
        native = list(decoded(translator(host, models, decoder, others={"all": 1.0}), example, 3))
        with monkeypatch.context() as patch:
            patch.delattr(Whole, "native")
            python = list(decoded(translator(host, models, decoder, others={"all": 1.0}), example, 3))
        for one, other in zip(native, python, strict=True):
            assert one.best == other.best
            assert one.score == pytest.approx(other.score, abs=1e-3)


@pytest.mark.parametrize("decoder", ["hiero", "phrase"])
def test_threads_find_the_same(host: Host, models: Path, decoder: str) -> None:
    example = DECODERS[decoder]
    one, two = (
        [
            (found.best, found.score, dict(found.features))
            for found in decoded(translator(host, models, decoder, others={"all": 0.3, "part": 0.7}), example, 9, jobs)
        ]
        for jobs in (1, 3)
    )
    assert one == two


def test_command_line(tmp_path: Path, models: Path) -> None:
    """``smt score`` on a list with trees, and the same bytes for any number of processes."""
    lines = [f"{k} ||| a dog ||| LM=1 ||| 1 ||| (GOAL{{0-2}} (GOAL{{0-1}} <s>) (X{{1-2}} a dog))\n" for k in range(20)]
    (tmp_path / "list").write_text("".join(lines), encoding="utf-8")
    spec = f"cdlm,path={models}/{HIERO.name}"
    for jobs in ("1", "2"):
        files = ["-i", f"{tmp_path}/list", "-o", f"{tmp_path}/out.{jobs}"]
        assert main(["score", "--feature", spec, *files, "-j", jobs]) == 0
    assert (tmp_path / "out.1").read_bytes() == (tmp_path / "out.2").read_bytes()
    assert b"cdlm=" in (tmp_path / "out.1").read_bytes()


def test_a_model_is_what_was_saved(tmp_path: Path) -> None:
    classes = ClassMap({"a": "A", "b": "B"}, made="given by hand")
    weights = {"blm": 1.0, "tsrb:A_X": 0.1 + 0.2, "wp": -1e-17}
    made = save_model(tmp_path / "m", weights, classes, {"rounds": 3})
    found = load_model(tmp_path / "m")
    assert dict(found.weights) == weights
    assert found.digest() == made.digest()
    assert found.artefacts["classes"] == classes
    about = json.loads((tmp_path / "m/about/about.json").read_text())
    assert about == {"classes": "given by hand", "rounds": 3}
    found.save(tmp_path / "n")
    assert load_model(tmp_path / "n").digest() == made.digest()


def test_what_is_wrong_with_a_model(tmp_path: Path) -> None:
    classes = ClassMap({"a": "A"})
    with pytest.raises(UsageError, match="weight 'OOV': expected weights of blm, wp and tsrb:LEFT_RIGHT"):
        save_model(tmp_path / "x", {"OOV": 1.0}, classes)
    with pytest.raises(UsageError, match="weight 'tsrb:A_B': expected `tsrb:` and two of the 2 classes, or X"):
        save_model(tmp_path / "x", {"tsrb:A_B": 1.0}, classes)
    with pytest.raises(UsageError, match="weight 'tsrb:A_X': expected a class map, found none"):
        save_model(tmp_path / "x", {"tsrb:A_X": 1.0}, None)
    assert not (tmp_path / "x").exists()
    with pytest.raises(SmtError, match=r"expected a saved model, found no model\.json"):
        load_model(tmp_path / "x")
    Model({"blm": 1.0}).save(tmp_path / "other")
    with pytest.raises(SmtError, match="expected a model of plugin cdlm, found another"):
        load_model(tmp_path / "other")
    save_model(tmp_path / "m", {"blm": 1.0, "tsrb:A_X": 1.0}, classes)
    ClassMap({"a": "B"}).save(tmp_path / "m/classes")
    with pytest.raises(SmtError, match="expected the classes that the model was saved with, found others"):
        load_model(tmp_path / "m")
    save_model(tmp_path / "m", {"blm": 1.0, "tsrb:A_X": 1.0}, classes)
    (tmp_path / "m/weights.txt").write_text("blm 2\n")
    with pytest.raises(SmtError, match="expected the model as saved, found changed files"):
        load_model(tmp_path / "m")


def test_parts(tmp_path: Path) -> None:
    save_model(tmp_path / "small", {"blm": 1.0, "wp": 0.5}, None)
    save_model(tmp_path / "m", {"tsrb:A_X": 1.0}, ClassMap({"a": "A"}))
    with pytest.raises(UsageError, match="expected a model with features tsrb, found one without"):
        cdlm(tmp_path / "small")
    with pytest.raises(UsageError, match="parts=all needs lm_path"):
        cdlm(tmp_path / "small", parts="all")
    with pytest.raises(UsageError, match="lm_path is for parts=all"):
        cdlm(tmp_path / "m", lm_path=HIERO / "en.arpa")
    whole = cdlm(tmp_path / "small", parts="all", lm_path=HIERO / "en.arpa")
    texts = ["the dog", "a small fish ."]
    listed = Candidates("0", texts, [()] * 2, [[]] * 2, extras={"tree": ["(S the dog)", "(S a small fish .)"]})
    lm = smt.load_plugins().registry.make("features", f"lm,path={HIERO / 'en.arpa'}").score_candidates(None, listed)
    assert whole.score_candidates(None, listed) == pytest.approx(lm + np.array([1.0, 2.0]))


def test_kit_on_a_model_of_words_alone(tmp_path: Path, host: Host) -> None:
    """Without pairs of classes the derivation does not matter: the checks of features with states hold."""
    from smtplugins.plugins.cdlm.trial import lm_trial
    from smtplugins.testing.features import any_feature as features

    save_model(tmp_path / "m", {"blm": 0.5, "wp": -0.25}, None)
    options: dict[str, Any] = {"path": tmp_path / "m", "parts": "all", "lm_path": lm_trial(tmp_path)["path"]}
    offer = replace(host.registry.entry("features", "cdlm").record, needs=frozenset({"target"}))
    (tmp_path / "kit").mkdir()
    subject = features.subject(offer, tmp_path / "kit", host, options=options)
    done = 0
    for check in features.CHECKS:
        try:
            check(subject)
            done += 1
        except features.DoesNotApply:
            continue
    assert done >= 10
