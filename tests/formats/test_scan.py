"""The native scanner: bad lines, and use after its columns were taken."""

from __future__ import annotations

import pytest

from smtformats import _scan


def test_a_bad_line_is_set_aside() -> None:
    scanner = _scan.CdecScanner(1000, 10, 10)
    assert scanner.feed(b"[X] ||| a ||| b\nx\n")
    assert not scanner.finish()
    assert (scanner.lines, scanner.fault, scanner.levels, scanner.is_bad_refinement) == (2, b"x\n", 1, False)
    for again in (scanner.finish, lambda: scanner.feed(b"")):
        with pytest.raises(RuntimeError, match="the scanner stands at a bad line"):
            again()
    assert scanner.resume()
    with pytest.raises(RuntimeError, match="the scanner stands at no bad line"):
        scanner.resume()


def test_a_spent_scanner_is_closed() -> None:
    scanner = _scan.MosesScanner(1000, 10, 10, False, "T_")
    assert not scanner.feed(b"a ||| b ||| 1\n" + b"c ||| d ||| 0.5\n" * 9)
    assert scanner.fault == b"a ||| b ||| 1\n"
    scanner.expect(["T"])
    scanner.add("X", [("a", 0)], [("b", 0)], [("T", 0.0)], [])
    assert scanner.resume()
    assert scanner.finish()
    columns = scanner.columns()
    assert len(columns["level"]) == 10
    assert columns["words"][0] == b"abcd"
    for again in (scanner.finish, lambda: scanner.feed(b"")):
        with pytest.raises(RuntimeError, match="the scanner is closed"):
            again()
    with pytest.raises(RuntimeError, match="the columns were taken already"):
        scanner.columns()


def test_a_rule_of_words_that_are_none_is_refused() -> None:
    scanner = _scan.MosesScanner(1000, 10, 10, True, "T_")
    with pytest.raises(ValueError, match="no word of Moses: \\[X\\]"):
        scanner.add("X", [("[X]", 0)], [], [], [])
