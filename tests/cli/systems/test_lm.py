"""``smt lm``: a language model from a text."""

from __future__ import annotations

import gzip
import os
import re
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smtplugins.core.lm.ngram_model import read_lm
from tests.forked import Process

Smt = Callable[..., Any]

TEXT = "the house\na house\nthe small house\n"
NOTE = "smt: note: fallback discounts for 1-grams and 2-grams\n"


def entries(arpa: str) -> list[str]:
    return [line.split("\t")[1] for line in arpa.splitlines() if "\t" in line]


def test_standard_input_to_standard_output(smt: Smt) -> None:
    result = smt("lm", "--order", 2, "--discount-fallback", stdin=TEXT)
    assert (result.code, result.err) == (0, NOTE)
    assert result.out.startswith("\\data\\\nngram 1=7\nngram 2=7\n\n\\1-grams:\n")
    assert result.out.endswith("\n\n\\end\\\n")
    assert entries(result.out)[:4] == ["<unk>", "<s>", "</s>", "the"]


def test_files_compressed_or_not(smt: Smt) -> None:
    arpa = smt("lm", "--order", 2, "--discount-fallback", "-q", stdin=TEXT).ok()
    Path("text.gz").write_bytes(gzip.compress(TEXT.encode()))
    assert smt("lm", "-q", "--discount-fallback", "--order", 2, "-i", "text.gz", "-o", "lm.arpa.gz").ok() == ""
    assert gzip.decompress(Path("lm.arpa.gz").read_bytes()).decode() == arpa
    assert read_lm("lm.arpa.gz").order == 2


def test_several_texts_are_one(smt: Smt) -> None:
    call = ("lm", "--order", 2, "--discount-fallback", "-q")
    whole = smt(*call, stdin=TEXT).ok()
    lines = TEXT.splitlines(keepends=True)
    Path("one").write_text(f"\ufeff{lines[0].rstrip()}")
    Path("two.gz").write_bytes(gzip.compress("".join(lines[1:]).encode()))
    assert smt(*call, "-i", "one", "-i", "two.gz").ok() == smt(*call, "one", "two.gz").ok() == whole
    assert smt(*call, "-i", "-", "-i", "two.gz", stdin=lines[0]).ok() == whole
    Path("bad").write_text("a\nb <s> c\n")
    assert smt(*call, "one", "two.gz", "bad").err.startswith("smt: bad:2: expected text without <s>")
    Path("empty").write_text("")
    assert smt(*call, "one", "empty").err.startswith("smt: empty:1: expected a sentence on each line")
    assert "expected standard input (-) once" in smt(*call, "-i", "-", "-i", "-", stdin=TEXT).err


def test_binary_beside_the_arpa_file_or_alone(smt: Smt) -> None:
    options = ("lm", "-q", "--order", 2, "--discount-fallback")
    assert smt(*options, "--binary", "alone", stdin=TEXT).ok() == ""
    assert smt(*options, "--binary", "both", "-o", "arpa", stdin=TEXT).ok() == ""
    assert Path("alone").read_bytes() == Path("both").read_bytes()
    Path("link").symlink_to("both")
    Path("both").write_bytes(b"")
    assert smt(*options, "--binary", "link", stdin=TEXT).ok() == ""
    assert Path("link").is_symlink()
    assert Path("alone").read_bytes() == Path("both").read_bytes()
    scores = [read_lm(path).score_sentences(["the house"])[0][0] for path in ("alone", "arpa")]
    assert abs(scores[0] - scores[1]) < 1e-6


