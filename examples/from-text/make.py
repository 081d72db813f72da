"""Makes the data of this folder: raw sentences that look German, with verbs at the end of clauses, and translations.

Words are capitalised and punctuation is attached, as in text that nobody has prepared. Some pairs are spoilt,
as in text from the web: sides that are missing, repeated or far too long.
"""

from __future__ import annotations

import random
from pathlib import Path

PEOPLE = [
    ("die Lehrerin", "the teacher"),
    ("der Bäcker", "the baker"),
    ("das Kind", "the child"),
    ("die Nachbarin", "the neighbour"),
    ("der Kapitän", "the captain"),
    ("meine Schwester", "my sister"),
    ("unser Onkel", "our uncle"),
    ("Anna", "Anna"),
]
THINGS = [
    ("ein Buch", "a book"),
    ("die Zeitung", "the newspaper"),
    ("einen Apfel", "an apple"),
    ("das Fahrrad", "the bicycle"),
    ("einen Brief", "a letter"),
    ("die Suppe", "the soup"),
    ("den alten Schrank", "the old cupboard"),
    ("zwei Karten", "two tickets"),
    ("die grüne Lampe", "the green lamp"),
    ("ein neues Kleid", "a new dress"),
]
VERBS = [
    ("kaufen", "kauft", "gekauft", "buy", "buys", "bought"),
    ("finden", "findet", "gefunden", "find", "finds", "found"),
    ("holen", "holt", "geholt", "fetch", "fetches", "fetched"),
    ("zeigen", "zeigt", "gezeigt", "show", "shows", "shown"),
    ("verkaufen", "verkauft", "verkauft", "sell", "sells", "sold"),
    ("sehen", "sieht", "gesehen", "see", "sees", "seen"),
]
TIMES = [
    ("heute", "today"),
    ("am Abend", "in the evening"),
    ("jeden Morgen", "every morning"),
    ("auf dem Markt", "at the market"),
    ("im Garten", "in the garden"),
    ("vor dem Haus", "in front of the house"),
    ("in Berlin", "in Berlin"),
]
MODALS = [("kann", "can"), ("will", "wants to"), ("muss", "must"), ("darf", "may")]
THINKS = [("Ich glaube", "I think"), ("Sie sagt", "she says"), ("Wir hoffen", "we hope"), ("Er weiß", "he knows")]
SYNONYMS = {"bicycle": "bike", "fetch": "get", "fetches": "gets", "child": "kid", "in the evening": "at night"}


def sentence(draw: random.Random) -> tuple[str, str]:
    """A sentence and its translation."""
    person, who = draw.choice(PEOPLE)
    thing, what = draw.choice(THINGS)
    infinitive, finite, participle, verb, present, past = draw.choice(VERBS)
    time, when = draw.choice(TIMES)
    kind = draw.randrange(4)
    if kind == 0:
        modal, translated = draw.choice(MODALS)
        return f"{person} {modal} {time} {thing} {infinitive}.", f"{who} {translated} {verb} {what} {when}."
    if kind == 1:
        return f"{time} hat {person} {thing} {participle}.", f"{when} {who} has {past} {what}."
    if kind == 2:
        start, begun = draw.choice(THINKS)
        return f"{start}, dass {person} {time} {thing} {finite}.", f"{begun} that {who} {present} {what} {when}."
    return f"{finite} {person} {time} {thing}?", f"{who} {present} {what} {when}?"


def spelt(text: str) -> str:
    """The sentence with a capital at its start."""
    return text[:1].upper() + text[1:]


def varied(draw: random.Random, text: str) -> str:
    """The translation with other words now and then."""
    for word, other in SYNONYMS.items():
        if draw.random() < 0.25:
            text = text.replace(word, other)
    return text


def spoilt(draw: random.Random, source: str, target: str) -> tuple[str, str]:
    """The pair as a careless collector might have left it."""
    kind = draw.random()
    if kind < 0.01:
        return source, ""
    if kind < 0.015:
        return source, " ".join([target] * 20)
    return source, target


def main() -> None:
    """Write the files."""
    draw = random.Random(2026)
    for name, size in {"train": 500, "dev": 40, "test": 100}.items():
        rows = [
            (spelt(source), spelt(varied(draw, target))) for source, target in (sentence(draw) for _ in range(size))
        ]
        rows = [spoilt(draw, *row) for row in rows] if name == "train" else rows
        for suffix, side in (("de", 0), ("en", 1)):
            Path(f"{name}.{suffix}").write_text("".join(f"{row[side]}\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
