"""Makes the data of this folder: English sentences with trees, translations that look French, and links.

What a word becomes depends on its neighbour (`light`), on words anywhere in the sentence (`bank`), or on the head of
its subject (`runs`); articles agree with their noun, most adjectives stand behind it, some words become nothing, and
some links are wrong, as an aligner's are.
"""

from __future__ import annotations

import random
from pathlib import Path

PEOPLE = [
    ("man", "homme", "le"), ("woman", "femme", "la"), ("boy", "garçon", "le"), ("girl", "fille", "la"),
    ("doctor", "médecin", "le"), ("teacher", "maîtresse", "la"),
]  # fmt: skip
MACHINES = [
    ("motor", "moteur", "le"), ("machine", "machine", "la"), ("radio", "radio", "la"), ("clock", "horloge", "la"),
]  # fmt: skip
THINGS = [
    ("bag", "sac", "le"), ("box", "boîte", "la"), ("table", "table", "la"), ("room", "chambre", "la"),
    ("wall", "mur", "le"), ("house", "maison", "la"), ("hat", "chapeau", "le"), ("book", "livre", "le"),
]  # fmt: skip
MONEY = [("money", "argent", "le"), ("coin", "monnaie", "la")]
WATER = [("river", "rivière", "la"), ("boat", "bateau", "le")]
BEHIND = [("red", "rouge"), ("modern", "moderne"), ("dirty", "sale"), ("strange", "étrange"), ("sad", "triste")]
BEFORE = [("small", "petit"), ("other", "autre")]
LIGHT = {"bag": "léger", "box": "léger", "hat": "léger", "room": "clair", "wall": "clair", "house": "clair"}
VERBS = [("sees", "voit"), ("finds", "trouve"), ("buys", "achète"), ("draws", "dessine"), ("sells", "vend")]
SYNONYMS = {"sale": "crasseux", "trouve": "découvre", "bateau": "navire", "étrange": "bizarre"}

Part = tuple[str, list[tuple[str, str]], list[int]]
"""A tree as text, its words each with what it becomes, and the order of these on the other side."""


def word(tag: str, english: str, french: str) -> Part:
    """A word; one that becomes '' is left out on the other side."""
    return f"({tag} {english})", [(english, french)], [0]


def node(label: str, parts: list[Part], order: list[int] | None = None) -> Part:
    """Parts under a label, put in another order on the other side."""
    words: list[tuple[str, str]] = []
    places = []
    for _, own, within in parts:
        places.append([len(words) + one for one in within])
        words += own
    chosen = [place for part in order or range(len(parts)) for place in places[part]]
    return f"({label} {' '.join(tree for tree, _, _ in parts)})", words, chosen


def thing(draw: random.Random, nouns: list[tuple[str, str, str]]) -> Part:
    """An article, perhaps an adjective, a noun."""
    noun, french, article = draw.choice(nouns)
    parts = [word("DT", "the", article)]
    if noun in LIGHT and draw.random() < 0.4:
        return node("NP", [*parts, word("JJ", "light", LIGHT[noun]), word("NN", noun, french)], [0, 2, 1])
    chance = draw.random()
    if chance < 0.2:
        return node("NP", [*parts, word("JJ", *draw.choice(BEFORE)), word("NN", noun, french)])
    if chance < 0.5:
        return node("NP", [*parts, word("JJ", *draw.choice(BEHIND)), word("NN", noun, french)], [0, 2, 1])
    return node("NP", [*parts, word("NN", noun, french)])


def near_the_bank(draw: random.Random, water: bool) -> Part:
    """`near the bank`, a bank of either kind."""
    bank = node("NP", [word("DT", "the", "la"), word("NN", "bank", "rive" if water else "banque")])
    return node("PP", [word("IN", draw.choice(["near", "behind"]), draw.choice(["vers", "derrière"])), bank])


def owned(draw: random.Random, nouns: list[tuple[str, str, str]], owners: list[tuple[str, str, str]]) -> Part:
    """`the machine of the boy`: the last noun is not the head."""
    return node("NP", [thing(draw, nouns), node("PP", [word("IN", "of", "de"), thing(draw, owners)])])


def sentence(draw: random.Random) -> Part:
    """A sentence."""
    stop = word(".", ".", ".")
    chance = draw.random()
    if chance < 0.35:
        person = draw.random() < 0.5
        nouns, owners = (PEOPLE, MACHINES) if person else (MACHINES, PEOPLE)
        subject = owned(draw, nouns, owners) if draw.random() < 0.6 else thing(draw, nouns)
        verb = word("VBZ", "runs", "court" if person else "marche")
        return node("S", [subject, node("VP", [verb, word("RB", "well", "bien")]), stop])
    if chance < 0.7:
        water = draw.random() < 0.5
        seen = thing(draw, WATER if water else MONEY)
        verb = node("VP", [word("VBZ", *draw.choice(VERBS)), seen])
        if draw.random() < 0.5:
            return node("S", [near_the_bank(draw, water), word(",", ",", ","), thing(draw, PEOPLE), verb, stop])
        return node("S", [thing(draw, PEOPLE), node("VP", [verb, near_the_bank(draw, water)]), stop])
    seen = owned(draw, THINGS, PEOPLE) if draw.random() < 0.3 else thing(draw, THINGS)
    if draw.random() < 0.3:
        english, french = draw.choice(VERBS)
        parts = [word("VBZ", "does", ""), word("RB", "not", "pas"), word("VB", english[:-1], french), seen]
        return node("S", [thing(draw, PEOPLE), node("VP", parts, [0, 2, 1, 3]), stop])
    return node("S", [thing(draw, PEOPLE), node("VP", [word("VBZ", *draw.choice(VERBS)), seen]), stop])


def lines(draw: random.Random) -> tuple[str, str, str, str]:
    """Source, translation, links and tree of a sentence."""
    tree, words, order = sentence(draw)
    french: list[str] = []
    links: list[tuple[int, int]] = []
    for place in order:
        text = words[place][1]
        if text:
            # A translator has a choice.
            text = SYNONYMS[text] if text in SYNONYMS and draw.random() < 0.3 else text
            links.append((place, len(french)))
            french.append(text)
    wrong = [(i, draw.randrange(len(french))) if draw.random() < 0.04 else (i, j) for i, j in links]
    shown = " ".join(f"{i}-{j}" for i, j in sorted(set(wrong)))
    return " ".join(one for one, _ in words), " ".join(french), shown, tree


def main() -> None:
    """Write the files."""
    draw = random.Random(7)
    for name, count in (("train", 400), ("tune", 150), ("dev", 100), ("test", 100)):
        made = [lines(draw) for _ in range(count)]
        for kind, column in zip(("en", "fr", "align", "trees"), zip(*made, strict=True), strict=True):
            Path(f"{name}.{kind}").write_text("".join(f"{one}\n" for one in column), encoding="utf-8")


if __name__ == "__main__":
    main()
