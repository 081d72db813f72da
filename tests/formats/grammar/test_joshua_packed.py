"""Joshua's packed grammars: folders made here byte by byte are read, records and columns agree, bad ones are named."""

from __future__ import annotations

import gzip
import math
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smtformats import FormatError, open_lines
from smtformats.grammar import joshua
from smtformats.grammar.joshua_packed import FORMAT, load, parse
from smtformats.grammar.rules import NonTerminal, Rule, Symbol

IDS = {"byte": ">b", "char": ">H", "short": ">h", "int": ">i"}
VALUES = {**IDS, "float": ">f", "8bit": ">b"}


def modified_utf8(text: str) -> bytes:
    """As Java writes it: a surrogate pair is two characters, NUL two bytes."""
    units = text.encode("utf-16-be", "surrogatepass")
    codes = [int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2)]
    return b"".join(chr(code).encode("utf-8", "surrogatepass") if code else b"\xc0\x80" for code in codes)


def utf(text: str) -> bytes:
    data = modified_utf8(text)
    return struct.pack(">H", len(data)) + data


def ints(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}i", *numbers)


@dataclass
class Packer:
    """Writes a grammar as Joshua's packer does; features are those of the text file, before any sign is turned."""

    encoders: dict[str, str] = field(default_factory=dict)
    buckets: tuple[float, ...] = tuple(i / 4 - 16 for i in range(256))
    id_type: str = "byte"
    labelled: bool = True
    version: int = 4
    aligned: bool = True
    words: dict[str, int] = field(default_factory=dict)

    def word(self, text: str) -> int:
        return 0 if text == "<unk>" else self.words.setdefault(text, len(self.words) + 1)

    def symbols(self, side: tuple[Symbol, ...]) -> list[int]:
        return [
            -self.word(f"[{symbol.label}]") if isinstance(symbol, NonTerminal) else self.word(symbol) for symbol in side
        ]

    def write(self, folder: Path, *slices: list[Rule]) -> Path:
        folder.mkdir(exist_ok=True)
        names = list(dict.fromkeys(name for rules in slices for rule in rules for name in rule.names))
        inner = {name: i for i, name in enumerate(sorted(names, key=self.word))}
        encoding = utf(self.id_type) + bytes([self.labelled]) + ints(len(inner))
        for name in inner:
            key = self.encoders.get(name, "float")
            encoding += utf(key)
            if key == "8bit":
                encoding += ints(len(self.buckets)) + struct.pack(f">{len(self.buckets)}f", *self.buckets)
        encoding += ints(len(inner))
        for name, i in reversed(inner.items()):
            encoding += (utf(name) if self.labelled else ints(self.word(name))) + ints(i, i)
        (folder / "encoding").write_bytes(encoding)
        for i, rules in enumerate(slices):
            for kind, data in self.slice(rules, inner).items():
                (folder / f"slice_{i:05}.{kind}").write_bytes(data)
        vocabulary = ints(len(self.words)) + b"".join(ints(i) + utf(word) for word, i in self.words.items())
        (folder / "vocabulary").write_bytes(vocabulary)
        if self.version > 2:
            (folder / "config").write_text(f"max-source-len = 9\nversion = {self.version}\n")
        return folder

    def slice(self, rules: list[Rule], inner: dict[str, int]) -> dict[str, bytes]:
        trie: dict[str, Any] = {"children": {}, "rules": []}
        targets = [(-1, 0)]
        places: dict[tuple[int, int], int] = {}
        blocks: dict[str, list[bytes]] = {"features": [], "alignments": []}
        for rule in rules:
            node = trie
            for symbol in self.symbols(rule.source):
                node = node["children"].setdefault(symbol, {"children": {}, "rules": []})
            at = 0
            for gap_or_word in reversed(rule.target):
                step = (at, -gap_or_word.index if isinstance(gap_or_word, NonTerminal) else self.word(gap_or_word))
                if step not in places:
                    places[step] = 2 * len(targets)
                    targets.append(step)
                at = places[step]
            node["rules"].append((-self.word(f"[{rule.lhs}]"), at, len(blocks["features"])))
            blocks["features"].append(self.features(rule, inner))
            points = [value for point in rule.alignment for value in point]
            blocks["alignments"].append(struct.pack(f">B{len(points)}b", len(points) // 2, *points))
        data = {kind: with_addresses(some) for kind, some in blocks.items() if kind == "features" or self.aligned}
        return {"source": source_trie(trie), "target": ints(*(n for pair in targets for n in pair)), **data}

    def features(self, rule: Rule, inner: dict[str, int]) -> bytes:
        given = {inner[name]: (name, value) for name, value in rule.features().items() if value}
        data = struct.pack(IDS[self.id_type], len(given))
        for i in sorted(given, reverse=True):
            name, value = given[i]
            data += struct.pack(IDS[self.id_type], i)
            key = self.encoders.get(name, "float")
            if key == "8bit":
                data += struct.pack(">b", self.buckets.index(value) - 128)
            elif key != "boolean":
                data += struct.pack(VALUES[key], value if key == "float" else int(value))
        return data


def with_addresses(blocks: list[bytes]) -> bytes:
    first = 8 + 4 * len(blocks)
    starts = [first + sum(map(len, blocks[:i])) for i in range(len(blocks))]
    return ints(len(blocks), sum(map(len, blocks)), *starts) + b"".join(blocks)


def source_trie(root: dict[str, Any]) -> bytes:
    order = [root]
    for node in order:
        node["children"] = dict(sorted(node["children"].items(), reverse=True))
        order += node["children"].values()
    end = 0
    for node in order:
        node["at"] = end
        end += 2 + 2 * len(node["children"]) + 3 * len(node["rules"])
    data = b""
    for node in order:
        data += ints(len(node["children"]))
        data += b"".join(ints(symbol, child["at"]) for symbol, child in node["children"].items())
        data += ints(len(node["rules"])) + b"".join(ints(*rule) for rule in node["rules"])
    return data


def gap(i: int, label: str = "X") -> NonTerminal:
    return NonTerminal(label, i)


def rule(source: str, target: str, alignment: tuple[tuple[int, int], ...] = (), /, **features: float) -> Rule:
    """A rule of words and gaps written as 1, 2, ...; its features are k0, k1, ... for 0, 1, ... and others."""

    def side(text: str) -> tuple[Symbol, ...]:
        return tuple(gap(int(token)) if token.isdigit() else token for token in text.split())

    names = tuple(name.removeprefix("k") for name in features)
    return Rule("X", side(source), side(target), names, tuple(features.values()), alignment)


def read(folder: Path, **options: Any) -> list[Rule]:
    """The rules, read both ways."""
    rules = [replace(rule, origin="", file="") for rule in parse(folder, **options)]
    columns = load(folder, **options)
    assert [columns.rule(i) for i in range(len(columns))] == rules
    assert len(columns.words) == len(
        {symbol for part in (columns.source, columns.target) for symbol in part[part >= 0]}
    )
    return rules


def as_read(rule: Rule, owner: str = "pt") -> Rule:
    """A rule of the text file as the packed one gives it: dense features named and turned, zeros left out."""
    kept = {name: value for name, value in rule.features().items() if value}
    turned = {
        (f"tm_{owner}_{int(name)}" if name.isdigit() else name): float(np.float32(-value if name.isdigit() else value))
        for name, value in kept.items()
    }
    return rule.with_features(tuple(turned), tuple(turned.values()))


def plain(rules: list[Rule]) -> Counter[Any]:
    """Rules without order, of them and of their features."""
    return Counter(
        (rule.lhs, rule.source, rule.target, frozenset(rule.features().items()), rule.alignment) for rule in rules
    )


SOME = [
    rule("a 1 b", "B 1 A", ((0, 2), (2, 0)), k0=1.5, k1=-2, rare=1),
    rule("a 1 b 2", "2 1", k0=0, k1=3),
    rule("a", "A", ((0, 0),), k1=0.25),
    rule("a", "C A", k0=7, k1=1),
    rule("b", "", k0=0.5),
    rule("1 c", "c 1"),
]


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("aligned", [True, False])
def test_versions(tmp_path: Path, version: int, labelled: bool, aligned: bool) -> None:
    folder = Packer(version=version, labelled=labelled, aligned=aligned).write(tmp_path, SOME)
    wanted = [as_read(rule if aligned else replace(rule, alignment=())) for rule in SOME]
    rules = read(folder)
    assert plain(rules) == plain(wanted)
    assert [len(rule.source) for rule in rules] == sorted(len(rule.source) for rule in SOME)


def test_order_of_features_and_origin(tmp_path: Path) -> None:
    rule = next(rule for rule in parse(Packer().write(tmp_path, SOME)) if rule.alignment == ((0, 2), (2, 0)))
    assert rule.names == ("tm_pt_0", "tm_pt_1", "rare")
    assert rule.values == (-1.5, 2, 1)
    assert (rule.origin, rule.file, rule.raw) == ("joshua-packed", str(tmp_path), None)


@pytest.mark.parametrize("id_type", IDS)
@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("boolean", [1, 0, 1]),
        ("byte", [-128, 127, 0, 5]),
        ("char", [0, 1, 65535]),
        ("short", [-32768, 32767]),
        ("int", [-(2**31), 2**24, 7]),
        ("float", [0.1, -1e30, 1e-40]),
        ("8bit", [-16.0, -15.75, 47.75]),
    ],
)
def test_encoders(tmp_path: Path, id_type: str, key: str, values: list[float]) -> None:
    names = ("0", "other", "7", "name")
    rules = [Rule("X", (f"w{i}",), ("t",), names, (value, 1, values[0], -value)) for i, value in enumerate(values)]
    folder = Packer(encoders={"0": key, "other": "boolean", "7": key}, id_type=id_type).write(tmp_path, rules)
    assert plain(read(folder, owner="x")) == plain([as_read(sample, "x") for sample in rules])


