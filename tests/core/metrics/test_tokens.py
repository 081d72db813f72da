"""The native tokenizer 13a against sacrebleu's."""

from __future__ import annotations

import gzip
import itertools
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from smtplugins.core.metrics.statistics import tokenize_13a

# Without the caches.
_POST = Tokenizer13a()._post_tokenizer
_POST_CALL = type(_POST).__call__.__wrapped__  # type: ignore[attr-defined]
_CALL = Tokenizer13a.__call__.__wrapped__  # type: ignore[attr-defined]

PIECES = [
    *(chr(code) for code in range(33, 127) if not chr(code).isalnum()),
    *("a", "B", "0", "7", "42", "3.5", "1,000", "-\n", "\n", "\r", "\t", " ", "  ", "\x00", "\x1c", "\x1f", "\x7f"),
    *("<skipped>", "<skip", "ped>", "&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&amp;quot;", "&apos;", "&am", "p;"),
    *("é", "ß", "\x85", "\xa0", "\xad", "«", "…", "„", "–", "\u2003", "\u2028", "\u200b", "\u3000", "。", "，", "猫"),
    *("٣", "１", "²", "Ⅷ", "\ufeff", "🙂", "👍🏽", "\ud800", "\udfff", "\U0010ffff"),
]


class _Uncached:
    @staticmethod
    def _post_tokenizer(line: str) -> str:
        tokens: str = _POST_CALL(_POST, line)
        return tokens


def same(texts: Iterable[str]) -> int:
    count = 0
    for text in texts:
        count += 1
        assert tokenize_13a(text) == _CALL(_Uncached, text), repr(text)
    return count


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
@example("")
@example("-<skipped>\nx")
@example("<skip<skipped>ped>")
@example("&amp;amp;quot;")
@example("a&amp;#38;")
def test_odd_texts(text: str) -> None:
    same([text, f"{text} {text}", text[:7]])


@given(st.text())
def test_any_text(text: str) -> None:
    same([text])


def test_every_short_text_of_the_characters_that_rules_name() -> None:
    for length in range(6):
        same(map("".join, itertools.product("a1.-! ", repeat=length)))
    same(map("".join, itertools.product(["1", ",", ".", "-", "x", " ", "\n", "<skipped>"], repeat=4)))


def test_every_character_between_words_digits_and_points() -> None:
    codes = [*range(0x3100), *range(0x3100, sys.maxunicode + 1, 677)]
    same(f"a{chr(code)}b 1{chr(code)}2 .{chr(code)}, {chr(code)}-" for code in codes)


@pytest.mark.shared
def test_lines_of_real_files(shared: Path) -> None:
    files = [path for path in sorted((shared / "data").rglob("*")) if path.is_file()]
    count = 0
    for path in files:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            lines = stream.read().decode("utf-8", "replace").splitlines()
        count += same(lines[:: max(len(lines) // 500, 1)])
    assert count > 5000


def test_texts_are_strings() -> None:
    with pytest.raises(TypeError):
        tokenize_13a(b"a")  # type: ignore[arg-type]
