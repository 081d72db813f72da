"""The page in a headless Chromium: clicked through, by keyboard too, in the dark, on paper, on a phone."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from smtplugins.host.judge.reporting import Report
from smtplugins.plugins.standard.report import page

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import Page, every, expect, visit
from report_samples import HOSTILE, hostile, pool, small

NAME = "(one) => one.id || one.tagName + ' ' + (one.getAttribute('aria-label') ?? one.textContent)"
FOCUS = "document.activeElement.getAttribute('aria-label')"


READY = ":has(#parts) #wins .count:not(:empty)"


@pytest.fixture
def show(tab: Page, tmp_path: Path) -> Callable[[Report], Page]:
    """Opens a report."""
    return lambda report: visit(tab, tmp_path / "page.html", page(report), READY)


def parts(tab: Page) -> list[list[str]]:
    """The cells of the table that takes a hypothesis apart."""
    return every(tab, "#parts tbody tr, #parts tfoot tr", "[...one.children].map((cell) => cell.textContent)")


def pick(tab: Page, name: str, value: str) -> None:
    """Choose in a menu."""
    menu = f"document.getElementById({name!r})"
    tab.evaluate(f"{menu}.value = {value!r}; {menu}.dispatchEvent(new Event('change'))")


def number(text: str) -> float:
    return float(text.replace("\u2212", "-"))


def test_hostile_data_stays_text(show: Callable[[Report], Page]) -> None:
    tab = show(hostile())
    assert every(tab, ".candidates tbody tr", "one.lastChild.querySelector('bdi').textContent")[0] == HOSTILE[0]
    for i in range(len(HOSTILE)):
        tab.click(f".candidates tbody tr:nth-child({i + 1}) button")
        shown = every(tab, "#apart dd")
        assert any(text.split() == HOSTILE[i].split() for text in shown)
    assert tab.evaluate("document.querySelector('#parts tbody th').textContent") == "<b>feature</b>"
    tab.click("#browser .controls button:last-of-type")
    expect(tab.locator("#sentence h3")).to_have_text("Sentence 1")
    assert tab.evaluate("typeof window.bad") == "undefined"
    assert tab.evaluate("document.querySelectorAll('script, img, iframe').length") == 2
    assert tab.evaluate("document.title") == HOSTILE[1]


def test_a_candidate_is_taken_apart_by_feature(show: Callable[[Report], Page]) -> None:
    tab = show(small())
    # The oracle is the third; each row: name, weight, then value and part of it and of the chosen, difference, bar.
    assert tab.inner_text("#apart h3") == "Taken apart: hypothesis 3, oracle"
    tm, lm, total = parts(tab)
    assert (tm[0], [number(one) for one in tm[1:7]]) == ("tm", [0.5, -9, -4.5, -1, -0.5, -4])
    assert (lm[0], [number(one) for one in lm[1:7]]) == ("lm", [1, -1, -1, -3, -3, 2])
    assert [number(one) for one in total[1:] if one] == [-5.5, -3.5, -2]
    tab.click(".candidates tbody tr:nth-child(2) button")
    assert tab.inner_text("#apart h3") == "Taken apart: hypothesis 2"
    tm = next(row for row in parts(tab) if row[0] == "tm")
    # And now the oracle's, and the differences to both.
    assert [number(one) for one in tm[1:] if one] == [0.5, -4, -2, -1, -0.5, -9, -4.5, -1.5, 2.5]
    assert tab.evaluate("document.querySelector('.candidates tr[aria-selected]').firstChild.textContent") == "2"
    assert every(tab, "#apart ins, #apart del", "one.tagName + ' ' + one.textContent") == [
        "DEL small",
        "INS little",
        "INS the small",
    ]


def test_candidates_of_a_pool_show_their_systems(show: Callable[[Report], Page]) -> None:
    tab = show(pool())
    assert every(tab, ".candidates thead th") == ["rank", "total", "sentence overlap", "system", "hypothesis"]
    assert every(tab, ".candidates tbody tr", "one.children[3].textContent") == ["<i>a</i>", "b", "<i>a</i>, b"]
    assert tab.inner_text("#apart h3") == "Taken apart: hypothesis 3, oracle (<i>a</i>, b)"
    assert every(tab, "#cases dd:nth-of-type(2)") == ["a small house (<i>a</i>)"]
    pick(tab, "case-order", "wins")
    expect(tab.locator("#cases")).to_contain_text("good day (b)")
    assert "system" not in every(show(small()), ".candidates thead th")


def test_keys_go_through_the_list(show: Callable[[Report], Page]) -> None:
    tab = show(small())
    tab.evaluate("document.querySelector('.candidates tr[aria-selected] button').focus()")
    for key, wanted in (("ArrowUp", 2), ("ArrowUp", 1), ("ArrowUp", 1), ("End", 3), ("Home", 1), ("ArrowDown", 2)):
        tab.keyboard.press(key)
        assert tab.evaluate(FOCUS) == f"Take hypothesis {wanted} apart"
        assert f"hypothesis {wanted}" in tab.inner_text("#apart h3")
    assert tab.evaluate("document.querySelectorAll('.candidates button[tabindex=\"0\"]').length") == 1
    tab.evaluate("document.getElementById('sentences').focus()")
    tab.keyboard.press("ArrowDown")
    expect(tab.locator("#sentence h3")).to_have_text("Sentence 1")


def test_everything_is_reached_by_tab(show: Callable[[Report], Page]) -> None:
    tab = show(small())
    reached = set()
    for _ in range(60):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate(f"(({NAME})(document.activeElement))"))
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


def test_sentences_are_ordered_and_found(show: Callable[[Report], Page]) -> None:
    tab = show(small())
    assert [one.split(":")[0] for one in every(tab, "#sentences option")] == ["0", "1", "2"]
    pick(tab, "order", "gap")
    assert every(tab, "#sentences option")[0].startswith("0:")
    tab.click("#find")
    tab.keyboard.insert_text("SIEHT")
    expect(tab.locator("#browser .count")).to_have_text("1 of 3 sentences")
    expect(tab.locator("#sentence h3")).to_have_text("Sentence 1")
    tab.keyboard.insert_text(" nothing")
    expect(tab.locator("#sentence")).to_have_text("No sentence has this.")
    assert tab.evaluate("document.querySelector('#apart').childElementCount") == 0


def test_wins_and_losses_with_their_words(show: Callable[[Report], Page]) -> None:
    tab = show(small())
    assert every(tab, "#cases h3") == ["Sentence 0: 100.00 \u2192 66.67 (\u221233.33)"]
    assert every(tab, "#cases ins, #cases del", "one.tagName + ' ' + one.textContent") == [
        "DEL the",
        "INS a small",
    ]
    pick(tab, "case-order", "wins")
    expect(tab.locator("#wins .count")).to_have_text("none")
    pick(tab, "case-order", "losses")
    tab.wait_for_selector("#cases button")
    tab.click("#browser .controls button:last-of-type")
    expect(tab.locator("#sentence h3")).to_have_text("Sentence 1")
    tab.click("#cases button")
    expect(tab.locator("#sentence h3")).to_have_text("Sentence 0")
    assert tab.evaluate("document.activeElement.id") == "sentences"


def test_trees_are_drawn_where_there_are_any(show: Callable[[Report], Page]) -> None:
    tab = show(small())
    assert tab.evaluate("document.querySelector('.tree')") is None
    tab.click("#browser .controls button:last-of-type")
    tab.wait_for_selector(".tree", state="attached")
    place = "Number(one.getAttribute('x')), Number(one.getAttribute('y'))"
    drawn = every(tab, ".tree text", f"[one.textContent, {place}]")
    leaves = [text for text, _, _ in sorted(drawn, key=lambda one: one[1]) if text in {"he", "sees", "it"}]
    assert leaves == ["he", "sees", "it"]
    assert len(drawn) == 7
    assert min(drawn, key=lambda one: one[2])[0] == "S"
    assert tab.evaluate("document.querySelectorAll('.tree path').length") == 6
    tab.click("#apart summary")
    assert tab.inner_text("#apart details p") == "(S (NP he) (VP sees (NP it)))"


def test_curves_and_weights_need_no_script(still: Page, tmp_path: Path) -> None:
    visit(still, tmp_path / "page.html", page(small()))
    assert "switched off" in still.inner_text("#browser noscript")
    assert still.evaluate("document.querySelectorAll('#curves svg.plot').length") == 2
    assert "tm" in still.inner_text("#weights table")


def test_dark_light_paper_and_phone(show: Callable[[Report], Page], tmp_path: Path) -> None:
    tab = show(small())
    colours = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    tab.emulate_media(color_scheme="light")
    assert tab.evaluate(colours)[0] == "rgb(255, 255, 255)"
    tab.emulate_media(color_scheme="dark")
    assert all(int(part) < 60 for part in tab.evaluate(colours)[0][4:-1].split(","))
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(colours) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    assert tab.evaluate("getComputedStyle(document.querySelector('.controls')).display") == "none"
    tab.pdf(path=tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    tab.emulate_media(media="screen", color_scheme="light")
    tab.set_viewport_size({"width": 400, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400


def test_names_and_order_for_those_who_do_not_see_it(show: Callable[[Report], Page]) -> None:
    tab = show(small())
    for selector, fine in (
        ("table", "one.caption"),
        ("input, select", "one.labels.length || one.getAttribute('aria-label')"),
        ("svg", "one.getAttribute('aria-label') || one.getAttribute('aria-hidden')"),
        ("[id]", "document.querySelectorAll('#' + one.id).length === 1"),
        ("th", "one.scope"),
    ):
        assert not [one for one in every(tab, selector, f"({fine}) ? '' : one.outerHTML") if one]
    levels = [int(one[1]) for one in every(tab, "h1, h2, h3", "one.tagName")]
    assert levels[0] == 1 and all(b - a <= 1 for a, b in itertools.pairwise(levels))
