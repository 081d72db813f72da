"""The reader of ARPA files: what it accepts, what it refuses and where."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

import pytest

from smtformats.errors import FormatError
from smtplugins.core._core import ArpaReader, LanguageModel
from smtplugins.core.lm.ngram_model import ArpaError, read_lm

GOOD = r"""\data\
ngram 1=5
ngram 2=4
ngram 3=2

\1-grams:
-1.0	<unk>
-99	<s>	-0.5
-0.7	</s>
-0.6	a	-0.4
-0.8	b	-0.3

\2-grams:
-0.3	<s> a	-0.2
-0.4	a b	-0.1
-0.5	b </s>
-0.9	b a

\3-grams:
-0.1	<s> a b
-0.2	a b </s>

\end\
"""


def read(text: str | bytes, pieces: Iterable[bytes] | None = None) -> LanguageModel:
    reader = ArpaReader()
    data = text.encode() if isinstance(text, str) else text
    for piece in [data] if pieces is None else pieces:
        reader.feed(piece)
    return reader.finish()


def swap(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def test_counts_words_and_ids() -> None:
    lm = read(GOOD)
    assert lm.order == 3
    assert lm.counts == [5, 4, 2]
    assert lm.vocabulary_size == 5
    assert [lm.word(i) for i in range(5)] == ["<unk>", "<s>", "</s>", "a", "b"]
    assert [lm.id(word) for word in ("a", "b", "c", "<unk>", "<UNK>")] == [3, 4, 0, 0, 0]
    assert lm.ids(["a", "b", "c", "<unk>", "<UNK>", "", "</s>"]).tolist() == [3, 4, 0, 0, 0, 0, 2]
    assert lm.ids([]).tolist() == []
    for outside in (-1, 5):
        with pytest.raises(IndexError):
            lm.word(outside)


def test_unknown_word_is_added_when_the_file_has_none() -> None:
    lm = read(swap("-1.0	<unk>\n", "").replace("ngram 1=5", "ngram 1=4"))
    assert lm.counts == [4, 4, 2]
    assert lm.vocabulary_size == 5
    assert lm.word(0) == "<unk>"
    assert lm.full_scores("zzz", bos=False, eos=False) == [(-100.0, 1, True)]


SAME = {
    "blanks": GOOD.replace("\t", "  ").replace("<s> a", "<s>\t a"),
    "crlf": GOOD.replace("\n", "\r\n"),
    "blank lines": GOOD.replace("\n", "\n\n").replace("\\end\\", "\t\n\\end\\"),
    "text before the header": "made by hand\n\nngram 7=7\n" + GOOD,
    "no last line end": GOOD.rstrip("\n"),
    "header with blanks": swap("ngram 2=4", "ngram  2 = 4 "),
    "no zero back-offs": GOOD.replace("-0.9	b a\n", "-0.9	b a	0\n"),
    "negative zero back-off": GOOD.replace("-0.9	b a\n", "-0.9	b a	-0.0\n"),
    "zero back-off on the longest": swap("-0.1	<s> a b", "-0.1	<s> a b	0.0"),
    "exponents": swap("-0.9	b a", "-9E-1	b a"),
    "upper-case unknown": swap("<unk>", "<UNK>"),
    "minus infinity for <s>": swap("-99", "-inf"),
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
def test_other_spellings_of_the_same_model(text: str) -> None:
    sentences = ["a b", "b a b", "a zzz b", "", "a a a b b b"]
    expected, unknown = read(GOOD).score_sentences(sentences)
    scores, unknown_too = read(text).score_sentences(sentences)
    assert scores.tolist() == expected.tolist()
    assert unknown_too.tolist() == unknown.tolist() == [0, 0, 1, 0, 0]


def test_probability_one_may_be_written_in_any_way() -> None:
    for zero in ("0", "0.0", "-0.0", "+0", "+0.0", "0e0"):
        lm = read(swap("-0.9	b a", f"{zero}	b a"))
        prob, length, _ = lm.full_scores("b a", bos=False, eos=False)[1]
        assert (prob, length) == (0.0, 2)


def test_pieces_of_any_size_give_the_same_model() -> None:
    for text in (GOOD, SAME["crlf"], SAME["no last line end"]):
        data = text.encode()
        whole = read(data).full_scores("a b a zzz b b")
        for size in (1, 2, 3, 7, 64):
            pieces = [data[i : i + size] for i in range(0, len(data), size)]
            assert read(data, pieces).full_scores("a b a zzz b b") == whole


def test_a_word_may_be_any_bytes_but_blanks() -> None:
    odd = "x\u00a0y\u2028z"
    text = (
        GOOD.replace("	a	", f"	{odd}	").replace(" a", f" {odd}").replace("	a b", f"	{odd} b").encode()
    )
    lm = read(text)
    assert lm.id(odd) == 3
    assert lm.score_sentences([f"{odd} b"])[1].tolist() == [0]
    latin = read(text.replace(odd.encode(), b"\xe4"))
    assert latin.word(3) == "\ufffd"
    assert latin.id("ä") == 0


BAD = {
    "empty": ("", 1, r"\data\ ", "the end of the file"),
    "no header": ("hello\nworld\n", 2, r"\data\ ", "the end of the file"),
    "header cut off": ("\\data\\\nngram 1=5\n", 2, r"\1-grams:", "the end of the file"),
    "no counts": ("\\data\\\n\n\\1-grams:\n", 3, "ngram 1=COUNT", r"'\1-grams:'"),
    "orders out of step": (swap("ngram 2=4", "ngram 3=4"), 3, r"ngram 2=COUNT or \1-grams:", "'ngram 3=4'"),
    "first order missing": (swap("ngram 1=5\n", ""), 2, "ngram 1=COUNT", "'ngram 2=4'"),
    "not a count": (swap("ngram 2=4", "ngram 2=many"), 3, "a count from 0 to 2147483647", "'many'"),
    "negative count": (swap("ngram 2=4", "ngram 2=-4"), 3, "a count from 0 to 2147483647", "'-4'"),
    "absurd count": (
        swap("ngram 2=4", "ngram 2=2147483648"),
        3,
        "a count from 0 to 2147483647",
        "'2147483648'",
    ),
    "count beyond any number": (
        swap("ngram 2=4", "ngram 2=" + "9" * 30),
        3,
        "a count from 0 to 2147483647",
        "'" + "9" * 30 + "'",
    ),
    "order too high": (
        "\\data\\\n" + "".join(f"ngram {n}=1\n" for n in range(1, 18)),
        18,
        "n-grams of at most 16 words",
        "'ngram 17=1'",
    ),
    "fewer than counted": (swap("-0.9	b a\n", ""), 18, "4 2-grams, as the header says", "3"),
    "fewer at the end": (swap("-0.2	a b </s>\n", ""), 22, "2 3-grams, as the header says", "1"),
    "more than counted": (
        swap("-0.9	b a\n", "-0.9	b a\n-0.9	b b\n"),
        18,
        r"\3-grams: after 4 2-grams, as the header says",
        "'-0.9	b b'".replace("\t", r"\x09"),
    ),
    "section missing": (
        swap("\\2-grams:\n", ""),
        13,
        r"\2-grams: after 5 1-grams, as the header says",
        r"'-0.3\x09<s> a\x09-0.2'",
    ),
    "section of the wrong order": (
        swap("\\2-grams:", "\\3-grams:\n\\4-grams:"),
        13,
        r"\2-grams:",
        r"'\3-grams:'",
    ),
    "too few fields": (
        swap("-0.4	a b	-0.1", "-0.4	b"),
        15,
        "a probability, 2 words and perhaps a back-off: 3 or 4 fields",
        "2 fields",
    ),
    "too many fields": (
        swap("-0.7	</s>", "-0.7	</s>	-0.1	-0.2"),
        9,
        "a probability, 1 word and perhaps a back-off: 2 or 3 fields",
        "4 fields",
    ),
    "back-off on the longest": (
        swap("-0.1	<s> a b", "-0.1	<s> a b	-0.3"),
        20,
        "a probability and 3 words: 4 fields",
        "5 fields",
    ),
    "probability not a number": (
        swap("-0.4	a b", "-o.4	a b"),
        15,
        "a log10 probability of at most 0",
        "'-o.4'",
    ),
    "number with a tail": (
        swap("-0.4	a b", "-0.4x	a b"),
        15,
        "a log10 probability of at most 0",
        "'-0.4x'",
    ),
    "two signs": (swap("-0.4	a b", "+-0.4	a b"), 15, "a log10 probability of at most 0", "'+-0.4'"),
    "nan": (swap("-0.4	a b", "nan	a b"), 15, "a log10 probability of at most 0", "'nan'"),
    "positive probability": (
        swap("-0.4	a b", "0.4	a b"),
        15,
        "a log10 probability of at most 0",
        "'0.4'",
    ),
    "back-off not a number": (swap("a b	-0.1", "a b	x"), 15, "a log10 back-off weight", "'x'"),
    "back-off nan": (swap("a b	-0.1", "a b	-nan"), 15, "a log10 back-off weight", "'-nan'"),
    "back-off infinite": (swap("a b	-0.1", "a b	inf"), 15, "a log10 back-off weight", "'inf'"),
    "word without unigram": (swap("-0.4	a b", "-0.4	a c"), 15, "words that have a unigram", "'c'"),
    "unknown word without unigram": (
        swap("-1.0	<unk>", "-1.0	c").replace("-0.4	a b", "-0.4	a <unk>"),
        15,
        "words that have a unigram",
        "'<unk>'",
    ),
    "unigram twice": (
        swap("-0.8	b	-0.3", "-0.8	a	-0.3"),
        11,
        "one line for each n-gram",
        "'a' again",
    ),
    "<unk> twice": (
        swap("-0.8	b	-0.3", "-0.8	<UNK>"),
        11,
        "one line for each n-gram",
        "'<UNK>' again",
    ),
    "n-gram twice": (swap("-0.9	b a", "-0.9	a b"), 17, "one line for each n-gram", "'a b' again"),
    "no end": (swap("\\end\\\n", ""), 22, r"\end\ ", "the end of the file"),
    "cut inside a section": (
        GOOD[: GOOD.index("-0.2	a b </s>")],
        20,
        "2 3-grams, as the header says",
        "the end of the file after 1",
    ),
    "cut between sections": (GOOD[: GOOD.index("\\3-grams:")], 18, r"\3-grams:", "the end of the file"),
    "text after the end": (GOOD + "\nmore\n", 25, r"nothing after \end\ ", "'more'"),
    "control characters": (
        swap("-0.4	a b", "\x1b[31m\x00	a b"),
        15,
        "a log10 probability of at most 0",
        r"'\x1b[31m\x00'",
    ),
    "long quotation": (
        swap("-0.4	a b", "\u00e4" * 50 + "	a b"),
        15,
        "a log10 probability of at most 0",
        "'" + "\u00e4" * 30 + "...'",
    ),
    "back-offs above one": (
        swap("-0.4	a b", "-0.4	b b")
        .replace("-0.8	b	-0.3", "-0.8	b	-0.3")
        .replace("a	-0.4", "a	1.5"),
        20,
        "a probability of at most 1 for the last words of each n-gram",
        "back-offs that make it greater",
    ),
    "endless line": ("\\data\\\n" + "x" * 1_100_000, 2, "a line of at most 1048576 bytes", "a longer one"),
}


@pytest.mark.parametrize(("text", "line", "expected", "found"), BAD.values(), ids=BAD.keys())
def test_faults(text: str, line: int, expected: str, found: str) -> None:
    with pytest.raises(ArpaError) as caught:
        read(text)
    # A raw string cannot end in a backslash: the table writes a blank after it.
    assert (caught.value.line, caught.value.expected, caught.value.found) == (line, expected.rstrip(), found)
    assert str(caught.value) == f"line {line}: expected {expected.rstrip()}, found {found}"


def test_a_large_count_takes_no_memory_by_itself() -> None:
    with pytest.raises(ArpaError, match="2147483647 3-grams, as the header says"):
        read(swap("ngram 3=2", "ngram 3=2147483647"))


def test_a_reader_is_spent_after_its_end_and_after_a_fault() -> None:
    reader = ArpaReader()
    reader.feed(GOOD.encode())
    reader.finish()
    faulty = ArpaReader()
    with pytest.raises(ArpaError):
        faulty.feed(b"\\data\\\nnonsense\n")
    for spent in (reader, faulty):
        with pytest.raises(RuntimeError, match="closed"):
            spent.feed(b"")
        with pytest.raises(RuntimeError, match="closed"):
            spent.finish()


def test_read_lm_names_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.arpa"
    file.write_text(swap("-0.4	a b", "nan	a b"))
    with pytest.raises(FormatError) as caught:
        read_lm(file)
    assert str(caught.value) == f"{file}:15: expected a log10 probability of at most 0, found 'nan'"


def test_read_lm_takes_compressed_files_and_finds_them_cut(tmp_path: Path) -> None:
    file = tmp_path / "good.arpa.gz"
    packed = gzip.compress(GOOD.encode())
    file.write_bytes(packed)
    assert read_lm(file).full_scores("a b") == read(GOOD).full_scores("a b")
    file.write_bytes(packed[:-20])
    with pytest.raises(FormatError, match="a complete compressed file"):
        read_lm(str(file))