def test_pruning_and_vocabulary(smt: Smt) -> None:
    options = ("lm", "--order", 2, "-q", "--discount-fallback", "1")
    pruned = entries(smt(*options, "--prune", 0, 1, stdin=TEXT).ok())
    assert pruned == ["<unk>", "<s>", "</s>", "the", "house", "a", "small", "house </s>", "<s> the"]
    Path("words").write_text("house the\nno\u00a0word\n")
    limited = entries(smt(*options, "--vocabulary", "words", stdin=TEXT).ok())
    assert limited == ["<unk>", "<s>", "</s>", "the", "house", "house </s>", "<s> the", "the house"]


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        ((), "", "<stdin>: expected text, a sentence a line, found no words"),
        (
            (),
            "a\nb <s>\n",
            "<stdin>:2: expected text without <s>, </s> and <unk>, which the model has of its own (`--escape "
            "moses` makes them &lt;s&gt; and so on), found '<s>'",
        ),
        (
            (),
            TEXT,
            "<stdin>: no discounts for 1-grams follow from the text: no 1-gram has the adjusted count 2; "
            "--discount-fallback sets fixed ones",
        ),
        (
            ("--memory", "1K"),
            TEXT,
            "<stdin>: the model needs at least 64 KB of memory, 1 KB are allowed (--memory sets the limit)",
        ),
        (("-i", "absent"), "", "absent: No such file or directory"),
        (("--vocabulary", "absent"), TEXT, "absent: No such file or directory"),
        (("--vocabulary", "blank"), TEXT, "blank: expected the words of the vocabulary, found no words"),
        (("-i", "latin", "-i", "table"), "", "latin:2: expected UTF-8 text, found byte 0xe4"),
        (("-i", "cut"), "", "cut:1: expected UTF-8 text, found byte 0xc3"),
        (
            ("-i", "table"),
            "",
            "table:1: expected plain text, a sentence on each line, found tsv-corpus (smt convert --to text writes the "
            "sources)",
        ),
        (("-i", "json"), "", "json:1: field 1: expected plain text, found JSON objects with text"),
        (("-o", "no/such/folder/lm", "--discount-fallback"), TEXT, "no/such/folder/lm: No such file or directory"),
    ],
)
def test_what_is_wrong_with_the_data(smt: Smt, options: tuple[str, ...], text: str, message: str) -> None:
    Path("blank").write_text("\n")
    Path("latin").write_bytes("das\nwär\n".encode("latin-1"))
    Path("cut").write_bytes("ä".encode()[:1])
    Path("table").write_text("das haus\tthe house\nein haus\ta house\n")
    Path("json").write_text('{"text": "a"}\n')
    result = smt("lm", "--order", 2, "-q", *options, stdin=text)
    assert (result.code, result.out, result.err) == (1, "", f"smt: {message}\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--order", 17), "order: expected 1 to 16, found 17"),
        (("--order", 3, "--prune", 1, 0), "pruning: expected thresholds that do not fall, found 1 0"),
        (("--order", 3, "--discount-fallback", 1, 3), "fallback discount of counts of 2: expected 0 to 2, found 3"),
        (
            ("--order", 3, "--discount-fallback", 1, 1, 1, 1),
            "--discount-fallback: expected at most 3 discounts, found 4",
        ),
        (("--order", 3, "--binary", "-"), "--binary: expected the name of a file, found '-'"),
        (("--order", 3, "--binary", "."), "--binary: expected the name of a file, found '.'"),
        (
            ("--order", 3, "-o", "x", "--binary", "./x"),
            "--binary: expected another file than the ARPA file, found ./x twice",
        ),
        (
            ("--order", 1, "--binary", "x"),
            "--binary: expected a model of order 2 or more, as KenLM has no files for unigrams",
        ),
        (("--order", 3, "--vocabulary-size", 0), "vocabulary size: expected 1 or more, found 0"),
        (("--order", 3, "--memory", "much"), "--memory: expected a size like 500M or 8G, found 'much'"),
    ],
)
def test_what_is_wrong_with_the_call(smt: Smt, options: tuple[Any, ...], message: str) -> None:
    result = smt("lm", *options, stdin=TEXT)
    assert (result.code, result.out, result.err) == (2, "", f"smt: {message}\n")


def long_text() -> str:
    return "".join(f"the {i % 90} house {i % 700} is {i % 11} .\n" for i in range(3000))


