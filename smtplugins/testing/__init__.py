"""The conformance kit: the contracts of ``smtplugins.contracts`` as checks for any plugin.

``smt plugins check NAME`` runs them on everything an installed plugin offers. In a plugin's own tests, with pytest:

    from smtplugins.testing.cases import FeatureChecks, MetricChecks

    class TestWordPenalty(FeatureChecks):
        offer = "word-penalty"
        options = {"value": "cdec"}

    class TestBleu(MetricChecks):
        offer = "bleu"

Each check becomes a test. ``offer`` is the name of an offer of the loaded plugins, or a fixture that returns an
``Offer``. If it has required options, give its ``Offer`` a ``trial`` or the test class ``options``. A decoder with a
parameter ``resources`` gets tiny grammars whose derivations the kit enumerates. ``run_checks`` works without pytest.
"""

from __future__ import annotations

from smtplugins.testing.checks import CheckResult, run_checks
from smtplugins.testing.plugin import check_plugin

__all__ = ["CheckResult", "check_plugin", "run_checks"]
