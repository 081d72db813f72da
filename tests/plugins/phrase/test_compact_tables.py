"""Moses' compact tables in decoding: lists of the original decoder, and the same as with a text table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import settings

import smtplugins as smt
from smtformats import FormatError, open_lines
from smtformats.nbest import moses
from smtplugins.contracts.errors import SmtError
from smtplugins.host.config.run_yaml import load_config
from tests.formats.compact_tables import Entry, phrase_file, reordering_file

# Each list of the original decoder, and the configurations that give it; a plain run takes the first of them.
LISTS = {
    "nolex.moses.align": ["compact-renc", "compact-none"],
    "nolex.prenc.moses.align": ["compact", "compact-fp8", "compact-fp24", "compact-join"],
    "nolex.noalign.moses.align": ["compact-noalign"],
    "quantize50.moses.align": ["compact-quantize50"],
    "lex.moses.align": [f"memory.minlexr{variant}" for variant in ("", "-fp8", "-fp24", "-join")],
    "lex.prenc.moses.align": ["compact.minlexr"],
    "minlexr-quantize20.moses.align": ["memory.minlexr-quantize20"],
}


WHOLE = settings().max_examples >= 100
INI = """\
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
Distortion
PhraseDictionaryCompact name=TM num-features=2 path=table table-limit=2
LexicalReordering name=LR num-features=6 type=wbe-msd-bidirectional-fe-allff path=order
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.1
PhrasePenalty0= -0.1
Distortion0= 0.3
TM= 1 0.5
LR= 0.3 0.1 0.2 0.4 0.2 0.1
"""
WORDS = "__STOP__ a the house home green . straße".split()
PAIRS = {
    "ein": ["a", "the", "."],
    "haus": ["house", "home"],
    "ein haus": ["a house", "the home", "a home"],
    "grünes": ["green"],
    "grünes haus": ["green house"],
    ".": ["."],
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the same tables as text, ``text.ini``, and compact, ``compact.ini``."""
    monkeypatch.chdir(tmp_path)
    entries: dict[bytes, Entry] = {b"~": [([], (-20.0 - k, -20.0 - k), []) for k in range(300)]}
    orders: dict[bytes, tuple[float, ...]] = {}
    with open("table.txt", "w") as table, open("order.txt", "w") as order:
        for k, (source, targets) in enumerate(PAIRS.items()):
            entry: Entry = []
            for j, target in enumerate(targets):
                scores = (-0.25 * (j + 1), -0.125 * (k + 1))
                words = target.split()
                points = [(i, i) for i in range(min(len(words), len(source.split())))]
                entry.append(([WORDS.index(word) for word in words], scores, points))
                shown = " ".join(f"{s}-{t}" for s, t in points)
                print(source, target, " ".join(str(math.exp(x)) for x in scores), shown, sep=" ||| ", file=table)
                logs = tuple(-0.5 - 0.25 * ((k + j + i) % 4) for i in range(6))
                orders[f"{source} ||| {target} ||| ".encode()] = logs
                print(source, target, " ".join(str(math.exp(x)) for x in logs), sep=" ||| ", file=order)
            entries[source.encode()] = entry
    Path("table.minphr").write_bytes(phrase_file(entries, WORDS))
    Path("order.minlexr").write_bytes(reordering_file(orders))
    Path("compact.ini").write_text(INI)
    text = (
        INI.replace("Compact", "Memory").replace("path=table", "path=table.txt").replace("path=order", "path=order.txt")
    )
    Path("text.ini").write_text(text)
    return tmp_path


def lists(path: Path) -> list[Any]:
    with open_lines(path) as lines:
        return list(moses.parse(lines))


def hypotheses(nbest: Any) -> list[tuple[Any, ...]]:
    """Texts, features and alignment points, in an order that ties do not change."""
    rows = zip(nbest.rows(), nbest.totals, nbest.extras["alignment"], strict=True)
    return sorted(
        (
            (text.strip(), sorted(points.split()), round(total, 2), features)
            for (text, features, _), total, points in rows
        ),
        key=lambda row: (row[0], row[1], [round(value, 2) for _, value in sorted(row[3].items())]),
    )


def assert_same(found: list[Any], wanted: list[Any]) -> None:
    assert [nbest.id for nbest in found] == [nbest.id for nbest in wanted]
    for one, other in zip(found, wanted, strict=True):
        assert one.texts[0].strip() == other.texts[0].strip()
        assert one.totals == pytest.approx(other.totals, rel=1e-5)
        for (text, points, _, features), row in zip(hypotheses(one), hypotheses(other), strict=True):
            assert (text, points) == row[:2]
            assert {name: features[name] for name in row[3]} == pytest.approx(row[3], rel=2e-5, abs=2e-4)


