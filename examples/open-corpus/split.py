"""Split pairs of sentences into training, development and test text, by blocks of neighbours.

usage: python3 split.py -i pairs/pairs.tsv -o text
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Callable
from pathlib import Path

from packages import new_folder

UNSPACED = ("ja", "zh", "th", "km", "lo", "my")
WORD = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")
LENGTHS = range(6, 41)  # of English sentences to tune and test on
BLOCK = 40
KNOWN = 0.6  # of the 4-grams of such a sentence may be known from training

Row = tuple[str, str, str, str]


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Split pairs of sentences by blocks of neighbours.")
    parser.add_argument("-i", "--input", type=Path, required=True, metavar="FILE", help="pairs.tsv of extract.py")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="folder for the texts")
    parser.add_argument("--share", type=float, default=0.02, metavar="X", help="of blocks for each set (default: 0.02)")
    parser.add_argument("--size", type=int, default=1000, metavar="N", help="of a set, at most (default: 1000)")
    args = parser.parse_args()
    if not args.input.is_file():
        parser.error(f"{args.input}: expected the file pairs.tsv of extract.py")
    lines = args.input.read_text(encoding="utf-8").splitlines()
    _, _, *languages = lines[0].split("\t") if lines else ["", ""]
    if len(languages) != 2 or "en" not in languages:
        sys.exit(f"{args.input}: expected the columns source, document, and two languages, of which one is en")
    rows: list[Row] = [tuple(line.split("\t")) for line in lines[1:]]
    english = 2 + languages.index("en")
    sets = split(rows, english, args.share, args.size)
    if empty := [name for name, chosen in sets.items() if not chosen]:
        sys.exit(f"{args.input}: no sentences left for {' and '.join(empty)}: fetch more packages, or set --share")
    segment = segmenter(languages[3 - english])
    with new_folder(args.output) as folder:
        for name, chosen in sets.items():
            for column, language in enumerate(languages, 2):
                texts = (row[column] if column == english else segment(row[column]) for row in chosen)
                (folder / f"{name}.{language}").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
            words = sum(len(row[english].split()) for row in chosen)
            print(f"{name}: {len(chosen)} pairs, {words} English words")


def split(rows: list[Row], english: int, share: float, size: int) -> dict[str, list[Row]]:
    """Blocks by the order of their digests: the first to test, the next to tune on, all others to train on."""
    blocks = sorted(make_blocks(rows), key=lambda block: hashlib.sha256("\t".join(block[0]).encode()).digest())
    held = max(1, round(share * len(blocks)))
    train = [row for block in blocks[2 * held :] for row in block]
    seen = {text.lower() for row in train for text in row[2:]}
    known = {gram for row in train for gram in four_grams(row[english])}

    def is_new(row: Row) -> bool:
        grams = four_grams(row[english])
        return (
            len(WORD.findall(row[english])) in LENGTHS
            and sum(gram in known for gram in grams) <= KNOWN * len(grams)
            and seen.isdisjoint(text.lower() for text in row[2:])
        )

    sets = {"train": train}
    for name, part in (("test", blocks[:held]), ("dev", blocks[held : 2 * held])):
        sets[name] = chosen = []
        for row in (row for block in part for row in block):
            if len(chosen) < size and is_new(row):
                chosen.append(row)
                seen.update(text.lower() for text in row[2:])
    return sets


def make_blocks(rows: list[Row]) -> list[list[Row]]:
    """Neighbouring rows, at least 40 in a block, so that no page, package or message is in two."""
    documents: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        documents.setdefault(row[:2], []).append(row)
    blocks: list[list[Row]] = []
    for (source, _), part in documents.items():
        if not blocks or blocks[-1][0][0] != source or len(blocks[-1]) >= BLOCK:
            blocks.append([])
        blocks[-1] += part
    return blocks


def four_grams(text: str) -> list[tuple[str, ...]]:
    """Sequences of four words in small letters."""
    words = WORD.findall(text.lower())
    return [tuple(words[start : start + 4]) for start in range(len(words) - 3)]


def segmenter(language: str) -> Callable[[str], str]:
    """A function that puts blanks between words where the language has none."""
    if language[:2] not in UNSPACED:
        return str
    if language != "ja":
        sys.exit(f"{language}: has no blanks between words, and split.py finds words of Japanese (ja) alone")
    try:
        import fugashi
    except ImportError:
        sys.exit("Japanese has no blanks between words: pip install fugashi unidic-lite")
    tagger = fugashi.Tagger("-Owakati")
    return lambda text: " ".join(tagger.parse(text).split())


if __name__ == "__main__":
    main()
