"""The phrases of a derivation and its features in full, as Moses' ``-translation-details`` writes them.

    TRANSLATION HYPOTHESIS DETAILS:
             SOURCE: [0..1] ein boston
      TRANSLATED AS: a boston
      WORD ALIGNED: 0-0 1-1
             SOURCE: [2..2] xyz
      TRANSLATED AS: xyz|UNK|UNK|UNK
      WORD ALIGNED: 0-0

    SOURCE/TARGET SPANS:
      SOURCE: 0-1 2
      TARGET: 0-1 2


    SCORES (UNWEIGHTED/WEIGHTED): core=(-100.000,-3.000)  weighted(TODO)

Phrases are in the order of the target side, words are aligned within a phrase; the features that the configuration
names come in its order, without their names, others behind them.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from smtformats.tokens import words
from smtplugins.host.files.list_fields import SpannedPhrase, phrases_of

if TYPE_CHECKING:
    from smtplugins.core.graph.derivations import Derivations

_UNKNOWN = "|UNK|UNK|UNK"


def details_of(best: Derivations, names: Sequence[str], unknown: Collection[str]) -> str:
    """The text about one derivation; ``unknown`` words of the input are copied."""
    phrases = phrases_of(best, "output.details")[0]
    targets = list(_targets(words(best.texts()[0]), phrases))
    lines = ["", "TRANSLATION HYPOTHESIS DETAILS:"]
    for phrase, target in zip(phrases, targets, strict=True):
        marked = _UNKNOWN if len(phrase.source) == 1 and phrase.source[0] in unknown else ""
        points = "".join(f"{source}-{other} " for source, other in phrase.points)
        lines += [
            f"         SOURCE: [{phrase.first}..{phrase.last - 1}] {' '.join(phrase.source)}",
            f"  TRANSLATED AS: {' '.join(word + marked for word in target)}",
            f"  WORD ALIGNED: {points}",
        ]
    sources = [_positions(phrase.first, phrase.last) for phrase in phrases]
    ends = [0]
    for target in targets:
        ends.append(ends[-1] + len(target))
    spans = [_positions(first, max(last, first + 1)) for first, last in itertools.pairwise(ends)]
    lines += ["", "SOURCE/TARGET SPANS:", f"  SOURCE: {' '.join(sources)}", f"  TARGET: {' '.join(spans)}", "", ""]
    lines.append(f"SCORES (UNWEIGHTED/WEIGHTED): {_scores(best, names)} weighted(TODO)")
    return "".join(f"{line}\n" for line in lines)


def _targets(text: Sequence[str], phrases: Sequence[SpannedPhrase]) -> Iterator[Sequence[str]]:
    at = 0
    for phrase in phrases:
        yield text[at : at + phrase.size]
        at += phrase.size


def _positions(first: int, last: int) -> str:
    return "-".join(map(str, range(first, last)))


def _scores(best: Derivations, names: Sequence[str]) -> str:
    sums = dict(zip(best.graph.names, best[0].features().tolist(), strict=True))
    core = ",".join(f"{sums.get(name, 0.0) + 0.0:.3f}" for name in names)
    others = [f"{name}={value:.3f} " for name, value in sums.items() if value and name not in names]
    return f"core=({core}) {''.join(others)}"