def test_slices(tmp_path: Path) -> None:
    more = [rule("z y x", "Z", ((0, 0),), k0=3, late=4), rule("a q", "Q", k2=1)]
    packer = Packer(encoders={"late": "8bit"}, id_type="short")
    folder = packer.write(tmp_path, SOME, more, [])
    assert plain(read(folder)) == plain([as_read(sample) for sample in SOME + more])
    (folder / "slice_00001.alignments").unlink()
    assert plain(read(folder)) == plain(
        [as_read(sample) for sample in [*SOME, replace(more[0], alignment=()), more[1]]]
    )


def test_words_and_names(tmp_path: Path) -> None:
    odd = ["\0", "é", "\u20ac", "\U0001f600", "\ufeff|", "\U0010ffff", "[", "]", "[]", "[,x]", "|||"]
    rules = [
        replace(rule("a", "b", k0=1), source=tuple(odd), target=tuple(reversed(odd))),
        Rule("NP\\DT", ("<unk>", gap(1, "[[]")), (gap(1, "[[]"), "tm_pt_0"), ("tm_9_0", "00012", "x=y"), (1, 2, 3)),
    ]
    packer = Packer()
    packer.words["\U0001f600"] = 1
    folder = packer.write(tmp_path, rules)
    assert plain(read(folder)) == plain([as_read(sample) for sample in rules])
    # As Joshua, a number is a name from 2 to the power of 31 on.
    folder = Packer().write(tmp_path, [rule("a", "b", **{"k4294967296": 2, "k2147483647": 3, "k+5": 4, "k-5": 5})])
    assert read(folder)[0].features() == {"4294967296": 2, "tm_pt_2147483647": -3, "tm_pt_5": -4, "-5": 5}


