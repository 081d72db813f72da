"""Sentences become forests by the toolkits' conventions, with the scores of all features that have no state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtformats import Columns, GrammarColumns
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import FeatureError, UsageError
from smtplugins.contracts.offers import Offer
from smtplugins.contracts.spec import Spec
from smtplugins.core.grammar.rules import Rules
from smtplugins.host.config.resources import Resources, resources
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import ModelConfig
from smtplugins.host.decode.parsing import SentenceForest, SentenceParser
from smtplugins.host.decode.parsing_options import ParsingOptions
from smtplugins.host.features.rule_columns import blocks_of, column_names
from smtplugins.host.features.scoring import Active

RULES = """\
[X] ||| haus ||| house ||| p=-1
[X] ||| haus ||| home ||| p=-2
[X] ||| haus ||| building ||| p=-3
[X] ||| das [X,1] ||| the [1] ||| p=-0.5
[X] ||| [X,1] [X,2] ||| [2] [1] ||| p=-0.25
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules"
    path.write_text(RULES)
    return path


def made(
    path: Path, features: list[str] | None = None, table: RuleTable | None = None, **options: Any
) -> SentenceParser:
    table = table or RuleTable(path)
    config = ModelConfig((table,), features=tuple(map(Spec.parse, features or [])))
    return SentenceParser(resources(smt.load_plugins().registry, config, cache="off"), ParsingOptions(**options))


def forest(maker: SentenceParser, text: str, weights: Mapping[str, float] | None = None, **more: Any) -> SentenceForest:
    return maker.weighted(weights or {}).forest(Sentence("0", tuple(text.split()), **more))


def shown(found: SentenceForest) -> set[str]:
    """The rules in a forest: left-hand side, source, target."""
    rules = (found.forest.rule(i) for i in range(len(found.scores)))
    return {str((one.lhs, *map(_side, (one.source, one.target)))) for one in rules}


def _side(symbols: tuple[Any, ...]) -> str:
    return " ".join(one if isinstance(one, str) else f"[{one.label}]" for one in symbols)


def rule(lhs: str, source: str, target: str) -> str:
    return str((lhs, source, target))


