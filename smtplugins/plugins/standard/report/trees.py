"""How translations were built: the steps of each sentence's tree, as lists here, as drawings by ``trees.js``."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from smtplugins.plugins.standard.report.plots import short

if TYPE_CHECKING:
    from smtplugins.contracts.decoders import BuiltStep
    from smtplugins.contracts.tools.decoding import BuiltTree

LISTED = 5


@dataclass(frozen=True)
class Shown:
    """The trees in a page, and the total number of sentences."""

    trees: tuple[BuiltTree, ...]
    count: int

    @classmethod
    def of(cls, built: Iterable[BuiltTree] | None, most: int) -> Shown | None:
        """Keep the first ``most`` trees and count the others."""
        if built is None:
            return None
        rest = iter(built)
        first = tuple(itertools.islice(rest, most))
        return cls(first, len(first) + sum(1 for _ in rest))

    def data(self) -> dict[str, Any]:
        """Return the data for ``trees.js``: a packed block for each sentence."""
        from smtplugins.plugins.standard.report.data import packed

        return {
            "ids": [tree.id for tree in self.trees],
            "sizes": [len(tree.steps) for tree in self.trees],
            "blocks": [packed(_block(tree)) for tree in self.trees],
        }

    def section(self) -> Iterator[str]:
        """Yield the section: an explanation, and the first sentences for readers without scripts."""
        yield (
            "<p>The tree of each translation, drawn above the source words in the order in which the decoder built it. "
            "A box is a rule, with the number of its step, its label, its score, and its two sides. An arrow goes from "
            "what was there to the rule that came beside it.</p>"
        )
        if self.count > len(self.trees):
            yield f"<p>The first {len(self.trees):,} of {self.count:,} sentences.</p>"
        if not self.trees:
            yield "<p>There are no sentences.</p>"
        yield "<noscript>"
        yield "<p>The drawings are made by the page's own script, which is switched off here.</p>"
        for tree in self.trees[:LISTED]:
            yield f"<h3>Sentence <bdi>{escape(tree.id)}</bdi></h3>"
            yield f"<dl><dt>source</dt><dd><bdi>{escape(' '.join(tree.source))}</bdi></dd>"
            yield f"<dt>translation</dt><dd><bdi>{escape(tree.translation)}</bdi></dd></dl>"
            rows = "".join(
                f"<li><code><bdi>{escape(step.rule)}</bdi></code> {escape(describe_step(step))}</li>\n"
                for step in tree.steps
            )
            yield f"<ol>{rows}</ol>" if rows else "<p>It has no tree.</p>"
        yield "</noscript>"


def describe_step(step: BuiltStep) -> str:
    """Describe where a rule was attached; steps are counted from 1, as in lists."""
    span, score = f"over [{step.first}, {step.last})", f"score {short(step.score) if _known(step) else 'not known'}"
    if step.beside < 0:
        place = "a new piece"
    elif step.above:
        place = "above " + _steps(step)
    else:
        place = f"below step {step.beside + 1}, as its child {step.child + 1}"
        if step.further:
            place += ", above " + _steps(step)
    return f"{span}, {place}; {score}"


def _steps(step: BuiltStep) -> str:
    others = [(step.beside, step.child)] * step.above + [*step.further]
    numbers = [str(other + 1) for other, _ in sorted(others, key=lambda join: join[1])]
    return ("steps " if len(numbers) > 1 else "step ") + " and ".join(
        filter(None, [", ".join(numbers[:-1]), numbers[-1]])
    )


def _known(step: BuiltStep) -> bool:
    return math.isfinite(step.score)


def _block(tree: BuiltTree) -> dict[str, Any]:
    from smtplugins.contracts.tools.decoding import children, sides
    from smtplugins.plugins.standard.report.data import rounded

    steps = []
    scores = rounded([step.score for step in tree.steps])
    for step, below, score in zip(tree.steps, children(tree.steps), scores, strict=True):
        rule = sides(step.rule, below)
        joins = [(other, True, child) for other, child in step.further]
        if step.beside >= 0:
            joins.insert(0, (step.beside, step.above, step.child))
        steps.append([step.rule, rule.lhs, rule.source, rule.target, score, joins, describe_step(step)])
    return {"source": " ".join(tree.source), "translation": tree.translation, "score": tree.score, "steps": steps}
