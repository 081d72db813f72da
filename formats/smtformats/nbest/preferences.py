"""Preferences for training on pairs, as TRL reads them: a better and a worse translation of one sentence (write only).

    {"id": 0, "prompt": "ein haus", "chosen": "a house", "rejected": "house a", "margin": 2.5, "chosen_rank": 1, ...}

Of equal texts the one with the best total counts. The texts are ordered by total, and the first is paired with the
last, the second with the last but one, and so on: ``pairs`` is the greatest number of pairs of a list (default 1, the
best text against the worst). ``margin`` is the least difference of totals of a pair (default 0); equal totals are no
pair. The prompt is the source, which every list needs. ``margin``, ``chosen_score`` and ``rejected_score`` are the
difference and the totals, ``chosen_rank`` and ``rejected_rank`` the positions in the list, from 1. Lists without a pair
are left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.candidates import Candidates
from smtformats.errors import FormatError
from smtformats.format import Format, Number
from smtformats.nbest.shared.json_lists import compose_id
from smtformats.nbest.shared.spans import spell_number, string
from smtformats.tokens import BadField
from smtformats.writing import Written, write_each

NAME = "preferences-nbest"


def pairs_of(nbest: Candidates, pairs: int, margin: float) -> Iterator[tuple[int, int]]:
    """The positions of chosen and rejected hypotheses."""
    totals = nbest.totals
    if totals is None:
        raise BadField("a total score (rescore the list with weights, or judge it by a metric)", "none")
    ranked = sorted(range(len(nbest)), key=lambda i: -totals[i])
    texts: dict[str, int] = {}
    for i in ranked:
        texts.setdefault(nbest.texts[i], i)
    order = list(texts.values())
    for best, worst in zip(order[: min(pairs, len(order) // 2)], reversed(order), strict=False):
        difference = totals[best] - totals[worst]
        if difference > 0 and difference >= margin:
            yield best, worst


def write(lists: Iterable[Candidates], out: TextIO, number: Number, *, pairs: int = 1, margin: float = 0.0) -> int:
    """Write pairs as JSON lines; returns the number of lists, with a note of those without a pair."""
    if pairs < 1:
        raise FormatError("pairs of 1 or more for each list", str(pairs), file=NAME)
    if not margin >= 0 or math.isinf(margin):
        raise FormatError("a margin of 0 or more", str(margin), file=NAME)
    count = seen = 0
    last: Candidates | None = None

    def spell(nbest: Candidates) -> str | None:
        nonlocal count, seen, last
        seen, last = seen + 1, nbest
        lines = [_spell_pair(nbest, best, worst, number) for best, worst in pairs_of(nbest, pairs, margin)]
        count += bool(lines)
        return "".join(lines) or None

    write_each(lists, out, spell, 1)
    if last is not None and not count:
        least = f" by at least {number(margin)}" if margin else ""
        expected = f"a list with two texts whose totals differ{least}"
        raise FormatError(expected, f"none in {seen}", file=last.file, line=last.line)
    return Written(seen, f"{seen - count} of {seen} lists have no pair: left out" if count < seen else "")


def _spell_pair(nbest: Candidates, best: int, worst: int, number: Number) -> str:
    if nbest.source is None:
        raise BadField("the source of each list, which is the prompt", "none")
    assert nbest.totals is not None
    ranks = nbest.ranks if nbest.ranks is not None else range(len(nbest))
    values = {
        "id": compose_id(nbest),
        "prompt": string(nbest.source),
        "chosen": string(nbest.texts[best]),
        "rejected": string(nbest.texts[worst]),
        "margin": spell_number(nbest.totals[best] - nbest.totals[worst], number),
        "chosen_rank": str(ranks[best] + 1),
        "rejected_rank": str(ranks[worst] + 1),
        "chosen_score": spell_number(nbest.totals[best], number),
        "rejected_score": spell_number(nbest.totals[worst], number),
    }
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in values.items()) + "}\n"


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary='pairs for training on preferences: {"prompt", "chosen", "rejected", "margin"} (pairs=N, margin=M)',
    write=write,
)