class TestConventions:
    def test_glue(self, rules: Path) -> None:
        glue = {rule("S", "[X]", "[X]"), rule("S", "[S] [X]", "[S] [X]")}
        assert glue <= shown(forest(made(rules), "haus haus"))
        assert not glue & shown(forest(made(rules, glue=False), "haus haus"))
        found = shown(forest(made(rules, goal="TOP"), "haus haus"))
        assert rule("TOP", "[TOP] [X]", "[TOP] [X]") in found

    def test_marks(self, rules: Path) -> None:
        found = shown(forest(made(rules, markers=True), "haus"))
        assert {rule("S", "<s>", "<s>"), rule("S", "[S] [X]", "[S] [X]"), rule("S", "[S] </s>", "[S] </s>")} <= found
        # Marks are never passed through.
        assert rule("X", "<s>", "<s>") not in found

    @pytest.mark.parametrize(("which", "words"), [("all", {"haus", "xyz"}), ("unknown", {"xyz"}), ("none", set[str]())])
    def test_pass_through(self, rules: Path, which: str, words: set[str]) -> None:
        found = shown(forest(made(rules, pass_through=which), "haus xyz"))
        assert {word for word in ("haus", "xyz") if rule("X", word, word) in found} == words

    def test_a_sentence_without_a_parse_has_an_empty_forest(self, rules: Path) -> None:
        found = forest(made(rules, pass_through="none"), "xyz")
        assert (found.forest.nodes, len(found.scores)) == (0, 0)
        assert forest(made(rules), "").forest.edges == 0

    def test_marked_words(self, rules: Path) -> None:
        assert rule("X", "xyz", "xyz_OOV") in shown(forest(made(rules, mark_oovs=True), "haus xyz"))

    def test_labels_of_unknown_words_have_the_logarithms_of_their_probabilities(self, rules: Path) -> None:
        maker = made(rules, ["oov,value=-100,name=OOVPenalty"], oov_list="X 0.25 N 0.75")
        found = forest(maker, "xyz", {"OOVPenalty": 2.0})
        (one,) = [i for i in range(len(found.scores)) if str(found.forest.rule(i).lhs) == "X"]
        assert found.scores[one] == pytest.approx(2 * math.log(0.25))

    def test_span_limits(self, rules: Path) -> None:
        def swaps(text: str, **options: Any) -> int:
            found = forest(made(rules, **options), text)
            return sum(rule("X", "[X] [X]", "[X] [X]") == one for one in shown(found))

        assert swaps("haus haus") == 1
        assert swaps("haus haus", max_span=1) == 0

    def test_a_table_with_a_span_of_its_own(self, rules: Path) -> None:
        long, short = (RuleTable(rules, max_span=span) for span in (2, 1))
        assert rule("X", "[X] [X]", "[X] [X]") in shown(forest(made(rules, table=long, max_span=1), "haus haus"))
        assert rule("X", "[X] [X]", "[X] [X]") not in shown(forest(made(rules, table=short), "haus haus"))

    def test_long_sentences_are_cut(self, rules: Path) -> None:
        """As in Joshua."""
        maker = made(rules, max_length=2)
        assert forest(maker, "haus haus").forest.edges > 0
        found = forest(maker, "haus haus haus")
        assert found.forest.edges == forest(maker, "haus haus").forest.edges
        assert found.sentence.tokens == ("haus", "haus")

    def test_own_grammars_beside_the_table(self, rules: Path, tmp_path: Path) -> None:
        own = tmp_path / "own"
        own.write_text("[X] ||| hut ||| hat ||| p=-1\n")
        maker = made(rules)
        assert rule("X", "hut", "hat") in shown(forest(maker, "hut haus", grammars=(str(own),)))
        assert rule("X", "hut", "hat") not in shown(forest(maker, "hut haus"))

    def test_no_grammar_at_all(self) -> None:
        with pytest.raises(UsageError, match="expected a grammar: none is configured"):
            forest(SentenceParser(Resources(), ParsingOptions(glue=False)), "haus")


class TestLimits:
    @pytest.mark.parametrize(
        ("weights", "kept"),
        [
            ({"p": 1.0}, {"house", "home"}),
            ({"p": -1.0}, {"building", "home"}),
            ({"p": 0.1, "L": -1.0}, {"house", "home"}),
        ],
    )
    def test_the_best_target_sides_of_a_source_side_are_left(
        self, rules: Path, weights: dict[str, float], kept: set[str]
    ) -> None:
        maker = made(rules, ["length,name=L"], max_options=2, pass_through="none")
        found = shown(forest(maker, "haus", weights))
        assert {word for word in ("house", "home", "building") if rule("X", "haus", word) in found} == kept

    def test_a_tables_own_limit_goes_before(self, rules: Path) -> None:
        maker = made(rules, table=RuleTable(rules, limit=1), max_options=3, pass_through="none")
        assert len([one for one in shown(forest(maker, "haus", {"p": 1.0})) if "'haus'" in one]) == 1


