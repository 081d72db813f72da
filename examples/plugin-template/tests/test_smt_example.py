"""The plugin does what smtplugins asks of a feature and a metric, and what it is for."""

from __future__ import annotations

import smtplugins as smt
from smtplugins.testing.cases import FeatureChecks, MetricChecks


class TestMarks(FeatureChecks):
    offer = "example-marks"


class TestExact(MetricChecks):
    offer = "example-exact"


def test_marks_are_counted_against_the_source() -> None:
    host = smt.load_plugins()
    asked = smt.candidates(["is that so ?", "that is so", "so ?!"], source="ist das so ?")
    (scored,) = host.score([asked], ["example-marks"])
    assert [features["example-marks"] for _, features, _ in scored.rows()] == [0.0, -1.0, -1.0]


def test_exact_counts_any_reference() -> None:
    metric = smt.load_plugins().metric("example-exact")
    stats = metric.stats(["a b", "c", "d"], [["a b", "x", "x"], ["x", "c", "x"]])
    assert metric.score(stats[:2].sum(axis=0)) == 100
    assert metric.sentence(stats).tolist() == [100, 100, 0]