def test_unk_is_number_0(tmp_path: Path) -> None:
    packer = Packer()
    folder = packer.write(tmp_path, [rule("a", "b")])
    source = bytearray((folder / "slice_00000.source").read_bytes())
    assert source[4:8] == ints(packer.words["a"])
    source[4:8] = ints(0)
    (folder / "slice_00000.source").write_bytes(source)
    assert read(folder)[0].source == ("<unk>",)


def test_empty_words_of_a_target_side(tmp_path: Path) -> None:
    odd = replace(rule("a 1", "b"), target=("", gap(1), "", "b", ""))
    folder = Packer().write(tmp_path, [odd, replace(rule("a", "b"), target=("",)), rule("b", "c")])
    assert sorted(str(read_rule.target) for read_rule in read(folder)) == sorted(map(str, [(gap(1), "b"), (), ("c",)]))


def test_labels_with_an_index(tmp_path: Path) -> None:
    packer = Packer()
    packer.words = {"[X,1]": 1, "[X,2]": 2}
    folder = packer.write(tmp_path, [rule("1 a 2", "2 b 1")])
    data = (folder / "slice_00000.source").read_bytes().replace(ints(-packer.words["[X]"]), ints(-1), 1)
    (folder / "slice_00000.source").write_bytes(data)
    columns = load(folder)
    assert read(folder) == [rule("1 a 2", "2 b 1")]
    assert list(columns.labels) == ["X"]


