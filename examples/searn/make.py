"""Makes the data of this folder: sentences of a made-up language, their translations, and links.

Its adjectives stand behind nouns, a time stands before the verb, the verb of a clause with `ke` at its end, and a
negation around it. So some words change places with a neighbour, others with half of the sentence.
"""

from __future__ import annotations

import random
from pathlib import Path

NOUNS = [
    ("kala", "house"), ("mito", "dog"), ("runa", "woman"), ("pelo", "boy"), ("sami", "car"), ("tuko", "tree"),
    ("vena", "door"), ("loma", "boat"), ("nira", "girl"), ("gado", "cat"), ("feri", "train"), ("bola", "apple"),
    ("doma", "bridge"), ("zilo", "book"), ("hapu", "hat"),
]  # fmt: skip
ADJECTIVES = [
    ("ros", "red"), ("nev", "new"), ("vit", "old"), ("mol", "quiet"), ("tris", "sad"), ("gran", "tall"),
    ("bel", "pretty"),
]  # fmt: skip
VERBS = [
    ("seli", "sees", "see"), ("toma", "takes", "take"), ("ami", "likes", "like"), ("peri", "loses", "lose"),
    ("kupa", "buys", "buy"), ("pinta", "paints", "paint"), ("serka", "looks for", "look for"),
]  # fmt: skip
TIMES = [
    ("oda", "today"), ("sera", "at night"), ("sempre", "all day"), ("dilun", "on mondays"), ("matin", "this morning"),
]  # fmt: skip
SYNONYMS = {"boat": "ship", "quiet": "calm", "pretty": "lovely", "takes": "grabs", "likes": "loves"}

Pair = tuple[list[str], list[str], list[tuple[int, int]]]


def word(foreign: str, english: str) -> Pair:
    """Words that are all linked to each other."""
    left, right = foreign.split(), english.split()
    return left, right, [(i, j) for i in range(len(left)) for j in range(len(right))]


def joined(parts: list[Pair], order: list[int]) -> Pair:
    """Parts one behind the other; in English, in another order."""
    starts: dict[int, int] = {}
    right: list[str] = []
    for at in order:
        starts[at] = len(right)
        right += parts[at][1]
    left: list[str] = []
    links = []
    for at, part in enumerate(parts):
        links += [(len(left) + i, starts[at] + j) for i, j in part[2]]
        left += part[0]
    return left, right, links


def thing(draw: random.Random) -> Pair:
    """An article, a noun and perhaps an adjective, which stands behind it."""
    article = word(*draw.choice([("la", "the"), ("un", "a")]))
    noun = word(*draw.choice(NOUNS))
    if draw.random() < 0.45:
        return joined([article, noun, word(*draw.choice(ADJECTIVES))], [0, 2, 1])
    return joined([article, noun], [0, 1])


def action(draw: random.Random) -> Pair:
    """A verb, perhaps with its negation around it."""
    foreign, english, plain = draw.choice(VERBS)
    if draw.random() < 0.2:
        left, right, links = word(foreign, plain)
        moved = [(i + 1, j + 2) for i, j in links]
        return ["no", *left, "mi"], ["does", "not", *right], [(0, 0), (2, 1), (0, 1), (2, 0), *moved]
    return word(foreign, english)


def sentence(draw: random.Random) -> Pair:
    """A sentence and its translation."""
    if draw.random() < 0.4:
        parts = [thing(draw), word(*draw.choice(TIMES)), action(draw), thing(draw)]
        main = joined(parts, [0, 2, 3, 1])
    else:
        main = joined([thing(draw), action(draw), thing(draw)], [0, 1, 2])
    if draw.random() < 0.4:
        clause = joined([thing(draw), thing(draw), action(draw)], [0, 2, 1])
        return joined([main, word("ke", "because"), clause, word(".", ".")], [0, 1, 2, 3])
    return joined([main, word(".", ".")], [0, 1])


def noisy(draw: random.Random, pair: Pair) -> Pair:
    """The same with other words for some, and with some links that are wrong or missing, as an aligner's are."""
    left, right, links = pair
    right = [SYNONYMS.get(one, one) if draw.random() < 0.2 else one for one in right]
    kept = [link for link in links if draw.random() > 0.02]
    if draw.random() < 0.1:
        kept.append((draw.randrange(len(left)), draw.randrange(len(right))))
    return left, right, sorted(set(kept))


def main() -> None:
    """Write the files."""
    draw = random.Random(2008)
    seen: set[str] = set()
    for name, size in {"train": 400, "tune": 40, "test": 80}.items():
        pairs: list[Pair] = []
        while len(pairs) < size:
            pair = noisy(draw, sentence(draw))
            text = " ".join(pair[1])
            # No sentence of one set is in another.
            if text not in seen:
                seen.add(text)
                pairs.append(pair)
        for suffix, side in (("xx", 0), ("en", 1)):
            lines = (" ".join(one[side]) for one in pairs)
            Path(f"{name}.{suffix}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        if name == "train":
            links = (" ".join(f"{i}-{j}" for i, j in one[2]) for one in pairs)
            Path("train.align").write_text("".join(f"{line}\n" for line in links), encoding="utf-8")


if __name__ == "__main__":
    main()
