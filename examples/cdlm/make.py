"""Makes the data of this folder: sentences of a language without articles, their English translations, and links.

Nouns have no article there, a particle joins an owner and what it owns in either order of English (the cook 's boat,
the door of the house), places stand before verbs, and two of the words for places mean more than one thing. So a system
confuses articles, owners and prepositions.
"""

from __future__ import annotations

import random
from pathlib import Path

PEOPLE = [
    ("koka", "cook"), ("bana", "boy"), ("fina", "fisherman"), ("lera", "teacher"), ("dota", "doctor"),
    ("nebo", "neighbour"), ("hunda", "dog"), ("kata", "cat"),
]  # fmt: skip
THINGS = [
    ("bato", "boat"), ("porto", "door"), ("lampo", "lamp"), ("libro", "book"), ("tablo", "table"), ("ponto", "bridge"),
    ("domo", "house"), ("breto", "bread"), ("kelo", "key"), ("gardo", "garden"), ("fero", "train"), ("kesto", "box"),
]  # fmt: skip
PLACES = ["domo", "gardo", "ponto", "tablo", "bato", "fero"]
VERBS = [
    ("vidi", "sees"), ("trovi", "finds"), ("aceti", "buys"), ("perdi", "loses"), ("pinti", "paints"),
    ("serci", "looks for"), ("rigi", "looks at"), ("doni", "gives"),
]  # fmt: skip
ADJECTIVES = [("ruga", "red"), ("nova", "new"), ("malna", "old"), ("eta", "small"), ("tila", "quiet")]
# What a word for a place means is said by the place.
WHERE = {
    "en": {"domo": "in", "gardo": "in", "fero": "on", "bato": "on"},
    "su": {"ponto": "on", "tablo": "on", "bato": "above"},
}
TIMES = [("hodi", "today"), ("hiri", "yesterday"), ("nokti", "at night"), ("mateni", "in the morning")]
SYNONYMS = {"finds": "discovers", "small": "little", "boat": "ship", "quiet": "silent", "box": "case"}

Pair = tuple[list[str], list[str], list[tuple[int, int]]]


def joined(parts: list[Pair], order: list[int]) -> Pair:
    """Parts in their order, and in another one in English."""
    left: list[str] = []
    starts = {}
    for number, part in enumerate(parts):
        starts[number] = len(left)
        left += part[0]
    right: list[str] = []
    links: list[tuple[int, int]] = []
    for number in order:
        links += [(starts[number] + i, len(right) + j) for i, j in parts[number][2]]
        right += parts[number][1]
    return left, right, sorted(links)


def word(foreign: str, english: str) -> Pair:
    """A word and its translation; of two English words both are linked."""
    words = english.split()
    return [foreign], words, [(0, j) for j in range(len(words))] if foreign else []


def thing(draw: random.Random, nouns: list[tuple[str, str]], first: bool) -> Pair:
    """A noun with the article of what is new or known, perhaps an adjective; things may have an owner or be a part."""
    foreign, english = draw.choice(nouns)
    article = "a" if draw.random() < (0.7 if first else 0.25) else "the"
    inner = [(foreign, english)]
    if draw.random() < 0.3:
        inner.insert(0, draw.choice(ADJECTIVES))
    if article == "a" and inner[0][1][0] in "aeiou":
        article = "an"
    left = [one for one, _ in reversed(inner)]
    right = [article, *(one for _, one in inner)]
    size = len(inner)
    return left, right, [(size - 1 - k, k + 1) for k in range(size)]


def owned(draw: random.Random, first: bool) -> Pair:
    """A thing, its owner and the thing, or a thing that is part of another one."""
    drawn = draw.random()
    whole = thing(draw, THINGS, first)
    if drawn < 0.5:
        return whole
    bare = draw.choice(THINGS)
    if drawn < 0.75:
        return joined([word(*bare), word("de", "'s"), thing(draw, PEOPLE, False)], [2, 1, 0])
    part = word(*bare)
    left, right, links = part
    return joined([(left, ["the", *right], [(i, j + 1) for i, j in links]), word("de", "of"), whole], [0, 1, 2])


def sentence(draw: random.Random) -> Pair:
    """A sentence and its translation."""
    subject = thing(draw, PEOPLE, True)
    verb = word(*draw.choice(VERBS))
    target = owned(draw, False) if draw.random() < 0.8 else thing(draw, PEOPLE, False)
    stop = word(".", ".")
    if draw.random() < 0.5:
        foreign = draw.choice(sorted(WHERE))
        place = draw.choice(sorted(WHERE[foreign]))
        english = next(one for other, one in THINGS if other == place)
        where = joined([word(foreign, WHERE[foreign][place]), ([place], ["the", english], [(0, 1)])], [0, 1])
        return joined([subject, where, verb, target, stop], [0, 2, 3, 1, 4])
    if draw.random() < 0.5:
        return joined([subject, word(*draw.choice(TIMES)), verb, target, stop], [0, 2, 3, 1, 4])
    return joined([subject, verb, target, stop], [0, 1, 2, 3])


def noisy(draw: random.Random, pair: Pair) -> Pair:
    """The same with other words for some, and with some links that are wrong or missing, as an aligner's are."""
    left, right, links = pair
    right = [SYNONYMS.get(one, one) if draw.random() < 0.2 else one for one in right]
    kept = [link for link in links if draw.random() > 0.04]
    if draw.random() < 0.2:
        kept.append((draw.randrange(len(left)), draw.randrange(len(right))))
    return left, right, sorted(set(kept))


def main() -> None:
    """Write the files."""
    draw = random.Random(2010)
    seen: set[str] = set()
    for name, size in {"train": 300, "text": 70, "tune": 60, "test": 60}.items():
        pairs: list[Pair] = []
        while len(pairs) < size:
            pair = noisy(draw, sentence(draw))
            text = " ".join(pair[1])
            # No sentence of one set is in another.
            if text not in seen:
                seen.add(text)
                pairs.append(pair)
        sides = {"en": 1} if name == "text" else {"xx": 0, "en": 1}
        for suffix, side in sides.items():
            lines = (" ".join(one[side]) for one in pairs)
            Path(f"{name}.{suffix}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        if name == "train":
            links = (" ".join(f"{i}-{j}" for i, j in one[2]) for one in pairs)
            Path("train.align").write_text("".join(f"{line}\n" for line in links), encoding="utf-8")


if __name__ == "__main__":
    main()