def test_columns(tmp_path: Path) -> None:
    columns = load(Packer().write(tmp_path, [rule("1 a", "a b 1", ((1, 0),), k0=1, k1=0.5)]))
    assert (list(columns.words), list(columns.labels), list(columns.names)) == (
        ["a", "b"],
        ["X"],
        ["tm_pt_0", "tm_pt_1"],
    )
    assert columns.source.tolist() == [-1, 0]
    assert columns.target.tolist() == [0, 1, -1]
    assert columns.points.tolist() == [[1, 0]]
    kinds = [getattr(columns, name).dtype.name for name in ("lhs", "source", "target", "features", "values", "points")]
    assert kinds == ["int32", "int32", "int32", "int32", "float32", "int16"]
    kinds = [getattr(columns, name).dtype.name for name in ("level", "source_offsets", "point_offsets")]
    assert kinds == ["uint8", "int64", "int64"]


def test_zero_is_not_negative(tmp_path: Path) -> None:
    folder = Packer().write(tmp_path, [rule("a", "b", k0=1)])
    path = folder / "slice_00000.features"
    path.write_bytes(path.read_bytes().replace(struct.pack(">f", 1), bytes(4)))
    assert math.copysign(1, read(folder)[0].values[0]) == 1


WORDS = st.text(st.characters(exclude_characters=" \t\n\x0b\f\r[", exclude_categories=["Cs"]), min_size=1, max_size=4)
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    labels = draw(st.lists(st.sampled_from(["X", "NP", "A/B"]), max_size=3))
    gaps = [NonTerminal(label, i) for i, label in enumerate(labels, 1)]
    words = draw(st.lists(WORDS, min_size=0 if gaps else 1, max_size=4))
    source: list[Symbol] = [*gaps]
    for word in words:
        source.insert(draw(st.integers(0, len(source))), word)
    some: list[Symbol] = [*gaps, *draw(st.lists(WORDS, max_size=3))]
    target = draw(st.permutations(some))
    features = draw(st.dictionaries(st.sampled_from(["0", "1", "2", "name", "Other=1"]), NUMBERS))
    points = draw(st.lists(st.tuples(st.integers(0, 127), st.integers(0, 127)), max_size=3))
    return Rule("X", tuple(source), tuple(target), tuple(features), tuple(features.values()), tuple(points))


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(rules(), min_size=1, max_size=8), min_size=1, max_size=3), st.sampled_from(["byte", "int"]))
def test_what_was_packed_is_read(tmp_path: Path, slices: list[list[Rule]], id_type: str) -> None:
    for old in tmp_path.iterdir():
        old.unlink()
    folder = Packer(id_type=id_type).write(tmp_path, *slices)
    assert plain(read(folder)) == plain([as_read(sample) for some in slices for sample in some])


Change = Callable[[bytes], bytes]
READERS: tuple[Callable[..., Any], ...] = (parse, load)


def at(place: int, data: bytes) -> Change:
    return lambda old: old[:place] + data + old[place + len(data) :]


def cut(size: int) -> Change:
    return lambda old: old[:-size]


def more(data: bytes) -> Change:
    return lambda old: old + data


def swap(old: bytes, new: bytes) -> Change:
    def change(data: bytes) -> bytes:
        assert data.count(old) == 1
        return data.replace(old, new)

    return change


