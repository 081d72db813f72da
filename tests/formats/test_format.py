"""The format record, the list of formats and format detection."""

from __future__ import annotations

import gzip
import io
import os
import re
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smtformats
from smtformats import Format, FormatError, all_formats, detect, formats_of, open_bytes
from smtformats.files import HEAD_BYTES, Lines, head
from smtformats.format import rounded, shortest

# What else a format looks like, beside its own example.
VARIANTS = {
    "cdec-grammar": ["[X] ||| [X,1] ein ||| a [X,1] ||| F=2 G=0 ||| 1-0\n", "[S] ||| a ||| A\n"],
    "moses-nbest": [
        "0 ||| das haus  ||| LM0= -3 TM0= -1 -2 ||| -6\n",
        "0 ||| das haus  |||  LM0= -3 WordPenalty0= -2 ||| -6 ||| 0-0 1-1 \n",
        "12 ||| a ||| d: 0 -1.5 lm: -3 ||| -6",
        "0 |||a b ||| map: 0 w: 2 1.5 ||| 0.4\n",
        "0 ||| a ||| -3 -1 -2 ||| -6\n",
        "0 ||| a |||  ||| 0\n0 ||| a b ||| LM0= -3 ||| 0\n",
        "0 ||| a ||| Foo=Bar= 1 ||| 0\n",
    ],
    "cdec-nbest": [
        "0 ||| a b ||| Glue=1 LanguageModel=-3.5 ||| -4\n",
        "\n\n3 ||| a ||| x=1 ||| 0\n",
        "0 ||| a |||  ||| 0\n0 ||| b |||  ||| 0\n",
        "0 |||  ||| F=1 ||| 0\n",
        "0 ||| a ||| A=b=1 ||| 0\n",
    ],
    "cdec-mira-nbest": [
        "1\n0 ||| 2 ||| a b ||| RgAAAAAAAADwPw== ||| 0\n",
        "\n0\n2\n\n\n1\n7 ||| 2 ||| a b |||  ||| 0\n",
    ],
    "joshua-nbest": [
        "0 ||| a house ||| tm_pt_0=-9.702 lm_0=-19.117 WordPenalty=-3.040 ||| -7.496\n",
        "0 ||| a house ||| lm=-3 ||| -7 ||| 0-0 1-1\n",
        "0 ||| 1 ||| a house ||| tm_pt_0=1.000 ||| -7.496 ||| 0-0 1-1 ||| (S{0-1} a house)\n",
    ],
    "marian-nbest": [
        "0 ||| a house ||| F0= -8.157 ||| -1.545\n",
        "0 |||  ||| F0=-1.2 ||| -1.2\n",
        "0 ||| a house ||| 0-0 1-1 ||| F0= -8.157 ||| -1.545\n",
        "0 ||| a house ||| WordScores= -1 -2 ||| F0= -8.157 Score= -3 ||| -1.545\n",
        "0 ||| a house |||  ||| LM= -8.157 ||| -1.545\n",
    ],
    "plain-nbest": ["0 ||| a house ||| lm=-3.5 tm=-1\n", "0 ||| a house ||| -1.25\n", "0 ||| a\n0 ||| b\n"],
    "fairseq-nbest": [
        "S-1\tein haus\nT-1\ta house\nH-1\t-0.5\ta house\nP-1\t-0.25 -0.75\n",
        "loading model\nH-1\t-0.5\ta house\n",
    ],
    "jsonl-nbest": [
        '{"id": 0, "source": "ein haus", "hypotheses": [{"text": "a house", "scores": {"lm": -3.5}}]}\n',
        '{"candidates": ["a house", "house"]}\n',
    ],
    "sockeye-nbest": ['{"translations": ["a house", "house"], "scores": [0.5, 0.7]}\n'],
    "cdec-weights": ["Glue 0.5\n", "# Objective = 1\nGlue=0.5\nA\t-1e-3\n", "Foo=Bar 1\n"],
    "joshua-config": ["# lm\ntm = thrax pt 12 rules.gz\nlm_0 1\n", "search = cky\nmark_oovs=false\nlm_0 1\n"],
    "zmert-params": ["lm_0 ||| 1.0 Opt 0.1 +Inf +0.5 +1.5\nnormalization = none\n", "a\t||| 1 Fix 0 0 0 0\n"],
    "pipe-weights": ["lm_0 ||| 1.25\ntm_pt_0 ||| -1e-3\n"],
    "moses-ini": ["# made by hand\n[input-factors]\n0\n\n[weight]\nLM0= 0.5\n", "[weight]\r\nLM0= 1\r\n"],
    "pharaoh-alignment": ["0-0 1-1 2-3\n\n", "ein haus ||| a house ||| 0-0 1-1\n", "a house ||| 0-0 1-1 \n"],
    "giza-alignment": [
        "# Sentence pair (1) source length 1 target length 1 alignment score : 0.5\nja\nNULL ({ }) yes ({ 1 })\n"
    ],
    "bal-alignment": ["1\n1 yes # 1\n2 ja doch # 1 0\n"],
    "moses-features": ["FEATURES_TXT_BEGIN_0 0 1 1 LM0_0 \n-1 \nFEATURES_TXT_END_0\n"],
    "moses-scores": ["SCORES_TXT_BEGIN_0 0 1 1 TER\n-1 \nSCORES_TXT_END_0\n"],
    "moses-hypergraph-weights": [
        "WordPenalty0 -0.245768\nTM0_1 0.089076\nTM0_2 0.033154\n",
        "LexicalReordering0_1 1\nLexicalReordering0_2 1e-3\n",
    ],
    "moses-search-graph": [
        "0 hyp=0 stack=0\n0 hyp=1 stack=1 back=0 score=-1.5 transition=-1.5 forward=-1 fscore=0 covered=0-0 out=a\n",
        "12 hyp=0 stack=0 forward=61 fscore=-103.148\n",
    ],
    "moses-chart-graph": [
        "0 3 S  -> <s> :: term=0-0 : nonterm=: c=0.5 core=(-1,0)  [0..0] [total=0.5] core=(-1,0) \n",
        "0 7->6 S => S  -> S home :0-0 : term=1-1 : nonterm=0-0 : c=-1 core=(-1)  [0..1] 3 [total=-1] core=(-2) \n",
    ],
    "moses-hypergraph": [
        "# target ||| features ||| source-covered\n2 2\n# node 0\n1\n<s> |||  ||| 0\n# node 1\n1\n[0] a |||  ||| 1\n"
    ],
    "cdec-corpus": ["ein haus ||| a house ||| one house\n", '<seg id="7" grammar="g.gz">ein haus</seg>\n'],
    "text": ["das haus ist klein .\n", "one two\nthree four\n", "5\n7\n", "ja\n", "a ||| b\nno field\nand none\n"],
}


