"""Words of lines and lines of words, for each setting of a side."""

from __future__ import annotations

from typing import Any

import pytest

from smtplugins.contracts.errors import UsageError
from smtplugins.host.text.casing import Truecaser
from smtplugins.host.text.sides import SideSettings, TextSide, language_of


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, "Das Haus ist GROß."),
        ({"tokenize": "13a"}, "Das Haus ist GROß ."),
        ({"tokenize": "intl", "case": "lower"}, "das haus ist groß ."),
        ({"tokenize": "13a", "case": "true"}, "das Haus ist groß ."),
    ],
)
def test_words(settings: dict[str, str], wanted: str) -> None:
    truecaser = Truecaser({"das": ["das"], "groß": ["groß"]}) if settings.get("case") == "true" else None
    side = TextSide(SideSettings(**settings), truecaser)
    assert side.words("Das  Haus\0ist\u2028GROß.") == wanted.split()
    assert side.words(" \x01") == []


def test_translations_as_people_write_them() -> None:
    pytest.importorskip("sacremoses")
    side = TextSide(SideSettings("moses", "true", "en"))
    assert side.text("\" it 's [ X ] , isn 't it ? yes .", detokenize=True) == "\"It's [X], isn't it? Yes."
    assert side.text("a man .", detokenize=False) == "A man ."
    assert TextSide(SideSettings("moses", "lower", "en")).text("a man .", detokenize=True) == "a man."
    assert side.text("", detokenize=True) == ""


@pytest.mark.parametrize(
    ("file", "language"),
    [("train.de.gz", "de"), ("a/b.x.en", "en"), ("train.txt", None), ("train", None), ("-", None), ("a.gz", None)],
)
def test_the_language_of_a_file(file: str, language: str | None) -> None:
    assert language_of(file) == language


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"tokenize": "x"}, "unknown tokenizer 'x'"),
        ({"case": "upper"}, "case: unknown case 'upper'; "),
        ({"language": "english"}, "languages: expected the code of a language, such as de, found 'english'"),
        ({"language": "EN"}, "languages: expected the code of a language, such as de, found 'EN'"),
        ({"tokenize": "moses"}, r"tokenize moses needs the languages of the text \(languages\)"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], error: str) -> None:
    with pytest.raises(UsageError, match=error):
        SideSettings(**settings)


def test_detokenizing_needs_a_language() -> None:
    with pytest.raises(UsageError, match="detokenizing needs the language of the target side"):
        TextSide(SideSettings("13a")).text("a", detokenize=True)
