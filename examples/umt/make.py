"""Makes the data of this folder: German sentences with verbs at the end, their translations, and a grammar for them.

The grammar knows every order: what stands behind the verb may be its subject, its object or a time. Some words have
two translations, and some references a word that no rule has.
"""

from __future__ import annotations

import math
import random

# German with its article as subject and as object, genitive (if it owns things), English.
NOUNS = [
    ("der koch", "den koch", "des kochs", "cook"), ("der junge", "den jungen", "des jungen", "boy"),
    ("die frau", "die frau", "der frau", "woman"), ("der fischer", "den fischer", "des fischers", "fisherman"),
    ("die lehrerin", "die lehrerin", "der lehrerin", "teacher"), ("der arzt", "den arzt", "des arztes", "doctor"),
    ("das mädchen", "das mädchen", "des mädchens", "girl"),
    ("der nachbar", "den nachbarn", "des nachbarn", "neighbour"),
    ("der hund", "den hund", "", "dog"), ("die katze", "die katze", "", "cat"), ("die möwe", "die möwe", "", "gull"),
]  # fmt: skip
THINGS = [
    ("das brot", "bread"), ("die suppe", "soup"), ("das boot", "boat"), ("die brücke", "bridge"),
    ("der brief", "letter"), ("das haus", "house"), ("der zug", "train"), ("die bank", "bench"),
    ("das schloss", "castle"), ("das buch", "book"), ("der garten", "garden"), ("das fenster", "window"),
    ("der tisch", "table"), ("die lampe", "lamp"),
]  # fmt: skip
ACCUSATIVE = {"der": "den", "die": "die", "das": "das"}
VERBS = [
    ("gekauft", "bought"), ("verkauft", "sold"), ("gesehen", "saw"), ("gefunden", "found"), ("gemalt", "painted"),
    ("gesucht", "looked for"), ("vergessen", "forgot"), ("beschrieben", "described"), ("gezeigt", "showed"),
    ("repariert", "repaired"), ("bewacht", "guarded"), ("bewundert", "admired"),
]  # fmt: skip
ADJECTIVES = [
    ("alte", "alten", "old"), ("kleine", "kleinen", "small"), ("neue", "neuen", "new"), ("rote", "roten", "red"),
    ("stille", "stillen", "quiet"), ("kaputte", "kaputten", "broken"), ("schöne", "schönen", "beautiful"),
]  # fmt: skip
TIMES = [
    ("gestern", "yesterday"), ("heute", "today"), ("am morgen", "in the morning"), ("am abend", "in the evening"),
    ("nach dem regen", "after the rain"), ("vor dem essen", "before dinner"), ("im winter", "in winter"),
]  # fmt: skip
PLACES = [
    ("im garten", "in the garden"), ("am hafen", "at the harbour"), ("auf der brücke", "on the bridge"),
    ("hinter dem haus", "behind the house"), ("im dorf", "in the village"), ("neben dem turm", "beside the tower"),
]  # fmt: skip
# Second translations: wrong here, whatever the tables say.
OTHERS = {
    "bench": "bank", "castle": "lock", "train": "draught", "boy": "young", "woman": "wife", "found": "judged",
    "saw": "seen", "bought": "purchased", "quiet": "silent", "small": "little", "table": "desk", "letter": "character",
    "neighbour": "peasant", "in the evening": "at the evening", "today": "nowadays", "showed": "pointed",
}  # fmt: skip
# Words of references that the grammar has not.
STRANGE = {"beautiful": "lovely", "repaired": "mended", "described": "depicted", "lamp": "light"}


def person(draw, case):
    noun = draw.choice(NOUNS)
    german, english = noun[case].split(), noun[3]
    if draw.random() < 0.4:
        weak, strong, adjective = draw.choice(ADJECTIVES)
        german.insert(1, strong if german[0] == "den" else weak)
        english = f"{adjective} {english}"
    return " ".join(german), f"the {english}"


def thing(draw):
    german, english = draw.choice(THINGS)
    article, noun = german.split()
    article = ACCUSATIVE[article]
    if draw.random() < 0.4:
        weak, strong, adjective = draw.choice(ADJECTIVES)
        noun, english = f"{strong if article == 'den' else weak} {noun}", f"{adjective} {english}"
    if draw.random() < 0.3:
        _, _, genitive, owner = draw.choice([one for one in NOUNS if one[2]])
        return f"{article} {noun} {genitive}", f"the {owner} 's {english}"
    return f"{article} {noun}", f"the {english}"


