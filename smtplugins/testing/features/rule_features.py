"""Checks of features that are local to a rule (``RuleFeature``)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtplugins.testing import samples
from smtplugins.testing.checks import Check, DoesNotApply, Subject
from smtplugins.testing.rows import difference, scored

if TYPE_CHECKING:
    from smtplugins.core.grammar.rules import Rules

Symbols = Sequence[Sequence[str | int]]


def rules_are_independent(subject: Subject) -> None:
    """A rule's score does not depend on the other rules of its batch or on their order."""
    from smtplugins.core.vocabulary import Vocabulary

    feature = _rule_feature(subject)
    words = Vocabulary()
    every = samples.rules()
    rows = _score(subject, feature, every, words)
    order = list(range(len(every)))
    random.Random(2).shuffle(order)
    shuffled = _score(subject, feature, [every[i] for i in order], words)
    for place, i in enumerate(order):
        text = difference(rows[i], shuffled[place], 1e-5)
        assert text is None, f"rule {every[i]} scores differently with the rules in another order: {text}"
    for first, last in itertools.pairwise((0, 1, 3, 8, 9, 22, len(every))):
        alone = _score(subject, feature, every[first:last], words)
        for symbols, row, actual in zip(every[first:last], rows[first:last], alone, strict=True):
            text = difference(row, actual, 1e-5)
            assert text is None, f"rule {symbols} scores differently in a batch of {last - first}: {text}"


def word_numbers_do_not_matter(subject: Subject) -> None:
    """Scores depend on words, not on their numbers in the vocabulary."""
    from smtplugins.core.vocabulary import Vocabulary

    feature = _rule_feature(subject)
    every = samples.rules()
    other = Vocabulary(["zzz", "é", "d", "yyy", "c", "b"])
    for symbols, row, again in zip(
        every, _score(subject, feature, every), _score(subject, feature, every, other), strict=True
    ):
        text = difference(row, again)
        assert text is None, f"rule {symbols} scores differently with other word numbers: {text}"


def rules_are_not_changed(subject: Subject) -> None:
    """Scoring does not change the rules."""
    feature = _rule_feature(subject)
    rules = rules_for(subject, samples.rules())
    before = (rules.target.tolist(), rules.offsets.tolist(), len(rules.vocabulary))
    feature.score_rules(rules)
    after = (rules.target.tolist(), rules.offsets.tolist(), len(rules.vocabulary))
    for name, old, new in zip(("target sides", "offsets", "vocabulary"), before, after, strict=True):
        assert old == new, f"scoring changed the {name} of the rules"


def _rule_feature(subject: Subject) -> Any:
    feature = subject.make()
    if not hasattr(feature, "score_rules"):
        raise DoesNotApply("the feature has no score_rules")
    return feature


def _score(subject: Subject, feature: Any, targets: Symbols, vocabulary: Any = None) -> list[dict[str, float]]:
    return scored(feature.score_rules(rules_for(subject, targets, vocabulary)), len(targets))


def rules_for(subject: Subject, targets: Symbols, vocabulary: Any = None) -> Rules:
    """Return rules as on lists, or with origins, as in a decoder, if the feature needs the grammar."""
    from smtplugins.core.grammar.rules import Rules

    rules = Rules.from_targets(targets, vocabulary)
    return replace(rules, origins=samples.origins(targets)) if "grammar" in subject.offer.needs else rules


CHECKS: tuple[Check, ...] = (rules_are_independent, word_numbers_do_not_matter, rules_are_not_changed)
