"""Tokenizers by name: Moses' by the package sacremoses, and those by which sacrebleu compares texts.

Tokens are not escaped, as by `tokenizer.perl -no-escape`: `--escape moses` of other commands does it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.host.arguments import argument

TOKENIZERS = ("none", "moses", "13a", "intl")
_CODE = re.compile("[a-z]{2,3}", re.ASCII)
_PACKAGES = {"moses": "sacremoses", "13a": "sacrebleu", "intl": "sacrebleu"}


def check_tokenizer(name: str) -> None:
    """Refuse the name of an unknown tokenizer."""
    if name not in TOKENIZERS:
        raise UsageError(f"{argument('tokenize')}: unknown tokenizer {name!r}{suggestion(name, TOKENIZERS)}")


def check_language(code: str, what: str) -> None:
    """Refuse what is no code of a language: sacremoses takes any text, and `english` for another than `en`."""
    if not _CODE.fullmatch(code):
        raise UsageError(f"{what}: expected the code of a language, such as de, found {code!r}")


def make_tokenizer(name: str, language: str | None) -> Callable[[str], str] | None:
    """A function that puts blanks between the tokens of a sentence; None for ``none``."""
    tokenizer: Any
    if name == "moses":
        tokenizer = _sacremoses(f"{argument('tokenize')} moses").MosesTokenizer(lang=language)
        return lambda text: str(tokenizer.tokenize(text, return_str=True, escape=False))
    if name == "13a":
        from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

        tokenizer = Tokenizer13a()  # type: ignore[no-untyped-call]
    elif name == "intl":
        from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International

        tokenizer = TokenizerV14International()  # type: ignore[no-untyped-call]
    else:
        return None
    return lambda text: str(tokenizer(text))


def knows_abbreviations(language: str) -> bool:
    """Whether Moses' tokenizer knows the abbreviations of a language; it takes those of English for any other."""
    known: Any = _sacremoses(f"{argument('tokenize')} moses").corpus.NonbreakingPrefixes().available_langs
    return language in known


def make_detokenizer(language: str, what: str, *, escaped: bool = True) -> Callable[[Sequence[str]], str]:
    """A function that joins tokens as Moses' detokenizer does; with ``escaped`` it undoes Moses' escapes, too.

    ``what`` needs it, says the error if there is no sacremoses.
    """
    check_language(language, what)
    detokenizer: Any = _sacremoses(what).MosesDetokenizer(lang=language)
    options = {} if escaped else {"unescape": False}
    return lambda tokens: str(detokenizer.detokenize(list(tokens), **options))


def tokenizer_version(name: str) -> dict[str, str]:
    """The package of a tokenizer and its version."""
    from importlib.metadata import version

    return {package: version(package)} if (package := _PACKAGES.get(name)) else {}


def _sacremoses(what: str) -> Any:
    try:
        import sacremoses
    except ImportError:
        raise UsageError(f"{what} needs the package sacremoses: pip install 'smtplugins[tokenize]'") from None
    return sacremoses
