"""Progress on a terminal and nowhere else."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from smtplugins.host.progress import hushed, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("quiet", [True, False])
def test_items_pass_through_and_a_terminal_sees_a_bar(monkeypatch: pytest.MonkeyPatch, quiet: bool) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    assert list(progress(iter(range(5)), "lists", total=5, quiet=quiet)) == [0, 1, 2, 3, 4]
    assert ("lists" in screen.getvalue()) == (not quiet)


def test_work_that_others_show_can_be_hushed(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with hushed():
        assert list(progress([1, 2], "epoch")) == [1, 2]
        with hushed(False):
            assert list(progress([1, 2], "epoch")) == [1, 2]
    assert screen.getvalue() == ""
    with hushed(False):
        assert list(progress([1, 2], "epoch")) == [1, 2]
    assert "epoch" in screen.getvalue()


def test_what_is_no_terminal_sees_nothing_and_rich_is_not_loaded() -> None:
    code = (
        "import sys\nfrom smtplugins.host.progress import progress\n"
        "assert list(progress([1, 2], 'lists')) == [1, 2]\nassert 'rich' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_items_are_drawn_one_by_one() -> None:
    drawn: list[int] = []
    stream = progress((drawn.append(i) or i for i in range(5)), "lists")  # type: ignore[func-returns-value]
    assert (next(stream), drawn) == (0, [0])


def test_a_total_is_counted_only_for_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []

    def total() -> int:
        counted.append(2)
        return 2

    assert list(progress(iter([1, 2]), "lists", total=total)) == [1, 2]
    assert counted == []
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    assert list(progress(iter([1, 2]), "lists", total=total)) == [1, 2]
    assert counted == [2]
    assert "/2" in screen.getvalue()


def test_a_bar_inside_another_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    for _ in progress([1], "outer"):
        assert list(progress([1, 2], "inner")) == [1, 2]
    with pytest.raises(ZeroDivisionError):
        list(progress((1 // i for i in (1, 0)), "outer"))
    assert "inner" not in screen.getvalue()
    assert list(progress([1, 2], "inner")) == [1, 2]
    assert "inner" in screen.getvalue()


def test_the_total_of_a_sequence_is_known_and_the_time_left_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for items, known in ([1, 2], True), (iter([1, 2]), False):
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        assert list(progress(items, "lists")) == [1, 2]
        assert ("/2" in screen.getvalue(), "left" in screen.getvalue()) == (known, known)
