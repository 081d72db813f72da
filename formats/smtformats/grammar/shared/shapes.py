"""How grammars are told apart by their first lines: the files of five formats differ in little but their habits."""

from __future__ import annotations

import re

from smtformats.format import first_lines
from smtformats.grammar.shared.lines import BAR
from smtformats.reordering.moses import matches as is_reordering
from smtformats.tokens import blanks, is_id, is_number

_LHS = re.compile(r"\[[^ \t]+\]")
_BARE_GAP = re.compile(r"\[[1-9][0-9]?\]")
_DENSE = re.compile(r"tm_\S+_[0-9]+=")
_LABEL = re.compile(r"\[[^\[\]]+\]")
_POINT = re.compile(r"[0-9]+-[0-9]+", re.ASCII)


def _rows(head: bytes) -> list[list[str]]:
    return [BAR.split(line.rstrip("\r")) for line in first_lines(head)]


def joshuas_lead(head: bytes) -> int:
    """How many more lines of a grammar show Joshua's habits than cdec's.

    Joshua's are features without a name, or named as its dense ones are, and Thrax's count behind the alignment; cdec's
    are gaps of the target side without a label, blanks in front, ``;`` between features, and trees.
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
    """Whether the first line has a left-hand side in brackets and two sides behind it."""
    rows = _rows(head)
    return bool(rows) and len(rows[0]) >= 3 and _LHS.fullmatch(rows[0][0].strip(" \t")) is not None


def is_rule_table(head: bytes) -> bool:
    """Whether the first line and most of all end both sides in a label and have scores behind them."""
    return _most([_is_moses_rule(fields) for fields in _tables(head)])


def _tables(head: bytes) -> list[list[list[str]]]:
    """The tokens of the fields of lines, cut at bare bars as Moses does."""
    return [[blanks(field) for field in line.split("|||")] for line in first_lines(head)]


def _most(fits: list[bool]) -> bool:
    return fits[:1] == [True] and 2 * sum(fits) > len(fits)


def _scores(tokens: list[str]) -> list[float]:
    """The numbers of a field that holds nothing else."""
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
    """Two sides of words, the second not of features, and numbers behind them."""
    if len(fields) < 3 or not fields[0] or not _scores(fields[2]):
        return False
    if fields[1] and all("=" in token and is_number(token.rpartition("=")[2]) for token in fields[1]):
        return False
    return not any(_LABEL.fullmatch(token) for token in (*fields[0], *fields[1]))


def is_phrase_table(head: bytes) -> bool:
    """Whether the first line and most of all are pairs with probabilities.

    Points or a bar behind the numbers are sign enough. Without them several numbers are needed, not those of a
    reordering table, or one that is above 0 on some line and below on none; and sources that are not all sentence ids.
    """
    rows = _tables(head)
    if not _most([_is_pair(fields) and _are_probabilities(fields[2]) and _has_points(fields[3:4]) for fields in rows]):
        return False
    return any(len(fields) > 3 for fields in rows) or not (_is_list(rows) or is_reordering(head) or _is_homework(rows))


def _has_points(fields: list[list[str]]) -> bool:
    return all(_POINT.fullmatch(token) for tokens in fields for token in tokens)


def _is_list(rows: list[list[list[str]]]) -> bool:
    return all(len(fields[0]) == 1 and is_id(fields[0][0]) for fields in rows if fields)


def _is_homework(rows: list[list[list[str]]]) -> bool:
    """Whether lines have one number each, and these are logarithms."""
    fits = [len(fields) == 3 and len(fields[2]) == 1 and _is_pair(fields) for fields in rows]
    values = [float(fields[2][0]) for fields, good in zip(rows, fits, strict=True) if good]
    return _most(fits) and (min(values) < 0 or max(values) == 0)


def is_homework(head: bytes) -> bool:
    """Whether the first line and most of all are pairs with one number, below 0 somewhere, and not ids and a text."""
    rows = _tables(head)
    return _is_homework(rows) and not _is_list(rows)