# The base: one rule, [X] ||| a [X,1] ||| [X,1] b, features 0=0.5 and f=1, vocabulary 0 f a [X] b.
# Source: 0 root 1 (3, 4) 0; 4 node 1 (-4, 8) 0; 8 node 0 1 (-4, 4, 0). Target: 0 root; 2 (0, 5); 4 (2, -1).
BAD: list[tuple[str, Change, str]] = [
    ("vocabulary", at(0, ints(9)), "a number of words that fits the file, at most 6, found 9 at byte 0"),
    ("vocabulary", at(0, ints(-1)), "a number of words that fits the file, at most 6, found -1 at byte 0"),
    ("vocabulary", at(4, ints(2)), "the number 1, as words are numbered in order, found 2 at byte 4"),
    ("vocabulary", cut(1), "1 bytes more, found 0 at byte 40"),
    ("vocabulary", more(b"x"), "the end of the file, found 1 bytes more at byte 41"),
    ("vocabulary", swap(b"b", b"a"), "each word once, found 'a' again at byte 34"),
    ("vocabulary", swap(b"b", b" "), "a word without blanks, found ' ' at byte 34"),
    ("vocabulary", swap(b"b", b"\xff"), r"a string in modified UTF-8, found '\\xff' at byte 38"),
    ("vocabulary", swap(b"[X]", b"\xed\xa0\x80"), r"a string in modified UTF-8, found '\\xed\\xa0\\x80' at byte 29"),
    ("vocabulary", lambda old: b"", "4 bytes more, found 0 at byte 0"),
    ("encoding", at(2, b"long"), "one of byte, char, short, int, found 'long' at byte 0"),
    ("encoding", swap(b"boolean", b"16bit.."), "one of byte, char, short, int, float, boolean, 8bit, found '16bit..'"),
    ("encoding", at(7, ints(999)), "a number of encoders that fits the file, at most 21, found 999 at byte 7"),
    ("encoding", swap(ints(1, 1), ints(2, 1)), "each number below 2 once, found 2 at byte 34"),
    ("encoding", swap(ints(1, 1), ints(1, 2)), "the number of an encoder, below 2, found 2 at byte 38"),
    ("encoding", swap(ints(0, 0), ints(1, 0)), "each number below 2 once, found 1 at byte 45"),
    (
        "encoding",
        swap(utf("f"), utf("0")),
        "features of different names (owner= names the dense ones), found 'tm_pt_0'",
    ),
    ("encoding", swap(utf("f"), utf(" ")), "a feature name without blanks, found ' ' at byte 31"),
    ("encoding", cut(1), "4 bytes more, found 3 at byte 49"),
    ("config", at(0, b"version = 5\n"), "version 2, 3 or 4, found '5'"),
    ("config", at(0, b"version = \xff\n"), "version 2, 3 or 4, found '\ufffd'"),
    ("slice_00000.source", cut(1), "a multiple of 4 bytes, found 51 at byte 0"),
    ("slice_00000.source", lambda old: b"", "a multiple of 4 bytes, found 0 at byte 0"),
    ("slice_00000.source", at(0, ints(6)), "a number of children and rules that fits the file, found 6 at byte 0"),
    ("slice_00000.source", at(0, ints(-1)), "a number of children and rules that fits the file, found -1 at byte 0"),
    ("slice_00000.source", at(36, ints(2)), "a number of children and rules that fits the file, found 2 at byte 36"),
    ("slice_00000.source", at(36, ints(2**31 - 1)), "that fits the file, found 2147483647 at byte 36"),
    ("slice_00000.source", at(12, ints(1)), "no rules without a source side, found 1 at byte 12"),
    ("slice_00000.source", at(4, ints(6)), "the number of a word, or the negative one of a [LABEL], found 6 at byte 4"),
    ("slice_00000.source", at(4, ints(4)), "the number of a word, or the negative one of a [LABEL], found 4 at byte 4"),
    ("slice_00000.source", at(20, ints(-3)), "the negative one of a [LABEL], found -3 at byte 20"),
    ("slice_00000.source", at(20, ints(-(2**31))), "the negative one of a [LABEL], found -2147483648 at byte 20"),
    ("slice_00000.source", at(8, ints(12)), "the address of a node, below 12, found 12 at byte 8"),
    ("slice_00000.source", at(8, ints(0)), "the address of a node, below 12, found 0 at byte 8"),
    ("slice_00000.source", at(24, ints(4)), "the address of a node not met before, found 4 at byte 24"),
    (
        "slice_00000.source",
        lambda old: ints(2, 3, 6, 5, 7, 0, 0, 0, 0),
        "nodes that do not overlap, found some that do at byte 24",
    ),
    ("slice_00000.source", at(40, ints(4)), "a left-hand side, the number of a [LABEL], found 4 at byte 40"),
    ("slice_00000.source", at(40, ints(-6)), "a left-hand side, the number of a [LABEL], found -6 at byte 40"),
    ("slice_00000.source", at(44, ints(6)), "the address of a target side, an even number below 6, found 6 at byte 44"),
    ("slice_00000.source", at(44, ints(-2)), "the address of a target side, an even number below 6, found -2"),
    ("slice_00000.source", at(44, ints(3)), "the address of a target side, an even number below 6, found 3 at byte 44"),
    (
        "slice_00000.source",
        at(44, ints(2)),
        "each source-side gap once on the target side, found another target at byte 44",
    ),
    ("slice_00000.source", at(48, ints(1)), "the number of a block, below 1, found 1 at byte 48"),
    ("slice_00000.source", at(48, ints(-1)), "the number of a block, below 1, found -1 at byte 48"),
    ("slice_00000.target", cut(4), "a multiple of 8 bytes, found 20 at byte 0"),
    ("slice_00000.target", at(8, ints(6)), "-1 or the address of a node, an even number below 6, found 6 at byte 8"),
    ("slice_00000.target", at(8, ints(1)), "-1 or the address of a node, an even number below 6, found 1 at byte 8"),
    (
        "slice_00000.target",
        at(8, ints(2)),
        "a side of at most 1000 symbols, found a longer one, or a cycle of nodes at byte 16",
    ),
    (
        "slice_00000.target",
        at(8, ints(4)),
        "a side of at most 1000 symbols, found a longer one, or a cycle of nodes at byte 16",
    ),
    ("slice_00000.target", at(12, ints(6)), "the number of a word or of a gap, found 6 at byte 12"),
    ("slice_00000.target", at(12, ints(4)), "the number of a word or of a gap, found 4 at byte 12"),
    ("slice_00000.features", lambda old: b"", "4 bytes more, found 0 at byte 0"),
    ("slice_00000.features", at(0, ints(5)), "a number of blocks that fits the file, at most 3, found 5 at byte 0"),
    ("slice_00000.features", cut(1), "the number of bytes after the addresses, found 7 at byte 4"),
    ("slice_00000.features", at(8, ints(11)), "the address of a block, from 12 to 18, found 11 at byte 8"),
    ("slice_00000.features", at(8, ints(19)), "the address of a block, from 12 to 18, found 19 at byte 8"),
    ("slice_00000.features", at(12, b"\xff"), "at most 10000 features, found -1 at byte 12"),
    ("slice_00000.features", at(12, b"\x03"), "1 bytes, found the end of the file at byte 19"),
    ("slice_00000.features", at(13, b"\x02"), "the number of a feature, below 2, found 2 at byte 13"),
    ("slice_00000.features", at(13, b"\xff"), "the number of a feature, below 2, found -1 at byte 13"),
    ("slice_00000.features", at(14, b"\x01"), "each feature once, found one twice at byte 12"),
    ("slice_00000.features", at(15, b"\x7f\xc0"), "a finite number, found nan at byte 15"),
    ("slice_00000.features", at(15, b"\x7f\x80"), "a finite number, found inf at byte 15"),
    ("slice_00000.alignments", at(12, b"\x02"), "alignment points inside the file, found 2 at byte 12"),
    ("slice_00000.alignments", at(13, b"\x80"), "a position up to 127, found -128 at byte 13"),
    ("slice_00000.alignments", at(0, ints(0)), "the number of bytes after the addresses, found 3 at byte 4"),
]


