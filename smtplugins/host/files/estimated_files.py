"""Describe files that are no formats of records: language models, lexical tables, Parquet files."""

from __future__ import annotations

import os
from typing import Any

from smtformats import FormatError
from smtformats.files import head, open_bytes, open_lines, shown_name
from smtformats.tokens import BadField, blanks, numbers
from smtplugins.contracts.errors import UsageError

LANGUAGE_MODELS = ("arpa", "kenlm")
LEXICAL = "lexical-table"
PARQUET = "parquet"
NAMES = (*LANGUAGE_MODELS, LEXICAL, PARQUET)
"""Names that ``smt info --from`` takes beside those of formats."""
_SHOWN = {
    "arpa": "an n-gram language model as text",
    "kenlm": "an n-gram language model as KenLM maps it",
    LEXICAL: "Moses' lexical translation table: a word, the word it is given, the probability",
    PARQUET: "a table of columns (`--from parquet-nbest` describes its lists)",
}
_PARQUET_MAGIC = b"PAR1"
_KENLM_MAGIC = b"mmap lm http://kheafield.com/code"
_NULL = "NULL"
_TRIED = 50


def described_only(start: bytes) -> str | None:
    """What the first bytes of a file begin, if that is no format of records but one that ``smt info`` describes."""
    if start.startswith(_KENLM_MAGIC) or start.lstrip().partition(b"\n")[0].strip() == b"\\data\\":
        return "a language model (`smt info` describes it)"
    return None


def known_as(path: str | os.PathLike[str]) -> str | None:
    """Tell by the first bytes of a regular file which of ``NAMES`` it is."""
    from smtplugins.core.lm.ngram_model import lm_format

    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        if file.read(len(_PARQUET_MAGIC)) == _PARQUET_MAGIC:
            return PARQUET
    return lm_format(path) or (LEXICAL if _is_lexical(path) else None)


def estimated_facts(path: str | os.PathLike[str], name: str | None) -> dict[str, Any] | None:
    """The facts about a file that has one of the names, as it must if ``name`` is one; ``None`` for another file."""
    known = known_as(path)
    if name is not None and known != name:
        found = f"data of the format {known}" if known else "other data"
        raise FormatError(f"{_SHOWN[name]} ({name})", found, file=shown_name(path), line=1)
    if known is None:
        return None
    if known == PARQUET:
        return _parquet(path)
    facts = _lexical(path) if known == LEXICAL else _language_model(path, known)
    return {name: value for name, value in facts.items() if value is not None}


def _language_model(path: str | os.PathLike[str], name: str) -> dict[str, Any]:
    from smtplugins.core.lm.ngram_model import read_lm

    model = read_lm(path)
    return {
        "format": name,
        "kind": "language model",
        "is": _SHOWN[name],
        "type": model.kind if name == "kenlm" else None,
        "order": model.order,
        "words": model.vocabulary_size,
        "n-grams": ", ".join(f"{count} {n}-grams" for n, count in enumerate(model.counts, 1)),
        "without": None if model.has_words else "the words: they are known by their hashes",
    }


def _parquet(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The facts that the end of a Parquet file has; no column is read."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise UsageError(
            f"{shown_name(path)}: a Parquet file is described by the package pyarrow, which is not installed: "
            "pip install 'smtplugins[parquet]'"
        ) from None
    try:
        file = parquet.ParquetFile(path)
    except (ArrowException, OSError) as error:
        found = " ".join(str(error).split())[:200]
        raise FormatError("a whole Parquet file", found, file=shown_name(path), line=1) from None
    with file:
        columns = [f"{field.name} ({field.type})" for field in file.schema_arrow]
        return {
            "format": PARQUET,
            "kind": "table",
            "is": _SHOWN[PARQUET],
            "rows": file.metadata.num_rows,
            "columns": f"{len(columns)}: {', '.join(columns)}",
        }


def _is_lexical(path: str | os.PathLike[str]) -> bool:
    """Whether the first lines of a file are two words and a probability with a decimal point or exponent."""
    try:
        with open_bytes(path) as stream:
            lines = head(stream).decode("utf-8", "replace").split("\n")
    except (OSError, EOFError, FormatError):
        return False
    complete = lines[: min(len(lines) - 1, _TRIED)]
    return bool(complete) and all(_row(line) is not None for line in complete)


def _row(line: str) -> tuple[str, str, float] | None:
    """A line of a lexical table; ``None`` if it is none."""
    fields = blanks(line)
    if len(fields) != 3 or (not any(mark in fields[2] for mark in ".eE") and fields[2] not in ("0", "1")):
        return None
    try:
        (value,) = numbers(fields[2:], what="a probability")
    except BadField:
        return None
    return (fields[0], fields[1], value) if 0 <= value <= 1 else None


def _lexical(path: str | os.PathLike[str]) -> dict[str, Any]:
    words: set[str] = set()
    sums: dict[str, float] = {}
    pairs = nulls = 0
    with open_lines(path) as lines:
        for line in lines:
            row = _row(line.rstrip("\r\n"))
            if row is None:
                raise lines.error(
                    "a word, the word it is given, and a probability from 0 to 1", repr(line.rstrip("\n"))
                )
            word, given, value = row
            words.add(word)
            sums[given] = sums.get(given, 0.0) + value
            nulls += _NULL in (word, given)
            pairs += 1
    return {
        "format": LEXICAL,
        "kind": "lexical table",
        "is": _SHOWN[LEXICAL],
        "pairs": pairs,
        "words": len(words),
        "given words": len(sums),
        "pairs with NULL": nulls,
        "sums": f"{min(sums.values()):.4g} to {max(sums.values()):.4g} for a given word",
    }