def test_little_memory_changes_nothing(smt: Smt) -> None:
    Path("text").write_text(long_text())
    call = ("lm", "text", "--order", 3, "--discount-fallback")
    assert smt(*call, "-q", "-o", "all.arpa", "--binary", "all.bin").ok() == ""
    result = smt(*call, "-o", "less.arpa", "--binary", "less.bin", "--memory", "200K")
    assert result.err.startswith("smt: note: more than --memory allows: sorted on disk\n")
    assert Path("less.arpa").read_bytes() == Path("all.arpa").read_bytes()
    assert Path("less.bin").read_bytes() == Path("all.bin").read_bytes()
    assert smt(*call, "-q", "--memory", "200K").ok() == Path("all.arpa").read_text()
    assert sorted(os.listdir()) == ["all.arpa", "all.bin", "less.arpa", "less.bin", "text"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_killed_run_leaves_nothing(start: Callable[..., Process], number: int) -> None:
    process = start("lm", "--order", 3, "-o", "arpa", "--discount-fallback", "--memory", "200K")
    assert process.stdin is not None
    process.stdin.write(long_text().encode() * 20)
    process.stdin.flush()
    before = time.monotonic()
    while not any(name.startswith(".lm.") for name in os.listdir()):
        assert time.monotonic() - before < 300
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(timeout=300) == 128 + number
    assert os.listdir() == []


def test_a_full_disk_is_an_error(smt: Smt) -> None:
    Path("text").write_text(long_text())
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limit[1]))
    try:
        result = smt("lm", "text", "--order", 3, "-q", "-o", "arpa", "--discount-fallback", "--memory", "200K")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert (result.code, result.out) == (1, "")
    assert re.fullmatch(r"smt: .*/\.lm\.\w+\.part/run\d+: File too large\n", result.err)
    assert os.listdir() == ["text"]


@pytest.mark.parametrize(("size", "enough"), [("1M", True), ("1g", True), ("100KB", True), ("16384", False)])
def test_memory_has_units(smt: Smt, size: str, enough: bool) -> None:
    result = smt("lm", "--order", 2, "-q", "--discount-fallback", "--memory", size, stdin=TEXT)
    assert (result.code == 0) == enough


def test_output_is_an_option_as_everywhere_and_the_text_may_be_an_argument(smt: Smt) -> None:
    Path("text").write_text(TEXT)
    options = ("--discount-fallback", "-q")
    assert smt("lm", "text", "--order", 2, "-o", "new", *options).ok() == ""
    assert smt("lm", "--order", 2, "--output", "7", *options, stdin=TEXT).ok() == ""
    assert Path("new").read_bytes() == Path("7").read_bytes()
    # Behind numbers, and behind an option without any.
    for numbers in ((), (0.5, 1, 1.5)):
        call = ("lm", "--order", 2, "-q", "-o", "behind", "--discount-fallback", *numbers, "text")
        assert smt(*call).ok() == ""
        assert Path("behind").read_bytes() == Path("new").read_bytes()
    pruned = smt("lm", "--order", 2, *options, "--prune", 0, 1, "text").ok()
    assert pruned == smt("lm", "--order", 2, *options, "-i", "text", "--prune", 0, 1).ok() != Path("new").read_text()


@pytest.mark.parametrize("old", [("-o", 2, "-O", "old"), ("-O", "old", "-o", 2), ("-o", 2, "-o", "old"), ("-o", 2)])
def test_the_order_as_it_was_spelt_is_noted(smt: Smt, old: tuple[object, ...]) -> None:
    result = smt("lm", *old, "--discount-fallback", stdin=TEXT)
    assert result.code == 0
    note = "smt: note: -o 2 is taken for the order: write --order 2, as -o is the output\n"
    uses = "smt: note: in a run.yaml, or by `smt config new`:\nmodel:\n  features:\n  - {name: lm, path: old}\n"
    assert result.err == note + NOTE + uses * ("old" in old)
    arpa = smt("lm", "--order", 2, "-q", "--discount-fallback", stdin=TEXT).ok()
    assert (Path("old").read_text() if "old" in old else result.out) == arpa


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "expected the order of the model (--order N), found none"),
        (("-o", "arpa"), "expected the order of the model (--order N), found none"),
        (("--output", 4), "expected the order of the model (--order N), found none"),
        (("--order", 2, "-i", "text", "--prune", 0, "text"), "expected the input once, found both FILE and -i"),
        (("--order", 2, "--prune", "x"), "argument --prune: expected numbers, found 'x'"),
        (("--order", 2, "--discount-fallback", "x", 1), "argument --discount-fallback: expected numbers, found 'x'"),
        (("--order", 2, "-o", "a", "-O", "b"), "expected one output (-o ARPA), found a and b"),
        (("--order", 2, "-i", "text", "text"), "expected the input once, found both FILE and -i"),
    ],
)
def test_order_output_and_input_once(smt: Smt, options: tuple[object, ...], message: str) -> None:
    result = smt("lm", *options, stdin=TEXT)
    assert (result.code, result.err.splitlines()[-1].partition(": ")[2].removeprefix("error: ")) == (2, message)
    assert not any(Path(name).exists() for name in ("a", "b", "arpa"))
