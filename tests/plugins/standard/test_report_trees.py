"""How translations were built, as the page has it and as a browser shows it: step by step, by mouse and by keys."""

from __future__ import annotations

import html.parser
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smtplugins.contracts.decoders import BuiltStep
from smtplugins.host.decode.built_steps import BuiltTree, source_words
from smtplugins.host.judge.reporting import Report
from smtplugins.plugins.standard.report import page
from smtplugins.plugins.standard.report.trees import LISTED, Shown, describe_step

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import Browser, Page, every, expect, visit, watched
from report_samples import HOSTILE, small
from test_report import data_of, opened

# From the middle up, then down on both sides.
MIDDLE = BuiltTree(
    "a",
    ("ich", "habe", "den", "hund", "gesehen"),
    "i have seen the dog",
    -3.25,
    (
        BuiltStep("[X] ||| den [X,1] ||| the [X,1]", 2, 4, -1, False, 0, -1.0),
        BuiltStep("[V] ||| habe [X,1] gesehen ||| have seen [X,1]", 1, 5, 0, True, 0, 0.5),
        BuiltStep("[S] ||| [X,1] [V,2] ||| [X,1] [V,2]", 0, 5, 1, True, 1, -0.25),
        BuiltStep("[X] ||| ich ||| i", 0, 1, 2, False, 0, -1.5),
        BuiltStep("[X] ||| hund ||| dog", 3, 4, 0, False, 0, float("nan")),
    ),
)
# From the leaves: the same tree but for a rule that turns its children round.
CHART = BuiltTree(
    "b",
    ("dach", "des", "hauses"),
    "house 's roof",
    None,
    (
        BuiltStep("[X] ||| dach ||| roof", 0, 1, -1, False, 0, -1.0),
        BuiltStep("[X] ||| hauses ||| house", 2, 3, -1, False, 0, -1.0),
        BuiltStep("[S] ||| [X,1] des [X,2] ||| [X,2] 's [X,1]", 0, 3, 0, True, 0, -1.0, ((1, 1),)),
    ),
)
NONE = BuiltTree("c", ("xyz",), "", None, ())


