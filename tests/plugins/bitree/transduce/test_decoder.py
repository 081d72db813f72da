"""The decoder ``bitree`` with models of both kinds: graphs, lists, steps and lines, trees from anywhere, errors."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.core.graph.inference import kbest
from smtplugins.host.decode.built_steps import source_words, target_words
from smtplugins.plugins.bitree.transduce.bitree_graphs import built, hypergraph
from smtplugins.plugins.bitree.transduce.decoder import BitreeDecoder, BitreeOptions
from smtplugins.plugins.bitree.transduce.search import SearchLimits, search
from smtplugins.plugins.bitree.transduce.transducer import Transducer
from smtplugins.plugins.bitree.transduce.transducing import JoinRecipe, learn_discriminative, learn_generative
from tests.plugins.bitree.made_bitrees import bitrees, random_bitree, text, word_model

WEIGHTS = Model({"bitree": 2.0})


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    given = bitrees(1, 80)
    made = {
        "discriminative": learn_discriminative(given, word_model(1, 80), JoinRecipe(least=0.5)),
        "generative": learn_generative(given, iterations=2),
    }
    for name, one in made.items():
        (folder / name).mkdir()
        one.save(folder / name)
    return {name: folder / name for name in made}


def _sentences(seed: int, count: int, *, annotated: bool = True) -> tuple[list[Sentence], list[str]]:
    found, references = [], []
    for number, (tree, target, _) in enumerate(text(seed, count)):
        words = tuple(word for word in tree.replace("(", " ").replace(")", " ").split() if word.islower())
        found.append(Sentence(str(number), words, annotations={"src_tree": tree} if annotated else {}))
        references.append(target)
    return found, references


@pytest.mark.parametrize("kind", ["discriminative", "generative"])
def test_translations_graphs_and_steps(models: dict[str, Path], kind: str) -> None:
    sentences, references = _sentences(7, 12)
    decoder = BitreeDecoder(options=BitreeOptions(model_path=models[kind]))
    found = list(decoder.decode(sentences, WEIGHTS, graphs=True))
    assert [one.best for one in found] == references
    for one, sentence, plain in zip(found, sentences, decoder.decode(sentences, WEIGHTS), strict=True):
        assert (plain.best, plain.score, plain.features) == (one.best, one.score, one.features)
        assert plain.graph is None
        assert one.graph is not None and one.built is not None and one.trace is not None and one.score is not None
        best = kbest(one.graph(), k=5)
        assert best.texts()[0] == one.best
        assert math.isclose(best.scores[0], one.score, rel_tol=1e-6)
        assert math.isclose(one.score, 2.0 * one.features["bitree"])
        steps = list(one.built())
        assert source_words(steps) == sentence.tokens
        assert target_words(steps) == tuple(one.best.split())
        assert math.isclose(sum(step.score for step in steps), one.score)
        assert len(list(one.trace())) == len(steps) + 1


def test_graphs_have_all_derivations() -> None:
    draw = random.Random(3)
    made = learn_generative([random_bitree(draw, draw.randrange(1, 5)) for _ in range(40)], iterations=2)
    for _ in range(10):
        tree = random_bitree(draw, draw.randrange(1, 5)).tree
        found = search(tree, made.start(tree), SearchLimits(0.0, 0), every=True)

        def ways(item: object) -> list[float]:
            return [
                sum((edge.cost, *some))
                for edge in item.edges  # type: ignore[attr-defined]
                for some in _product([ways(part) for part in edge.parts])
            ]

        wanted = sorted(-(value + more) for item, more in found.roots for value in ways(item))[::-1]
        scores = kbest(hypergraph(found, 1.0), k=len(wanted) + 1).scores.tolist()
        assert len(scores) == len(wanted)
        assert all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6) for a, b in zip(scores, wanted, strict=True))
        assert math.isclose(sum(step.score for step in built(found, 1.0)), -found.cost)


def _product(lists: list[list[float]]) -> list[tuple[float, ...]]:
    import itertools

    return list(itertools.product(*lists))


def test_trees_of_a_file(models: dict[str, Path], tmp_path: Path) -> None:
    sentences, references = _sentences(8, 4, annotated=False)
    lines = [tree for tree, _, _ in text(8, 4)]
    (tmp_path / "trees").write_text("".join(f"{line}\n" for line in [*lines[:3], "()"]))
    decoder = BitreeDecoder(options=BitreeOptions(model_path=models["discriminative"], trees_path=tmp_path / "trees"))
    found = list(decoder.decode(sentences, WEIGHTS))
    assert [one.best for one in found[:3]] == references[:3]
    # One that the parser did not parse is translated with another tree.
    assert [one.stats["without_tree"] for one in found] == [0, 0, 0, 1]
    assert sorted(found[3].best.split()) == sorted(references[3].split())


def test_what_is_not_there(models: dict[str, Path], tmp_path: Path) -> None:
    sentences, _ = _sentences(8, 1, annotated=False)
    path = models["discriminative"]
    with pytest.raises(SmtError, match="sentence 0: expected a source tree"):
        list(BitreeDecoder(options=BitreeOptions(model_path=path)).decode(sentences, WEIGHTS))
    unknown = Sentence("0", ("zzz", "yyy"), annotations={"src_tree": "(S (X zzz) (Y yyy))"})
    for kind in models:
        one = next(BitreeDecoder(options=BitreeOptions(model_path=models[kind])).decode([unknown], WEIGHTS))
        assert (one.best, one.found) == ("", True)
        empty = next(
            BitreeDecoder(options=BitreeOptions(model_path=models[kind])).decode(
                [Sentence("0", ())], WEIGHTS, graphs=True
            )
        )
        assert (empty.best, empty.score, empty.graph().nodes) == ("", 0, 0)  # type: ignore[misc]
    for options, message in (
        ({"threshold": 2.0}, "threshold: expected a probability, found 2.0"),
        ({"cell_size": -1}, "cell_size: expected 0 or more, found -1"),
        ({"configuration": "W"}, "expected a configuration of mixture, best, WD, found 'W'"),
    ):
        with pytest.raises(UsageError, match=message):
            BitreeDecoder(options=BitreeOptions(model_path=path, **options))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected a weight of 'bitree' that is not negative"):
        list(BitreeDecoder(options=BitreeOptions(model_path=path)).decode(sentences, Model({"bitree": -1.0})))
    with pytest.raises(SmtError, match="transducer"):
        Transducer.load(tmp_path)
