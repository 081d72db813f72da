"""The page as text: it needs nothing else, holds nothing but its own markup, and its data are those of the report."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import io
import json
import re
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import Candidates, FormatError
from smtformats.format import shortest
from smtplugins.contracts.errors import UsageError
from smtplugins.host.files.lists import as_stream
from smtplugins.host.judge.histories import RunHistory
from smtplugins.host.judge.judging import judge
from smtplugins.host.judge.reporting import Report
from smtplugins.plugins.standard.report import FORMAT, page
from smtplugins.plugins.standard.report.contributions import contributions
from smtplugins.plugins.standard.report.data import page_data, rounded
from smtplugins.plugins.standard.report.plots import Band, Line, plot, short

sys.path.insert(0, str(Path(__file__).resolve().parent))

from report_samples import HOSTILE, Overlap, hostile, small, texts


class Reader(html.parser.HTMLParser):
    """The elements of a page with their attributes, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.parts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def data_of(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def opened(block: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(block)))


def test_hostile_data_is_text_and_nothing_else() -> None:
    text = page(hostile())
    found = Reader(text)
    tags = [tag for tag, _ in found.elements]
    assert tags.count("script") == 2
    assert {"img", "i", "u", "s"}.isdisjoint(tags)
    # The page's own words have three of them.
    assert tags.count("b") == 3
    assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
    words = "".join(found.parts)
    for wanted in (HOSTILE[0], HOSTILE[1], "<b>feature</b>", "<b>BLEU</b>", "<b>run</b>", "<s>base</s>"):
        assert wanted in words
    assert opened(data_of(text)["blocks"][0])["texts"] == HOSTILE


def test_no_text_can_end_the_data() -> None:
    for candidates in (1, 100):
        data = page_data(hostile(), candidates)
        assert not set("<>&\u2028\u2029") & set(data)
        assert json.loads(data)["baseline"] == "<s>base</s>"