def base(folder: Path) -> Path:
    packer = Packer(encoders={"f": "boolean"})
    for word in ("0", "f", "a", "[X]", "b"):
        packer.word(word)
    return packer.write(folder, [rule("a 1", "1 b", ((0, 1),), k0=0.5, f=1)])


@pytest.mark.parametrize(("name", "change", "message"), BAD)
def test_bad_files(tmp_path: Path, name: str, change: Change, message: str) -> None:
    folder = base(tmp_path / "dir")
    assert len(read(folder)) == 1
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    texts = []
    for reader in READERS:
        with pytest.raises(FormatError) as caught:
            list(reader(folder))
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    assert texts[0].startswith(f"{path}:1: expected ")
    assert message in texts[0]


@pytest.mark.parametrize("name", ["vocabulary", "encoding", "slice_00000.target", "slice_00000.features"])
def test_missing_files(tmp_path: Path, name: str) -> None:
    folder = base(tmp_path / "dir")
    (folder / name).unlink()
    with pytest.raises(FormatError) as caught:
        load(folder)
    assert str(caught.value) == f"{folder / name}:1: expected a file of this name, found none"


def test_buckets(tmp_path: Path) -> None:
    folder = Packer(encoders={"0": "8bit"}, buckets=(0.5, 2.5)).write(tmp_path, [rule("a", "b", k0=2.5)])
    assert read(folder)[0].values == (-2.5,)
    path = folder / "slice_00000.features"
    path.write_bytes(path.read_bytes()[:-1] + b"\x82")
    with pytest.raises(FormatError, match="the number of an encoder's value, found -126 at byte 14"):
        load(folder)


