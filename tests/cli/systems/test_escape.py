"""What a word is, and words that tables cannot hold: from text through extraction and decoding and back."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.escapes import SCHEMES, escape, escape_bytes
from smtformats.tokens import words
from smtplugins.core.extract.phrase_pairs import Phrases
from smtplugins.core.lm.estimate import FALLBACK, estimate
from smtplugins.host.decode.translator import as_sentences
from smtplugins.host.estimate.align import read_text

Smt = Callable[..., Any]

BLANKS = "\0\t\v\f\r\x1c\x1d\x1e\x1f "
IN_WORDS = "\x01\x08\x0e\x1b\x7f\u0085\u00a0\u1680\u2003\u2028\u2029\u200b\u202f\u3000\ufeffaä語"
HARD = "das [*] [X] ||| [X,1] | <s> </s> <unk> &#91; &amp;lt; '\" a\u00a0b \u2028 x\x01 haus"
TARGET = " ".join([*HARD.split(" ")[1:], "the"])
MODEL = """\
  features: [word-penalty, "lm,path=lm", pass-through]
  weights: w
"""


def extracted(text: str, folder: Path) -> set[str]:
    """The words that extraction finds."""
    phrases = Phrases(folder, memory=1 << 30)
    phrases.feed(text.encode() + b"\n", b"x\n", b"\n")
    list(phrases.tables())
    # A line has a target word, a source word and a probability.
    lines = phrases.lexical(forward=False).decode().split("\n")
    return {word for line in lines if line for word in line.split(" ")[:1]} - {"NULL"}


def modelled(text: str) -> set[str]:
    """The words that a language model of the text has."""
    arpa = b"".join(estimate([text.encode() + b"\n"], 1, fallback=FALLBACK).arpa()).decode()
    return {line.split("\t")[1] for line in arpa.split("\n") if "\t" in line} - {"<unk>", "<s>", "</s>"}


@given(st.lists(st.sampled_from([*BLANKS, *IN_WORDS]), max_size=20))
def test_alignment_extraction_models_and_decoders_agree_on_words(tmp_path_factory: Any, chars: list[str]) -> None:
    text = "a" + "".join(chars) + " b"
    expected = words(text)
    assert not set("".join(expected)) & set(BLANKS)
    assert "".join(expected) == "".join(char for char in text if char not in BLANKS)
    ((aligned, _),) = read_text([text], ["x"])
    (sentence,) = as_sentences([text])
    assert aligned == sentence.tokens == tuple(expected)
    assert modelled(text) == set(expected)
    assert extracted(text, tmp_path_factory.mktemp("spill")) == set(expected)


@pytest.mark.parametrize("char", BLANKS.replace(" ", "") + IN_WORDS)
def test_the_same_words_on_the_command_line(smt: Smt, char: str) -> None:
    text, count = f"a{char}b c", 3 if char in BLANKS else 2
    Path("s").write_text(f"{text}\n", newline="")
    Path("t").write_text(f"{text}\n", newline="")
    Path("a").write_text(" ".join(f"{i}-{i}" for i in range(count)) + "\n")
    smt("extract", "--phrases", "-s", "s", "-t", "t", "-a", "a", "-o", "out", "-q").ok()
    smt("lm", "--order", 1, "t", "--discount-fallback", "-q", "-o", "lm").ok()
    assert f"ngram 1={count + 3}\n" in Path("lm").read_bytes().decode()
    Path("w").write_text("word-penalty -1\nlm 0.1\npass-through -100\n")
    Path("run.yaml").write_text(f"decoder: phrase\nmodel:\n  tables: out/phrase-table.gz\n{MODEL}")
    found = smt("decode", "-c", "run.yaml", "-i", "s", "--from", "text", "-q", "-k", 1, "--to", "jsonl").ok()
    (hypothesis,) = json.loads(found)["hypotheses"]
    assert hypothesis["text"] == " ".join(words(text))
    assert hypothesis["scores"]["word-penalty"] in (count, -count)
    assert hypothesis["scores"].get("pass-through", 0) == 0


@pytest.mark.parametrize(("decoder", "what"), [("phrase", "--phrases"), ("hiero", "--phrases"), ("hiero", "--rules")])
@pytest.mark.parametrize("toolkit", ["moses", "cdec", "joshua"])
def test_any_word_is_escaped_once_and_unescaped_once(smt: Smt, toolkit: str, decoder: str, what: str) -> None:
    Path("s").write_text(f"{HARD}\n")
    Path("t").write_text(f"{TARGET}\n")
    Path("a").write_text(" ".join(f"{i}-{i}" for i in range(len(words(HARD)))) + "\n")
    formats = {"moses": "moses-phrases", "cdec": "cdec-grammar", "joshua": "joshua-grammar"}
    to_format = toolkit if what == "--rules" else formats[toolkit]
    call = ("extract", what, "-s", "s", "-t", "t", "-a", "a", "-o", "out", "--to", to_format)
    assert "`--escape moses` makes" in smt(*call).err
    smt(*call, "-q", "--escape", "moses").ok()
    smt("lm", "--order", 2, "t", "--escape", "moses", "--discount-fallback", "-q", "-o", "lm").ok()
    assert "&lt;s&gt; &lt;/s&gt;" in Path("lm").read_text()
    (table,) = [path for path in Path("out").iterdir() if path.suffix == ".gz"]
    Path("run.yaml").write_text(f"decoder: {decoder}\nescape: moses\nmodel:\n  tables: {table}\n{MODEL}")
    Path("w").write_text("word-penalty -0.5\nlm 0.1\npass-through -100\n")
    assert smt("decode", "-c", "run.yaml", "-i", "s", "--from", "text", "-q").ok() == f"{TARGET}\n"
    plain = ("decode", "-c", "run.yaml", "--set", "escape=null", "-i", "s", "--from", "text", "-q")
    assert smt(*plain).ok() != f"{TARGET}\n"
    options = ("--escape", "moses", "-k", 1, "--to", "jsonl", "--forests", "forests")
    (hypothesis,) = json.loads(smt(*plain, *options).ok())["hypotheses"]
    assert hypothesis["text"] == TARGET
    assert hypothesis["scores"].get("pass-through", 0) == 0
    # Forests have the words of the model, as tables.
    forests = smt("mbr", "forests", "--samples", 1, "-w", "w", "--scale", 1000, "-q").ok()
    assert forests == escape(f"{TARGET}\n", "moses")
    assert smt("config", "show", "-c", "run.yaml").ok().count("escape: moses\n") == 1


def test_loops_learn_from_the_words_of_the_text(smt: Smt) -> None:
    for name, text in (("s", HARD), ("t", TARGET), ("a", " ".join(f"{i}-{i}" for i in range(len(words(HARD)))))):
        # Lines with such fields are not taken for plain text.
        Path(name).write_text(f"{text.replace(' ||| ', ' a|||b ')}\n" * 2)
    smt(
        "extract",
        "--phrases",
        "-s",
        "s",
        "-t",
        "t",
        "-a",
        "a",
        "-o",
        "out",
        "-q",
        "--escape",
        "moses",
        "--max-length",
        1,
    ).ok()
    smt("lm", "--order", 2, "t", "--escape", "moses", "--discount-fallback", "-q", "-o", "lm").ok()
    Path("w").write_text("word-penalty -0.5\nlm 1\npass-through -100\n")
    Path("run.yaml").write_text(f"decoder: phrase\nmodel:\n  tables: out/phrase-table.gz\n{MODEL}")
    call = ("tune", "-c", "run.yaml", "-s", "s", "-r", "t", "-m", "bleu,tokenize=none", "--iterations", 1, "-q")
    for whole in ((), ("--whole",)):
        result = smt(*call, "--escape", "moses", "--dir", f"run{len(whole)}", *whole)
        assert (result.code, "BLEU    100.00" in result.err) == (0, True), result.err


def test_sentences_in_tags_and_lattices_are_escaped(smt: Smt) -> None:
    Path("table").write_text("&#91; ||| &lt;s&gt; ||| 0.5\n&amp; ||| and ||| 0.5\n")
    Path("w").write_text("TM 1\npass-through -9\n")
    config = "decoder: {name: phrase, %s}\nescape: moses\nmodel:\n  tables: {path: table, name: TM}\n  weights: w\n"
    Path("run.yaml").write_text(config % "xml: exclusive, distortion_limit: 0" + "  features: [pass-through]\n")
    text = '[ <n translation="[y]||a|b" prob="0.9||0.1">x</n> &\n'
    assert smt("decode", "-c", "run.yaml", "-q", stdin=text).ok() == "<s> [y] and\n"
    Path("run.yaml").write_text(config % "input: lattice, distortion_limit: 0" + "  features: [pass-through]\n")
    call = ("decode", "-c", "run.yaml", "-q", "-k", 1, "--fields", "input", "--to", "jsonl")
    found = json.loads(smt(*call, stdin="((('[',0,1),),(('&',0,1),),)\n").ok())["hypotheses"][0]
    assert (found["text"], found["input"]) == ("<s> and", "[ &")


@pytest.mark.parametrize("command", ["extract", "lm", "decode", "tune"])
def test_unknown_schemes(smt: Smt, command: str) -> None:
    Path("run.yaml").write_text("decoder: phrase\n")
    Path("s").write_text("a\n")
    calls = {
        "extract": ("--phrases", "-s", "s", "-t", "s", "-a", "s", "-o", "out"),
        "lm": ("--order", 1, "s"),
        "decode": ("-c", "run.yaml"),
        "tune": ("-c", "run.yaml", "--dir", "run"),
    }
    result = smt(command, *calls[command], "--escape", "mose")
    assert (result.code, result.out) == (2, "")
    assert "unknown escaping 'mose'; did you mean 'moses'?" in result.err


def test_models_say_how_to_escape_their_own_words(smt: Smt) -> None:
    result = smt("lm", "--order", 1, stdin="a <s>\n")
    assert (result.code, "(`--escape moses` makes them &lt;s&gt; and so on), found '<s>'" in result.err) == (1, True)
    Path("words").write_text("[\n")
    call = ("lm", "--order", 1, "--discount-fallback", "-q", "--escape", "moses", "--vocabulary", "words")
    assert "\t&#91;" in smt(*call, stdin="a [\n").ok()


@given(st.text(alphabet="ab &|<>'\"[](){};#0194-lrsbampquot", max_size=30), st.sampled_from(sorted(SCHEMES)))
def test_bytes_are_escaped_as_text(text: str, scheme: str) -> None:
    assert escape_bytes(text.encode(), scheme) == escape(text, scheme).encode()


def test_extraction_of_other_files_is_as_it_was(smt: Smt) -> None:
    for name, text in (("s", "das haus\n"), ("t", "the house\n"), ("a", "0-0 1-1\n")):
        Path(name).write_text(text)
    call = ("extract", "--phrases", "-s", "s", "-t", "t", "-a", "a", "-q", "-o")
    smt(*call, "out").ok()
    smt(*call, "escaped", "--escape", "moses").ok()
    tables = [gzip.decompress(Path(folder, "phrase-table.gz").read_bytes()) for folder in ("out", "escaped")]
    assert tables[0] == tables[1]
