"""Learners of linear weights, on n-best lists and forests: mert, pro, mira, minrisk, perceptron."""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Offer


@hookimpl
def smt_learners() -> Iterator[Offer]:
    """The learners, each in a module of its name."""

    yield Offer(
        name="mert",
        make="smtplugins.plugins.tuning.mert:Mert",
        summary="exact line search for any corpus metric on lists and forests, dense features",
        reference="Och (2003); Macherey et al. (2008)",
    )
    yield Offer(
        name="pro",
        make="smtplugins.plugins.tuning.pro:Pro",
        summary="tuning as ranking: logistic regression on sampled pairs of hypotheses",
        reference="Hopkins and May (2011)",
    )
    yield Offer(
        name="mira",
        make="smtplugins.plugins.tuning.mira:Mira",
        summary="batch MIRA on lists and forests: large-margin steps from fear to hope",
        reference="Cherry and Foster (2012); Chiang (2012)",
    )
    yield Offer(
        name="minrisk",
        make="smtplugins.plugins.tuning.minrisk:Minrisk",
        summary="minimum expected loss on lists and forests, with annealing",
        reference="Smith and Eisner (2006); Li and Eisner (2009)",
    )
    yield Offer(
        name="perceptron",
        make="smtplugins.plugins.tuning.perceptron:Perceptron",
        summary="the averaged structured perceptron, towards the oracle or from fear to hope",
        reference="Collins (2002)",
    )