def test_gaps_have_to_be_the_same_on_both_sides(tmp_path: Path) -> None:
    fine = [rule("a 1", "1 1"), rule("b 1 2", "2"), rule("c", "1"), rule("d 1", "2"), rule("e", "e")]
    for i, sample in enumerate(fine[:4]):
        folder = Packer().write(tmp_path, [fine[4], sample])
        with pytest.raises(FormatError, match="each source-side gap once on the target side"):
            load(folder)
        assert i < 4


def test_no_rules(tmp_path: Path) -> None:
    folder = Packer().write(tmp_path, [])
    for reader in READERS:
        with pytest.raises(FormatError) as caught:
            list(reader(folder))
        assert str(caught.value) == f"{folder}:1: expected a rule in a file slice_00000.source, found none"


def test_limits(tmp_path: Path) -> None:
    long = rule("a " * 9, "b " * 12, k0=1, k1=1, k2=1)
    folder = Packer().write(tmp_path, [long, rule("a", "c")])
    assert len(read(folder, max_symbols=12, max_features=3, max_total=13)) == 2
    for limits, message in [
        ({"max_symbols": 8}, "slice_00000.source:1: expected a source side of at most 8 symbols, found a longer one"),
        ({"max_symbols": 11}, "slice_00000.target:1: expected a side of at most 11 symbols, found a longer one"),
        ({"max_features": 2}, "slice_00000.features:1: expected at most 2 features, found 3 at byte"),
        ({"max_total": 12}, "slice_00000.target:1: expected at most 12 symbols of all sides together, found 13"),
        ({"max_total": 9}, "slice_00000.source:1: expected at most 9 symbols of all sides together, found 10"),
    ]:
        with pytest.raises(FormatError) as caught:
            load(folder, **limits)  # type: ignore[arg-type]
        assert message in str(caught.value)
    many = [rule(f"a{i}", "b", k0=1, k1=1) for i in range(9)]
    with pytest.raises(FormatError, match="expected at most 17 features of the rules together, found 18"):
        load(Packer().write(tmp_path, many), max_total=17)


