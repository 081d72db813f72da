"""How translations were built, as the page has it and as a browser shows it: step by step, by mouse and by keys."""

from __future__ import annotations

import html.parser
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smtplugins.host.building import BuiltTree, source_words
from smtplugins.host.contracts import Built
from smtplugins.host.reporting import Report
from smtplugins.plugins.standard.report import page
from smtplugins.plugins.standard.report.trees import LISTED, Shown, told

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chromium import Browser, every, shown
from report_samples import HOSTILE, small
from test_report import data_of, opened

# From the middle up, then down on both sides.
MIDDLE = BuiltTree(
    "a",
    ("ich", "habe", "den", "hund", "gesehen"),
    "i have seen the dog",
    -3.25,
    (
        Built("[X] ||| den [X,1] ||| the [X,1]", 2, 4, -1, False, 0, -1.0),
        Built("[V] ||| habe [X,1] gesehen ||| have seen [X,1]", 1, 5, 0, True, 0, 0.5),
        Built("[S] ||| [X,1] [V,2] ||| [X,1] [V,2]", 0, 5, 1, True, 1, -0.25),
        Built("[X] ||| ich ||| i", 0, 1, 2, False, 0, -1.5),
        Built("[X] ||| hund ||| dog", 3, 4, 0, False, 0, float("nan")),
    ),
)
# From the leaves: the same tree but for a rule that turns its children round.
CHART = BuiltTree(
    "b",
    ("dach", "des", "hauses"),
    "house 's roof",
    None,
    (
        Built("[X] ||| dach ||| roof", 0, 1, -1, False, 0, -1.0),
        Built("[X] ||| hauses ||| house", 2, 3, -1, False, 0, -1.0),
        Built("[S] ||| [X,1] des [X,2] ||| [X,2] 's [X,1]", 0, 3, 0, True, 0, -1.0, ((1, 1),)),
    ),
)
NONE = BuiltTree("c", ("xyz",), "", None, ())