# The last two are weights too, and taken for those.
SHAPELESS = {"lines-nbest", "text-nbest", "moses-settings", "joshua-settings"}
EXAMPLES = {record.name: record.example for record in all_formats() if record.example and record.name not in SHAPELESS}
SAMPLES = [*EXAMPLES.items(), *((name, text) for name, texts in VARIANTS.items() for text in texts)]


@pytest.mark.parametrize(("name", "text"), SAMPLES)
def test_shape_tells_the_format(name: str, text: str) -> None:
    assert detect(text.encode(), all_formats(), "x").name == name


@pytest.mark.parametrize("name", ["moses-nbest", "cdec-nbest"])
def test_first_line_longer_than_the_head(name: str) -> None:
    item = "Feature{0}= {0}" if name == "moses-nbest" else "Feature{0}={0}"
    features = " ".join(item.format(i) for i in range(10000))
    start = f"0 ||| a ||| {features}".encode()[:HEAD_BYTES]
    for cut in range(12):
        assert detect(start[: HEAD_BYTES - cut], all_formats(), "x").name == name


def test_many_lines_without_features() -> None:
    start = b"0 ||| a |||  ||| 0\n" * 5000
    assert detect(start[:HEAD_BYTES], all_formats(), "x").name == "cdec-nbest"


def feed(path: Path, data: bytes) -> threading.Thread:
    def run() -> None:
        with open(path, "wb", buffering=0) as pipe:
            for start in range(0, len(data), 7):
                pipe.write(data[start : start + 7])

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", EXAMPLES)
def test_pipe_of_few_bytes(tmp_path: Path, name: str, packed: bool) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    data = EXAMPLES[name].encode()
    feeder = feed(path, gzip.compress(data) if packed else data)
    with open_bytes(path) as stream:
        record = detect(head(stream), all_formats(), "x")
        rest = stream.read()
    feeder.join(30)
    assert record.name == name
    assert rest == data


def test_empty_file() -> None:
    lists = [record for record in all_formats() if record.kind == "nbest"]
    with pytest.raises(FormatError) as caught:
        detect(b"", lists, "x")
    assert str(caught.value) == "x:1: field 1: expected nbest data, found an empty file"