def decoded(name: str, source: Any, out: Path, *overrides: str, size: int = 50, ini: str = "") -> list[Any]:
    if ini:
        Path("run.ini").write_text(ini + Path(name).read_text())
        name = "run.ini"
    smt.load_plugins().decode(name, out, source, overrides, nbest=size, fields=["alignment"], cache="off")
    return lists(out)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("wanted", "name"),
    [(wanted, name) for wanted, names in LISTS.items() for name in (names if WHOLE else names[:1])],
)
def test_lists_of_the_original_decoder(
    wanted: str, name: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = shared / "gold/moses/binary/moses"
    monkeypatch.chdir(gold)
    found = decoded(f"{name}.ini", "in.de", tmp_path / "list")
    assert_same(found, lists(gold / f"expected/{wanted}.nbest50.txt.gz"))
    best = (gold / f"expected/{wanted.split('.')[0]}.1best.txt").read_text().splitlines()
    assert [nbest.texts[0].strip() for nbest in found] == [line.strip() for line in best]


@pytest.mark.parametrize("search", ["stack", "cube"])
def test_compact_and_text_tables_are_the_same(search: str, here: Path) -> None:
    sentences = ["ein grünes haus .", "haus ein ein neues haus .", "", "nix", "ein haus ein haus"]
    for overrides in ([], ["decoder.max_phrase_length=1"]):
        options = [f"decoder.search={search}", *overrides]
        found = decoded("compact.ini", sentences, here / "list", *options)
        assert_same(found, decoded("text.ini", sentences, here / "other", *options))
    assert {text for nbest in found for text in nbest.texts} >= {"a green house ."}


def test_networks_and_tags(here: Path) -> None:
    Path("in.plf").write_text(
        "((('ein',1.0,1),('*EPS*',0.5,1),),(('haus',1.0,1),('grünes',0.5,1),),(('haus',1.0,1),),)\n"
    )
    kind = "[inputtype]\n2\n[feature]\nInputFeature num-features=1 num-input-features=1\n[weight]\nInputFeature0= 0\n"
    without = "\n".join(line for line in INI.splitlines() if not line.startswith(("Lexical", "LR")))
    for name, memory in (("compact.ini", without), ("text.ini", without)):
        Path(name).write_text(
            memory if name == "compact.ini" else memory.replace("Compact", "Memory").replace("=table", "=table.txt", 1)
        )
    wanted = decoded("text.ini", "in.plf", here / "other", ini=kind)
    assert_same(decoded("compact.ini", "in.plf", here / "list", ini=kind), wanted)
    assert len(wanted[0].texts) > 10
    Path("in").write_text('ein <n translation="red">grünes</n> haus\n')
    tagged = "[xml-input]\nexclusive\n"
    wanted = decoded("text.ini", "in", here / "other", ini=tagged)
    assert_same(decoded("compact.ini", "in", here / "list", ini=tagged), wanted)


def test_the_path_may_have_the_suffix(here: Path) -> None:
    wanted = decoded("compact.ini", ["ein haus"], here / "other")
    Path("compact.ini").write_text(INI.replace("path=table ", "path=table.minphr ").replace("=order", "=order.minlexr"))
    assert_same(decoded("compact.ini", ["ein haus"], here / "list"), wanted)
    # Of a text and a compact reordering table, Moses takes the compact one.
    Path("order").write_text("ein ||| a ||| 1 0 0 1 0 0\n")
    Path("compact.ini").write_text(INI)
    assert_same(decoded("compact.ini", ["ein haus"], here / "list"), wanted)
    # A run.yaml need not name the format.
    shown = yaml.safe_load(load_config("compact.ini").shown())
    assert shown["model"]["tables"][0].pop("format") == "moses-compact"
    del shown["model"]["grammar_format"]
    Path("run.yaml").write_text(yaml.safe_dump(shown))
    assert_same(decoded("run.yaml", ["ein haus"], here / "list"), wanted)


@pytest.mark.parametrize("backoff", ["1", "-1", "0"])
def test_a_table_for_what_another_lacks(backoff: str, here: Path) -> None:
    """``decoding-graph-backoff`` with tables that are looked up: as with text tables."""
    lines = [line for line in Path("table.txt").read_text().splitlines() if not line.startswith("ein haus")]
    Path("few.txt").write_text("".join(f"{line}\n" for line in lines[1:4]))
    graphs = f"[mapping]\n0 T 0\n1 T 1\n[decoding-graph-backoff]\n0\n{backoff}\n"
    second = "PhraseDictionaryCompact name=Second num-features=2 path=table\n"
    for kind in ("Compact", "Memory"):
        text = Path("text.ini").read_text().replace("path=table.txt", "path=few.txt")
        other = second if kind == "Compact" else second.replace("Compact", "Memory").replace("=table", "=table.txt")
        text = text.replace("[weight]\n", f"{other}[weight]\nSecond= 0.5 0.25\n")
        Path(f"{kind}.ini").write_text(text)
    sentences = ["ein haus", "grünes haus . ein"]
    wanted = decoded("Memory.ini", sentences, here / "other", ini=graphs)
    assert_same(decoded("Compact.ini", sentences, here / "list", ini=graphs), wanted)


def test_new_weights_for_the_same_forests(here: Path) -> None:
    """Jobs and weights: nothing is kept of a sentence that was looked up under others."""
    host = smt.load_plugins()
    for name in ("compact.ini", "text.ini"):
        host.decode(
            name, here / f"{name}.out", ["ein haus", "grünes haus ."] * 3, weights={"TM[0]": -1.0}, jobs=2, cache="off"
        )
    assert Path("compact.ini.out").read_text() == Path("text.ini.out").read_text()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num-features=2": "num-features=3", "TM= 1": "TM= 1 1"}, "3 scores of each rule, as 'TM' says, found 2"),
        ({"=wbe-msd": "=wbe-mslr"}, "compact.ini:7: .*: expected 8 scores, as wbe-mslr-bidirectional-fe-allff has"),
        ({"num-features=6 type=wbe-msd-bidirectional-fe": "num-features=3 type=wbe-msd-fe", "LR= 0.3 0.1 0.2": "LR="},
         "order.minlexr:1: expected 3 scores of each phrase, as the model has, found 6"),
        ({"-fe-allff": "-allff"}, "expected a model that says f or fe, as a compact table does not, found neither"),
        ({"path=table ": "path=missing "}, "missing.minphr: No such file"),
        ({"path=table ": "path=order.minlexr "}, "order.minlexr.minphr: No such file"),
    ],
)  # fmt: skip
def test_what_does_not_fit(changes: dict[str, str], message: str, here: Path) -> None:
    text = INI
    for old, new in changes.items():
        text = text.replace(old, new)
    Path("compact.ini").write_text(text)
    with pytest.raises((FormatError, SmtError), match=message):
        decoded("compact.ini", ["ein haus"], here / "list")


