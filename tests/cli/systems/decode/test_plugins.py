"""Features and decoders of plugins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.systems.decode.systems import (
    FEATURES,
    MOSES,
    MOSES_GLUE,
    MOSES_RULES,
    PHRASE_TABLE,
    PHRASES,
    Smt,
    changed,
    smt_read,
)

QUESTION = """
from smtplugins import feature

@feature("question")
def question(source: str, hyp: str) -> float:
    return float(source.endswith("?") == hyp.endswith("?"))
"""
CHEF = """
from smtplugins import feature

@feature("chef")
def chef(rule_source: str, rule_target: str, *, word: str) -> float:
    return float(rule_source == "koch" and rule_target == word)
"""

BIGRAM = """
import math
import smtplugins as smt
from pathlib import Path
from smtplugins.contracts.adapters import SimpleStateful

class Bigram(SimpleStateful):
    def __init__(self, path: Path):
        self.scores, self.backoffs = {}, {}
        for line in path.read_text().splitlines():
            cells = line.split("\\t")
            if len(cells) > 1:
                words = tuple(cells[1].split(" "))
                self.scores[words] = float(cells[0])
                self.backoffs[words] = float(cells[2]) if len(cells) > 2 else 0.0

    def pair(self, left, right):
        if (right,) not in self.scores:
            right = "<unk>"
        if (left, right) in self.scores:
            return self.scores[left, right]
        return self.backoffs.get((left,), 0.0) + self.scores[right,]

    def combine_one(self, target, tails):
        total, first, last = 0.0, None, None
        for symbol in target:
            ends = tails[symbol] if isinstance(symbol, int) else (symbol, symbol)
            if ends is None:
                continue
            if last is not None:
                total += self.pair(last, ends[0])
            first = ends[0] if first is None else first
            last = ends[1]
        return total, None if first is None else (first, last)

    def finish_one(self, state):
        if state is None:
            return self.pair("<s>", "</s>")
        return self.pair("<s>", state[0]) + self.pair(state[1], "</s>")

    def estimate_one(self, target):
        return sum(self.scores.get((one,), self.scores["<unk>",]) for one in target if isinstance(one, str))

@smt.hookimpl
def smt_features():
    yield smt.Offer(name="bigram", make=Bigram, summary="a bigram model in Python", needs=frozenset({"target"}))
