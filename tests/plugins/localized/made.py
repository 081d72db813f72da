"""Made bitexts and block sets, and slow, plain forms of what the plugin does with them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from smtformats.grammar.rules import Rule
from smtformats.grammar.shared.gather import grammar_columns
from smtplugins.host.estimate.lm import estimate_files
from smtplugins.plugins.localized.events.blocks import BlockSet

Phrase = tuple[str, ...]
Block = tuple[Phrase, Phrase]
Event = tuple[Block | None, str, Block]
"""(b', o, b), as in the paper."""


def blocks_of(pairs: Sequence[Block]) -> BlockSet:
    """A block set."""
    return BlockSet.from_grammar(grammar_columns(Rule("X", source, target) for source, target in pairs))


def named(blocks: BlockSet, number: int) -> Block:
    """A block as words."""
    source, target = blocks.block(number)
    return tuple(source.split()), tuple(target.split())


@dataclass(frozen=True)
class Place:
    """A block in a sentence pair; places count from 0, ends are behind the last word."""

    source: tuple[int, int]
    target: tuple[int, int]
    block: Block


def places(pairs: Sequence[Block], source: Sequence[str], target: Sequence[str]) -> list[Place]:
    """Where blocks match, each span with each."""
    known = set(pairs)
    spans = [list(itertools.combinations(range(len(words) + 1), 2)) for words in (source, target)]
    found = []
    for (i, j), (k, m) in itertools.product(*spans):
        block = (tuple(source[i:j]), tuple(target[k:m]))
        if block in known:
            found.append(Place((i, j), (k, m), block))
    return found


def slow_events(pairs: Sequence[Block], source: Sequence[str], target: Sequence[str]) -> list[Event]:
    """All events of a sentence pair, as section 2 says, in any order."""
    found: list[Event] = []
    there = places(pairs, source, target)
    for one in there:
        below = [b for b in there if b.target[1] == one.target[0]]
        right: list[Event] = [(b.block, "R", one.block) for b in below if b.source[1] == one.source[0]]
        left: list[Event] = [(b.block, "L", one.block) for b in below if one.source[1] == b.source[0]]
        found += right + left or [(None, "N", one.block)]
    return found


def random_case(seed: int, sentences: int = 12) -> tuple[list[Block], list[tuple[list[str], list[str]]]]:
    """Blocks over few words, and sentence pairs in which they match often, repeat and overlap."""
    source = random.Random(seed)

    def words(letters: str, low: int, high: int) -> list[str]:
        return [source.choice(letters) for _ in range(source.randint(low, high))]

    pairs: list[Block] = []
    while len(pairs) < 30:
        block = (tuple(words("abc", 1, 3)), tuple(words("xyz", 1, 3)))
        if block not in pairs:
            pairs.append(block)
    bitext = [(words("abcd", 0, 7), words("xyzw", 0, 7)) for _ in range(sentences)]
    return pairs, bitext


def tiny_lm(folder: Path, order: int = 3) -> Path:
    """A language model of the target words that `random_case` has, but for w."""
    source = random.Random(5)
    text, arpa = folder / "text", folder / "lm.arpa"
    text.write_text("".join(" ".join(source.choices("xyz", k=source.randint(1, 9))) + "\n" for _ in range(60)))
    estimate_files([text], order, fallback=(), quiet=True).write_arpa(str(arpa))
    return arpa
