"""Makes the data of this folder: sentences that look French, with adjectives behind nouns, translations, and links.

Some verbs have two translations, and which is right depends on what follows; some links are wrong, as an aligner's are.
"""

from __future__ import annotations

import random
from pathlib import Path

NOUNS = [
    ("la maison", "house"), ("la voiture", "car"), ("le chien", "dog"), ("le chat", "cat"), ("la femme", "woman"),
    ("le garçon", "boy"), ("la pomme", "apple"), ("le livre", "book"), ("la table", "table"), ("le train", "train"),
    ("la robe", "dress"), ("le chapeau", "hat"), ("la valise", "suitcase"), ("le ballon", "ball"), ("la porte", "door"),
    ("le bateau", "boat"), ("la fille", "girl"), ("le médecin", "doctor"), ("le pont", "bridge"), ("la rue", "street"),
]  # fmt: skip
PEOPLE = {"woman", "boy", "girl", "doctor", "dog", "cat"}
WORN = {"dress", "hat"}
ADJECTIVES = [
    ("rouge", "red"), ("jaune", "yellow"), ("calme", "quiet"), ("moderne", "modern"), ("sale", "dirty"),
    ("étrange", "strange"), ("célèbre", "famous"), ("triste", "sad"),
]  # fmt: skip
BEFORE = [("petite", "small"), ("jeune", "young"), ("autre", "other")]
VERBS = [
    ("voit", "sees"), ("trouve", "finds"), ("achète", "buys"), ("perd", "loses"), ("dessine", "draws"),
    ("cherche", "looks for"), ("regarde", "looks at"),
]  # fmt: skip
PLACES = [
    ("dans le jardin", "in the garden"), ("derrière la gare", "behind the station"), ("sur la plage", "on the beach"),
    ("devant la mairie", "outside the townhall"), ("ce matin", "this morning"), ("le soir", "at night"),
]  # fmt: skip
SYNONYMS = {"dirty": "filthy", "finds": "discovers", "strange": "odd", "boat": "ship", "suitcase": "case"}

Pair = tuple[list[str], list[str], list[tuple[int, int]]]


def put(pair: Pair, french: str, english: str) -> None:
    """Words behind those that are there: each translates one if they are as many, else all translate all."""
    left, right, links = pair
    first, second = french.split(), english.split()
    even = len(first) == len(second)
    every = [(i, j) for i in range(len(first)) for j in range(len(second)) if i == j or not even]
    links += [(len(left) + i, len(right) + j) for i, j in every]
    left += first
    right += second


def thing(draw: random.Random, pair: Pair, nouns: list[tuple[str, str]]) -> str:
    """An article, a noun and perhaps adjectives: most stand behind the noun in French."""
    noun, english = draw.choice(nouns)
    article, word = noun.split()
    put(pair, article, "the")
    if draw.random() < 0.2:
        put(pair, *draw.choice(BEFORE))
    if draw.random() < 0.6:
        adjective, translated = draw.choice(ADJECTIVES)
        left, right, links = pair
        links += [(len(left) + 1, len(right)), (len(left), len(right) + 1)]
        left += [word, adjective]
        right += [translated, english]
    else:
        put(pair, word, english)
    return english


def sentence(draw: random.Random) -> Pair:
    """A sentence and its translation."""
    pair: Pair = ([], [], [])
    people = [one for one in NOUNS if one[1] in PEOPLE]
    things = [one for one in NOUNS if one[1] not in PEOPLE]
    if draw.random() < 0.25:
        put(pair, *draw.choice(PLACES))
        put(pair, ",", ",")
    thing(draw, pair, people)
    if draw.random() < 0.35:
        # What is carried and what is worn is the same word.
        worn = draw.random() < 0.5
        put(pair, "porte", "wears" if worn else "carries")
        thing(draw, pair, [one for one in things if (one[1] in WORN) == worn])
    else:
        put(pair, *draw.choice(VERBS))
        thing(draw, pair, NOUNS)
    if draw.random() < 0.4:
        put(pair, *draw.choice(PLACES))
    put(pair, ".", ".")
    return pair


def noisy(draw: random.Random, pair: Pair) -> Pair:
    """The same with other words for some, and with some links that are wrong or missing."""
    left, right, links = pair
    right = [SYNONYMS.get(word, word) if draw.random() < 0.2 else word for word in right]
    kept = [link for link in links if draw.random() > 0.03]
    if draw.random() < 0.25:
        kept.append((draw.randrange(len(left)), draw.randrange(len(right))))
    return left, right, sorted(set(kept))


def main() -> None:
    """Write the files."""
    draw = random.Random(2005)
    sizes = {"train": 500, "devtest": 200, "test": 100}
    for name, size in sizes.items():
        pairs = [noisy(draw, sentence(draw)) for _ in range(size)]
        for suffix, side in (("fr", 0), ("en", 1)):
            Path(f"{name}.{suffix}").write_text("".join(" ".join(one[side]) + "\n" for one in pairs), encoding="utf-8")
        if name == "train":
            links = (" ".join(f"{i}-{j}" for i, j in one[2]) for one in pairs)
            Path("train.align").write_text("".join(f"{line}\n" for line in links), encoding="utf-8")
    texts = [" ".join(noisy(draw, sentence(draw))[1]) for _ in range(1200)]
    Path("text.en").write_text("\n".join(texts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
