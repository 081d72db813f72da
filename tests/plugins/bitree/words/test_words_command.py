"""`smt bitree words` and the decoder `bag`: what they leave, what they say, what they refuse."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import smtplugins as smt
from smtplugins.cli.main import main
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.plugins.bitree.boosting.boosted_model import costs
from smtplugins.plugins.bitree.boosting.examples import Examples
from smtplugins.plugins.bitree.words.bag import Bag, BagOptions
from smtplugins.plugins.bitree.words.material import count_links, rows_like, training_rows
from smtplugins.plugins.bitree.words.predicting import Mixture, bags, predict_boosted
from smtplugins.plugins.bitree.words.texts import read_text, with_trees
from smtplugins.plugins.bitree.words.word_model import WordModel
from smtplugins.plugins.bitree.words.word_training import PathOptions, chosen_configurations, train_words

TREES = {
    "it sees a bank": "(S (NP (PRP it)) (VP (VBZ sees) (NP (DT a) (NN bank))))",
    "it robs a bank": "(S (NP (PRP it)) (VP (VBZ robs) (NP (DT a) (NN bank))))",
    "a bank": "(NP (DT a) (NN bank))",
    "it sees it": "(S (NP (PRP it)) (VP (VBZ sees) (NP (PRP it))))",
}
FRENCH = {"it": "il", "sees": "voit", "robs": "vole", "a": "une"}


def _write(folder: Path, name: str, count: int, seed: int) -> None:
    draw = random.Random(seed)
    lines = [draw.choice(sorted(TREES)) for _ in range(count)]
    french, links = [], []
    for line in lines:
        bank = "banque" if "robs" in line else "rive"
        words = line.split()
        french.append(" ".join({**FRENCH, "bank": bank}[word] for word in words))
        links.append(" ".join(f"{i}-{i}" for i in range(len(words))))
    for kind, texts in (("en", lines), ("fr", french), ("align", links), ("tree", [TREES[one] for one in lines])):
        (folder / f"{name}.{kind}").write_text("".join(f"{one}\n" for one in texts), encoding="utf-8")


@pytest.fixture(autouse=True, name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    _write(tmp_path, "train", 60, 1)
    _write(tmp_path, "tune", 20, 2)
    monkeypatch.chdir(tmp_path)
    return tmp_path


TEXT = "-s train.en -t train.fr -a train.align --tune tune.en --tune-ref tune.fr --tune-alignment tune.align"
WITH_TREES = f"{TEXT} --trees train.tree --tune-trees tune.tree"


def run(text: str) -> int:
    return int(main(["bitree", *text.split()]))


def test_words_are_learnt_and_translated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"words {TEXT} --least 0.5 -o model") == 0
    said = capsys.readouterr().err
    assert "5 source words, 6 classifiers" in said
    assert "W: lambda " in said
    assert "100.00 % right on the tuning text" in said
    kept = sorted(one.name for one in Path("model").iterdir())
    assert kept == ["W", "WC", "mixture.tsv", "run.yaml", "weights", "words.json"]
    assert main("decode -c model/run.yaml -i tune.en -o found -q".split()) == 0
    assert Path("found").read_text() == Path("tune.fr").read_text()
    # The same again, with threads, is the same to the byte.
    assert run(f"words {TEXT} --least 0.5 -o again -j 3 -q") == 0
    assert capsys.readouterr().err == ""
    for one in Path("model").rglob("*"):
        if one.is_file():
            assert (Path("again") / one.relative_to("model")).read_bytes() == one.read_bytes(), one


def test_trees_bring_dependency_atoms(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"words {WITH_TREES} --least 0.5 -o model --configuration W+D --configuration W") == 0
    model = WordModel.load(Path("model"))
    assert list(model.models) == ["WD", "W"]
    assert model.trees == "constituents"
    assert model.trained["configurations"]["WD"]["tuning"] == 100
    bag = Bag(options=BagOptions(model_path=Path("model"), configuration="W+D", trees_path=Path("tune.tree")))
    lines = Path("tune.en").read_text().splitlines()
    sentences = [Sentence(str(i), tuple(line.split())) for i, line in enumerate(lines)]
    found = [one.best for one in bag.decode(sentences, Model({}))]
    assert found == Path("tune.fr").read_text().splitlines()
    own = Bag(options=BagOptions(model_path=Path("model"), configuration="WD"))
    marked = Sentence("x", ("a", "bank"), annotations={"src_tree": TREES["a bank"]})
    assert [one.best for one in own.decode([marked], Model({}))] == ["une rive"]
    for sentence, text in (
        (Sentence("7", ("a", "bank")), "sentence 7: expected a source tree"),
        (Sentence("7", ("a",), annotations={"src_tree": TREES["a bank"]}), "expected a tree of its words 'a'"),
        (Sentence("7", ("a",), annotations={"src_tree": "(X"}), "src_tree: expected"),
    ):
        with pytest.raises(SmtError, match=text.replace("(", r"\(")):
            list(own.decode([sentence], Model({})))
    with pytest.raises(SmtError, match="expected a tree of sentence 99"):
        list(bag.decode([Sentence("99", ("a",))], Model({})))
    # Without D no tree is needed.
    assert [
        one.best
        for one in Bag(options=BagOptions(model_path=Path("model"), configuration="W")).decode(
            [sentences[0]], Model({})
        )
    ]


def test_a_decoding_is_what_the_rows_of_its_text_say(folder: Path) -> None:
    host = smt.load_plugins()
    training, tuning = (read_text(host, *(Path(f"{name}.{end}") for end in ("en", "fr", "align")))
                        for name in ("train", "tune"))  # fmt: skip
    model = train_words(training, tuning, ("W", "WC"), PathOptions(0.5), lambda text: None)
    counts = count_links(training)
    rows = rows_like(tuning, counts, training_rows(training, counts))
    (folder / "kept").mkdir()
    model.save(folder / "kept")
    again = WordModel.load(folder / "kept")
    assert again.mixture == model.mixture
    assert again.models["W"].digest() == model.models["W"].digest()
    for letters in ("W", "WC"):
        wanted = bags(rows, predict_boosted(model.models[letters], rows), len(tuning))
        bag = Bag(options=BagOptions(model_path=folder / "kept", configuration=letters))
        sentences = [Sentence(str(i), one.source) for i, one in enumerate(tuning)]
        decodings = list(bag.decode(sentences, Model({"bag": 2.0})))
        assert [one.best.split() for one in decodings] == wanted
        for pair, one in zip(tuning, decodings, strict=True):
            given = again.confidences(pair.source, None, letters)
            cost = sum(float(costs(h).min()) for _, h in given)
            assert one.features["bag"] == pytest.approx(-cost)
            assert one.score == pytest.approx(-2 * cost)
    # An unknown word becomes nothing; an empty sentence is one.
    assert again.confidences(("zebra",))[0][0] == ("",)
    assert [one.best for one in bag.decode([Sentence("0", ("zebra",)), Sentence("1", ())], Model({}))] == ["", ""]


def test_a_mixture_uses_what_it_says(folder: Path) -> None:
    assert run(f"words {TEXT} --least 0.5 -o model -q") == 0
    given = WordModel.load(Path("model"))
    model = WordModel(given.models, Mixture("W", {"bank": "WC"}))
    words = ("it", "robs", "a", "bank")
    found = model.confidences(words)
    rows = {name: model.confidences(words, None, name) for name in ("W", "WC")}
    for at in range(4):
        assert np.array_equal(found[at][1], rows["WC" if at == 3 else "W"][at][1])
    examples = Examples.of([["w-2=robs", "w-1=a", "w+1=</s>", "w+2=</s>", *(f"w={one}" for one in words)]],
                           model.models["W"].atoms)  # fmt: skip
    assert np.array_equal(model.models["W"].scores("bank", examples)[0], rows["W"][3][1])


def test_what_cannot_be_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"words {TEXT} --configuration W+D -o model -q") == 2
    assert "expected configurations of W, W+C, found 'WD' (which needs source trees)" in capsys.readouterr().err
    assert chosen_configurations(["W+C", "WC"], False) == ("WC",)
    assert run(f"words {TEXT} --least 0 -o model -q") == 2
    assert "expected the path to end at a lambda above 0" in capsys.readouterr().err
    assert not Path("model").exists()
    assert run(f"words {TEXT} -o model -q") == 0
    with pytest.raises(UsageError, match="expected a configuration of mixture, best, W, WC, found 'D'"):
        Bag(options=BagOptions(model_path=Path("model"), configuration="D"))
    _spoil(Path("model/mixture.tsv"), lambda text: "bank X\n", "expected a word and one of W, WC")
    _spoil(Path("model/words.json"), lambda text: text.replace('"best": "W', '"best": "X'), "expected configurations")
    _spoil(Path("model/words.json"), lambda text: json.dumps({"version": 0}), "expected version 1")


def _spoil(path: Path, change: Callable[[str], str], message: str) -> None:
    text = path.read_text()
    path.write_text(change(text))
    with pytest.raises(SmtError, match=message):
        WordModel.load(path.parent)
    path.write_text(text)


def test_words_end_at_blanks_of_ascii_alone(folder: Path) -> None:
    """As in what is decoded, and for whoever made the links."""
    text = "10\u00a0000 a\u2028b x\n"
    (folder / "one").write_text(text)
    (folder / "links").write_text("0-0 2-2\n")
    (pair,) = read_text(smt.load_plugins(), folder / "one", folder / "one", folder / "links")
    assert pair.source == pair.target == ("10\u00a0000", "a\u2028b", "x")


def test_trees_and_links_have_to_fit(folder: Path) -> None:
    host = smt.load_plugins()
    (folder / "one").write_text("a bank\n")
    (folder / "links").write_text("0-0 2-1\n")
    with pytest.raises(SmtError, match="links:1: expected links of 2 and 2 words, found 2-1"):
        read_text(host, folder / "one", folder / "one", folder / "links")
    for trees, message in (
        ("(X (A a) (B bank))\n" * 2, "expected trees of 1 sentences, found more"),
        ("(X (A a) (B tank))\n", "expected the words 'a bank', found 'a tank'"),
    ):
        (folder / "trees").write_text(trees)
        with pytest.raises(SmtError, match=message):
            list(with_trees(host, [("a", "bank")], folder / "trees"))
    (folder / "trees").write_text("(X (A a) (B bank))\n()\n")
    assert list(with_trees(host, [("a", "bank"), ("x",)], folder / "trees"))[1] is None
    with pytest.raises(SmtError, match="expected trees of 3 sentences, found 2"):
        list(with_trees(host, [("a", "bank"), ("x",), ("y",)], folder / "trees"))
