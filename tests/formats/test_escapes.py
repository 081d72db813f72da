"""Toolkits' escapes, made and undone, and look-alikes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.escapes import SCHEMES, escape, oddities, spellings, unescape

TEXTS = st.text(alphabet="ab &|<>'\"[](){};#0194-lrsbampquot", max_size=30)


@given(TEXTS)
def test_moses_comes_back_whatever_the_text(text: str) -> None:
    assert unescape(escape(text, "moses"), "moses") == text
    assert not set(escape(text, "moses")) & set("|<>'\"[]")


@given(TEXTS, st.sampled_from(sorted(SCHEMES)))
def test_all_come_back_if_the_spellings_do_not_occur(text: str, scheme: str) -> None:
    if not any(spelling in text for spelling in SCHEMES[scheme].characters):
        once = escape(text, scheme)
        assert unescape(once, scheme) == text
        assert not set(once) & set(SCHEMES[scheme].spellings) - {"&"}


@pytest.mark.parametrize(
    ("scheme", "plain", "escaped"),
    [
        ("moses", 'a|b [X] <s> "it\'s" &amp;', "a&#124;b &#91;X&#93; &lt;s&gt; &quot;it&apos;s&quot; &amp;amp;"),
        ("joshua", "[x] | (y)", "-lsb-x-rsb- -pipe- (y)"),
        ("ptb", "(a) [b] {c} |", "-LRB-a-RRB- -LSB-b-RSB- -LCB-c-RCB- |"),
    ],
)
def test_spellings(scheme: str, plain: str, escaped: str) -> None:
    assert escape(plain, scheme) == escaped
    assert unescape(escaped, scheme) == plain


def test_old_spellings_of_moses_are_undone_and_nothing_twice() -> None:
    assert unescape("&bar;&bra;&ket; &amp;lt; &amp;#124; &unknown;", "moses") == "|[] &lt; &#124; &unknown;"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("das haus [ x ] a[X] [X]b", []),
        ("", ["no words"]),
        ("a\u00a0b\u2028c", ["a no-break space", "a line separator (U+2028)"]),
        ("a\tb\r", ["a tab", "a carriage return"]),
        ("a ||| b", ["the field separator |||"]),
        ("a [X,1] b", ["[X,1], a non-terminal to a grammar"]),
        ("[NP]", ["[NP], a non-terminal to a grammar"]),
        (" a", ["blanks at its ends or two in a row"]),
        ("a  b", ["blanks at its ends or two in a row"]),
    ],
)
def test_oddities(text: str, expected: list[str]) -> None:
    assert list(oddities(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain - text & more", []),
        ("&apos;s -lsb-", ["&apos; (moses)", "-lsb- (joshua)"]),
        ("-LRB- x -RRB-", ["-LRB- (ptb)"]),
    ],
)
def test_spellings_are_told(text: str, expected: list[str]) -> None:
    assert list(spellings(text)) == expected
