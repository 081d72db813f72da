r"""NIST document sets: sources, references and translations in the SGML or XML of mteval.

    <refset setid="test" srclang="de" trglang="en">
    <doc docid="news-1" sysid="ref1">
    <p>
    <seg id="1">Dogs &amp; cats</seg>
    </p>
    </doc>
    </refset>

Segments come in the order of the file and are numbered from 0. The text of a segment is its source (``<srcset>``); the
texts of ``<refset>`` and ``<tstset>`` are its references, in the order of their ``sysid`` (or ``refid``) in the file.
In a file without sources the text of the first system takes the place of the source. The option ``sysid`` selects a
single system. Segments are matched by ``docid`` and ``id``, which become the attributes ``docid`` and ``segid``; the
attributes of the set and the document of the first text are kept too.

Tag and attribute names are case-insensitive, values may have either quotes or none. A segment's text extends to
``</seg>``, over several lines if need be; everything in it is text, and line breaks become blanks. ``&amp;`` ``&lt;``
``&gt;`` ``&quot;`` ``&apos;`` and ``&#38;`` are unescaped once. Tags between segments, such as ``<p>`` and ``<hl>``,
are ignored. Errors: a set, document or segment that is nested in its own kind, misplaced or not closed; a document
without ``docid``; a segment without ``id``, duplicated, or missing from one system; text outside segments; more
segments than the option ``max_segments``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smtformats.corpus.segments import Segment, Side, attributes_of
from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format
from smtformats.tokens import BadField

NAME = "nist-sgm"
MAX_SEGMENTS = 10_000_000
_SETS = ("srcset", "refset", "tstset")
_SKIPPED = re.compile(r"(?:<!--.*?-->|<\?.*?\?>|<![^-][^>]*>)\s*", re.DOTALL)
_TAG = re.compile(r"""<(/?)([A-Za-z][\w:.-]*)((?:[^<>"']|"[^"<]*"|'[^'<]*')*)>""")
_ATTRIBUTE = re.compile(r"""\s+([A-Za-z][\w:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'/]+))""")
_STRUCTURE = re.compile(r"<(/?)(seg|doc|srcset|refset|tstset|mteval)\b", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_SET = re.compile(r"<(?:mteval|srcset|refset|tstset)\b", re.IGNORECASE)
_Key = tuple[str, str]


class _Reader:
    """Parse the text of a file tag by tag."""

    def __init__(self, lines: Lines, max_segments: int) -> None:
        self.lines = lines
        self.text = "".join(lines).removeprefix("\ufeff")
        self.at = 0
        self.line = 1
        self.max_segments = max_segments
        self.open: list[tuple[str, int, dict[str, str]]] = []
        # The texts of each system by document and segment; the line and attributes of each segment's first text.
        self.systems: dict[tuple[bool, str], dict[_Key, str]] = {}
        self.facts: dict[_Key, tuple[int, dict[str, str]]] = {}

    def error(self, expected: str, found: str, line: int | None = None) -> FormatError:
        return self.lines.error(expected, found, 1, line=line or min(self.line, self.lines.number))

    def move(self, to: int) -> None:
        """Move to a position and count the lines passed."""
        self.line += self.text.count("\n", self.at, to)
        self.at = to

    def read(self) -> None:
        """Parse the whole file."""
        while self.at < len(self.text):
            end = self.text.find("<", self.at)
            stray = self.text[self.at : end if end >= 0 else len(self.text)]
            if stray.strip():
                self.move(self.at + len(stray) - len(stray.lstrip()))
                raise self.error("text in segments only", quote(stray.strip().split("\n")[0]))
            self.move(self.at + len(stray))
            if end >= 0:
                self.tag()
        if self.open:
            name, line, _ = self.open[-1]
            raise self.error(f"</{name}> for the <{name}> of line {line}", "the end of the file")

    def tag(self) -> None:
        skipped = _SKIPPED.match(self.text, self.at)
        if skipped is not None:
            self.move(skipped.end())
            return
        match = _TAG.match(self.text, self.at)
        if match is None:
            raise self.error("a tag", quote(self.text[self.at : self.at + 80].split("\n")[0]))
        closing, name = bool(match[1]), match[2].lower()
        if name == "mteval" or name in _SETS or name == "doc":
            if closing:
                self.close(name)
            else:
                self.enter(name, match[3])
        elif name == "seg":
            if closing:
                raise self.error("<seg> before it", "</seg>")
            attributes = self.attributes(match[3])
            start = self.line
            self.move(match.end())
            self.segment(attributes, start)
            return
        self.move(match.end())

    def attributes(self, text: str) -> dict[str, str]:
        body = text.rstrip().removesuffix("/").rstrip()
        try:
            return {name: _decode(value) for name, value in attributes_of(body, _ATTRIBUTE, fold=str.lower).items()}
        except BadField as bad:
            raise self.error(bad.expected, bad.found) from None

    def enter(self, name: str, text: str) -> None:
        """Open a set or document."""
        attributes = self.attributes(text)
        around = [tag for tag, _, _ in self.open if tag != "mteval"]
        if name == "mteval" and self.open:
            raise self.error("<mteval> around everything", f"<mteval> in <{self.open[-1][0]}>")
        if name in _SETS and around:
            raise self.error(f"</{around[-1]}>", f"<{name}>")
        if name == "doc" and len(around) != 1:
            raise self.error("</doc>" if around else "<srcset>, <refset> or <tstset> around it", "<doc>")
        if name == "doc" and "docid" not in attributes:
            raise self.error("<doc> with a docid", quote(f"<doc{text}>"))
        if text.rstrip().endswith("/"):
            raise self.error(f"<{name}> with content", quote(f"<{name}{text}>"))
        self.open.append((name, self.line, attributes))

    def close(self, name: str) -> None:
        if not self.open or self.open[-1][0] != name:
            expected = f"</{self.open[-1][0]}>" if self.open else f"<{name}> before it"
            raise self.error(expected, f"</{name}>")
        self.open.pop()

    def segment(self, attributes: dict[str, str], start: int) -> None:
        """Parse the text of a segment, from the end of its opening tag."""
        if not self.open or self.open[-1][0] != "doc":
            raise self.error("<doc> around it", "<seg>", start)
        if "id" not in attributes:
            raise self.error("<seg> with an id", "none", start)
        end = _STRUCTURE.search(self.text, self.at)
        closed = _TAG.match(self.text, end.start()) if end is not None else None
        text = self.text[self.at : end.start() if end is not None else len(self.text)]
        self.move(self.at + len(text))
        if end is None or closed is None or not end[1] or end[2].lower() != "seg":
            actual = "the end of the file" if end is None else f"<{end[1]}{end[2].lower()}>"
            raise self.error(f"</seg> for the <seg> of line {start}", actual)
        self.move(closed.end())
        (kind, _, about), (_, _, document) = self.open[-2:]
        system = "" if kind == "srcset" else document.get("sysid") or about.get("sysid") or about.get("refid", "")
        key = (document["docid"], attributes["id"])
        texts = self.systems.setdefault((kind != "srcset", system), {})
        if key in texts:
            raise self.error(f"each segment once in document {quote(key[0])}", f"id {quote(key[1])} again", start)
        texts[key] = _decode(" ".join(filter(None, map(str.strip, text.split("\n")))))
        if key not in self.facts:
            if len(self.facts) >= self.max_segments:
                raise self.error(f"at most {self.max_segments} segments", "more", start)
            known = {**about, **document, **attributes, "segid": key[1]}
            del known["id"]
            self.facts[key] = start, {name: value for name, value in known.items() if name not in ("sysid", "refid")}

    def segments(self, system: str) -> Iterator[Segment]:
        """Yield all segments with the texts of all systems, the source first, or of one system."""
        order = sorted(self.systems, key=lambda owner: owner[0])
        if system:
            order = [owner for owner in order if owner == (True, system)]
            if not order:
                known = ", ".join(quote(name) for translated, name in self.systems if translated)
                raise self.error(f"the sysid {quote(system)}", f"only {known or 'none'}", 1)
        for number, (key, (line, attributes)) in enumerate(self.facts.items()):
            texts = []
            for owner in order:
                if key not in self.systems[owner]:
                    who = f"sysid {quote(owner[1])}" if owner[0] else "the srcset"
                    where = f"segment {quote(key[1])} of document {quote(key[0])}"
                    raise self.error(f"{where} in {who} too", "none", line)
                texts.append(self.systems[owner][key])
            side: Side = "text" if order[0][0] else "source"
            yield Segment(texts[0], tuple(texts[1:]), attributes, number, None, NAME, line, side=side)


def _decode(text: str) -> str:
    """Unescape the entities of a text, once."""

    def character(match: re.Match[str]) -> str:
        if match[1]:
            return _CHARACTERS[match[1]]
        code = int(match[2]) if match[2] else int(match[3], 16)
        # Invalid characters keep their spelling; line breaks become blanks, since a sentence is one line.
        good = 32 <= code < 0xD800 or 0xE000 <= code < 0x110000
        return chr(code) if good else (" " if code in (9, 10, 13) else match[0])

    return _ENTITY.sub(character, text)


def parse(lines: Lines, *, sysid: str = "", max_segments: int = MAX_SEGMENTS) -> Iterator[Segment]:
    """Parse one segment at a time; ``sysid`` selects a single system."""
    reader = _Reader(lines, max_segments)
    reader.read()
    if not reader.facts:
        raise reader.error("segments, <seg id=...> in documents", "none in the file", 1)
    yield from reader.segments(sysid)


def matches(head: bytes) -> bool:
    """Match if the first tag is that of a set."""
    text = head.decode("utf-8", "ignore").removeprefix("\ufeff")
    at = len(text) - len(text.lstrip())
    while (skipped := _SKIPPED.match(text, at)) is not None:
        at = skipped.end()
    return _SET.match(text, at) is not None


FORMAT = Format(
    name=NAME,
    kind="corpus",
    summary="NIST documents: srcset, refset and tstset of mteval, SGML or XML",
    matches=matches,
    parse=parse,
    suffixes=(".sgm", ".sgml"),
    example="""\
<refset setid="test" srclang="de" trglang="en">
<doc docid="news-1" sysid="ref1">
<seg id="1">Dogs &amp; cats</seg>
</doc>
</refset>
""",
)
