"""Rules without target words for source words that may stay untranslated, counted by ``smt searn label``.

Zhang, Sun and Li (2008) align such a word with a neighbouring target word (appendix); dropping it at the log of its
relative frequency is ours.
"""

from __future__ import annotations

import math
from pathlib import Path

from smtformats.files import open_lines
from smtformats.grammar.rules import Rule

NULL, NULLS = "null", "nulls"
"""The name of the feature, and the name under which a decoder loads the rules."""


def null_rules(path: Path, threshold: float = 0.0) -> list[Rule]:
    """Read a file of ``word ||| probability count`` as rules, dropping probabilities below a threshold."""
    rules = []
    with open_lines(path) as lines:
        for line in lines:
            word, bars, numbers = line.rstrip("\r\n").partition(" ||| ")
            cells = numbers.split()
            share = _number(cells[0]) if cells else math.nan
            if not bars or not word or " " in word or not 0.0 < share <= 1.0:
                raise lines.error("a word, ||| and the probability that it has no translation", repr(line.strip()))
            if share >= threshold:
                rules.append(Rule("X", (word,), (), (NULL,), (math.log(share),)))
    return rules


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
