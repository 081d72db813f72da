"""Checks of the native parts of features (``NativeFeature`` and related contracts)."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from smtplugins.testing import samples
from smtplugins.testing.checks import Check, DoesNotApply, Subject
from smtplugins.testing.features.rule_features import rules_for
from smtplugins.testing.features.stateful_features import Node, bracketed, shown

_TOLERANCE = 1e-4
_LABEL = "kit"


def native_scorers_agree(subject: Subject) -> None:
    """A native scorer gives a string the same score under any bracketing, and the same as on lists."""
    feature = subject.make()
    if not any(hasattr(feature, name) for name in ("native", "smt_feature_v1")):
        raise DoesNotApply("the feature has no native scorer")
    if "segmentation" in subject.offer.needs:
        raise DoesNotApply("the feature needs a segmentation, which other checks provide")
    source = random.Random(1)
    strings = samples.strings()
    on_lists = _on_lists(subject, feature, strings)
    for i, words in enumerate(strings):
        text = " ".join(words)
        wanted = _values(feature, Node(list(words)))
        if on_lists is not None:
            _assert_close(on_lists[i][: len(wanted)], wanted, f"{text!r} on a list and by the native scorer")
        for _ in range(3):
            root = bracketed(words, source)
            _assert_close(wanted, _values(feature, root), f"{text!r} in one piece and as {shown(root)}")


def columns_are_named(subject: Subject) -> None:
    """``column_names`` names each column once: first the columns of states, then those of rules."""
    feature = subject.make()
    if not hasattr(feature, "column_names"):
        raise DoesNotApply("the feature has no column_names")
    names = feature.column_names(_LABEL)
    good = isinstance(names, tuple) and all(isinstance(name, str) and name.split() == [name] for name in names)
    assert good, f"expected a tuple of names without blanks, found {names!r}"
    assert len(set(names)) == len(names), f"expected different names, found {names}"
    width = components_of(feature)
    if hasattr(feature, "score_rules"):
        width += _width(feature.score_rules(rules_for(subject, samples.rules())))
    assert len(names) == width, f"expected {width} names, one for each column, found {names}"


def fragment_scores_fit(subject: Subject) -> None:
    """``fragment_scores`` returns one finite number per rule of a table."""
    import numpy as np

    feature = subject.make()
    if not hasattr(feature, "fragment_scores"):
        raise DoesNotApply("the feature has no fragment_scores")
    targets = samples.rules()
    scores = np.asarray(feature.fragment_scores(samples.origins(targets).columns()))
    assert scores.shape == (len(targets),), f"expected {len(targets)} numbers, found shape {scores.shape}"
    assert np.isfinite(scores).all(), f"expected finite numbers, found {scores[~np.isfinite(scores)][0]}"


def start_weights_fit(subject: Subject) -> None:
    """``start_weights`` are finite: one for each column, or one for all."""
    feature = subject.make()
    if not hasattr(feature, "start_weights"):
        raise DoesNotApply("the feature has no start_weights")
    values = [float(value) for value in feature.start_weights]
    assert all(map(math.isfinite, values)), f"expected finite numbers, found {values}"
    width = components_of(feature)
    if hasattr(feature, "score_rules"):
        width += _width(feature.score_rules(rules_for(subject, samples.rules())))
    # A feature without states and rules scores hypotheses.
    width = width or getattr(feature, "components", 1)
    assert len(values) in {0, 1, width}, (
        f"expected {width} numbers, one for each column, or one for all, found {values}"
    )


def components_of(feature: Any) -> int:
    """Return the number of columns that the feature's states score."""
    if hasattr(feature, "native"):
        return int(feature.native().components)
    of_states = hasattr(feature, "start") or hasattr(feature, "undirected")
    return int(getattr(feature, "components", 1)) if of_states else 0


def _width(result: Any) -> int:
    import numpy as np

    from smtformats import Columns

    if isinstance(result, Columns):
        # Columns of an open namespace vary.
        return sum(":" not in name for name in result.names)
    shape = np.shape(result)
    return int(shape[1]) if len(shape) == 2 else 1


def _on_lists(subject: Subject, feature: Any, strings: Sequence[Sequence[str]]) -> list[list[float]] | None:
    from smtformats import Candidates
    from smtplugins.host.features.scoring import Active

    if not any(hasattr(feature, name) for name in ("score_candidates", "start")):
        return None
    nbest = Candidates("0", list(map(" ".join, strings)), [()] * len(strings), [[]] * len(strings))
    return Active(_LABEL, subject.offer, feature).score(nbest)[1]


def _values(feature: Any, root: Node) -> list[float]:
    """Return the sum of each component over the only derivation of a graph, by an exact search."""
    import numpy as np

    from smtformats.hypergraph.graph import GraphBuilder
    from smtplugins.contracts.data import Sentence
    from smtplugins.core.search.search_options import SearchOptions
    from smtplugins.core.search.stateful_search import Stateful, best, forest_of, native_scorer, searcher
    from smtplugins.core.vocabulary import Vocabulary

    builder = GraphBuilder()
    rules: list[Any] = []
    _add(builder, rules, root)
    graph = builder.graph("0", rules)
    words = Vocabulary(graph.grammar.words[:])
    if hasattr(feature, "native"):
        scorer = feature.native()
        if hasattr(scorer, "set_words"):
            scorer.set_words(feature.numbers(words))
    else:
        scorer = native_scorer(feature, words, Sentence("0", ("das", "ist", "gut")))
    width = scorer.components
    names = tuple(f"{_LABEL}[{k}]" for k in range(width))
    values = []
    for row in np.eye(width).tolist():
        forest, _ = forest_of(graph, np.zeros(len(graph)))
        derivation = best(
            searcher([Stateful(scorer, names, tuple(row))]).search(forest, SearchOptions(exact=True)), forest
        )
        assert derivation is not None, "an exact search found no derivation in a graph with one"
        values.append(derivation.score)
    return values


def _add(builder: Any, rules: list[Any], node: Node) -> int:
    from smtformats.grammar.rules import NonTerminal, Rule
    from smtformats.hypergraph.graph import Edge

    tails = [_add(builder, rules, child) for child in node.children]
    target = tuple(NonTerminal("X", 1 + symbol) if isinstance(symbol, int) else symbol for symbol in node.symbols)
    rules.append(Rule("X", tuple(NonTerminal("X", 1 + k) for k in range(len(tails))) or ("a",), target))
    return int(builder.add([Edge(tails, len(rules) - 1)]))


def _assert_close(wanted: Sequence[float], actual: Sequence[float], what: str) -> None:
    alike = len(wanted) == len(actual) and all(
        math.isclose(left, right, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
        for left, right in zip(wanted, actual, strict=True)
    )
    assert alike, f"{what}: {list(wanted)} and {list(actual)}"


CHECKS: tuple[Check, ...] = (native_scorers_agree, columns_are_named, fragment_scores_fit, start_weights_fit)
