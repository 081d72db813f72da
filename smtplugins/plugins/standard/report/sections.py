"""The sections of a page: overview, curves, weights and oracle as HTML, and placeholders for those made by scripts."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

from smtplugins.contracts.tools.judging import OBJECTIVE, Report, RunHistory
from smtplugins.plugins.standard.report.plots import Band, Line, bar, plot, short
from smtplugins.plugins.standard.report.trees import Shown

MOST_WEIGHTS = 200
MOST_STEPS = 500


def contents(report: Report) -> str:
    """Return the links at the top of the page."""
    links = [f'<a href="#{key}">{name}</a>' for key, name in _parts(report)]
    return "\n".join(links)


def sections(report: Report, trees: Shown | None = None) -> Iterator[str]:
    """Yield the sections; ``trees`` are the trees in the page."""
    writers: dict[str, Callable[[Report], Iterator[str]]] = {
        "overview": _overview,
        "curves": _curves,
        "weights": _weights,
        "depth": _depth,
        "wins": _frame,
        "browser": _frame,
        "built": lambda _: iter(()) if trees is None else trees.section(),
    }
    for key, name in _parts(report):
        body = "\n".join(writers[key](report))
        title = f'<h2 id="{key}-title">{name}</h2>'
        yield f'<section id="{key}" aria-labelledby="{key}-title">\n{title}\n{body}\n</section>'


def _parts(report: Report) -> Iterator[tuple[str, str]]:
    yield "overview", "Overview"
    if report.runs:
        yield "curves", "Learning curves"
    if report.runs or report.judged is not None:
        yield "weights", "Weights and contributions"
    if report.judged is not None:
        yield "depth", "Oracle by depth"
        yield "wins", "Wins and losses"
        yield "browser", "Lists"
    if report.built is not None:
        yield "built", "How translations were built"


def _frame(report: Report) -> Iterator[str]:
    yield "<noscript><p>This part is made by the page's own script, which is switched off here.</p></noscript>"


def _overview(report: Report) -> Iterator[str]:
    judged = report.judged
    if judged is not None:
        firsts = judged.lists.offsets[:-1]
        change = judged.scores[firsts] - judged.baseline_scores
        sign = 1 if judged.higher_is_better else -1
        wins, losses = int((sign * change > 0).sum()), int((sign * change < 0).sum())
        rows = [
            ("baseline", judged.baseline_name, judged.baseline_score),
            (
                "chosen",
                "the best of each list" + (" under the weights" if judged.weights is not None else ""),
                judged.score,
            ),
            ("oracle", "the best of each list by sentence score", judged.depths[-1][1]),
        ]
        yield table(
            f"{judged.metric} of {len(judged.lists):,} sentences",
            ("system", "what", judged.metric),
            [(name, what, short(score)) for name, what, score in rows],
            numbers={2},
        )
        yield (
            f"<p>Against the baseline, sentence by sentence: {wins:,} better, {losses:,} worse, "
            f"{len(judged.lists) - wins - losses:,} equal. "
            f"{'Higher' if judged.higher_is_better else 'Lower'} is better.</p>"
        )
    if report.facts:
        rows_of = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in report.facts)
        yield f"<dl>{rows_of}</dl>"


def _curves(report: Report) -> Iterator[str]:
    runs = report.runs
    yield f"<p>{_how_many(runs)}</p>"
    yield '<div class="plots">'
    names = dict.fromkeys(name for run in runs for name in run.curves)
    for name in [*names][1:]:
        # The objective is often a metric that has its own curve.
        if all(run.curves.get(name) == run.curves[OBJECTIVE] for run in runs):
            names.pop(OBJECTIVE, None)
    for name in names:
        lines = [
            Line(run.name, list(zip(run.steps, run.curves[name], strict=True)), "line" if len(runs) == 1 else "each")
            for run in runs
            if name in run.curves
        ]
        spread = _spread(lines)
        band = None
        if len(lines) > 1:
            band = Band("from the lowest run to the highest", [(x, min(ys), max(ys)) for x, ys in spread])
            lines.append(Line("mean", [(x, statistics.fmean(ys)) for x, ys in spread]))
        drawn = plot(f"{name} by step", "step", lines, band)
        rows = [
            (
                f"{x:g}",
                *([short(statistics.fmean(ys)), short(_deviation(ys))] if len(runs) > 1 else []),
                *(short(y) for y in ys),
            )
            for x, ys in spread
        ]
        heads = ["step", *(["mean", "deviation"] if len(runs) > 1 else []), *(["runs"] if len(runs) > 1 else [name])]
        yield f"<figure><figcaption>{escape(name)}</figcaption>\n{drawn or '<p>No numbers.</p>'}"
        yield f"<details><summary>The numbers</summary>{_numbers(name, heads, rows)}</details></figure>"
    yield "</div>"


def _how_many(runs: Sequence[RunHistory]) -> str:
    if len(runs) == 1:
        steps = len(runs[0].steps)
        return f"One run of {steps} step{'s' * (steps > 1)}, {escape(runs[0].name)}."
    names = ", ".join(escape(run.name) for run in runs)
    return (
        f"{len(runs)} runs: {names}. The heavy line is the mean of the runs that came to a step, the area lies between "
        "the lowest and the highest of them, the thin lines are the runs."
    )


def _spread(lines: Iterable[Line]) -> list[tuple[float, list[float]]]:
    values: dict[float, list[float]] = {}
    for line in lines:
        for x, y in line.points:
            if math.isfinite(y):
                values.setdefault(x, []).append(y)
    return sorted(values.items())


def _deviation(values: Sequence[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else 0.0


def _numbers(name: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of steps; beyond ``MOST_STEPS`` only every n-th, and the last."""
    every = -(-len(rows) // MOST_STEPS) or 1
    kept = [row for at, row in enumerate(rows) if at % every == 0 or at == len(rows) - 1]
    wide = max((len(row) for row in kept), default=len(heads))
    heads = [*heads, *[""] * (wide - len(heads))]
    return table(name, heads, [[*row, *[""] * (wide - len(row))] for row in kept], numbers=set(range(wide)), said=False)


def _weights(report: Report) -> Iterator[str]:
    from smtplugins.plugins.standard.report.contributions import Contribution, contributions

    judged, runs = report.judged, report.runs
    if judged is not None:
        rows = contributions(judged)
        yield (
            "<p>Weight times value is what a feature adds to a total. <b>Spread</b> is how far that varies within a "
            "list: features with much of it do the sorting. <b>In chosen</b> is its mean in the chosen hypotheses. "
            "<b>Chosen \u2212 oracle</b> is how much more of it the chosen ones have than the oracle ones, on the "
            "mean: what is positive speaks against the oracle.</p>"
        )
        if judged.weights is None:
            yield "<p>No weights were given: they count as 1 here.</p>"
    else:
        names = dict.fromkeys(name for run in runs for name in run.weights)
        rows = [Contribution(name, _mean_weight(runs, name), 0.0, 0.0, 0.0) for name in names]
        rows.sort(key=lambda part: (-abs(part.weight), part.name))
    several = len(runs) > 1
    # Weights from a file may differ from the runs' mean.
    apart = several and any(
        not math.isclose(part.weight, _mean_weight(runs, part.name), abs_tol=1e-12) for part in rows
    )
    heads = ["feature", "weight", *(["mean of runs"] if apart else []), *(["deviation"] if several else [])]
    heads += ["spread", "", "in chosen", "chosen \u2212 oracle", ""] if judged else [""]
    shown = rows[:MOST_WEIGHTS]
    top = max((part.spread for part in shown), default=0.0)
    blame = max((abs(part.misled) for part in shown), default=0.0)
    heaviest = max((abs(part.weight) for part in shown), default=0.0)
    cells: list[list[str | Html]] = []
    for part in shown:
        row: list[str | Html] = [part.name, short(part.weight)]
        if several:
            given = [run.weights.get(part.name, 0.0) for run in runs]
            row += [short(statistics.fmean(given))] * apart + [short(_deviation(given))]
        if judged is not None:
            row += [
                short(part.spread),
                Html(bar(part.spread, top, signed=False)),
                short(part.chosen),
                short(part.misled),
                Html(bar(part.misled, blame)),
            ]
        else:
            row.append(Html(bar(part.weight, heaviest)))
        cells.append(row)
    name = "Features by spread" if judged else "Features by weight"
    yield table(name, heads, cells, numbers={i for i, head in enumerate(heads) if i and head})
    if len(rows) > len(shown):
        yield f"<p>The first {len(shown)} of {len(rows):,} features.</p>"


def _mean_weight(runs: Sequence[RunHistory], name: str) -> float:
    return statistics.fmean(run.weights.get(name, 0.0) for run in runs)


def _depth(report: Report) -> Iterator[str]:
    judged = report.judged
    assert judged is not None
    yield (
        f"<p>{escape(judged.metric)} if the best by sentence score among the first n of each list were chosen: what "
        "these lists could give at most to a better order.</p>"
    )
    drawn = plot(
        f"{judged.metric} of the oracle by depth of the list", "n", [Line("oracle", judged.depths)], doubling=True
    )
    yield f'<div class="plots"><figure><figcaption>{escape(judged.metric)}@n</figcaption>\n{drawn}</figure>'
    rows = [(f"{n:,}", short(score), short(score - judged.score)) for n, score in judged.depths]
    yield table(f"{judged.metric} by depth", ("n", judged.metric, "above the chosen"), rows, numbers={0, 1, 2})
    yield "</div>"


class Html(str):
    """Trusted HTML made by this package, which is not escaped."""

    __slots__ = ()


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: set[int] = frozenset(),  # type: ignore[assignment]
    said: bool = True,
) -> str:
    """Return a table whose first column names its rows; cells are escaped unless they are `Html`."""

    def cell(at: int, text: str) -> str:
        body = text if isinstance(text, Html) else f"<bdi>{escape(text)}</bdi>"
        kind = ' class="number"' if at in numbers else ""
        return f'<th scope="row"{kind}>{body}</th>' if at == 0 else f"<td{kind}>{body}</td>"

    parts = ['<div class="scroll"><table>', f"<caption{'' if said else ' class=hidden'}>{escape(caption)}</caption>"]
    marks = "".join(
        f'<th scope="col"{" class=number" if at in numbers else ""}>{escape(head)}</th>' if head else "<td></td>"
        for at, head in enumerate(heads)
    )
    parts.append(f"<thead><tr>{marks}</tr></thead><tbody>")
    parts += [f"<tr>{''.join(cell(at, text) for at, text in enumerate(row))}</tr>" for row in rows]
    parts.append("</tbody></table></div>")
    return "\n".join(parts)
