"""The page in a headless Chromium: clicked through, by keyboard too, in the dark, on paper, on a phone."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smtplugins.host.reporting import Report
from smtplugins.plugins.standard.report import page

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chromium import CHROMIUM, Browser, every, shown
from report_samples import HOSTILE, hostile, small

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
NAME = "(one) => one.id || one.tagName + ' ' + (one.getAttribute('aria-label') ?? one.textContent)"
FOCUS = "document.activeElement.getAttribute('aria-label')"


READY = "document.querySelector('#parts') && document.querySelector('#wins .count').textContent"


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Callable[[Report], Browser]]:
    """Opens a report; at the end of the test nothing was complained of, nothing asked of the network."""

    def opened(report: Report) -> Browser:
        return shown(browser, tmp_path / "page.html", page(report), READY)

    browser.complaints.clear()
    yield opened
    assert browser.complaints == []


def parts(browser: Browser) -> list[list[str]]:
    """The cells of the table that takes a hypothesis apart."""
    return every(browser, "#parts tbody tr, #parts tfoot tr", "[...one.children].map((cell) => cell.textContent)")


def pick(browser: Browser, name: str, value: str) -> None:
    """Choose in a menu."""
    menu = f"document.getElementById({name!r})"
    browser.evaluate(f"{menu}.value = {value!r}; {menu}.dispatchEvent(new Event('change'))")


def number(text: str) -> float:
    return float(text.replace("\u2212", "-"))


def test_hostile_data_stays_text(show: Callable[[Report], Browser]) -> None:
    browser = show(hostile())
    assert every(browser, ".candidates tbody tr", "one.lastChild.querySelector('bdi').textContent")[0] == HOSTILE[0]
    for i in range(len(HOSTILE)):
        browser.click(f".candidates tbody tr:nth-child({i + 1}) button")
        shown = every(browser, "#apart dd")
        assert any(text.split() == HOSTILE[i].split() for text in shown)
    assert browser.evaluate("document.querySelector('#parts tbody th').textContent") == "<b>feature</b>"
    browser.click("#browser .controls button:last-of-type")
    browser.wait("document.querySelector('#sentence h3').textContent === 'Sentence 1'")
    assert browser.evaluate("typeof window.bad") == "undefined"
    assert browser.evaluate("document.querySelectorAll('script, img, iframe').length") == 2
    assert browser.evaluate("document.title") == HOSTILE[1]


def test_a_candidate_is_taken_apart_by_feature(show: Callable[[Report], Browser]) -> None:
    browser = show(small())
    # The oracle is the third; each row: name, weight, then value and part of it and of the chosen, difference, bar.
    assert browser.text("#apart h3") == "Taken apart: hypothesis 3, oracle"
    tm, lm, total = parts(browser)
    assert (tm[0], [number(one) for one in tm[1:7]]) == ("tm", [0.5, -9, -4.5, -1, -0.5, -4])
    assert (lm[0], [number(one) for one in lm[1:7]]) == ("lm", [1, -1, -1, -3, -3, 2])
    assert [number(one) for one in total[1:] if one] == [-5.5, -3.5, -2]
    browser.click(".candidates tbody tr:nth-child(2) button")
    assert browser.text("#apart h3") == "Taken apart: hypothesis 2"
    tm = next(row for row in parts(browser) if row[0] == "tm")
    # And now the oracle's, and the differences to both.
    assert [number(one) for one in tm[1:] if one] == [0.5, -4, -2, -1, -0.5, -9, -4.5, -1.5, 2.5]
    assert browser.evaluate("document.querySelector('.candidates tr[aria-selected]').firstChild.textContent") == "2"
    assert every(browser, "#apart ins, #apart del", "one.tagName + ' ' + one.textContent") == [
        "DEL small",
        "INS little",
        "INS the small",
    ]


def test_keys_go_through_the_list(show: Callable[[Report], Browser]) -> None:
    browser = show(small())
    browser.evaluate("document.querySelector('.candidates tr[aria-selected] button').focus()")
    for key, code, wanted in (
        ("ArrowUp", 38, 2),
        ("ArrowUp", 38, 1),
        ("ArrowUp", 38, 1),
        ("End", 35, 3),
        ("Home", 36, 1),
        ("ArrowDown", 40, 2),
    ):
        browser.press(key, code)
        assert browser.evaluate(FOCUS) == f"Take hypothesis {wanted} apart"
        assert f"hypothesis {wanted}" in browser.text("#apart h3")
    assert browser.evaluate("document.querySelectorAll('.candidates button[tabindex=\"0\"]').length") == 1
    browser.evaluate("document.getElementById('sentences').focus()")
    browser.press("ArrowDown", 40)
    browser.wait("document.querySelector('#sentence h3').textContent === 'Sentence 1'")


def test_everything_is_reached_by_tab(show: Callable[[Report], Browser]) -> None:
    browser = show(small())
    reached = set()
    for _ in range(60):
        browser.press("Tab", 9)
        reached.add(browser.evaluate(f"(({NAME})(document.activeElement))"))
    wanted = {
        "A Skip to the report",
        "A Lists",
        "case-order",
        "order",
        "find",
        "sentences",
        "BUTTON Next",
        "BUTTON Take hypothesis 3 apart",
        "SUMMARY The numbers",
        "DIV Features",
    }
    assert wanted <= reached


def test_sentences_are_ordered_and_found(show: Callable[[Report], Browser]) -> None:
    browser = show(small())
    assert [one.split(":")[0] for one in every(browser, "#sentences option")] == ["0", "1", "2"]
    pick(browser, "order", "gap")
    assert every(browser, "#sentences option")[0].startswith("0:")
    browser.click("#find")
    browser.write("SIEHT")
    browser.wait("document.querySelector('#browser .count').textContent === '1 of 3 sentences'")
    browser.wait("document.querySelector('#sentence h3').textContent === 'Sentence 1'")
    browser.write(" nothing")
    browser.wait("document.querySelector('#sentence').textContent === 'No sentence has this.'")
    assert browser.evaluate("document.querySelector('#apart').childElementCount") == 0


def test_wins_and_losses_with_their_words(show: Callable[[Report], Browser]) -> None:
    browser = show(small())
    assert every(browser, "#cases h3") == ["Sentence 0: 100.00 \u2192 66.67 (\u221233.33)"]
    assert every(browser, "#cases ins, #cases del", "one.tagName + ' ' + one.textContent") == [
        "DEL the",
        "INS a small",
    ]
    pick(browser, "case-order", "wins")
    browser.wait("document.querySelector('#wins .count').textContent === 'none'")
    pick(browser, "case-order", "losses")
    browser.wait("document.querySelector('#cases button')")
    browser.click("#browser .controls button:last-of-type")
    browser.wait("document.querySelector('#sentence h3').textContent === 'Sentence 1'")
    browser.click("#cases button")
    browser.wait("document.querySelector('#sentence h3').textContent === 'Sentence 0'")
    assert browser.evaluate("document.activeElement.id") == "sentences"


def test_trees_are_drawn_where_there_are_any(show: Callable[[Report], Browser]) -> None:
    browser = show(small())
    assert browser.evaluate("document.querySelector('.tree')") is None
    browser.click("#browser .controls button:last-of-type")
    browser.wait("document.querySelector('.tree')")
    place = "Number(one.getAttribute('x')), Number(one.getAttribute('y'))"
    drawn = every(browser, ".tree text", f"[one.textContent, {place}]")
    leaves = [text for text, _, _ in sorted(drawn, key=lambda one: one[1]) if text in {"he", "sees", "it"}]
    assert leaves == ["he", "sees", "it"]
    assert len(drawn) == 7
    assert min(drawn, key=lambda one: one[2])[0] == "S"
    assert browser.evaluate("document.querySelectorAll('.tree path').length") == 6
    browser.click("#apart summary")
    assert browser.text("#apart details p") == "(S (NP he) (VP sees (NP it)))"


def test_curves_and_weights_need_no_script(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page(small()), encoding="utf-8")
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(path)
        assert "switched off" in browser.text("#browser noscript")
        assert browser.evaluate("document.querySelectorAll('#curves svg.plot').length") == 2
        assert "tm" in browser.text("#weights table")
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_dark_light_paper_and_phone(show: Callable[[Report], Browser], tmp_path: Path) -> None:
    browser = show(small())
    colours = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    browser.media(prefers_color_scheme="light")
    assert browser.evaluate(colours)[0] == "rgb(255, 255, 255)"
    browser.media(prefers_color_scheme="dark")
    assert all(int(part) < 60 for part in browser.evaluate(colours)[0][4:-1].split(","))
    browser.media("print", prefers_color_scheme="dark")
    assert browser.evaluate(colours) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    assert browser.evaluate("getComputedStyle(document.querySelector('.controls')).display") == "none"
    browser.pdf(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    browser.media()
    browser.size(400, 800)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 400


def test_names_and_order_for_those_who_do_not_see_it(show: Callable[[Report], Browser]) -> None:
    browser = show(small())
    for selector, fine in (
        ("table", "one.caption"),
        ("input, select", "one.labels.length || one.getAttribute('aria-label')"),
        ("svg", "one.getAttribute('aria-label') || one.getAttribute('aria-hidden')"),
        ("[id]", "document.querySelectorAll('#' + one.id).length === 1"),
        ("th", "one.scope"),
    ):
        assert not [one for one in every(browser, selector, f"({fine}) ? '' : one.outerHTML") if one]
    levels = [int(one[1]) for one in every(browser, "h1, h2, h3", "one.tagName")]
    assert levels[0] == 1 and all(b - a <= 1 for a, b in itertools.pairwise(levels))
