"""Recognise grammar formats by their first lines: five formats with similar syntax."""

from __future__ import annotations

import re

from smtformats.format import first_lines
from smtformats.grammar.shared.lines import BAR
from smtformats.tokens import blanks, is_id, is_number

_LHS = re.compile(r"\[[^ \t]+\]")
_BARE_GAP = re.compile(r"\[[1-9][0-9]?\]")
_DENSE = re.compile(r"tm_\S+_[0-9]+=")
_LABEL = re.compile(r"\[[^\[\]]+\]")
_POINT = re.compile(r"[0-9]+-[0-9]+", re.ASCII)

VECTORS = r".*\[\d+\]|tm_.+_\d+|[^_]+"
"""The scores of a Moses table: ``NAME[0]``, ``tm_OWNER_0`` or, of a table with one, ``NAME``; others are sparse."""
GIVENS = r"(?i:.*[ef]_?given_?[ef].*|PhraseModel_\d+|tm_.+_\d+)"
"""The probabilities of cdec's extractors and Joshua's Thrax (EgivenF, e_given_f_lex), and values without a name."""


def _rows(head: bytes) -> list[list[str]]:
    return [BAR.split(line.rstrip("\r")) for line in first_lines(head)]


def joshuas_lead(head: bytes) -> int:
    """Return how many more lines look like Joshua's than like cdec's.

    Signs of Joshua are unnamed features, or the names of its dense ones, and Thrax's count after the alignment. Signs
    of cdec are target-side gaps without labels, leading blanks, ``;`` between features, and trees.
    """
    lead = 0
    for fields in _rows(head):
        tokens = [blanks(field) for field in fields[2:6]]
        tokens += [[]] * (4 - len(tokens))
        target, items, _, last = tokens
        joshua = any(is_number(item) or _DENSE.match(item) for item in items) or any(map(is_number, last))
        bare = any(map(_BARE_GAP.fullmatch, target))
        tree = any(token[0] == "(" for token in last[:1])
        cdec = bare or tree or fields[0][:1] in (" ", "\t") or any(";" in item for item in items)
        lead += joshua - cdec
    return lead


def is_grammar(head: bytes) -> bool:
    """Whether the first line has a left-hand side in brackets and two sides."""
    rows = _rows(head)
    return bool(rows) and len(rows[0]) >= 3 and _LHS.fullmatch(rows[0][0].strip(" \t")) is not None


def is_rule_table(head: bytes) -> bool:
    """Whether the first line and most lines have a label at the end of both sides, then scores."""
    return _most([_is_moses_rule(fields) for fields in _tables(head)])


def _tables(head: bytes) -> list[list[list[str]]]:
    """Return the tokens of the fields of lines, split at ``|||`` with or without blanks, as in Moses."""
    return [[blanks(field) for field in line.split("|||")] for line in first_lines(head)]


def _most(fits: list[bool]) -> bool:
    return fits[:1] == [True] and 2 * sum(fits) > len(fits)


def _scores(tokens: list[str]) -> list[float]:
    """Return the numbers of a field, or nothing if it has other tokens."""
    return [float(token) for token in tokens] if all(map(is_number, tokens)) else []


def _is_moses_rule(fields: list[list[str]]) -> bool:
    if len(fields) < 3 or len(fields[0]) < 2 or not fields[1]:
        return False
    labelled = all(_LABEL.fullmatch(side[-1]) for side in fields[:2])
    return labelled and _are_probabilities(fields[2])


def _are_probabilities(tokens: list[str]) -> bool:
    scores = _scores(tokens)
    return bool(scores) and min(scores) >= 0


def _is_pair(fields: list[list[str]]) -> bool:
    """Whether the fields are source words, target words (not ``name=value``), then numbers."""
    if len(fields) < 3 or not fields[0] or not _scores(fields[2]):
        return False
    if fields[1] and all("=" in token and is_number(token.rpartition("=")[2]) for token in fields[1]):
        return False
    return not any(_LABEL.fullmatch(token) for token in (*fields[0], *fields[1]))


def is_phrase_table(head: bytes) -> bool:
    """Whether the first line and most lines are phrase pairs with probabilities.

    A fourth field on some line is enough. Without it, the lines must not look like n-best lists (source sides that are
    all sentence ids), reordering tables, or tables of logarithms (one number, negative somewhere or 0 everywhere).
    """
    rows = _tables(head)
    if not _most([_is_pair(fields) and _are_probabilities(fields[2]) and _has_points(fields[3:4]) for fields in rows]):
        return False
    if any(len(fields) > 3 for fields in rows):
        return True
    from smtformats.reordering.moses import matches as is_reordering

    return not (_is_list(rows) or is_reordering(head) or _is_homework(rows))


def _has_points(fields: list[list[str]]) -> bool:
    return all(_POINT.fullmatch(token) for tokens in fields for token in tokens)


def _is_list(rows: list[list[list[str]]]) -> bool:
    return all(len(fields[0]) == 1 and is_id(fields[0][0]) for fields in rows if fields)


def _is_homework(rows: list[list[list[str]]]) -> bool:
    """Whether lines have one number each, and the numbers are logarithms."""
    fits = [len(fields) == 3 and len(fields[2]) == 1 and _is_pair(fields) for fields in rows]
    values = [float(fields[2][0]) for fields, good in zip(rows, fits, strict=True) if good]
    return _most(fits) and (min(values) < 0 or max(values) == 0)


def is_homework(head: bytes) -> bool:
    """Whether the first line and most lines are pairs with one logarithm, and source sides are not all sentence ids."""
    rows = _tables(head)
    return _is_homework(rows) and not _is_list(rows)
