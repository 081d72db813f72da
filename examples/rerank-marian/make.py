"""Makes the data of this folder: sentences of a small grammar, and lists as `marian-decoder --n-best` writes them.

Two models, made up, score each hypothesis: F0 likes short ones, F1 knows which words go together and is blind to their
order. The number at the end is F0 by length, as with Marian's `--normalize`.
"""

from __future__ import annotations

import random

NOUNS = "dog cat boat train fish house woman fisherman boy soup bank harbour letter bridge garden teacher".split()
VERBS = "sees buys finds likes paints sells watches".split()
ADJECTIVES = "old small red new quiet little broken".split()
OTHERS = {"sees": "saw", "buys": "buy", "finds": "found", "likes": "loves", "small": "little", "boat": "ship"}
PLACES = ["in the harbour", "behind the house", "on the bridge", "in the garden", "near the bank"]
TIMES = ["today", "every morning", "at noon", "after the rain"]


def phrase(source):
    return " ".join(["the", *([source.choice(ADJECTIVES)] if source.random() < 0.6 else []), source.choice(NOUNS)])


def sentence(source):
    parts = [phrase(source), source.choice(VERBS), phrase(source)]
    if source.random() < 0.7:
        parts.append(source.choice(PLACES))
    if source.random() < 0.5:
        parts.append(source.choice(TIMES))
    return " ".join([*parts, "."]).split()


def spoilt(words, source):
    """Words with some mistakes, what a fluency model says of the mistakes, and what an adequacy model says."""
    words, fluency, adequacy = list(words), 0.0, 0.0
    for _ in range(source.choice((1, 2, 3, 3, 4, 5))):
        at = source.randrange(len(words) - 1)
        kind = source.choice(("drop", "swap", "other", "repeat", "noun"))
        if kind == "drop" and len(words) > 4:
            del words[at]
            adequacy += 1.6
        elif kind == "swap" and at + 2 < len(words):
            words[at], words[at + 1] = words[at + 1], words[at]
            fluency += 2.2
        elif kind == "other" and words[at] in OTHERS:
            words[at] = OTHERS[words[at]]
            fluency, adequacy = fluency + 0.3, adequacy + 0.3
        elif kind == "repeat":
            words.insert(at, words[at])
            fluency += 0.8
        elif words[at] in NOUNS:
            words[at] = source.choice(NOUNS)
            adequacy += 2.0
    return words, fluency, adequacy


def lists(references, source, size=12):
    for number, words in enumerate(references):
        rows = {}
        while len(rows) < size:
            made, fluency, adequacy = spoilt(words, source)
            first = -0.35 * len(made) - fluency - 0.3 * adequacy + source.gauss(0, 1)
            second = -2.0 - 0.05 * len(made) - 0.2 * fluency - adequacy + source.gauss(0, 1)
            rows.setdefault(" ".join(made), (first, second, first / len(made)))
        for text, (first, second, total) in sorted(rows.items(), key=lambda row: -row[1][2]):
            yield f"{number} ||| {text} ||| F0= {first:.4f} F1= {second:.4f} ||| {total:.4f}\n"


def main():
    source = random.Random(7)
    for name in ("dev", "test"):
        references = [sentence(source) for _ in range(80)]
        with open(f"{name}.en", "w", encoding="utf-8") as out:
            out.writelines(" ".join(words) + "\n" for words in references)
        with open(f"{name}.nbest", "w", encoding="utf-8") as out:
            out.writelines(lists(references, source))
    with open("text.en", "w", encoding="utf-8") as out:
        out.writelines(" ".join(sentence(source)) + "\n" for _ in range(150))


if __name__ == "__main__":
    main()