def chain(size: int) -> BuiltTree:
    """Words joined from left to right: a deep tree."""
    steps = [BuiltStep("[X] ||| wort ||| word", 0, 1, -1, False, 0, -1.0)]
    for k in range(1, size // 2):
        upper = len(steps)
        below = upper - 2 if k > 1 else 0
        rule = "[X] ||| [X,1] [X,2] ||| [X,1] [X,2]"
        steps += [
            BuiltStep(rule, 0, k + 1, below, True, 0, 0.125),
            BuiltStep(
                f"[X] ||| wort{k} ||| a-rather-long-word-to-be-shortened-in-its-box-{k}", k, k + 1, upper, False, 1, 0
            ),
        ]
    return BuiltTree("long", tuple(["wort"] * (size // 2)), "words", 1.0, tuple(steps))


def hostile() -> BuiltTree:
    text = HOSTILE[1].replace(" ", "_")
    words = [one.replace(" ", "_") for one in HOSTILE]
    steps = [BuiltStep(f"[{text}] ||| [X,1] {words[0]} ||| [X,1] {words[2]}", 0, 2, -1, False, 0, 1.0)]
    steps.append(BuiltStep(f"[X] ||| {words[3]} ||| {words[4]} {words[5]} {words[1]}", 0, 1, 0, False, 0, 1.0))
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
            describe_step(CHART.steps[2]),
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
        assert Texts(text, "li").found[:5] == [f"{one.rule} {describe_step(one)}" for one in MIDDLE.steps]
        assert "<p>It has no tree.</p>" in text

    def test_steps_in_words(self) -> None:
        assert [describe_step(one) for one in MIDDLE.steps[1:]] == [
            "over [1, 5), above step 1; score 0.5",
            "over [0, 5), above step 2; score \u22120.25",
            "over [0, 1), below step 3, as its child 1; score \u22121.5",
            "over [3, 4), below step 1, as its child 1; score not known",
        ]
        assert describe_step(CHART.steps[0]) == "over [0, 1), a new piece; score \u22121"
        assert describe_step(CHART.steps[2]) == "over [0, 3), above steps 1 and 2; score \u22121"
        three = replace(CHART.steps[2], beside=4, child=2, further=((3, 0), (7, 1)))
        assert describe_step(three) == "over [0, 3), above steps 4, 8 and 5; score \u22121"

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
        assert [Texts(text, "li").found[0]] == [f"{hostile().steps[0].rule} {describe_step(hostile().steps[0])}"]
        assert not re.search(r"@import|url\(|fetch\(|innerHTML|outerHTML|insertAdjacent|eval\(| style=", text)


READY = ".grown svg"


@pytest.fixture
def show(tab: Page, tmp_path: Path) -> Callable[[Report], Page]:
    """Opens a report."""
    return lambda report: visit(tab, tmp_path / "page.html", page(report), READY)


def drawn(tab: Page, selector: str, value: str = "one.textContent") -> list[Any]:
    """A value of each element of the drawing that is there now."""
    return every(tab, f".grown {selector}:not([display])", value)


def partial(tab: Page) -> list[str]:
    """The pieces of the translation, ``_`` for an open place."""
    value = (
        "[...one.childNodes].map((part) => part.className === 'gap' ? '_' : part.tagName === 'INS' ? "
        "part.textContent.toUpperCase() : part.textContent).join('')"
    )
    return every(tab, "#tree-text .piece", value)


def step(tab: Page, number: int) -> None:
    slider = "document.getElementById('tree-step')"
    tab.evaluate(f"{slider}.value = {number}; {slider}.dispatchEvent(new Event('input'))")


PAUSE = 900  # between two steps, in milliseconds
HEAD = "one.querySelector('.head').textContent"
BOX = "(({x, y, width, height}) => [x, y, width, height])(one.getBBox())"


class TestBrowser:
    def test_a_tree_grows(self, show: Callable[[Report], Page]) -> None:
        tab = show(report(MIDDLE))
        assert tab.inner_text("#built .count:not(:has(svg))") == "5 of 5"
        assert len(drawn(tab, "g.rule")) == 5
        assert partial(tab) == ["i have seen the DOG"]
        texts = []
        numbers = []
        for number in range(1, 6):
            step(tab, number)
            texts += partial(tab)
            numbers.append([int(one.split(" ")[0]) for one in drawn(tab, "g.rule", HEAD)])
        assert texts == [
            "_ THE _ _",
            "_ HAVE SEEN the _ _",
            "_ have seen the _",
            "I have seen the _",
            "i have seen the DOG",
        ]
        assert [sorted(one) for one in numbers] == [list(range(1, n + 1)) for n in range(1, 6)]

    def test_places_beside_what_is_there_are_open(self, show: Callable[[Report], Page]) -> None:
        tab = show(report(MIDDLE))
        for number, places in enumerate((2, 2, 2, 1, 0), 1):
            step(tab, number)
            assert len(drawn(tab, ".open")) == places
            assert drawn(tab, ".rule.new title") == [
                f"{number}. {MIDDLE.steps[number - 1].rule} {describe_step(MIDDLE.steps[number - 1])}"
            ]

    def test_arrows_point_where_it_grew(self, show: Callable[[Report], Page]) -> None:
        tab = show(report(MIDDLE))
        # Corners of each head: the tip, then the other two.
        points = "one.getAttribute('points').split(' ').map((corner) => Number(corner.split(',')[1]))"
        ways = []
        for number in range(2, 6):
            step(tab, number)
            ((tip, end, _),) = drawn(tab, ".tip.new", points)
            ways.append("up" if tip < end else "down")
        assert ways == ["up", "up", "down", "down"]
        assert len(drawn(tab, ".edge")) == 4

    def test_a_chart_grows_from_pieces(self, show: Callable[[Report], Page]) -> None:
        tab = show(report(CHART))
        step(tab, 2)
        assert partial(tab) == ["_ roof _", "_ HOUSE _"]
        step(tab, 3)
        assert partial(tab) == ["house 'S roof"]
        assert len(drawn(tab, ".tip.new")) == 2
        assert drawn(tab, ".word.covered") == drawn(tab, ".word")

    @pytest.mark.parametrize("tree", [MIDDLE, CHART, chain(60)])
    def test_nothing_covers_anything(self, show: Callable[[Report], Page], tree: BuiltTree) -> None:
        tab = show(report(tree))
        boxes = drawn(tab, "g.rule > rect", BOX)
        words = drawn(tab, ".word", BOX)
        for i, (x, y, width, height) in enumerate(boxes):
            for left, top, wide, high in boxes[i + 1 :] + words:
                assert x + width <= left or left + wide <= x or y + height <= top or top + high <= y
        for i, (x, _, width, _) in enumerate(sorted(words)):
            assert i == 0 or x >= sorted(words)[i - 1][0] + sorted(words)[i - 1][2]
            assert width > 0
        places = sorted(drawn(tab, ".word", "[one.getBBox().x, one.textContent]"))
        assert tuple(text for _, text in places) == source_words(tree.steps)
        # Texts lie in their boxes.
        inside = f"['rect', 'text'].map((tag) => [...one.querySelectorAll(tag)].map((one) => {BOX}))"
        for (box,), texts in drawn(tab, "g.rule", inside):
            for x, _, width, _ in texts:
                assert box[0] <= x and x + width <= box[0] + box[2]

    def test_keys_and_buttons(self, show: Callable[[Report], Page]) -> None:
        tab = show(report(MIDDLE, CHART, NONE))
        tab.evaluate("document.getElementById('tree-step').focus()")
        for key, wanted in (("Home", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 5)):
            tab.keyboard.press(key)
            assert tab.evaluate("document.getElementById('tree-step').value") == str(wanted)
            assert tab.inner_text("#tree-told").startswith(f"Step {wanted}: {MIDDLE.steps[wanted - 1].rule} over ")
            spoken = tab.evaluate("document.getElementById('tree-step').getAttribute('aria-valuetext')")
            assert spoken.startswith(f"{wanted} of 5: {MIDDLE.steps[wanted - 1].rule}")
        tab.click("[aria-label='Step back']")
        assert tab.inner_text("#tree-told").startswith("Step 4")
        tab.click("[aria-label='Step on']")
        tab.click("[aria-label='Step on']")
        assert tab.inner_text("#tree-told").startswith("Step 5")
        reached = set()
        tab.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
        for _ in range(20):
            tab.keyboard.press("Tab")
            one = "document.activeElement"
            reached.add(tab.evaluate(f"{one}.id || {one}.getAttribute('aria-label') || {one}.textContent"))
        wanted_names = {"tree-of", "Previous", "Next", "tree-play", "Step back", "tree-step", "Step on", "tree-fit"}
        assert wanted_names | {"Tree", "As a list"} <= reached

    def test_other_sentences(self, show: Callable[[Report], Page]) -> None:
        tab = show(report(MIDDLE, CHART, NONE))
        assert every(tab, "#tree-of option") == ["a: 5 steps", "b: 3 steps", "c: 0 steps"]
        next_one = "#built .controls button:nth-of-type(2)"
        tab.click(next_one)
        expect(tab.locator(".grown .rule")).to_have_count(3)
        assert every(tab, "#built dd")[-2:] == ["dach des hauses", "house 's roof"]
        assert every(tab, "#built details li") == [f"{one.rule} {describe_step(one)}" for one in CHART.steps]
        tab.click(next_one)
        expect(tab.locator("#built")).to_contain_text("This sentence has no tree.")
        assert tab.evaluate("document.querySelector('.grown').getClientRects().length") == 0
        assert tab.evaluate("document.querySelector('#tree-play').getClientRects().length") == 0
        tab.click("#built .controls button:nth-of-type(1)")
        expect(tab.locator(".grown")).to_be_visible()

    def test_it_plays(self, browser: Browser, tmp_path: Path) -> None:
        with watched(browser.new_page()) as tab:
            tab.clock.install()
            visit(tab, tmp_path / "page.html", page(report(CHART)), READY)
            tab.clock.pause_at(tab.evaluate("Date.now()") / 1000 + 60)
            tab.click("#tree-play")
            assert tab.inner_text("#tree-play") == "Stop"
            assert tab.inner_text("#tree-told").startswith("Step 1:")
            tab.clock.run_for(PAUSE)
            assert tab.inner_text("#tree-told").startswith("Step 2:")
            tab.click("#tree-play")
            assert tab.inner_text("#tree-play") == "Play"
            tab.clock.run_for(3 * PAUSE)
            assert tab.inner_text("#tree-told").startswith("Step 2:")
            tab.click("#tree-play")
            tab.clock.run_for(2 * PAUSE)
            assert tab.inner_text("#tree-play") == "Play"
            assert tab.inner_text("#tree-told").startswith("Step 3:")

    def test_hostile_texts_stay_text(self, show: Callable[[Report], Page]) -> None:
        tab = show(report(hostile(), hostile()))
        assert tab.evaluate("document.querySelectorAll('script, img, iframe').length") == 2
        assert tab.evaluate("typeof window.bad") == "undefined"
        assert every(tab, "#tree-of option")[0] == f"{HOSTILE[1]}: 2 steps"
        assert HOSTILE[0].replace(" ", "_") in drawn(tab, ".word")
        for rule in (one.rule for one in hostile().steps):
            assert any(rule in one for one in every(tab, "#built details li"))

    def test_a_long_sentence_scrolls_in_its_box(self, show: Callable[[Report], Page]) -> None:
        tab = show(report(chain(60)))
        for width in (1280, 400):
            tab.set_viewport_size({"width": width, "height": 800})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            for number in (1, 30, 59):
                step(tab, number)
                edges = "(({left, right, top, bottom}) => [left, right, top, bottom])(one.getBoundingClientRect())"
                (rule,), (box,) = every(tab, ".rule.new rect", edges), every(tab, ".grown", edges)
                assert box[0] - 1 <= rule[0] and rule[1] <= box[1] + 1
                assert box[2] <= rule[2] and rule[3] <= box[3]
        size = "getComputedStyle(document.querySelector('.rule text')).fontSize"
        assert tab.evaluate(size) == "12px"
        tab.set_viewport_size({"width": 1280, "height": 800})
        tab.click("#tree-fit")
        assert tab.evaluate("document.querySelector('.grown svg').getBoundingClientRect().width") < 1280

    def test_colours_go_with_the_steps_in_light_and_dark(self, show: Callable[[Report], Page]) -> None:
        tab = show(report(chain(60)))
        for theme in ("light", "dark"):
            tab.emulate_media(color_scheme=theme)
            fills = drawn(tab, ".rule > rect", "getComputedStyle(one).fill.match(/[0-9]+/g).map(Number)")
            inks = drawn(tab, ".rule text.head", "getComputedStyle(one).fill.match(/[0-9]+/g).map(Number)")
            heads = drawn(tab, ".rule text.head", "parseInt(one.textContent)")
            ordered = sorted(zip(heads, fills, inks, strict=True))
            lights = [light(fill) for _, fill, _ in ordered]
            assert lights == sorted(lights)
            assert len(set(lights)) == 10
            for _, fill, ink in ordered:
                bright, dark = max(light(fill), light(ink)), min(light(fill), light(ink))
                assert (bright + 0.05) / (dark + 0.05) >= 4.5

    def test_without_a_script(self, still: Page, tmp_path: Path) -> None:
        visit(still, tmp_path / "page.html", page(report(MIDDLE)))
        assert "switched off" in still.inner_text("#built noscript")
        assert every(still, "#built li") == [f"{one.rule} {describe_step(one)}" for one in MIDDLE.steps]

    def test_beside_lists_both_parts_work(self, show: Callable[[Report], Page]) -> None:
        tab = show(replace(small(), built=(MIDDLE,)))
        tab.wait_for_selector("#parts")
        assert tab.inner_text("#apart h3") == "Taken apart: hypothesis 3, oracle"
        step(tab, 1)
        assert partial(tab) == ["_ THE _ _"]
        for selector, fine in (
            ("input, select", "one.labels.length || one.getAttribute('aria-label')"),
            ("svg", "one.getAttribute('aria-label') || one.getAttribute('aria-hidden')"),
            ("[id]", "document.querySelectorAll('#' + one.id).length === 1"),
        ):
            assert not [one for one in every(tab, selector, f"({fine}) ? '' : one.outerHTML") if one]

    def test_on_paper(self, show: Callable[[Report], Page], tmp_path: Path) -> None:
        tab = show(report(chain(60)))
        tab.emulate_media(media="print")
        assert tab.evaluate("getComputedStyle(document.querySelector('#tree-play')).display") == "none"
        assert tab.evaluate("getComputedStyle(document.querySelector('.grown')).overflow") == "visible"
        tab.pdf(path=tmp_path / "page.pdf")
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def light(colour: list[int]) -> float:
    """The relative luminance of a colour."""
    parts = [one / 255 / 12.92 if one <= 10 else ((one / 255 + 0.055) / 1.055) ** 2.4 for one in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
