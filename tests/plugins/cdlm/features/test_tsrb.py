"""Bigrams of rules: the paper's example, counts against a plain loop, names in files of weights and lists."""

from __future__ import annotations

import collections
import io
import itertools
import string
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import smtplugins as smt
from smtformats import Candidates, Columns, Format, FormatError, all_formats
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest.shared.structure import tree_of
from smtformats.tree.trees import Tree
from smtplugins.cli.main import main
from smtplugins.contracts.errors import UsageError
from smtplugins.core.grammar.rules import Rules
from smtplugins.core.vocabulary import Vocabulary
from smtplugins.plugins.cdlm.features.classes import ClassMap
from smtplugins.plugins.cdlm.features.tsrb import Alphabet, Tsrb, bigram_of, feature_name, rules_of_trees
from smtplugins.testing import samples

Side = Sequence[str | int]
WORDS = ClassMap({one: one for one in ("of", "the", "a", "b")})


def counted(side: Side, classes: ClassMap) -> dict[str, float]:
    """What is counted, word by word."""
    found: collections.Counter[str] = collections.Counter()
    for left, right in itertools.pairwise(side):
        if "<s>" in (left, right) or "</s>" in (left, right):
            continue
        found[feature_name(*(None if isinstance(one, int) else classes.of(one) for one in (left, right)))] += 1
    return dict(found)


def rows(columns: Columns) -> list[dict[str, float]]:
    return [columns.row(i) for i in range(len(columns))]


def test_the_papers_example() -> None:
    """X -> <X0 of X1, X0 of the X1>."""
    rules = Rules.from_targets([[0, "of", "the", 1]])
    assert rows(Tsrb.of(WORDS).score_rules(rules)) == [{"tsrb:X_of": 1, "tsrb:of_the": 1, "tsrb:the_X": 1}]


def test_a_bigram_counts_as_often_as_it_is_there() -> None:
    rules = Rules.from_targets([["a", "b", "a", "b", 0, 1], ["a"], [], [0, "zebra", "yak"]])
    assert rows(Tsrb.of(WORDS).score_rules(rules)) == [
        {"tsrb:a_b": 2, "tsrb:b_a": 1, "tsrb:b_X": 1, "tsrb:X_X": 1},
        {},
        {},
        {"tsrb:X_<other>": 1, "tsrb:<other>_<other>": 1},
    ]


def test_counts_are_those_of_a_plain_loop() -> None:
    sides = [*samples.rules(count=200), ["<s>", 0, "a"], ["a", "</s>"], [0, "</s>"]]
    classes = ClassMap({"a": "V", "b": "C", "c": "C", "é": "V"})
    feature = Tsrb.of(classes)
    wanted = [counted(side, classes) for side in sides]
    assert rows(feature.score_rules(Rules.from_targets(sides))) == wanted
    # Some rules of a longer column, and words that come later to the same vocabulary.
    words = Vocabulary(["unused"])
    for first in range(0, len(sides), 7):
        some = Rules.from_targets(sides[first : first + 7], words)
        assert rows(feature.score_rules(some)) == wanted[first : first + 7]
    every = Rules.from_targets(sides)
    part = Rules(every.vocabulary, every.symbols, every.offsets[3:9])
    assert rows(feature.score_rules(part)) == wanted[3:8]


def test_weighted_sums() -> None:
    sides = samples.rules(count=120)
    classes = ClassMap({"a": "V", "b": "C", "c": "C", "é": "V"})
    alphabet = Alphabet(classes)
    rules = Rules.from_targets(sides)
    names = [feature_name(left, right) for left in ("V", "C", None) for right in ("V", None)]
    weights = {name: 0.1 * k - 0.2 for k, name in enumerate(names)}
    found = alphabet.weighted(weights).sums(alphabet.bigrams(rules), len(rules))
    wanted = [sum(weights.get(name, 0.0) * n for name, n in counted(side, classes).items()) for side in sides]
    assert found == pytest.approx(wanted)
    assert not alphabet.weighted({}).sums(alphabet.bigrams(rules), len(rules)).any()
    with pytest.raises(UsageError, match="weight 'tsrb:V_N': expected `tsrb:` and two of the 3 classes, or X"):
        alphabet.weighted({"tsrb:V_N": 1.0})


ODD = [
    "X",
    "_",
    "a_b",
    "100%",
    "%58",
    "=",
    "|",
    "a:b",
    "#",
    "[0]",
    "(",
    "é",
    "\u00a0",
    "\u2028",
    "🙂",
    "<other>",
    "-1",
    "'s",
    '"',
]


def test_names_can_be_read_again() -> None:
    every: list[str | None] = [None, *ODD]
    names = {}
    for left in every:
        for right in every:
            name = feature_name(left, right)
            assert bigram_of(name) == (left, right)
            assert names.setdefault(name, (left, right)) == (left, right)
    assert feature_name(None, "X") == "tsrb:X_%58"
    assert [bigram_of(name) for name in ("tsrb:a", "tsrb:a_b_c", "tsrb:_b", "lm", "other:a_b")] == [None] * 5