def test_a_page_needs_nothing_else_and_says_so_in_its_policy() -> None:
    text = page(small())
    found = Reader(text)
    for _, attributes in found.elements:
        links = [value or "" for name, value in attributes.items() if name in ("src", "href", "action", "data")]
        assert all(link.startswith("#") for link in links)
        assert "style" not in attributes
    assert not re.search(r"@import|url\(|fetch\(|XMLHttp|WebSocket|innerHTML|outerHTML|insertAdjacent|eval\(", text)
    policy = next(a["content"] for tag, a in found.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and policy.startswith("default-src 'none'; ")
    script, style = (
        re.findall(pattern, text, re.DOTALL)[0] for pattern in (r"<script>(.*?)</script>", r"<style>(.*?)</style>")
    )
    for kind, body in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_blocks_hold_the_lists() -> None:
    report = small()
    data = data_of(page(report))
    assert (data["ids"], data["sizes"], data["baseline"]) == (["0", "1", "2"], [3, 2, 1], "base.txt")
    names = opened(data["features"])
    assert names == {"names": ["lm", "tm", "rare:x"], "weights": [1.0, 0.5, 0.25]}
    first, second, third = map(opened, data["blocks"])
    assert first["texts"] == ["a small house", "a little house", "the small house"]
    assert first["totals"] == [-3.5, -4, -5.5]
    assert (first["oracle"], first["source"], first["references"]) == (2, "ein kleines haus", ["the small house"])
    assert first["columns"] == [[-3, -2, -1], [-1, -4, -9]]
    assert second["trees"][0] == [["S"], ["NP"], "he", 0, ["VP"], "sees", ["NP"], "it", 0, 0, 0]
    assert "trees" not in first
    assert third["columns"] == [-1, -1, 2]


def test_long_lists_are_cut_but_for_the_oracle() -> None:
    one = Candidates("0", [*"abcdef", "right", "g"], [("x",)] * 8, [[-float(i)] for i in range(8)])
    judged = judge(as_stream([one]), [texts(["right"])], Overlap(), weights={"x": 1.0})
    data = data_of(page(Report("", judged=judged), 3))
    block = opened(data["blocks"][0])
    assert block["texts"] == ["a", "b", "c", "right"]
    assert (block["oracle"], block["last"], data["sizes"]) == (3, 6, [8])
    assert block["columns"] == [[0, -1, -2, -6]]


def test_sparse_columns_come_back() -> None:
    layouts = [("x", f"s:{i % 7}") for i in range(20)]
    values = [[1.5, float(i + 1)] for i in range(20)]
    one = Candidates("0", [f"t{i}" for i in range(20)], layouts, values)
    judged = judge(as_stream([one]), [texts(["t3"])], Overlap())
    data = data_of(page(Report("", judged=judged)))
    names, block = opened(data["features"])["names"], opened(data["blocks"][0])
    for i in range(20):
        row = {}
        for feature, column in zip(block["features"], block["columns"], strict=True):
            if isinstance(column, dict):
                value = dict(zip(column["rows"], column["values"], strict=True)).get(i, 0)
            else:
                value = column[i] if isinstance(column, list) else column
            if value:
                row[names[feature]] = value
        assert row == dict(zip(layouts[i], values[i], strict=True))


def test_numbers_keep_six_digits() -> None:
    values = [0.0, -0.0, 1 / 3, -2e-9 / 3, 123456789.0, 1e300 / 7, 5e-324, -46.5233, 0.1, float("inf"), float("nan")]
    found = rounded(values)
    assert found[-2:] == [None, None]
    for value, short_value in zip(values[:-2], found[:-2], strict=True):
        assert short_value == pytest.approx(value, rel=5.1e-6, abs=1e-300)
        assert len(re.sub(r"e.*|\D", "", shortest(short_value or 0.0)).strip("0")) <= 6
    assert json.dumps(rounded([-0.0])) == "[0.0]"


@pytest.mark.parametrize("seed", range(4))
def test_contributions_are_those_of_plain_loops(seed: int) -> None:
    source = np.random.default_rng(seed)
    names = ("a", "b", "c")
    lists = []
    for k in range(5):
        table = source.integers(-3, 4, (source.integers(1, 6), 3)).astype(float)
        kept = [tuple(name for name, value in zip(names, row, strict=True) if value) for row in table]
        lists.append(
            Candidates(
                str(k), [f"t{source.integers(4)} x" for _ in table], kept, [[v for v in row if v] for row in table]
            )
        )
    weights = {"a": 0.5, "b": -2.0, "c": 0.0}
    judged = judge(as_stream(lists), [texts([f"t{source.integers(4)}" for _ in lists])], Overlap(), weights=weights)
    parts = {name: [] for name in names}  # type: ignore[var-annotated]
    for k, one in enumerate(judged.lists):
        rows = [dict(zip(*pair, strict=True)) for pair in zip(one.layouts, one.values, strict=True)]
        oracle = int(judged.oracles[k] - judged.lists.offsets[k])
        for name in names:
            column = [weights[name] * row.get(name, 0.0) for row in rows]
            parts[name].append((np.var(column), column[0], column[0] - column[oracle]))
    found = {one.name: one for one in contributions(judged)}
    for name in names:
        variance, chosen, misled = np.mean(parts[name], axis=0)
        one = found[name]
        assert (one.spread, one.chosen, one.misled) == pytest.approx((variance**0.5, chosen, misled), abs=1e-12)
    spreads = [one.spread for one in contributions(judged)]
    assert spreads == sorted(spreads, reverse=True)


def test_a_plot_has_its_points_and_what_is_no_number_is_left_out() -> None:
    drawn = plot("t<", "step", [Line("a&b", [(1, 2.0), (2, float("nan")), (3, 4.0)])], Band("between", [(1, 1.0, 3.0)]))
    found = Reader(drawn)
    assert [tag for tag, _ in found.elements].count("circle") == 2
    assert "a&b, step 3: 4" in found.parts
    assert plot("empty", "step", [Line("a", [(1, float("inf"))])]) == ""
    flat = plot("flat", "n", [Line("a", [(1, 0.5), (2, 0.5), (4, 0.5)])], doubling=True)
    assert "nan" not in flat and "0.5" in flat


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (-1.5, "\u22121.5"),
        (41.0593, "41.06"),
        (12345.6, "12346"),
        (1e-9, "1e\u221209"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_as_people_read_them(value: float, shown: str) -> None:
    assert short(value) == shown


def test_runs_alone_make_a_page() -> None:
    runs = tuple(
        RunHistory(f"r{k}", tuple(range(1, 1200)), {"objective": tuple(i / k for i in range(1199))}, {"x": k, "y": 0})
        for k in (1.0, 2.0)
    )
    text = page(Report("Learning", (), runs))
    found = Reader(text)
    assert data_of(text) is None
    assert [a["id"] for tag, a in found.elements if tag == "section"] == ["overview", "curves", "weights"]
    assert len(text) < 400_000


def test_the_format_writes_one_report() -> None:
    out = io.StringIO()
    assert FORMAT.write is not None
    assert FORMAT.write([small()], out, shortest) == 1
    assert out.getvalue() == page(small())
    for records in ([], [small()] * 2, ["text"]):
        with pytest.raises(FormatError, match="expected one report for a page"):
            FORMAT.write(records, out, shortest)
    with pytest.raises(UsageError, match="candidates: expected 1 or more, found 0"):
        FORMAT.write([small()], out, shortest, candidates=0)  # type: ignore[call-arg]