def sentence(draw):
    subject, target = person(draw, 0), thing(draw) if draw.random() < 0.75 else person(draw, 1)
    verb, time = draw.choice(VERBS), draw.choice(TIMES)
    place = draw.choice(PLACES) if draw.random() < 0.5 else None
    where = [f" {place[i]}" if place else "" for i in (0, 1)]
    kind = draw.random()
    if kind < 0.4:
        german = f"{subject[0]} hat {time[0]} {target[0]}{where[0]} {verb[0]} ."
        english = f"{subject[1]} {verb[1]} {target[1]}{where[1]} {time[1]} ."
    elif kind < 0.7:
        german = f"{time[0]} hat {subject[0]} {target[0]}{where[0]} {verb[0]} ."
        english = f"{time[1]} {subject[1]} {verb[1]} {target[1]}{where[1]} ."
    else:
        first = draw.choice([("ich glaube", "i believe"), ("sie sagt", "she says"), ("wir wissen", "we know")])
        german = f"{first[0]} , dass {subject[0]} {target[0]}{where[0]} {verb[0]} hat ."
        english = f"{first[1]} that {subject[1]} {verb[1]} {target[1]}{where[1]} ."
    if draw.random() < 0.3:
        english = " ".join(STRANGE.get(word, word) for word in english.split())
    return german, english


def rules():
    """Source, target, and how likely the target is: for words as it should be, for orders all alike."""
    yield from [(".", ".", 1), (", dass", "that", 0.7), (", dass", ", that", 0.3)]
    for german, english in (("ich glaube", "i believe"), ("sie sagt", "she says"), ("wir wissen", "we know")):
        yield german, english, 1
    for german, english in sorted({(one, "the") for one in ("der", "die", "das", "den")}):
        yield from [(german, english, 0.6), (f"{german} [X,1]", f"{english} [X,1]", 0.6)]
    for subject, target, genitive, english in NOUNS:
        for german in sorted({subject.split()[1], target.split()[1]}):
            yield from other(german, english)
        if genitive:
            yield from [(genitive, f"of the {english}", 0.5), (genitive, f"the {english} 's", 0.2)]
            for article in ("die", "das", "den"):
                yield f"{article} [X,1] {genitive}", f"the {english} 's [X,1]", 0.4
                yield f"{article} [X,1] {genitive}", f"the [X,1] of the {english}", 0.6
    for german, english in THINGS:
        yield from other(german.split()[1], english)
    for weak, strong, english in ADJECTIVES:
        for german in (weak, strong):
            yield from other(german, english)
            yield from [(f"{german} [X,1]", f"{english} [X,1]", 0.6), (f"{german} [X,1]", f"[X,1] {english}", 0.4)]
    for german, english in (*TIMES, *PLACES):
        yield from other(german, english)
        before, after = f"{english} [X,1]", f"[X,1] {english}"
        yield from [(f"{german} [X,1]", after, 0.5), (f"{german} [X,1]", before, 0.5)]
        yield from [(f"[X,1] {german}", after, 0.5), (f"[X,1] {german}", before, 0.5)]
    for german, english in VERBS:
        yield from other(german, english)
        for verb in sorted({english, OTHERS.get(english, english)}):
            share = 0.7 if verb == english else 0.3
            yield f"hat [X,1] {german}", f"{verb} [X,1]", 0.6 * share
            yield f"hat [X,1] {german}", f"[X,1] {verb}", 0.4 * share
            for target in (f"{verb} [X,2] [X,1]", f"[X,1] {verb} [X,2]", f"{verb} [X,1] [X,2]"):
                yield f"hat [X,1] [X,2] {german}", target, share / 3
            for target in (f"[X,1] {verb} [X,2]", f"{verb} [X,1] [X,2]", f"[X,2] {verb} [X,1]"):
                yield f"[X,1] [X,2] {german} hat", target, share / 3
    yield "hat", "has", 1


def other(german, english):
    if english not in OTHERS:
        return [(german, english, 0.9)]
    return [(german, english, 0.4), (german, OTHERS[english], 0.6)]


def write(name, lines):
    with open(name, "w", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in lines)


def main():
    draw = random.Random(11)
    for name, count in (("train", 80), ("test", 40)):
        pairs = [sentence(draw) for _ in range(count)]
        write(f"{name}.de", [german for german, _ in pairs])
        write(f"{name}.en", [english for _, english in pairs])
    # No beautiful thing is lovely in the text of the language model: it is of somebody else.
    write("text.en", [sentence(draw)[1] for _ in range(400)])
    table = []
    for source, target, likely in rules():
        noise = draw.gauss(0, 0.4), draw.gauss(0, 0.4)
        scores = [min(0.0, round(math.log(likely) + one, 2)) + 0.0 for one in noise]
        gaps = target.count("[X,"), target.find("[X,2]") < target.find("[X,1]")
        swapped = " Swapped=1" if gaps[0] == 2 and gaps[1] else ""
        table.append(f"[X] ||| {source} ||| {target} ||| EgivenF={scores[0]} FgivenE={scores[1]}{swapped}")
    write("rules.txt", table)


if __name__ == "__main__":
    main()
