"""The pytest classes, in a pytest of their own: the package's example, good offers, a bad one, one from a fixture."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import smtplugins.testing
from smtplugins.testing import metrics
from smtplugins.testing.features import any_feature as features

PLUGIN = '''
"""A plugin of one file."""
from smtplugins import Offer, hookimpl
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.learners import ListProblem, LearnerState, LearnerStep


class Copy:
    def decode(self, sentences, model, *, threads=1):
        for sentence in sentences:
            yield Decoding(id=sentence.id, best=sentence.text)


class Keep:
    accepts = frozenset({ListProblem})

    def learn(self, problem, start, *, resume=None, seed=1, runner=None):
        if resume is None:
            yield LearnerStep(model=start, objective=0.0, metrics={}, state=LearnerState())


@hookimpl
def smt_decoders():
    yield Offer(name="copy", make=Copy, summary="the source as it is")


@hookimpl
def smt_learners():
    yield Offer(name="keep", make=Keep, summary="learns nothing")
'''
CASES = """
import os
from pathlib import Path
import pytest
from smtplugins import Offer
from smtplugins.testing.cases import DecoderChecks, FeatureChecks, FormatChecks, LearnerChecks


class TestText(FormatChecks):
    offer = "text"
    files = {"mine": b"a\\nb\\n"}


class TestCopy(DecoderChecks):
    offer = "copy"
    plugins = (Path(__file__).with_name("one.py"),)


class TestKeep(LearnerChecks):
    offer = "keep"
    plugins = (Path(__file__).with_name("one.py"),)


class OfProcess:
    def score_candidates(self, source, candidates):
        return [os.getpid()] * len(candidates)


class TestBad(FeatureChecks):
    @pytest.fixture
    def offer(self):
        return Offer(name="bad", make=OfProcess, summary="the number of the process")
"""


def test_the_classes_make_a_test_of_each_check(tmp_path: Path) -> None:
    page = inspect.cleandoc(smtplugins.testing.__doc__ or "")
    example = textwrap.dedent(page[page.index("    from ") : page.index("\nEach check")])
    (tmp_path / "test_example.py").write_text(example, encoding="utf-8")
    (tmp_path / "test_more.py").write_text(CASES, encoding="utf-8")
    (tmp_path / "one.py").write_text(PLUGIN, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-v", "-rs", "-p", "no:cacheprovider", "-W", "error", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    lines = re.findall(r"::(Test\w+)::test_contract\[(\w+)\] (PASSED|SKIPPED|FAILED)", done.stdout)
    outcomes = {(case, check): outcome for case, check, outcome in lines}
    assert [pair for pair, outcome in outcomes.items() if outcome == "FAILED"] == [("TestBad", "workers_give_the_same")]
    assert "list 0 in another process scores differently" in done.stdout
    for case, checks in (("TestWordPenalty", features.CHECKS), ("TestBleu", metrics.CHECKS)):
        assert {check for name, check in outcomes if name == case} == {function.__name__ for function in checks}
    assert outcomes["TestWordPenalty", "rules_are_independent"] == "PASSED"
    assert outcomes["TestWordPenalty", "bracketing_does_not_matter"] == "SKIPPED"
    assert "the feature has no start" in done.stdout
    assert {case for case, _ in outcomes} == {
        "TestWordPenalty",
        "TestBleu",
        "TestText",
        "TestCopy",
        "TestKeep",
        "TestBad",
    }