@pytest.mark.parametrize("start", ["hello\nworld\n", "\n\n", "0 ||| a |||\nb\n", "x ||| a ||| F=1 ||| 0\n", "\x00\xff"])
def test_unknown_shape_names_what_there_is(start: str) -> None:
    lists = [record for record in all_formats() if record.kind == "nbest"]
    with pytest.raises(FormatError) as caught:
        detect(start.encode(), lists, "x")
    shown = repr(start.split("\n")[0])
    readable = ", ".join(record.name for record in lists if record.parse is not None)
    expected = f"the shape of one of {readable} (name the format with --from)"
    assert str(caught.value) == f"x:1: field 1: expected {expected}, found {shown}"


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"0-0 1-1\n0-0\n", "in:1: expected corpus or nbest data, found pharaoh-alignment"),
        (b"((('a',1,1),),)\n", "in:1: expected corpus or nbest data, found plf-lattice"),
        (b"(S (NP a) (VP b))\n", "in:1: expected corpus or nbest data, found bracketed-tree"),
        ("a b\n".encode("utf-16"), "in:1: field 1: expected text in UTF-8, found UTF-16"),
        (b"\xef\xbb\xbf1 ||| a\x00\n", "in:1: expected a file without a byte order mark, found one"),
    ],
)
def test_files_of_a_line_per_sentence_that_are_no_text(start: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=f"^{re.escape(message)}"):
        detect(start, [*formats_of("corpus"), *formats_of("nbest")], "in")
    with pytest.raises(FormatError, match=r"^in:1: expected a file without a byte order mark"):
        detect(b"\xef\xbb\xbfLM0 1\n", formats_of("weights"), "in")
    for text in (b"0-0\n0-1 is a result\n", b"(a) b\n(c d\n", b"3-4 people\n"):
        assert detect(text, formats_of("corpus"), "in").name == "text"


def test_two_fitting_formats_are_an_error_naming_both() -> None:
    both = [
        Format(name=name, kind="k", summary="", matches=lambda head: True, parse=lambda lines: iter(()))
        for name in ("a-k", "b-k")
    ]
    with pytest.raises(FormatError) as caught:
        detect(b"x", both, "x")
    assert caught.value.expected == "data of one format (choose it with --from: a-k, b-k)"


def test_all_formats() -> None:
    names = [record.name for record in all_formats()]
    assert names == sorted(names)
    for record in all_formats():
        assert record.summary
        assert record.parse or record.write
        assert record.example or record.binary or record.folder or record.lookup or record.parse is None, record.name
    # An editable install has several places: the sources and the native modules.
    places = [path for place in smtformats.__path__ for path in Path(place).glob("*/__init__.py")]
    folders = {path.parent.name for path in places}
    assert {record.kind for record in all_formats()} == folders - {"caching"}


def test_read_wants_exactly_one() -> None:
    def lines(text: str) -> Lines:
        return Lines(io.BytesIO(text.encode()), "x")

    text = next(record for record in all_formats() if record.name == "text")
    assert text.read(lines("only\n")) == "only"
    with pytest.raises(FormatError, match="x:2: expected exactly one record, found 2"):
        text.read(lines("one\ntwo\n"))
    with pytest.raises(FormatError, match="x:1: expected exactly one record, found 0"):
        text.read(lines(""))
    table = next(record for record in all_formats() if record.name == "text-nbest")
    with pytest.raises(TypeError, match="text-nbest cannot be read"):
        table.read(lines("a\n"))


@given(st.floats(allow_nan=False))
def test_shortest_reads_back(value: float) -> None:
    assert repr(float(shortest(value))) == repr(value)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (-0.0, "-0"), (5.0, "5"), (-1.25, "-1.25"), (1e300, "1e+300"), (0.1, "0.1")]
)
def test_shortest(value: float, text: str) -> None:
    assert shortest(value) == text


def test_each_format_is_in_the_folder_of_its_kind() -> None:
    """The formats of one kind are found, and all others left alone, by the name of the folder."""
    kinds = {record.kind for record in all_formats()}
    assert len(kinds) > 5
    for kind in kinds:
        assert formats_of(kind) == tuple(record for record in all_formats() if record.kind == kind)
    assert formats_of("no such kind") == formats_of("caching") == ()


@given(st.lists(st.floats(width=32), min_size=1, max_size=8), st.integers(0, 2**32))
def test_numbers_are_rounded_to_the_fewest_digits_that_read_back(special: list[float], seed: int) -> None:
    random = np.random.default_rng(seed)
    drawn = random.normal(size=99) * 10 ** random.uniform(-6, 8, size=99)
    values = np.array([*special, *drawn, *drawn.round(seed % 6)], dtype=np.float32)
    found = rounded(values)
    assert found == pytest.approx([float(str(value)) for value in values], abs=0, rel=0, nan_ok=True)
    assert rounded(values[:3]) == pytest.approx(found[:3], abs=0, rel=0, nan_ok=True)
