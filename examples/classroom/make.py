"""Makes the data of this folder: German sentences with their verbs at the end, translations, phrases, English text."""

from __future__ import annotations

import math
import random

# Article of subject and object (0 der, 1 die, 2 das), German, English.
PEOPLE = [
    (0, "koch", "cook"), (0, "junge", "boy"), (1, "frau", "woman"), (2, "mädchen", "girl"), (1, "tante", "aunt"),
    (0, "onkel", "uncle"), (0, "ingenieur", "engineer"), (1, "künstlerin", "artist"), (0, "arzt", "doctor"),
    (0, "erbe", "heir"), (1, "nachbarin", "neighbour"), (0, "schauspieler", "actor"),
]  # fmt: skip
THINGS = [
    (0, "apfel", "apple"), (1, "zwiebel", "onion"), (2, "ei", "egg"), (0, "brief", "letter"), (2, "boot", "boat"),
    (0, "regenschirm", "umbrella"), (1, "insel", "island"), (0, "ofen", "oven"), (1, "lampe", "lamp"),
    (2, "buch", "book"), (0, "umschlag", "envelope"), (1, "eule", "owl"), (0, "esel", "donkey"), (2, "haus", "house"),
    (0, "anker", "anchor"), (1, "bank", "bench"), (2, "schloss", "castle"), (0, "igel", "hedgehog"),
]  # fmt: skip
ADJECTIVES = [
    ("alt", "old"), ("klein", "small"), ("leer", "empty"), ("rot", "red"), ("hässlich", "ugly"), ("offen", "open"),
    ("neu", "new"), ("eisern", "iron"), ("seltsam", "odd"), ("schön", "beautiful"), ("elegant", "elegant"),
]  # fmt: skip
VERBS = [
    ("gekauft", "bought"), ("gesehen", "seen"), ("gefunden", "found"), ("verkauft", "sold"), ("gemalt", "painted"),
    ("geöffnet", "opened"), ("gesucht", "looked for"), ("repariert", "repaired"), ("vergessen", "forgotten"),
    ("beschrieben", "described"), ("gezeigt", "shown"),
]  # fmt: skip
TIMES = [
    ("gestern", "yesterday"), ("heute", "today"), ("am morgen", "in the morning"), ("am abend", "in the evening"),
    ("nach dem regen", "after the rain"), ("vor dem essen", "before dinner"), ("im winter", "in winter"),
]  # fmt: skip
# What tables have beside the right words, and sometimes as the likelier ones.
OTHERS = {
    "bench": "bank", "castle": "lock", "boy": "young", "woman": "wife", "found": "judged", "empty": "vacant",
    "small": "little", "letter": "character", "open": "overt", "today": "nowadays",
    "odd": "strange", "heir": "heritage", "shown": "pointed", "bought": "purchased", "house": "home",
}  # fmt: skip
DEFINITE = [("der", "den"), ("die", "die"), ("das", "das")]
INDEFINITE = [("ein", "einen"), ("eine", "eine"), ("ein", "ein")]
ENDINGS = {"der": "e", "die": "e", "das": "e", "den": "en", "einen": "en", "eine": "e"}
VOWELS = "aeiou"


def noun(draw, some, case):
    """An article, perhaps an adjective, and a noun; as subject (0) or object (1)."""
    gender, german, english = draw.choice(some)
    definite = draw.random() < 0.3
    article = (DEFINITE if definite else INDEFINITE)[gender][case]
    if draw.random() < 0.45:
        stem, word = draw.choice(ADJECTIVES)
        german = f"{stem}{ENDINGS.get(article, 'er' if gender == 0 else 'es')} {german}"
        english = f"{word} {english}"
    # The h of the heir is not heard.
    heard = english.removeprefix("h") if english.startswith("heir") else english
    return f"{article} {german}", f"{'the' if definite else 'an' if heard[0] in VOWELS else 'a'} {english}"


def sentence(draw):
    (s, subject), (o, target) = noun(draw, PEOPLE, 0), noun(draw, THINGS, 1)
    (v, verb), (t, time) = draw.choice(VERBS), draw.choice(TIMES)
    return draw.choice(
        [
            (f"{s} hat {o} {v} .", f"{subject} has {verb} {target} ."),
            (f"{s} hat {t} {o} {v} .", f"{subject} has {verb} {target} {time} ."),
            (f"{t} hat {s} {o} {v} .", f"{time} {subject} has {verb} {target} ."),
            (f"ich glaube , dass {s} {o} {v} hat .", f"i believe that {subject} has {verb} {target} ."),
            (f"hat {s} {t} {o} {v} ?", f"has {subject} {verb} {target} {time} ?"),
        ]
    )


def phrases():
    """Source, target, and how likely the target is."""
    yield from [(".", ".", 1), ("?", "?", 1), (", dass", "that", 0.8), (", dass", ", that", 0.2), (",", ",", 0.9)]
    yield from [("ich glaube", "i believe", 0.9), ("ich", "i", 0.9), ("glaube", "believe", 0.7), ("dass", "that", 0.9)]
    yield from [("hat", "has", 0.8), ("hat", "had", 0.2)]
    for german in ("der", "die", "das", "den"):
        yield german, "the", 0.8
    for german in ("ein", "eine", "einen"):
        yield from [(german, "a", 0.65), (german, "an", 0.15), (german, "one", 0.2)]
    for nouns, case in ((PEOPLE, 0), (THINGS, 1)):
        for gender, german, english in nouns:
            yield from both(german, english)
            yield from both(f"{DEFINITE[gender][case]} {german}", f"the {english}")
    for stem, english in ADJECTIVES:
        for ending in ("e", "en", "er", "es"):
            yield from both(f"{stem}{ending}", english)
    for german, english in (*VERBS, *TIMES):
        yield from both(german, english)
    for german, english in VERBS[::2]:
        yield f"{german} hat", f"has {english}", 0.7


def both(german, english):
    *before, last = english.split(" ", 1)
    other = OTHERS.get(last)
    if other is None:
        return [(german, english, 0.9)]
    return [(german, english, 0.4), (german, " ".join([*before, other]), 0.5)]


def write(name, lines):
    with open(name, "w", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in lines)


def main():
    draw = random.Random(4)
    pairs = [sentence(draw) for _ in range(50)]
    write("source.de", [german for german, _ in pairs])
    write("ref.en", [english for _, english in pairs])
    write("text.en", [sentence(draw)[1] for _ in range(120)])
    table = []
    for source, target, likely in phrases():
        table.append(f"{source} ||| {target} ||| {min(0.0, math.log10(likely) + draw.gauss(0, 0.1)):.3f}")
    write("phrases.txt", table)


if __name__ == "__main__":
    main()
