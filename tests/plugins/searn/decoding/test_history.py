"""The feature `itg-history` on lists with a segmentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtformats import Candidates
from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.searn.decoding.history import ItgHistory
from smtplugins.plugins.searn.learning.policy import HISTORY, PAPER, History, static_names
from tests.plugins.searn.made_policies import history, random_policy


class TestHistoryOfLists:
    def candidates(self) -> Candidates:
        return Candidates(
            id="0",
            texts=["A B C", "C A B", "B D A C"],
            layouts=[(), (), ()],
            values=[[], [], []],
            source="a b c",
            extras={"segmentation": ["0-0=0-0 1-1=1-1 2-2=2-2", "2-2=0-0 0-0=1-1 1-1=2-2", "1-1=0-1 0-0=2-2 2-2=3-3"]},
        )

    def test_values_are_those_of_the_labels_of_the_segmentation(self, tmp_path: Path) -> None:
        policy = random_policy(3, (*PAPER, "bias", *HISTORY))
        feature = history(policy, tmp_path).feature
        rows = feature.score_candidates("a b c", self.candidates())
        wanted = [
            (("a", "A", "S"), ("b", "B", "S,R+"), ("c", "C", "S,R+")),
            (("a", "A", "S"), ("b", "B", "S,R+"), ("c", "C", "S,R-")),
            (("a", "A", "S"), ("b", "B D", "S,R-"), ("c", "C", "S,R+")),
        ]
        for row, items in zip(rows, wanted, strict=True):
            seen, total, before = History(), 0.0, "<s>"
            for source, target, label in items:
                names = static_names(policy.templates, source, target, before) + seen.names(policy.templates)
                total += policy.log_probabilities(policy.scores(names))[policy.labels.index(label)]
                seen, before = seen.after(label, target), source
            assert row.tolist() == pytest.approx([total, sum("R-" in one[2] for one in items), 0.0])

    def test_an_order_of_no_tree_leaves_fragments(self, tmp_path: Path) -> None:
        feature = history(random_policy(3, PAPER), tmp_path).feature
        one = Candidates(
            id="0",
            texts=["B D A C"],
            layouts=[()],
            values=[[]],
            source="a b c d",
            extras={"segmentation": ["1-1=0-0 3-3=1-1 0-0=2-2 2-2=3-3"]},
        )
        assert feature.score_candidates("a b c d", one)[0, 1:].tolist() == [0.0, 3.0]

    def test_a_label_that_is_not_known_has_a_probability_of_its_own(self, tmp_path: Path) -> None:
        history(random_policy(3, PAPER, ("S",)), tmp_path)
        low, high = (ItgHistory(tmp_path, unknown=-k).score_candidates("a b c", self.candidates()) for k in (7.0, 3.0))
        # The policy knows the first label alone, as certain.
        assert low[:, 0].tolist() == pytest.approx([-14.0] * 3)
        assert high[:, 0].tolist() == pytest.approx([-6.0] * 3)
        with pytest.raises(UsageError, match=r"unknown: expected a log-probability \(0 or less\), found 1"):
            ItgHistory(tmp_path, unknown=1.0)