def chain(size: int) -> BuiltTree:
    """Words joined from left to right: a deep tree."""
    steps = [Built("[X] ||| wort ||| word", 0, 1, -1, False, 0, -1.0)]
    for k in range(1, size // 2):
        upper = len(steps)
        below = upper - 2 if k > 1 else 0
        rule = "[X] ||| [X,1] [X,2] ||| [X,1] [X,2]"
        steps += [
            Built(rule, 0, k + 1, below, True, 0, 0.125),
            Built(
                f"[X] ||| wort{k} ||| a-rather-long-word-to-be-shortened-in-its-box-{k}", k, k + 1, upper, False, 1, 0
            ),
        ]
    return BuiltTree("long", tuple(["wort"] * (size // 2)), "words", 1.0, tuple(steps))


def hostile() -> BuiltTree:
    text = HOSTILE[1].replace(" ", "_")
    words = [one.replace(" ", "_") for one in HOSTILE]
    steps = [Built(f"[{text}] ||| [X,1] {words[0]} ||| [X,1] {words[2]}", 0, 2, -1, False, 0, 1.0)]
    steps.append(Built(f"[X] ||| {words[3]} ||| {words[4]} {words[5]} {words[1]}", 0, 1, 0, False, 0, 1.0))
    return BuiltTree(HOSTILE[1], tuple(words), HOSTILE[2], 1.0, tuple(steps))


def report(*trees: BuiltTree) -> Report:
    return Report("Trees", (), (), None, trees)


class Texts(html.parser.HTMLParser):
    """The texts of a kind of element."""

    def __init__(self, text: str, tag: str) -> None:
        super().__init__()
        self.tag, self.found, self.inside = tag, list[str](), 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == self.tag:
            self.inside += 1
            self.found.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside -= tag == self.tag

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.found[-1] += data


class TestPage:
    def test_trees_alone(self) -> None:
        text = page(report(MIDDLE, CHART))
        data = data_of(text)
        assert list(data) == ["trees"]
        assert (data["trees"]["ids"], data["trees"]["sizes"]) == (["a", "b"], [5, 3])
        block = opened(data["trees"]["blocks"][1])
        assert (block["source"], block["translation"], block["score"]) == ("dach des hauses", "house 's roof", None)
        assert block["steps"][2] == [
            CHART.steps[2].rule, "S", [0, "des", 1], [1, "'s", 0], -1, [[0, True, 0], [1, True, 1]],
            told(CHART.steps[2]),
        ]  # fmt: skip
        assert opened(data["trees"]["blocks"][0])["steps"][4][4] is None

    def test_without_trees_there_is_nothing_of_them(self) -> None:
        text = page(small())
        assert "trees" not in data_of(text)
        assert "viridis" not in text and "tree-step" not in text

    def test_lists_for_those_without_a_script(self) -> None:
        trees = [replace(MIDDLE, id=str(k)) for k in range(LISTED + 3)]
        text = page(report(NONE, *trees))
        assert text.count("<ol>") == LISTED - 1
        assert Texts(text, "li").found[:5] == [f"{one.rule} {told(one)}" for one in MIDDLE.steps]
        assert "<p>It has no tree.</p>" in text

    def test_steps_in_words(self) -> None:
        assert [told(one) for one in MIDDLE.steps[1:]] == [
            "over [1, 5), above step 1; score 0.5",
            "over [0, 5), above step 2; score \u22120.25",
            "over [0, 1), below step 3, as its child 1; score \u22121.5",
            "over [3, 4), below step 1, as its child 1; score not known",
        ]
        assert told(CHART.steps[0]) == "over [0, 1), a new piece; score \u22121"
        assert told(CHART.steps[2]) == "over [0, 3), above steps 1 and 2; score \u22121"
        three = replace(CHART.steps[2], beside=4, child=2, further=((3, 0), (7, 1)))
        assert told(three) == "over [0, 3), above steps 4, 8 and 5; score \u22121"

    def test_only_the_first_are_drawn_and_the_page_says_so(self) -> None:
        shown = Shown.of((replace(CHART, id=str(k)) for k in range(1200)), 3)
        assert shown is not None
        assert (shown.count, shown.data()["ids"]) == (1200, ["0", "1", "2"])
        assert "<p>The first 3 of 1,200 sentences.</p>" in list(shown.section())
        assert len(page(report(*[replace(chain(40), id=str(k)) for k in range(1000)]))) < 600_000
        assert "<p>There are no sentences.</p>" in page(report())

    def test_hostile_texts_are_text(self) -> None:
        text = page(report(hostile()))
        assert len(re.findall("<script", text)) == 2
        data = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)[0]
        assert not set("<>&\u2028\u2029") & set(data)
        assert [Texts(text, "li").found[0]] == [f"{hostile().steps[0].rule} {told(hostile().steps[0])}"]
        assert not re.search(r"@import|url\(|fetch\(|innerHTML|outerHTML|insertAdjacent|eval\(| style=", text)


READY = "document.querySelector('.grown svg')"


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Callable[[Report], Browser]]:
    """Opens a report; at the end of the test nothing was complained of, nothing asked of the network."""

    def opened(given: Report) -> Browser:
        return shown(browser, tmp_path / "page.html", page(given), READY)

    browser.complaints.clear()
    yield opened
    assert browser.complaints == []


def drawn(browser: Browser, selector: str, value: str = "one.textContent") -> list[Any]:
    """A value of each element of the drawing that is there now."""
    return every(browser, f".grown {selector}:not([display])", value)


def partial(browser: Browser) -> list[str]:
    """The pieces of the translation, ``_`` for an open place."""
    value = (
        "[...one.childNodes].map((part) => part.className === 'gap' ? '_' : part.tagName === 'INS' ? "
        "part.textContent.toUpperCase() : part.textContent).join('')"
    )
    return every(browser, "#tree-text .piece", value)


def step(browser: Browser, number: int) -> None:
    slider = "document.getElementById('tree-step')"
    browser.evaluate(f"{slider}.value = {number}; {slider}.dispatchEvent(new Event('input'))")


HEAD = "one.querySelector('.head').textContent"
BOX = "(({x, y, width, height}) => [x, y, width, height])(one.getBBox())"


class TestBrowser:
    def test_a_tree_grows(self, show: Callable[[Report], Browser]) -> None:
        browser = show(report(MIDDLE))
        assert browser.text("#built .count:not(:has(svg))") == "5 of 5"
        assert len(drawn(browser, "g.rule")) == 5
        assert partial(browser) == ["i have seen the DOG"]
        texts = []
        numbers = []
        for number in range(1, 6):
            step(browser, number)
            texts += partial(browser)
            numbers.append([int(one.split(" ")[0]) for one in drawn(browser, "g.rule", HEAD)])
        assert texts == [
            "_ THE _ _",
            "_ HAVE SEEN the _ _",
            "_ have seen the _",
            "I have seen the _",
            "i have seen the DOG",
        ]
        assert [sorted(one) for one in numbers] == [list(range(1, n + 1)) for n in range(1, 6)]

    def test_places_beside_what_is_there_are_open(self, show: Callable[[Report], Browser]) -> None:
        browser = show(report(MIDDLE))
        for number, places in enumerate((2, 2, 2, 1, 0), 1):
            step(browser, number)
            assert len(drawn(browser, ".open")) == places
            assert drawn(browser, ".rule.new title") == [
                f"{number}. {MIDDLE.steps[number - 1].rule} {told(MIDDLE.steps[number - 1])}"
            ]

    def test_arrows_point_where_it_grew(self, show: Callable[[Report], Browser]) -> None:
        browser = show(report(MIDDLE))
        # Corners of each head: the tip, then the other two.
        points = "one.getAttribute('points').split(' ').map((corner) => Number(corner.split(',')[1]))"
        ways = []
        for number in range(2, 6):
            step(browser, number)
            ((tip, end, _),) = drawn(browser, ".tip.new", points)
            ways.append("up" if tip < end else "down")
        assert ways == ["up", "up", "down", "down"]
        assert len(drawn(browser, ".edge")) == 4

    def test_a_chart_grows_from_pieces(self, show: Callable[[Report], Browser]) -> None:
        browser = show(report(CHART))
        step(browser, 2)
        assert partial(browser) == ["_ roof _", "_ HOUSE _"]
        step(browser, 3)
        assert partial(browser) == ["house 'S roof"]
        assert len(drawn(browser, ".tip.new")) == 2
        assert drawn(browser, ".word.covered") == drawn(browser, ".word")

    @pytest.mark.parametrize("tree", [MIDDLE, CHART, chain(60)])
    def test_nothing_covers_anything(self, show: Callable[[Report], Browser], tree: BuiltTree) -> None:
        browser = show(report(tree))
        boxes = drawn(browser, "g.rule > rect", BOX)
        words = drawn(browser, ".word", BOX)
        for i, (x, y, width, height) in enumerate(boxes):
            for left, top, wide, high in boxes[i + 1 :] + words:
                assert x + width <= left or left + wide <= x or y + height <= top or top + high <= y
        for i, (x, _, width, _) in enumerate(sorted(words)):
            assert i == 0 or x >= sorted(words)[i - 1][0] + sorted(words)[i - 1][2]
            assert width > 0
        places = sorted(drawn(browser, ".word", "[one.getBBox().x, one.textContent]"))
        assert tuple(text for _, text in places) == source_words(tree.steps)
        # Texts lie in their boxes.
        inside = f"['rect', 'text'].map((tag) => [...one.querySelectorAll(tag)].map((one) => {BOX}))"
        for (box,), texts in drawn(browser, "g.rule", inside):
            for x, _, width, _ in texts:
                assert box[0] <= x and x + width <= box[0] + box[2]

    def test_keys_and_buttons(self, show: Callable[[Report], Browser]) -> None:
        browser = show(report(MIDDLE, CHART, NONE))
        browser.evaluate("document.getElementById('tree-step').focus()")
        for key, code, wanted in (("Home", 36, 1), ("ArrowRight", 39, 2), ("ArrowLeft", 37, 1), ("End", 35, 5)):
            browser.press(key, code)
            assert browser.evaluate("document.getElementById('tree-step').value") == str(wanted)
            assert browser.text("#tree-told").startswith(f"Step {wanted}: {MIDDLE.steps[wanted - 1].rule} over ")
            spoken = browser.evaluate("document.getElementById('tree-step').getAttribute('aria-valuetext')")
            assert spoken.startswith(f"{wanted} of 5: {MIDDLE.steps[wanted - 1].rule}")
        browser.click("[aria-label='Step back']")
        assert browser.text("#tree-told").startswith("Step 4")
        browser.click("[aria-label='Step on']")
        browser.click("[aria-label='Step on']")
        assert browser.text("#tree-told").startswith("Step 5")
        reached = set()
        browser.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
        for _ in range(20):
            browser.press("Tab", 9)
            one = "document.activeElement"
            reached.add(browser.evaluate(f"{one}.id || {one}.getAttribute('aria-label') || {one}.textContent"))
        wanted_names = {"tree-of", "Previous", "Next", "tree-play", "Step back", "tree-step", "Step on", "tree-fit"}
        assert wanted_names | {"Tree", "As a list"} <= reached

    def test_other_sentences(self, show: Callable[[Report], Browser]) -> None:
        browser = show(report(MIDDLE, CHART, NONE))
        assert every(browser, "#tree-of option") == ["a: 5 steps", "b: 3 steps", "c: 0 steps"]
        next_one = "#built .controls button:nth-of-type(2)"
        browser.click(next_one)
        browser.wait("document.querySelectorAll('.grown .rule').length === 3")
        assert every(browser, "#built dd")[-2:] == ["dach des hauses", "house 's roof"]
        assert every(browser, "#built details li") == [f"{one.rule} {told(one)}" for one in CHART.steps]
        browser.click(next_one)
        browser.wait("document.querySelector('#built').textContent.includes('This sentence has no tree.')")
        assert browser.evaluate("document.querySelector('.grown').getClientRects().length") == 0
        assert browser.evaluate("document.querySelector('#tree-play').getClientRects().length") == 0
        browser.click("#built .controls button:nth-of-type(1)")
        browser.wait("document.querySelector('.grown').getClientRects().length === 1")

    def test_it_plays(self, show: Callable[[Report], Browser]) -> None:
        browser = show(report(CHART))
        browser.click("#tree-play")
        assert browser.text("#tree-play") == "Stop"
        assert browser.text("#tree-told").startswith("Step 1")
        browser.wait("document.querySelector('#tree-told').textContent.startsWith('Step 2')")
        browser.click("#tree-play")
        assert browser.text("#tree-play") == "Play"
        browser.click("#tree-play")
        browser.wait("document.querySelector('#tree-play').textContent === 'Play'")
        assert browser.text("#tree-told").startswith("Step 3")

    def test_hostile_texts_stay_text(self, show: Callable[[Report], Browser]) -> None:
        browser = show(report(hostile(), hostile()))
        assert browser.evaluate("document.querySelectorAll('script, img, iframe').length") == 2
        assert browser.evaluate("typeof window.bad") == "undefined"
        assert every(browser, "#tree-of option")[0] == f"{HOSTILE[1]}: 2 steps"
        assert HOSTILE[0].replace(" ", "_") in drawn(browser, ".word")
        for rule in (one.rule for one in hostile().steps):
            assert any(rule in one for one in every(browser, "#built details li"))

    def test_a_long_sentence_scrolls_in_its_box(self, show: Callable[[Report], Browser]) -> None:
        browser = show(report(chain(60)))
        for width in (1280, 400):
            browser.size(width, 800)
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            for number in (1, 30, 59):
                step(browser, number)
                edges = "(({left, right, top, bottom}) => [left, right, top, bottom])(one.getBoundingClientRect())"
                (rule,), (box,) = every(browser, ".rule.new rect", edges), every(browser, ".grown", edges)
                assert box[0] - 1 <= rule[0] and rule[1] <= box[1] + 1
                assert box[2] <= rule[2] and rule[3] <= box[3]
        size = "getComputedStyle(document.querySelector('.rule text')).fontSize"
        assert browser.evaluate(size) == "12px"
        browser.size(1280, 800)
        browser.click("#tree-fit")
        assert browser.evaluate("document.querySelector('.grown svg').getBoundingClientRect().width") < 1280

    def test_colours_go_with_the_steps_in_light_and_dark(self, show: Callable[[Report], Browser]) -> None:
        browser = show(report(chain(60)))
        for theme in ("light", "dark"):
            browser.media(prefers_color_scheme=theme)
            fills = drawn(browser, ".rule > rect", "getComputedStyle(one).fill.match(/[0-9]+/g).map(Number)")
            inks = drawn(browser, ".rule text.head", "getComputedStyle(one).fill.match(/[0-9]+/g).map(Number)")
            heads = drawn(browser, ".rule text.head", "parseInt(one.textContent)")
            ordered = sorted(zip(heads, fills, inks, strict=True))
            lights = [light(fill) for _, fill, _ in ordered]
            assert lights == sorted(lights)
            assert len(set(lights)) == 10
            for _, fill, ink in ordered:
                bright, dark = max(light(fill), light(ink)), min(light(fill), light(ink))
                assert (bright + 0.05) / (dark + 0.05) >= 4.5

    def test_without_a_script(self, browser: Browser, tmp_path: Path) -> None:
        path = tmp_path / "page.html"
        path.write_text(page(report(MIDDLE)), encoding="utf-8")
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            browser.open(path)
            assert "switched off" in browser.text("#built noscript")
            assert every(browser, "#built li") == [f"{one.rule} {told(one)}" for one in MIDDLE.steps]
        finally:
            browser.call("Emulation.setScriptExecutionDisabled", value=False)

    def test_beside_lists_both_parts_work(self, show: Callable[[Report], Browser]) -> None:
        browser = show(replace(small(), built=(MIDDLE,)))
        browser.wait("document.querySelector('#parts')")
        assert browser.text("#apart h3") == "Taken apart: hypothesis 3, oracle"
        step(browser, 1)
        assert partial(browser) == ["_ THE _ _"]
        for selector, fine in (
            ("input, select", "one.labels.length || one.getAttribute('aria-label')"),
            ("svg", "one.getAttribute('aria-label') || one.getAttribute('aria-hidden')"),
            ("[id]", "document.querySelectorAll('#' + one.id).length === 1"),
        ):
            assert not [one for one in every(browser, selector, f"({fine}) ? '' : one.outerHTML") if one]

    def test_on_paper(self, show: Callable[[Report], Browser], tmp_path: Path) -> None:
        browser = show(report(chain(60)))
        browser.media("print")
        assert browser.evaluate("getComputedStyle(document.querySelector('#tree-play')).display") == "none"
        assert browser.evaluate("getComputedStyle(document.querySelector('.grown')).overflow") == "visible"
        browser.pdf(tmp_path / "page.pdf")
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def light(colour: list[int]) -> float:
    """The relative luminance of a colour."""
    parts = [one / 255 / 12.92 if one <= 10 else ((one / 255 + 0.055) / 1.055) ** 2.4 for one in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
