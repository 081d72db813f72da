"""Source words that may have no translation, as rules without target words: what ``smt searn label`` counted of them.

Zhang, Sun and Li (2008) align such a word in their appendix with a target word beside it; that it may be left out, at
the price of how rarely that was seen, is ours.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtformats.grammar.rules import Rule

NULL, NULLS = "null", "nulls"
"""The feature, and whose rules these are."""


def null_rules(path: Path, threshold: float = 0.0) -> list[Rule]:
    """Rules of the words in a file of ``word ||| probability count``, without those below a threshold."""
    from smtformats.files import open_lines
    from smtformats.grammar.rules import Rule

    found = []
    with open_lines(path) as lines:
        for line in lines:
            word, bars, numbers = line.rstrip("\r\n").partition(" ||| ")
            cells = numbers.split()
            share = _number(cells[0]) if cells else math.nan
            if not bars or not word or " " in word or not 0.0 < share <= 1.0:
                raise lines.error("a word, ||| and the probability that it has no translation", repr(line.strip()))
            if share >= threshold:
                found.append(Rule("X", (word,), (), (NULL,), (math.log(share),)))
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