class TestScores:
    def test_weights_times_features_of_rules(self, rules: Path) -> None:
        features = ["word-penalty,value=-2,name=W", "glue,name=G", "pass-through,name=P", "phrase-penalty,name=N"]
        weights = {"p": 0.5, "W": 1.0, "G": 0.25, "P": -4.0, "N": 0.125}
        found = forest(made(rules, features), "das haus xyz", weights)
        for i in range(len(found.scores)):
            named = found.sums([i])
            assert found.scores[i] == pytest.approx(sum(weights.get(k, 0.0) * v for k, v in named.items()), abs=1e-6)
            one = found.forest.rule(i)
            words = sum(isinstance(symbol, str) for symbol in one.target)
            assert named["W"] == -2.0 * words
            assert named["G"] == float(_side(one.source) == "[S] [X]")
            assert named["P"] == float(bool(words) and one.source == one.target)
            # The rule above the goal is nobody's.
            assert named["N"] == float(str(one.lhs) != "Goal")

    def test_features_as_columns_are_the_sums(self, rules: Path) -> None:
        found = forest(made(rules, ["word-penalty,name=W"]), "das haus", {"p": 1.0})
        offsets, ids, values = found.features
        names = found.forest.tables.names
        for i in range(len(found.scores)):
            row = slice(offsets[i], offsets[i + 1])
            listed = {names.word(k): v for k, v in zip(ids[row].tolist(), values[row].tolist(), strict=True)}
            assert listed == pytest.approx({k: v for k, v in found.sums([i]).items() if v})

    def test_features_of_whole_hypotheses_are_refused(self, rules: Path) -> None:
        with pytest.raises(UsageError, match="feature 'external' scores whole hypotheses"):
            made(rules, ["external,command=cat"])

    def test_lengths_of_words_that_are_passed_through(self, rules: Path) -> None:
        found = forest(made(rules, ["pass-through,lengths=6,name=P"]), "haus xyz")
        for i in range(len(found.scores)):
            named = {k: v for k, v in found.sums([i]).items() if k.startswith("P") and v}
            word = _side(found.forest.rule(i).target)
            # Classes of cdec: floor(log 4 / log 1.6) + 1 is 3, that of 3 letters also.
            minted = word in ("haus", "xyz")
            assert named == ({"P": 1.0, "P_3": 1.0} if minted else {})


def active(score: Any, label: str = "mine") -> Active:
    class Feature:
        def score_rules(self, rules: Rules) -> Any:
            return score(rules)

    return Active(label, Offer(name="mine", make=Feature, summary="mine"), Feature())


class TestBlocks:
    @pytest.fixture
    def three(self) -> Rules:
        return Rules.from_targets([["a"], ["b", 0], []])

    def test_one_column_several_and_named_ones(self, three: Rules) -> None:
        blocks = list(
            blocks_of(
                [
                    active(lambda rules: [1, 2, 3], "one"),
                    active(lambda rules: np.ones((3, 2)), "two"),
                    active(lambda rules: Columns.dense(("x", "mine[y]"), np.arange(6.0).reshape(3, 2)), "named"),
                ],
                three,
            )
        )
        assert [one.names for one in blocks] == [("one",), ("two[0]", "two[1]"), ("x", "named[y]")]
        scores = np.ones(3)
        blocks[0].add_scores(scores, {"one": 2.0})
        assert scores.tolist() == [3.0, 5.0, 7.0]
        blocks[2].add_scores(scores, {"x": 1.0, "named[y]": 10.0, "other": 9.0})
        assert scores.tolist() == [13.0, 37.0, 61.0]

    def test_rules_that_are_nobodys(self, three: Rules) -> None:
        (one,) = blocks_of([active(lambda rules: [1, 2, 3])], three, 1)
        assert one.columns[0].tolist() == [1.0, 0.0, 3.0]

    @pytest.mark.parametrize(
        ("score", "message"),
        [
            (lambda rules: [1, 2], "expected a row for each of 3 rules, found shape"),
            (lambda rules: [1, 2, math.nan], "expected finite scores"),
            (lambda rules: 1 / 0, "ZeroDivisionError"),
        ],
    )
    def test_mistakes_name_the_feature(self, three: Rules, score: Any, message: str) -> None:
        with pytest.raises(FeatureError, match=f"feature 'mine' on rules: .*{message}"):
            list(blocks_of([active(score)], three))

    def test_column_names(self) -> None:
        assert column_names(active(len, "f"), 1) == ("f",)
        assert column_names(active(len, "f"), 2) == ("f[0]", "f[1]")


def test_tables_are_read_once(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Path] = []
    load = RuleTable.load

    def counted(self: RuleTable, *args: Any, **options: Any) -> GrammarColumns:
        loaded.append(self.path)
        return load(self, *args, **options)

    monkeypatch.setattr(RuleTable, "load", counted)
    maker = made(rules)
    for weight in (1.0, 2.0):
        forest(maker, "haus", {"p": weight})
    assert loaded == [rules]