"""


class TestPlugins:
    @pytest.fixture(autouse=True)
    def _bigram(self, smt: Smt) -> None:
        Path("bigram.py").write_text(BIGRAM)
        smt("lm", "--order", 2, "-i", "text.en", "-o", "en.2.arpa", "-q").ok()

    @pytest.mark.parametrize("options", [["--set", "decoder.search=full"], ["--pop-limit", 1000], []])
    def test_a_python_feature_with_states_scores_as_the_native_one(self, smt: Smt, options: list[str]) -> None:
        native = changed(f"- {FEATURES}", "- lm,path=en.2.arpa,base=10,name=LM")
        expected = smt("decode", "-c", native, "-k", 1, *options).ok().splitlines()
        python = changed(f"- {FEATURES}", "- bigram,path=en.2.arpa,name=LM")
        for more in ([], ["-j", 2]):
            found = smt("decode", "-c", python, "-k", 1, "--plugin", "bigram.py", *options, *more).ok().splitlines()
            assert len(found) == len(expected) == 9
            for line, wanted in zip(found, expected, strict=True):
                assert line.split(" ||| ")[:2] == wanted.split(" ||| ")[:2]
                assert float(line.split(" ||| ")[3]) == pytest.approx(float(wanted.split(" ||| ")[3]), abs=1e-4)

    def test_beside_the_native_one_it_has_the_same_column(self, smt: Smt) -> None:
        both = "- lm,path=en.2.arpa,base=10,name=LM\n    - bigram,path=en.2.arpa"
        smt("decode", "-c", changed(f"- {FEATURES}", both), "-k", 9, "--plugin", "bigram.py", "-o", "lists").ok()
        for one in smt_read("lists"):
            for layout, row in zip(one.layouts, one.values, strict=True):
                named = dict(zip(layout, row, strict=True))
                assert named["LM"] == pytest.approx(named["bigram"], abs=1e-4)

    def test_a_plugin_that_the_configuration_names(self, smt: Smt) -> None:
        text = Path(changed(f"- {FEATURES}", "- bigram,path=en.2.arpa,name=LM")).read_text()
        Path("below").mkdir()
        Path("with.yaml").write_text(f"plugins: [bigram.py]\n{text}")
        assert smt("decode", "-c", "with.yaml").ok().count("\n") == 9

    def test_a_feature_that_fails_says_so(self, smt: Smt) -> None:
        Path("bigram.py").write_text(BIGRAM.replace("total, first, last = 0.0, None, None", "raise ValueError('ouch')"))
        result = smt(
            "decode", "-c", changed(f"- {FEATURES}", "- bigram,path=en.2.arpa,name=LM"), "--plugin", "bigram.py"
        )
        assert (result.code, result.out) == (1, "")
        assert "feature 'LM'" in result.err
        assert "ValueError: ouch" in result.err
        assert "Traceback" not in result.err

    def test_a_feature_of_whole_hypotheses_is_for_lists(self, smt: Smt) -> None:
        config = changed(f"- {FEATURES}", "- external,command=cat")
        result = smt("decode", "-c", config)
        assert result.code == 1
        assert "scores whole hypotheses" in result.err

    def test_a_function_of_whole_hypotheses_is_for_lists(self, smt: Smt) -> None:
        Path("q.py").write_text(QUESTION)
        result = smt("decode", "-c", "run.yaml", "--plugin", "q.py", "--feature", "question")
        assert (result.code, result.out) == (1, "")
        assert result.err.endswith(
            "feature 'question' scores whole hypotheses, which do not exist during search: write lists "
            "(`smt decode -k N`, or `smt mbr --samples N --lists` of forests), add it with `smt score` and sort them "
            "with `smt rescore`; a function of rule_source and rule_target takes part in the search\n"
        )

    @pytest.mark.parametrize(("name", "text"), [("m.ini", MOSES), ("p.ini", PHRASES), ("run.yaml", "")])
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_a_function_of_rules_takes_part_in_the_search(self, smt: Smt, name: str, text: str, jobs: int) -> None:
        if text:
            Path(name).write_text(text)
        for file, rules in (("rules", MOSES_RULES), ("glue", MOSES_GLUE), ("phrases", PHRASE_TABLE)):
            Path(file).write_text(rules)
        Path("chef.py").write_text(CHEF)
        call = ("decode", "-c", name, "-i", "-", "--plugin", "chef.py", "-j", jobs, "-q")
        assert smt(*call, stdin="der koch\n").ok() == "the cook\n"
        chef = (*call, "--feature", "chef,word=chef", "--set-weight", "chef=9")
        assert smt(*chef, stdin="der koch\n").ok() == "the chef\n"
        lines = smt(*chef, "-k", 2, "--to", "moses-nbest", stdin="der koch\n").ok().splitlines()
        assert {("chef" in line.split(" ||| ")[1], float(line.split(" chef= ")[1].split()[0])) for line in lines} <= {
            (True, 1.0),
            (False, 0.0),
        }

    def test_features_are_added_to_those_of_a_configuration(self, smt: Smt) -> None:
        for file, text in (("p.ini", PHRASES), ("phrases", PHRASE_TABLE)):
            Path(file).write_text(text)
        more = ("--feature", "lm,path=en.2.arpa,base=10,name=LM1", "--feature", "word-penalty,name=WP1")
        call = ("decode", "-c", "p.ini", "-k", 1, *more)
        result = smt(*call, "--set-weight", "LM1=0.25", stdin="der koch\n")
        assert result.err == "smt: note: features without a weight count 0: WP1\n"
        assert " LM1= -" in result.out
        assert " WP1= -2" in result.out
        plain = smt("decode", "-c", "p.ini", "-k", 1, "-q", stdin="der koch\n").ok()
        totals = [float(text.split(" ||| ")[3]) for text in (plain, result.out)]
        extra = float(result.out.split(" LM1= ")[1].split()[0])
        assert totals[1] == pytest.approx(totals[0] + 0.25 * extra, abs=1e-5)

    @pytest.mark.parametrize(
        ("options", "code", "message"),
        [
            (("--feature", "word-penalti"), 2, "--feature: unknown feature 'word-penalti'"),
            (("--feature", "word-penalty,x=1"), 2, "--feature: feature 'word-penalty' has no option 'x'"),
            (("--feature", "lm,path=none"), 2, "--feature: none: No such file or directory"),
            (("--feature", "lm"), 2, "--feature: feature 'lm' needs the option path"),
            (("--set-weight", "LM0"), 2, "--set-weight: expected NAME=NUMBER, found 'LM0'"),
            (("--set-weight", "LM=1"), 2, "weights of unknown features: 'LM' (the nearest is 'LM0')"),
            (
                ("--set-weight", "LM0=1e39"),
                2,
                "weight of 'LM0': expected a number that fits 32-bit floats, found 1e+39",
            ),
        ],
    )
    def test_wrong_features_and_weights(self, smt: Smt, options: tuple[str, ...], code: int, message: str) -> None:
        for file, text in (("p.ini", PHRASES), ("phrases", PHRASE_TABLE)):
            Path(file).write_text(text)
        result = smt("decode", "-c", "p.ini", *options, "-q", stdin="der koch\n")
        assert (result.code, result.out) == (code, "")
        assert message in result.err

    def test_a_decoder_of_a_plugin(self, smt: Smt) -> None:
        Path("echo.py").write_text(
            "import smtplugins as smt\nfrom smtplugins.contracts.decoders import Decoding\n"
            "class Echo:\n    def decode(self, sentences, model, *, threads=1, graphs=False):\n"
            "        for one in sentences:\n            yield Decoding(one.id, one.text.upper(), 1.5)\n"
            "@smt.hookimpl\ndef smt_decoders():\n    yield smt.Offer(name='echo', make=Echo, summary='louder')\n"
        )
        options = ["-c", "run.yaml", "--plugin", "echo.py", "--decoder", "echo"]
        assert smt("decode", *options).ok().startswith("DER KOCH HAT DIE SUPPE GEKOCHT .\n")
        assert smt("decode", *options, "-k", 1).ok().startswith("0 ||| DER KOCH HAT")
        result = smt("decode", *options, "-k", 2)
        assert result.code == 2
        assert "gives no graph" in result.err
