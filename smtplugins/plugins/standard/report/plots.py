"""Line plots as inline SVG; colours come from the page's style sheet by class, and so follow its theme."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 460, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 14, 44
_DOTS = 64
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """Points joined by a line; ``kind`` is its class in the style sheet."""

    name: str
    points: Points
    kind: str = "line"


@dataclass(frozen=True)
class Band:
    """The area between two values at each x."""

    name: str
    rows: Sequence[tuple[float, float, float]]


def short(value: float) -> str:
    """Format a number with about four digits."""
    if not math.isfinite(value):
        return str(value)
    value += 0.0  # -0.0 becomes 0.0
    text = f"{value:.4g}" if abs(value) < 1000 or abs(value) >= 1e7 else f"{value:.0f}"
    return text.replace("-", "\u2212")


def plot(title: str, across: str, lines: Sequence[Line], band: Band | None = None, *, doubling: bool = False) -> str:
    """Draw a plot with axes; ``doubling`` makes the x axis logarithmic, for x = 1, 2, 4, ..."""
    drawn = [Line(line.name, [p for p in line.points if math.isfinite(p[1])], line.kind) for line in lines]
    every = [point for line in drawn for point in line.points]
    every += [(x, y) for x, *ends in (band.rows if band else ()) for y in ends]
    if not every:
        return ""
    places = sorted({x for x, _ in every})
    scale = math.log2 if doubling else float
    x_of = _Scale(scale(places[0]), scale(places[-1]), _LEFT, WIDTH - _RIGHT)
    low, high, ticks = _ticks([y for _, y in every])
    y_of = _Scale(low, high, HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        *_axes(places, ticks, across, lambda x: x_of(scale(x)), y_of, doubling),
    ]
    if band:
        there = [(x_of(scale(x)), y_of(a), y_of(b)) for x, a, b in band.rows]
        edge = [f"{x:.1f},{y:.1f}" for x, y, _ in there] + [f"{x:.1f},{y:.1f}" for x, _, y in reversed(there)]
        parts.append(f'<polygon class="band" points="{" ".join(edge)}"><title>{escape(band.name)}</title></polygon>')
    for line in drawn:
        spots = [(x_of(scale(x)), y_of(y)) for x, y in line.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        parts.append(f'<polyline class="{line.kind}" points="{path}"><title>{escape(line.name)}</title></polyline>')
        if len(spots) <= _DOTS:
            for (x, y), (place, value) in zip(spots, line.points, strict=True):
                label = escape(f"{line.name}, {across} {place:g}: {short(value)}")
                dot = f'<circle class="{line.kind}" cx="{x:.1f}" cy="{y:.1f}" r="3">'
                parts.append(f"{dot}<title>{label}</title></circle>")
    parts.append("</svg>")
    return "\n".join(parts)


def bar(value: float, largest: float, *, signed: bool = True, width: int = 96) -> str:
    """Draw a bar, to the right for positive values, to the left for negative ones; hidden from screen readers."""
    share = 0.0 if not largest or not math.isfinite(value) else value / largest
    zero = width / 2 if signed else 0.5
    length = abs(share) * (width - zero)
    left = zero if share >= 0 else zero - length
    kind = "plus" if share >= 0 else "minus"
    return (
        f'<svg class="bar" viewBox="0 0 {width} 12" width="{width}" height="12" aria-hidden="true">'
        f'<rect class="{kind}" x="{left:.1f}" y="1" width="{length:.1f}" height="10"/>'
        f'<line class="zero" x1="{zero:g}" y1="0" x2="{zero:g}" y2="12"/></svg>'
    )


class _Scale:
    """A linear map from one range to another."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self._low, self._start = low, start
        self._factor = (end - start) / (high - low) if high > low else 0.0
        self._shift = (end - start) / 2 if high == low else 0.0

    def __call__(self, value: float) -> float:
        return self._start + self._shift + (value - self._low) * self._factor


def _ticks(values: Sequence[float]) -> tuple[float, float, list[tuple[float, str]]]:
    """Return a range that includes all values, and round numbers in it with their labels."""
    low, high = min(values), max(values)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        margin = abs(low) / 10 or 1.0
        low, high = low - margin, high + margin
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.floor(low / step), math.ceil(high / step)
    marks = [step * k for k in range(first, last + 1)]
    digits = max(0, math.ceil(-math.log10(step) + (0 if step / power != 2.5 else 1)))
    labels = [f"{mark:.{digits}f}" if abs(mark) < 1e7 and digits < 10 else f"{mark:.3g}" for mark in marks]
    shown = [(mark, text.replace("-", "\u2212")) for mark, text in zip(marks, labels, strict=True)]
    return marks[0], marks[-1], shown


def _axes(
    places: Sequence[float], ticks: Sequence[tuple[float, str]], across: str, x_of: object, y_of: object, doubling: bool
) -> list[str]:
    assert callable(x_of) and callable(y_of)
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    parts = []
    for value, text in ticks:
        y = y_of(value)
        parts.append(f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    last = -math.inf
    for place in _select_labels(places, doubling):
        if x_of(place) - last > 26:
            last = x_of(place)
            parts.append(f'<line class="axis" x1="{last:.1f}" y1="{bottom}" x2="{last:.1f}" y2="{bottom + 4}"/>')
            parts.append(f'<text x="{last:.1f}" y="{bottom + 18}" text-anchor="middle">{place:g}</text>')
    parts.append(f'<line class="axis" x1="{_LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>')
    middle = (_LEFT + right) / 2
    parts.append(f'<text x="{middle:g}" y="{HEIGHT - 6}" text-anchor="middle">{escape(across)}</text>')
    return parts


def _select_labels(places: Sequence[float], doubling: bool) -> list[float]:
    """Return the x values to label: all if there are few, else those at a round step."""
    if doubling or len(places) <= 12:
        return list(places)
    rough = (places[-1] - places[0]) / 8
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    return [place for place in places if place % step == 0]
