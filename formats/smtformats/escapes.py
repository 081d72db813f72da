"""Escapes: characters that toolkits spell in another way, since they mean something in their files.

Readers and writers leave every spelling as it is. Where one is to be undone or made, that is said, once:
``smt convert --unescape moses``, ``--escape joshua``, or here :func:`unescape` and :func:`escape`.

    moses    & | < > ' " [ ]    &amp; &#124; &lt; &gt; &apos; &quot; &#91; &#93;    (&bar; &bra; &ket; are undone, too)
    joshua   [ ] |              -lsb- -rsb- -pipe-
    ptb      ( ) [ ] { }        -LRB- -RRB- -LSB- -RSB- -LCB- -RCB-

Undoing is a single pass: ``&amp;lt;`` gives ``&lt;``. What was escaped for Moses comes back the same whatever the text;
the other two have no escape for their own spellings. ``smt info`` tells which of these, and which look-alikes, a text
holds: a word ``[X]`` that a grammar takes for a non-terminal, ``|||`` that ends a field, blanks and line ends that are
not those of ASCII, characters that do not show. None of them splits a line or a word here: text is split at ``\\n``
alone, words at blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Scheme:
    """Spellings of characters, and those only undone."""

    spellings: Mapping[str, str]
    also: Mapping[str, str]

    @cached_property
    def characters(self) -> dict[str, str]:
        """The character of each spelling."""
        return {spelling: char for char, spelling in self.spellings.items()} | dict(self.also)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Any of the spellings."""
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
    """The text with the spellings of a scheme."""
    return text.translate({ord(char): spelling for char, spelling in SCHEMES[scheme].spellings.items()})


def unescape(text: str, scheme: str) -> str:
    """The text with the spellings of a scheme undone, once."""
    table = SCHEMES[scheme]
    return table.pattern.sub(lambda match: table.characters[match[0]], text)


def oddities(text: str) -> Iterator[str]:
    """What a text holds that is easily taken for something else."""
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
    """The schemes whose spellings a text holds, with the first of them."""
    for name, scheme in SCHEMES.items():
        if ("&" in text or "-" in text) and (match := scheme.pattern.search(text)):
            yield f"{match[0]} ({name})"
