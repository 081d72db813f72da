"""Output of ``fairseq-generate`` and ``fairseq-interactive`` (read only).

    S-12    ein Mann        source
    T-12    a man           target, the reference
    H-12    -0.41   a man   hypothesis, after the mean log probability (base 2) of its tokens
    D-12    -0.41   A man   the same, detokenised
    P-12    -0.3 -0.5       the log probability of each token
    A-12    0-0 1-1         alignment

Fields are separated by tabs. The score of an H line is the feature ``score`` and the total. D, P, T and A lines are
kept as ``detokenised``, ``word_scores``, ``target`` and ``alignment``; with the option ``detokenised=true``, D is the
text and H is kept as ``tokenised``. The k-th D, P or A line of an id belongs to its k-th H line. All other lines (logs,
times) are skipped.

Ids may come in any order; lists are sorted by id. Lines are kept in a temporary file; memory holds one offset for each
run of lines with the same id, and the lines of one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smtformats.candidates import Candidates
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format
from smtformats.tokens import BadField, blanks, is_id, numbers

NAME = "fairseq-nbest"
_LINE = re.compile(r"([STHDPA])-(\d+)(?=\s|$)", re.ASCII)
_SHOWN = re.compile(rb"^(?:[STA]-\d+\t|[HD]-\d+\t-?[\d.e-]+\t|P-\d+\t-?\d)", re.MULTILINE)
_IN_MEMORY = 1 << 24
_LAYOUT = ("score",)
_BESIDE = {"P": "word_scores", "A": "alignment"}


def parse(lines: Lines, *, detokenised: bool = False) -> Iterator[Candidates]:
    """Parse one list at a time, sorted by id; ``detokenised`` takes the text from the D lines."""
    import tempfile

    runs: dict[int, list[tuple[int, int]]] = {}
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, "w+b") as waiting:
        last = -1
        for line in lines:
            match = _LINE.match(line)
            if match is None:
                continue
            if not is_id(match[2]):
                raise lines.error("an id of at most 18 digits", quote(match[2]), 1)
            key = int(match[2])
            if key != last:
                runs.setdefault(key, []).append((waiting.tell(), 0))
                last = key
            start, count = runs[key][-1]
            # Store the line number too: lines between these were skipped.
            waiting.write(f"{lines.number} {line}".encode() + (b"" if line[-1] == "\n" else b"\n"))
            runs[key][-1] = (start, count + 1)
        if not runs:
            raise lines.error("an n-best list", "no hypothesis in the file", 1, line=1)
        first = 0
        for key in sorted(runs):
            entries: list[tuple[int, str]] = []
            for start, count in runs[key]:
                waiting.seek(start)
                for _ in range(count):
                    number, _, text = waiting.readline().decode().partition(" ")
                    entries.append((int(number), text))
            nbest = _list(lines, str(key), entries, detokenised)
            nbest.first = first
            first += len(nbest)
            yield nbest


def _list(lines: Lines, key: str, entries: list[tuple[int, str]], detokenised: bool) -> Candidates:
    """Build the list of one id."""
    nbest = Candidates(key, totals=[], origin=NAME, file=lines.name, line=entries[0][0])
    columns: dict[str, list[tuple[str, int]]] = {kind: [] for kind in "STDPA"}
    for number, line in entries:
        kind, fields = line[0], line.rstrip("\r\n").split("\t", 2 if line[0] in "HD" else 1)
        try:
            _take(nbest, columns, kind, fields, number)
        except BadField as bad:
            raise lines.locate(bad, 2, number) from None
    if not nbest.texts:
        raise lines.error(f"a hypothesis, H-{key}", "none", 1, nbest.line)
    for kind in "DPA":
        column = columns[kind]
        if column and len(column) != len(nbest):
            expected = f"a line {kind}-{key} for each of {len(nbest)} H lines"
            raise lines.error(expected, str(len(column)), 1, column[-1][1])
    for kind, name in _BESIDE.items():
        if columns[kind]:
            nbest.extras[name] = [text for text, _ in columns[kind]]
    if columns["T"]:
        nbest.extras["target"] = [columns["T"][0][0]] * len(nbest)
    if columns["S"]:
        nbest.source = columns["S"][0][0]
    texts = [text for text, _ in columns["D"]]
    if detokenised and not texts:
        raise lines.error(f"D-{key}, the detokenised text", "none", 1, nbest.line)
    if detokenised:
        nbest.extras["tokenised"], nbest.texts = nbest.texts, texts
    elif texts:
        nbest.extras["detokenised"] = texts
    return nbest


def _take(
    nbest: Candidates, columns: dict[str, list[tuple[str, int]]], kind: str, fields: list[str], number: int
) -> None:
    """Add a line to the list or to the column of its kind."""
    wanted = 3 if kind in "HD" else 2
    if len(fields) != wanted:
        raise BadField(f"{wanted} fields with tabs between them", str(len(fields)), len(fields) + 1)
    if kind in "HD":
        score = numbers([fields[1].strip(" ")])
    elif kind == "P":
        numbers(blanks(fields[1]))
    if kind == "H":
        assert nbest.totals is not None
        nbest.texts.append(fields[2].strip(" "))
        nbest.layouts.append(_LAYOUT)
        nbest.values.append(score)
        nbest.totals.append(score[0])
        return
    if kind in "ST" and columns[kind] and columns[kind][0][0] != fields[1]:
        raise BadField(f"one text as {kind}-{nbest.id}", f"another: {quote(fields[1])}", 2)
    columns[kind].append((fields[-1].strip(" "), number))


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="fairseq-generate's S-, T-, H-, D- and P- lines, in any order",
    matches=lambda head: _SHOWN.search(head) is not None,
    parse=parse,
    ordered=True,
    example="S-1\tein haus\nT-1\ta house\nH-1\t-0.5\ta house\nP-1\t-0.25 -0.75\n",
)
