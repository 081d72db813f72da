"""Toolkits' escapes for characters that have a meaning in their files.

Readers and writers keep every spelling. Escapes are made or undone only on request: ``smt convert --unescape moses``,
``--escape joshua``, or in Python :func:`unescape` and :func:`escape`. With ``--escape moses``, ``smt extract`` and
``smt lm`` escape the words of their text, so that tables and models can hold any word; ``smt decode`` and ``smt tune``
(``escape: moses`` in a run.yaml) escape input words as often, once, and unescape translations once.

    moses    & | < > ' " [ ]    &amp; &#124; &lt; &gt; &apos; &quot; &#91; &#93;    (&bar; &bra; &ket; are undone, too)
    joshua   [ ] |              -lsb- -rsb- -pipe-
    ptb      ( ) [ ] { }        -LRB- -RRB- -LSB- -RSB- -LCB- -RCB-

Unescaping is a single pass: ``&amp;lt;`` gives ``&lt;``. Any text escaped for Moses unescapes to itself; the other two
schemes have no escape for their own spellings. ``smt info`` reports which escapes and look-alikes a text contains: a
word ``[X]`` that a grammar takes for a non-terminal, the field separator ``|||``, non-ASCII blanks and line ends,
invisible characters. None of these splits a line or a word here: lines end at ``\\n`` only, words at ASCII blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from smtformats.records import dataclass


@dataclass(frozen=True)
class Scheme:
    """An escape scheme: the escape of each character, and in ``also`` further escapes that are only undone."""

    spellings: Mapping[str, str]
    also: Mapping[str, str]

    @cached_property
    def characters(self) -> dict[str, str]:
        """The character for each escape."""
        return {spelling: char for char, spelling in self.spellings.items()} | dict(self.also)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A pattern that matches any escape."""
        return re.compile("|".join(map(re.escape, self.characters)))


SCHEMES = {
    "moses": Scheme(
        {
            "&": "&amp;",
            "|": "&#124;",
            "<": "&lt;",
            ">": "&gt;",
            "'": "&apos;",
            '"': "&quot;",
            "[": "&#91;",
            "]": "&#93;",
        },
        {"&bar;": "|", "&bra;": "[", "&ket;": "]"},
    ),
    "joshua": Scheme({"[": "-lsb-", "]": "-rsb-", "|": "-pipe-"}, {}),
    "ptb": Scheme({"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}, {}),
}
_ODD = {
    "\u00a0": "a no-break space",
    "\u2028": "a line separator (U+2028)",
    "\u2029": "a paragraph separator (U+2029)",
    "\u0085": "a next-line character (U+0085)",
    "\u3000": "an ideographic space (U+3000)",
    "\r": "a carriage return",
    "\t": "a tab",
    "\u200b": "a zero-width space",
    "\ufeff": "a byte order mark",
    "\0": "a zero byte",
}
_ODD_CHARS = re.compile("[" + "".join(_ODD) + "]")
_GAP = re.compile(r"(?:^| )(\[[^ \[\]]+\])(?= |$)")


def escape(text: str, scheme: str) -> str:
    """Escape a text."""
    return text.translate({ord(char): spelling for char, spelling in SCHEMES[scheme].spellings.items()})


def escape_bytes(text: bytes, scheme: str) -> bytes:
    """Escape UTF-8 text, or a part of it."""
    # `&` is the first: no spelling has a character that is escaped after it.
    for char, spelling in SCHEMES[scheme].spellings.items():
        text = text.replace(char.encode(), spelling.encode())
    return text


def unescape(text: str, scheme: str) -> str:
    """Undo the escapes of a text, in one pass."""
    rules = SCHEMES[scheme]
    return rules.pattern.sub(lambda match: rules.characters[match[0]], text)


def oddities(text: str) -> Iterator[str]:
    """Describe everything in a text that is easily mistaken for something else."""
    if not text:
        yield "no words"
        return
    for char in sorted(set(_ODD_CHARS.findall(text))):
        yield _ODD[char]
    if "|||" in text:
        yield "the field separator |||"
    if "[" in text and (gap := _GAP.search(text)):
        yield f"{gap[1]}, a non-terminal to a grammar"
    if "  " in text or text[0] == " " or text[-1] == " ":
        yield "blanks at its ends or two in a row"


def spellings(text: str) -> Iterator[str]:
    """The first escape of each scheme that occurs in a text, as ``ESCAPE (SCHEME)``."""
    for name, scheme in SCHEMES.items():
        if ("&" in text or "-" in text) and (match := scheme.pattern.search(text)):
            yield f"{match[0]} ({name})"