def test_long_chains_end(tmp_path: Path) -> None:
    """A trie as deep as its file is long, and rules that share it, cost no more than their limits allow."""
    folder = base(tmp_path)
    chain = b"".join(ints(1, 3, 4 * i + 4, 0) for i in range(50000)) + ints(0, 1, -4, 4, 0)
    (folder / "slice_00000.source").write_bytes(chain)
    with pytest.raises(FormatError, match="a source side of at most 1000 symbols"):
        load(folder)
    rules = ints(-4, 2 * 50000, 0) * 50000
    (folder / "slice_00000.source").write_bytes(ints(1, 3, 4, 0, 0, 50000) + rules)
    (folder / "slice_00000.target").write_bytes(ints(-1, 0) + b"".join(ints(2 * i, 3) for i in range(50000)))
    with pytest.raises(FormatError, match="a side of at most 1000 symbols"):
        load(folder)
    with pytest.raises(FormatError, match="at most 1000000 symbols of all sides together, found 2500000000"):
        load(folder, max_symbols=1 << 20, max_total=1000000)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_spoilt_files_give_rules_or_a_format_error(tmp_path: Path, data: st.DataObject) -> None:
    folder = Packer(encoders={"0": "8bit", "1": "short"}).write(tmp_path, SOME[1:2], SOME[4:])
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(sorted(folder.iterdir())))
        old = path.read_bytes()
        if not old:
            continue
        place = data.draw(st.integers(0, len(old) - 1))
        new = data.draw(st.binary(min_size=1, max_size=4) | st.integers(-(2**31), 2**31 - 1).map(ints))
        path.write_bytes(old[:place] + new + old[place + data.draw(st.sampled_from([0, 1, len(new)])) :])
    try:
        rules = list(parse(folder))
    except FormatError:
        with pytest.raises(FormatError, match=r"expected .*, found "):
            load(folder)
    else:
        columns = load(folder)
        assert [columns.rule(i) for i in range(len(columns))] == [replace(rule, origin="", file="") for rule in rules]


@pytest.mark.parametrize(
    ("names", "fits"),
    [
        ("config encoding slice_00000.features slice_00000.source slice_00000.target vocabulary", True),
        ("encoding slice_00003.source vocabulary", True),
        ("config encoding vocabulary", False),
        ("encoding slice_00000.source", False),
        ("0.json.gz 1.json.gz", False),
        ("", False),
    ],
)
def test_shape(names: str, fits: bool) -> None:
    assert FORMAT.folder
    assert FORMAT.matches("".join(name + "\n" for name in names.split()).encode()) is fits


def moses_as_joshua_packs_it(path: Path) -> Iterator[Rule]:
    """A phrase table: of each probability the logarithm to six digits, 100 for none."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            source, target, numbers = line.split(" ||| ")[:3]
            values = [round(math.log(float(number)), 6) if float(number) > 0 else 100.0 for number in numbers.split()]
            names = tuple(f"tm_pt_{i}" for i in range(len(values)))
            yield Rule("X", tuple(source.split()), tuple(target.split()), names, tuple(values))


def text_rules(path: Path) -> list[Rule]:
    if path.name.startswith("rules"):
        return list(moses_as_joshua_packs_it(path))
    with open_lines(path) as lines:
        return list(joshua.parse(lines))


@pytest.mark.shared
def test_gold_has_the_rules_of_its_text(shared: Path) -> None:
    folders = sorted((shared / "gold/joshua").rglob("*.packed"))
    folders = [path for path in folders if path.is_dir()]
    texts = {"grammar.packed": ("grammar", "grammar.gz"), "rules.packed": ("rules.1.gz",)}
    count = 0
    for folder in folders:
        (path,) = (folder.parent / name for name in texts[folder.name] if (folder.parent / name).exists())
        wanted = {(rule.lhs, rule.source, rule.target, rule.alignment): rule.features() for rule in text_rules(path)}
        rules = list(parse(folder))
        aligned = (folder / "slice_00000.alignments").exists()
        if not aligned:
            wanted = {(*key[:3], ()): features for key, features in wanted.items()}
        assert len(rules) == len(wanted)
        for rule in rules:
            expected = wanted[rule.lhs, rule.source, rule.target, rule.alignment]
            values = rule.features()
            assert values.keys() <= expected.keys()
            assert all(math.isclose(values.get(name, 0), value, rel_tol=1e-4) for name, value in expected.items())
        columns = load(folder)
        assert len(columns) == len(rules)
        assert all(
            columns.rule(i) == replace(rules[i], origin="", file="")
            for i in range(0, len(rules), max(1, len(rules) // 2000))
        )
        count += len(rules)
    assert (len(folders), count) == (4, 165170)