def test_a_damaged_table_is_named(here: Path) -> None:
    data = Path("table.minphr").read_bytes()
    Path("table.minphr").write_bytes(data[:-700])
    with pytest.raises(
        FormatError, match=r"table.minphr:1: expected \d+ bytes of entries of phrases, found the end of "
    ):
        decoded("compact.ini", ["ein haus"], here / "list")


def test_decoders_of_whole_tables_say_why_not(here: Path) -> None:
    table = "model: {tables: [{path: table.minphr, name: TM}], weights: compact.ini}\n"
    Path("run.yaml").write_text(f"decoder: reference\n{table}")
    with pytest.raises(FormatError, match=r"table.minphr:1: expected source phrases to look up"):
        smt.load_plugins().decode("run.yaml", here / "out", ["ein haus"], cache="off")


def test_conversion_and_description(here: Path) -> None:
    host = smt.load_plugins()
    assert host.describe("table.minphr").facts["source phrases"] == len(PAIRS) + 1
    assert host.describe("order.minlexr").facts["phrases"] == 11
    with pytest.raises(
        FormatError, match=r"expected a compact phrase table, found a compact reordering table \(name it"
    ):
        host.describe("order.minlexr", "moses-compact")
    with pytest.raises(FormatError, match=r"order.minlexr:1: expected phrase pairs to look up, .*,phrases=FILE"):
        host.convert("order.minlexr", "new.txt", to_format="moses-reordering")
    assert host.describe("table.minphr", "moses-compact,phrases=table.txt").facts["rules"] == 11
    with pytest.raises(FormatError, match="expected source phrases to look up, in a file named by the option phrases"):
        host.convert("table.minphr", "new.txt", to_format="moses-phrases")
    named = "moses-compact,phrases=table.txt,table=TM"
    host.convert("table.minphr", "new.txt", from_format=named, to_format="moses-phrases,table=TM", precision=9)
    assert [line.split(" ||| ")[::3] for line in Path("new.txt").read_text().splitlines()] == [
        line.split(" ||| ")[::3] for line in Path("table.txt").read_text().splitlines()
    ]
    named = "moses-compact-reordering,phrases=table.txt"
    host.convert("order.minlexr", "new.txt", from_format=named, to_format="moses-reordering")
    assert len(Path("new.txt").read_text().splitlines()) == 11
