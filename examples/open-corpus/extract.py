"""Make pairs of sentences from the packages of a folder.

usage: python3 extract.py --languages de en -i packages -o pairs
"""

from __future__ import annotations

import argparse
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import texts
from packages import INDEX, Package, descriptions, language_code, members, new_folder, open_package

HELP = re.compile(r"usr/share/libreoffice/help/([\w-]+)/text/(.+)\.html")
CATALOGUE = re.compile(r".*/([\w@-]+)/LC_MESSAGES/([^/]+)\.mo")
VERSES = re.compile(r"package/dist/quran_([\w-]+)\.json")
# Full stops of Chinese, Japanese and Urdu, and others, which do not end a sentence after initials.
FULL_STOP = re.compile(r"(?<=[。！？۔])(?![」』）)”’])\s*")
STOP = re.compile(r"(?<=[^\s.][^\s.][.!?])\s+")

# Text by language, for each source, document and key.
Joined = dict[tuple[str, str, str], dict[str, str]]


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Make pairs of sentences from the packages of a folder.")
    parser.add_argument("--languages", nargs=2, required=True, metavar=("SOURCE", "TARGET"), help="one of them is en")
    parser.add_argument("-i", "--input", type=Path, required=True, metavar="DIR", help="folder of packages")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="DIR", help="folder for pairs.tsv and packages.tsv"
    )
    args = parser.parse_args()
    foreign = foreign_language(args.languages)
    if not args.input.is_dir():
        parser.error(f"{args.input}: expected a folder of packages")
    paths = sorted(path for path in args.input.iterdir() if path.is_file())
    joined: Joined = {}
    packages = [add_package(path, foreign, joined) for path in paths]
    pairs = {}
    for (source, document, _), sides in joined.items():
        if len(sides) == 2:
            for english, other in sentence_pairs(sides["en"], sides[foreign]):
                if is_translated(english, other):
                    text = {"en": english, foreign: other}
                    pairs[(source, document, *(text[language] for language in args.languages))] = None
    if not pairs:
        sys.exit(f"{args.input}: expected texts in both {foreign} and en, found none")
    with new_folder(args.output) as folder:
        write_table(folder / "packages.tsv", [("file", "name", "version", "sha256", "texts"), *packages])
        write_table(folder / "pairs.tsv", [("source", "document", *args.languages), *pairs])
    print(f"{len(pairs)} pairs of {len(paths)} packages: {args.output / 'pairs.tsv'}")


def add_package(path: Path, foreign: str, joined: Joined) -> tuple[str, ...]:
    """Add the texts of a package that are not there; its row in packages.tsv."""
    package = open_package(path)
    count = 0
    for source, language, (document, key, text) in read_package(package, foreign):
        count += 1
        joined.setdefault((source, document, key), {}).setdefault(language, text)
    return (path.name, package.name, package.version, package.sha256, str(count))


def foreign_language(languages: list[str]) -> str:
    """The language that is not English: catalogues and help are translated from English."""
    others = [one for one in languages if one != "en"]
    if len(others) != 1:
        sys.exit(f"--languages: expected en and another language, found {' '.join(languages)}")
    return others[0]


def read_package(package: Package, foreign: str) -> Iterator[tuple[str, str, texts.Text]]:
    """Source, language and text of all that a package has in one of the languages."""
    codes = {"en": "en", "en-us": "en", language_code(foreign): foreign}

    def language(found: str) -> str | None:
        return codes.get(language_code(found))

    if index := INDEX.fullmatch(package.path.name):
        if known := language(index[1]):
            for record in descriptions(package.path):
                for text in texts.description_texts(*record):
                    yield "descriptions", known, text
        return
    for name, data in members(package.path, f"{HELP.pattern}|{CATALOGUE.pattern}|{VERSES.pattern}"):
        try:
            if (found := HELP.fullmatch(name)) and (known := language(found[1])):
                for text in texts.help_texts(found[2], data):
                    yield "help", known, text
            elif (found := VERSES.fullmatch(name)) and (known := language(found[1])):
                for text in texts.verse_texts(data):
                    yield "verses", known, text
            elif (found := CATALOGUE.fullmatch(name)) and language(found[1]) == foreign:
                for english, other in texts.catalogue_texts(f"{package.name}/{found[2]}", data):
                    yield "messages", "en", english
                    yield "messages", foreign, other
        except (ValueError, LookupError, TypeError, struct.error) as error:
            sys.exit(f"{package.path}: {name}: expected a help page, a .mo catalogue or verses: {error!r}")


def sentence_pairs(english: str, foreign: str) -> Iterator[tuple[str, str]]:
    """Pairs of lines, and of sentences, if both sides have equally many; otherwise, pairs of what they stand in."""
    lines = [[line for line in text.split("\n") if line.strip()] for text in (english, foreign)]
    if len(lines[0]) != len(lines[1]):
        lines = [[" ".join(side)] for side in lines]
    for pair in zip(*lines, strict=True):
        split = [sentences(" ".join(side.split())) for side in pair]
        if is_parallel(*split):
            yield from zip(*split, strict=True)
        else:
            yield " ".join(split[0]), " ".join(split[1])


def is_parallel(english: list[str], foreign: list[str]) -> bool:
    """Whether sentences are as many, and none has more than twice, or less than half, the length of its partner.

    Lengths are measured by that of the whole, and a few letters are no difference.
    """
    scale = (sum(map(len, foreign)) + 10) / (sum(map(len, english)) + 10)
    return len(english) == len(foreign) and all(
        0.5 <= (len(other) + 10) / (len(one) + 10) / scale <= 2 for one, other in zip(english, foreign, strict=True)
    )


def sentences(text: str) -> list[str]:
    """Split after full stops, but for those before a small letter."""
    found: list[str] = []
    for part in filter(None, FULL_STOP.split(text)):
        first, *others = STOP.split(part)
        found.append(first)
        for other in others:
            if other[:1].islower():
                found[-1] += " " + other
            elif other:
                found.append(other)
    return found


def is_translated(english: str, foreign: str) -> bool:
    """Whether both sides are text, and the foreign one is more than a copy of the English one."""
    if sum(map(str.isalpha, english)) < 0.6 * len(english.replace(" ", "")) or not any(map(str.isalpha, foreign)):
        return False
    words = {word for word in re.findall(r"\w+", english.lower()) if len(word) > 3}
    copied = words.intersection(re.findall(r"\w+", foreign.lower()))
    return english != foreign and 2 * len(copied) <= max(2, len(words))


def write_table(path: Path, rows: list[tuple[str, ...]]) -> None:
    """Write rows of a table."""
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
