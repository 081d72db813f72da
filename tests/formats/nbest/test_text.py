"""The texts of lists alone."""

from __future__ import annotations

import io

from smtformats import Candidates
from smtformats.format import shortest
from smtformats.nbest.text import FORMAT, write


def test_each_text_on_a_line() -> None:
    lists = [
        Candidates("0", ["a b", "", "c\u2028d\u00a0e\tf"], [()] * 3, [[]] * 3, totals=[1, 2, 3]),
        Candidates("1", [], [], []),
        Candidates("9", ["z"], [()], [[]]),
    ]
    out = io.StringIO()
    assert write(iter(lists), out, shortest) == 3
    assert out.getvalue() == "a b\n\nc\u2028d\u00a0e\tf\nz\n"


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind, FORMAT.parse) == ("text-nbest", "nbest", None)
