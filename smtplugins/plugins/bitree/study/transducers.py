"""Table 7.5: a discriminative and a generative transducer of the same trees, judged by GTM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from smtplugins.contracts.spec import Spec
from smtplugins.contracts.tools.decoding import in_order
from smtplugins.contracts.tools.running import Host
from smtplugins.contracts.tools.statistics import wilcoxon_p
from smtplugins.plugins.bitree.transduce.search import search
from smtplugins.plugins.bitree.transduce.transducer import Transducer
from smtplugins.plugins.bitree.trees.source_trees import SourceTree
from smtplugins.plugins.bitree.trees.tree_making import SHAPES, branching
from smtplugins.plugins.bitree.words.material import Pair
from smtplugins.plugins.bitree.words.word_model import MIXTURE

EXPONENTS = (1, 2)
MEASURES = {"P": "precision", "R": "recall", "F": "f"}


def transduce(model: Transducer, pairs: Sequence[Pair], *, threads: int = 1) -> list[str]:
    """The target sides of a text's cheapest bitrees, as the decoder ``bitree`` reads them off."""

    def tree_of(pair: Pair) -> SourceTree:
        shape = next((shape for shape in SHAPES if shape == model.trees), None)
        if shape is None and pair.tree is not None:
            return pair.tree
        return branching(pair.source, shape or "right-branching")

    def translate(pair: Pair) -> str:
        tree = tree_of(pair)
        return " ".join(search(tree, model.start(tree, MIXTURE)).target())

    return list(in_order(translate, pairs, threads))


def judge_by_gtm(host: Host, systems: Mapping[str, Sequence[str]], references: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each system: precision, recall and F in percent for each exponent (``P1``, ``P2`` and so on).

    ``p1`` and ``p2`` compare the sentences' F with the first system's by Wilcoxon's signed ranks test.
    """
    rows: list[dict[str, Any]] = [{"key": name} for name in systems]
    for exponent in EXPONENTS:
        base = None
        for row, texts in zip(rows, systems.values(), strict=True):
            for letter, measure in MEASURES.items():
                metric = host.metric(Spec("gtm", {"exponent": exponent, "measure": measure}))
                stats = metric.stats(list(texts), [list(references)])
                row[f"{letter}{exponent}"] = float(metric.score(stats.sum(axis=0)))
                if letter == "F":
                    values = metric.sentence(stats)
                    base = values if base is None else base
                    if base is not values:
                        row[f"p{exponent}"] = wilcoxon_p(values - base)
    return rows
