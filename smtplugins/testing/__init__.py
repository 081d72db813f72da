"""The conformance kit: the contracts of ``smtplugins.contracts.contracts`` as checks that any plugin can run.

``smt plugins check NAME`` runs them on all that an installed plugin offers. In a plugin's own tests, which need pytest:

    from smtplugins.testing.cases import FeatureChecks, MetricChecks

    class TestWordPenalty(FeatureChecks):
        offer = "word-penalty"
        options = {"value": "cdec"}

    class TestBleu(MetricChecks):
        offer = "bleu"

Each check is then a test. ``offer`` is a name that the loaded plugins offer, or a fixture that gives an ``Offer``.
Where something cannot be made without options, its ``Offer`` has a ``trial`` or the test class has ``options``.
A decoder that asks for ``resources`` gets tiny grammars of the kit, whose derivations are enumerated.
``run_checks`` does the same without pytest.
"""

from __future__ import annotations

from smtplugins.testing.checks import CheckResult, run_checks
from smtplugins.testing.plugin import check_plugin

__all__ = ["CheckResult", "check_plugin", "run_checks"]
