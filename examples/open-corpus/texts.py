"""Texts in the files of packages: help pages, message catalogues, package descriptions, verses.

Each function yields a document (of which no part may be tested on if another is trained on), a key and the text. Texts
of two languages with the same document and key are translations of each other.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from html.parser import HTMLParser

Text = tuple[str, str, str]

CODE = re.compile(r"code|smath")
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
# Wesnoth's markup: <ref>dst='page' text='words'</ref>, <bold>text='words'</bold>.
REFERENCE = re.compile(r"<\w+>(?:dst='[^']*' *)?text='([^']*)'</\w+>")
# Shortcuts: "_Open", "~Open" and, where letters are no Latin ones, "開く(_O)".
SHORTCUT = re.compile(r"[_~&](?=\w)")
ADDED_SHORTCUT = re.compile(r"\([_~&]\w\)")
ITEM = re.compile(r"\s*(?:[-*+o•]|\d+[.)])\s+")
# "Befehlszeilen-" before a new line is a part of a word, but for "Ein- und Ausgabe".
COMPOUND = re.compile(r"\w-$")
CONJUNCTION = re.compile(r"\s*(?:and|or|und|oder|bzw)\b")
# Blanks between these mean nothing.
WIDE = r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]"
WIDE_BREAK = re.compile(rf"(?<={WIDE})\s+(?={WIDE})")


class HelpPage(HTMLParser):
    """The paragraphs of a page of LibreOffice's help, by their ids."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.paragraphs: dict[str, str] = {}
        self._id = self._tag = ""
        self._parts: list[str] = []
        # For each open span, whether it is what other systems or programs show.
        self._hidden: list[bool] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a paragraph or a span."""
        values = {name: value or "" for name, value in attrs}
        name = values.get("id", "")
        if re.fullmatch(r"p|h[1-6]", tag) and re.match(r"(?:par|hd)_id", name):
            self._id = "" if CODE.search(values.get("class", "")) else name
            self._tag, self._parts, self._hidden = tag, [], []
        elif tag == "span":
            self._hidden.append("hidden" in values and not name.startswith("default"))
        elif tag in ("br", "img"):
            self._parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        """End a paragraph or a span."""
        if tag == self._tag and self._id:
            self.paragraphs.setdefault(self._id, "".join(self._parts))
            self._id = ""
        elif tag == "span" and self._hidden:
            self._hidden.pop()

    def handle_data(self, data: str) -> None:
        """Add to the paragraph."""
        if not any(self._hidden):
            self._parts.append(data)


def help_texts(page: str, data: bytes) -> Iterator[Text]:
    """Paragraphs of a help page, but for program code."""
    for key, text in HelpPage(data.decode()).paragraphs.items():
        # Lines of HTML mean nothing.
        yield page, key, " ".join(text.split())


def catalogue_texts(name: str, data: bytes) -> Iterator[tuple[Text, Text]]:
    """English messages of a .mo file and their translations; of plurals, the last form."""
    order = "<" if data[:4] == b"\xde\x12\x04\x95" else ">"
    magic, _, count, keys, values = struct.unpack_from(f"{order}5I", data)
    if magic != 0x950412DE:
        raise ValueError("this is no .mo file")

    def string(table: int, number: int) -> bytes:
        length, start = struct.unpack_from(f"{order}2I", data, table + 8 * number)
        return data[start : start + length]

    encoding = "utf-8"
    for number in range(count):
        key, value = string(keys, number), string(values, number)
        if not key:
            if found := re.search(rb"charset=([\w-]+)", value):
                encoding = found[1].decode()
            continue
        english = key.rpartition(b"\x04")[2]
        texts = (side.split(b"\0")[-1].decode(encoding) for side in (english, value))
        # A message of its own is what may not be torn.
        document = f"{name}/{number}"
        one, other = map(_plain_message, texts)
        yield (document, "", one), (document, "", other)


def description_texts(digest: str, short: str, lines: list[str]) -> Iterator[Text]:
    """Short and long description of a package, a line for each paragraph or item."""
    yield digest, "short", short
    paragraphs: list[str] = []
    inside = range(0)  # indentations of a line that goes on with the paragraph
    for line in lines:
        own = len(line) - len(line.lstrip())
        item = ITEM.match(line)
        if line.strip() in ("", "."):
            inside = range(0)
        elif item or own not in inside:
            paragraphs.append(line[item.end() :] if item else line.strip())
            inside = range(own + 1, 80) if item or own else range(1)
        else:
            blank = "" if COMPOUND.search(paragraphs[-1]) and not CONJUNCTION.match(line) else " "
            paragraphs[-1] += blank + line.strip()
    yield digest, "long", "\n".join(WIDE_BREAK.sub("", text) for text in paragraphs)


def verse_texts(data: bytes) -> Iterator[Text]:
    """Verses of the npm package quran-json."""
    for chapter in json.loads(data):
        for verse in chapter["verses"]:
            yield f"{chapter['id']}:{verse['id']}", "", verse["translation"]


def _plain_message(text: str) -> str:
    """Without markup and marks of shortcuts."""
    text = ADDED_SHORTCUT.sub("", TAG.sub("", REFERENCE.sub(r"\1", text)))
    return SHORTCUT.sub("", text) if len(SHORTCUT.findall(text)) == 1 else text