@pytest.mark.parametrize("kind", ["weights", "nbest"])
def test_names_fit_into_files(kind: str) -> None:
    """All formats that can hold a sparse feature at all hold these."""
    printable = [one for one in string.printable if not one.isspace()]
    names = [feature_name(one, None) for one in (*ODD, *printable)]
    weights = {name: float(k + 1) for k, name in enumerate(names)}
    fit = []
    for record in all_formats():
        if record.kind != kind or record.write is None or record.parse is None or record.binary:
            continue

        def again(values: dict[str, float], record: Format = record) -> dict[str, float]:
            out = io.StringIO()
            one = Candidates("0", ["a b"], [tuple(values)], [list(values.values())], totals=[1.0])
            record.write([values] if kind == "weights" else [one], out, shortest)
            (found,) = record.parse(Lines(io.BytesIO(out.getvalue().encode()), "x"))
            return dict(found) if kind == "weights" else dict(zip(found.layouts[0], found.values[0], strict=True))

        try:
            plain = {"sparse:a_b": 1.0}
            if again(plain) != plain:
                continue
        except (FormatError, ValueError):
            continue
        fit.append(record.name)
        assert again(weights) == weights, record.name
    assert len(fit) >= 5, fit


def tree(text: str) -> Tree:
    found = tree_of(text)
    assert found is not None
    return found


def test_trees_of_lists() -> None:
    trees = ["(GOAL{0-5} (GOAL{0-4} (GOAL{0-1} <s>) (X{1-4} (X{1-2} a) of the (X{3-4} b))) </s>)", "[S [X a b] [X of]]"]
    rules, owners = rules_of_trees([tree(one) for one in trees])
    assert len(rules) == len(owners) == 9
    one = Candidates("0", ["a of the b", "a b of"], [()] * 2, [[]] * 2, extras={"tree": trees})
    assert rows(Tsrb.of(WORDS).score_candidates(None, one)) == [
        {"tsrb:X_of": 1, "tsrb:of_the": 1, "tsrb:the_X": 1, "tsrb:X_X": 1},
        {"tsrb:X_X": 1, "tsrb:a_b": 1},
    ]


def test_lists_without_trees_are_refused(tmp_path: Path) -> None:
    WORDS.write(tmp_path / "classes.txt")
    host = smt.load_plugins()
    one = Candidates("0", ["a b"], [()], [[]])
    spec = f"tsrb,classes={tmp_path}/classes.txt"
    with pytest.raises(UsageError, match="feature 'tsrb' needs the derivation: lists have it as trees"):
        list(host.score([one], [spec]))
    with pytest.raises(
        UsageError, match="<data>:1: feature 'tsrb': expected a tree for hypothesis 0, found an empty one"
    ):
        list(host.score([Candidates("0", ["a b"], [()], [[]], extras={"tree": ["()"]})], [spec]))
    (found,) = host.score([Candidates("0", ["a b"], [()], [[]], extras={"tree": ["(S a b)"]})], [spec])
    assert found.features().row(0) == {"tsrb:a_b": 1.0}


def test_one_file_of_classes(tmp_path: Path) -> None:
    WORDS.write(tmp_path / "classes.txt")
    path = tmp_path / "classes.txt"
    with pytest.raises(UsageError, match="expected a file of classes as `classes` or as `path`, found none"):
        Tsrb()
    with pytest.raises(UsageError, match="found both"):
        Tsrb(path, path=path)
    assert Tsrb(path).alphabet.names == Tsrb(path=path).alphabet.names == ("<other>", "a", "b", "of", "the")


def test_no_rules() -> None:
    feature = Tsrb.of(WORDS)
    assert rows(feature.score_rules(Rules.from_targets([]))) == []
    assert rows(feature.score_rules(Rules.from_targets([[], []]))) == [{}, {}]
    assert np.array_equal(feature.score_rules(Rules.from_targets([["a", "b"]])).offsets, [0, 1])


def test_lists_of_decoders_have_the_open_names_alone(tmp_path: Path) -> None:
    example = Path(__file__).resolve().parents[4] / "examples/decode-hiero"
    WORDS.write(tmp_path / "classes.txt")
    features = f"[{{name: lm, path: {example}/en.arpa}}, {{name: tsrb, path: {tmp_path}/classes.txt}}]"
    (tmp_path / "weights").write_text("EgivenF 0.6\nFgivenE 0.3\nlm 0.9\n")
    command = ["decode", "-c", f"{example}/run.yaml", "--set", f"model.features={features}", "--set", "model.missing=0"]
    command += ["--set", f"model.weights={tmp_path}/weights"]
    assert main([*command, "-i", f"{example}/source.de", "-k", "2", "-o", f"{tmp_path}/lists", "-q"]) == 0
    for one in smt.read(tmp_path / "lists"):
        names = one.names()
        assert "tsrb" not in names
        assert any(name.startswith("tsrb:") for name in names)
