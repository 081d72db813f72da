"""Tokenizers, against sacremoses and sacrebleu themselves."""

from __future__ import annotations

import sys

import pytest
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International

from smtplugins.contracts.errors import UsageError
from smtplugins.host.text.tokenizers import (
    check_tokenizer,
    knows_abbreviations,
    make_detokenizer,
    make_tokenizer,
    tokenizer_version,
)

TEXT = "Dr. Müller's »Haus« kostet 1.000,5 €, z. B. [X] & a|b... \"Ja!\" -- http://a.b/c?d=1 <s> don't"


@pytest.mark.parametrize("name", ["13a", "intl"])
def test_those_of_sacrebleu(name: str) -> None:
    wanted = {"13a": Tokenizer13a, "intl": TokenizerV14International}[name]()  # type: ignore[no-untyped-call]
    tokenizer = make_tokenizer(name, None)
    assert tokenizer is not None and tokenizer(TEXT) == wanted(TEXT)
    assert [*tokenizer_version(name)] == ["sacrebleu"]


@pytest.mark.parametrize("language", ["de", "en", "fr", "xx"])
def test_that_of_moses_without_escapes(language: str) -> None:
    sacremoses = pytest.importorskip("sacremoses")
    tokenizer = make_tokenizer("moses", language)
    assert tokenizer is not None
    assert tokenizer(TEXT).split() == sacremoses.MosesTokenizer(lang=language).tokenize(TEXT, escape=False)
    assert knows_abbreviations(language) == (language != "xx")


def test_none_and_unknown_ones() -> None:
    assert make_tokenizer("none", None) is None
    assert tokenizer_version("none") == {}
    with pytest.raises(UsageError, match="tokenize: unknown tokenizer 'mose'; did you mean 'moses'"):
        check_tokenizer("mose")


def test_detokenizing_undoes_escapes_or_keeps_them() -> None:
    pytest.importorskip("sacremoses")
    tokens = ["a", "&amp;", "b", "."]
    assert make_detokenizer("en", "x")(tokens) == "a & b."
    assert make_detokenizer("en", "x", escaped=False)(tokens) == "a &amp; b."


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(UsageError, match=r"tokenize moses needs the package sacremoses: .*'smtplugins\[tokenize\]'"):
        make_tokenizer("moses", "de")
