"""Random word-aligned texts, and a slow extraction from the definitions to check the native one against."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from smtformats.reordering.models import ReorderingModel

Words: TypeAlias = tuple[str, ...]
Links: TypeAlias = frozenset[tuple[int, int]]
Stretch: TypeAlias = tuple[int, int, int, int]  # first and last source word, first and last target word

# Each but the last has a byte that sorts before or behind the blank or the bar.
WORDS = ["a", "ab", "a{", "a|", "a~", "a\x01", "|", "||", "b}", "é", "z"]
NAMES = ("mono", "swap", "dleft", "dright")
OTHER = {"monotonicity": "nomono", "msd": "other", "mslr": "dright"}
CLASSES = {
    "msd": [{"mono"}, {"swap"}, {"other", "dleft", "dright"}],
    "mslr": [{"mono"}, {"swap"}, {"dleft"}, {"dright"}],
    "monotonicity": [{"mono"}, {"nomono", "swap", "other", "dleft", "dright"}],
    "leftright": [{"mono", "dright"}, {"swap", "dleft"}],
}
RICHNESS = ["", "monotonicity", "msd", "mslr"]


@dataclass(frozen=True)
class Pair:
    """A sentence, its translation, and their links as they are written, some of them twice."""

    source: Words
    target: Words
    written: tuple[tuple[int, int], ...]

    @property
    def links(self) -> Links:
        return frozenset(self.written)

    def lines(self) -> tuple[str, str, str]:
        links = " ".join(f"{source}-{target}" for source, target in self.written)
        return " ".join(self.source), " ".join(self.target), links


def random_text(rng: random.Random, sentences: int, longest: int = 6) -> list[Pair]:
    words = WORDS[: rng.randint(2, len(WORDS))]
    text = []
    for _ in range(sentences):
        source = tuple(rng.choices(words, k=rng.randint(0 if rng.random() < 0.1 else 1, longest)))
        target = tuple(rng.choices(words, k=rng.randint(1, longest)))
        near = rng.random() < 0.6
        places = [
            (i, min(len(target) - 1, max(0, i + rng.choice((-1, 0, 0, 1)))) if near else rng.randrange(len(target)))
            for i in rng.choices(range(len(source)), k=rng.randint(0, longest + 1))
            if source
        ] if source else []  # fmt: skip
        text.append(Pair(source, target, tuple(places)))
    return text


def consistent(links: Links, stretch: Stretch) -> bool:
    """At least one link is inside, and none leads out."""
    first_source, last_source, first_target, last_target = stretch
    ends = [(first_source <= s <= last_source, first_target <= t <= last_target) for s, t in links]
    return (True, True) in ends and all(a == b for a, b in ends)


def stretches(pair: Pair, limit: int) -> list[Stretch]:
    """By target, then from where the links begin outwards, the source side growing to the right first."""
    boxes = [
        (a, b, c, d)
        for c in range(len(pair.target))
        for d in range(c, min(len(pair.target), c + limit))
        for a in reversed(range(len(pair.source)))
        for b in range(a, min(len(pair.source), a + limit))
    ]
    return [box for box in boxes if consistent(pair.links, box)]


def linked(pair: Pair, source: int, target: int) -> bool:
    """Also the places before and behind both sentences are linked to each other."""
    corners = {(-1, -1), (len(pair.source), len(pair.target))}
    return (source, target) in pair.links | corners


@dataclass(frozen=True)
class Orienter:
    """How stretches of a sentence pair lie to what is before or behind them.

    Word-based: by the links next to the corners. Phrase-based: by consistent stretches of at most ``limit`` words too;
    hierarchical: by those of any length. Behind a stretch Moses takes a stretch for its neighbour that *ends* with the
    next target word.
    """

    pair: Pair
    limit: int
    kinds: tuple[str, str, str]

    def classes(self, stretch: Stretch, behind: bool) -> list[str]:
        first, last, above, below = stretch
        near, far = (last + 1, first - 1) if behind else (first - 1, last + 1)
        target = below + 1 if behind else above - 1
        beyond_near = [s for s in range(-1, len(self.pair.source) + 1) if (s > near if behind else s < near)]
        beyond_far = [s for s in range(-1, len(self.pair.source) + 1) if (s < far if behind else s > far)]
        known = ""
        result = []
        for extraction, kind in enumerate(self.kinds):
            if not kind:
                result.append("")
                continue
            if extraction == 0:
                orientation = self.by_words(kind, near, far, target, beyond_near, beyond_far)
            else:
                most = self.limit if extraction == 1 else max(len(self.pair.source), len(self.pair.target))
                orientation = self.by_stretches(kind, near, far, target, beyond_near, beyond_far, behind, most, known)
                known = orientation if extraction == 1 else known
            result.append(orientation or OTHER[kind])
        return result

    def by_words(
        self, kind: str, near: int, far: int, target: int, beyond_near: list[int], beyond_far: list[int]
    ) -> str:
        at_near, at_far = linked(self.pair, near, target), linked(self.pair, far, target)
        if at_near and not at_far:
            return "mono"
        if at_far and not at_near and kind != "monotonicity":
            return "swap"
        if kind != "mslr" or at_near:
            return ""
        left = any((s, target) in self.pair.links for s in beyond_near)
        right = any((s, target) in self.pair.links for s in beyond_far)
        return "" if left == right else ("dright" if left else "dleft")

    def by_stretches(
        self,
        kind: str,
        near: int,
        far: int,
        target: int,
        beyond_near: list[int],
        beyond_far: list[int],
        behind: bool,
        most: int,
        known: str,
    ) -> str:
        neighbours = [stretch for stretch in stretches(self.pair, most) if stretch[3] == target]
        ends, begins = {stretch[1] for stretch in neighbours}, {stretch[0] for stretch in neighbours}
        nearest, farthest = (begins, ends) if behind else (ends, begins)
        at_near, at_far = linked(self.pair, near, target), linked(self.pair, far, target)
        if known == "mono" or (at_near and not at_far) or near in nearest:
            return "mono"
        if kind == "monotonicity":
            return ""
        if known == "swap" or (at_far and not at_near) or far in farthest:
            return "swap"
        if kind == "msd":
            return ""
        inner = set(range(len(self.pair.source) - 1))  # where one goes to the right Moses leaves out the last word
        if known:
            return known
        if nearest & set(beyond_near) & (inner if behind else inner | {len(self.pair.source) - 1}):
            return "dright"
        if farthest & set(beyond_far) & (inner | {len(self.pair.source) - 1} if behind else inner):
            return "dleft"
        return ""


@dataclass
class Seen:
    """A phrase pair."""

    alignments: Counter[Links] = field(default_factory=Counter)
    orientations: Counter[tuple[int, bool, str]] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        return sum(self.alignments.values())


class Extraction:
    """All that a text gives, as lines."""

    def __init__(self, text: list[Pair], limit: int = 7, models: list[ReorderingModel] | None = None) -> None:
        self.text = text
        self.models = models or []
        order = ("wbe", "phrase", "hier")
        kinds = [
            max(
                (
                    "mslr" if m.orientation == "leftright" else m.orientation
                    for m in self.models
                    if m.extraction == kind
                ),
                key=RICHNESS.index,
                default="",
            )
            for kind in order
        ]
        self.kinds = (kinds[0], kinds[1], kinds[2])
        self.pairs: defaultdict[tuple[Words, Words], Seen] = defaultdict(Seen)
        self.occurrences: list[list[str]] = [[], [], []]
        for pair in text:
            orienter = Orienter(pair, limit, self.kinds)
            for stretch in stretches(pair, limit):
                before, behind = orienter.classes(stretch, False), orienter.classes(stretch, True)
                self._add(pair, stretch, before, behind)

    def _add(self, pair: Pair, stretch: Stretch, before: list[str], behind: list[str]) -> None:
        a, b, c, d = stretch
        source, target = pair.source[a : b + 1], pair.target[c : d + 1]
        links = frozenset((s - a, t - c) for s, t in pair.links if a <= s <= b and c <= t <= d)
        seen = self.pairs[source, target]
        seen.alignments[links] += 1
        for extraction, (first, second) in enumerate(zip(before, behind, strict=True)):
            seen.orientations[extraction, False, first] += 1
            seen.orientations[extraction, True, second] += 1
        f, e = " ".join(source), " ".join(target)
        points = sorted(links, key=lambda link: (link[1], link[0]))
        self.occurrences[0].append(f"{f} ||| {e} ||| {' '.join(f'{s}-{t}' for s, t in points)}")
        self.occurrences[1].append(f"{e} ||| {f} ||| {' '.join(f'{t}-{s}' for s, t in points)}")
        said = [f"{first} {second}".strip() for first, second in zip(before, behind, strict=True)]
        shown = " | ".join(said) if self.kinds[1] or self.kinds[2] else said[0]
        self.occurrences[2].append(f"{f} ||| {e} ||| {shown}")

    def lexical(self) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
        """p(target word | source word) and the other way, by word and given word, rounded as they are written."""
        counts: Counter[tuple[str, str]] = Counter()
        for pair in self.text:
            counts.update((pair.source[s], pair.target[t]) for s, t in pair.written)
            counts.update(("NULL", word) for t, word in enumerate(pair.target) if t not in {t for _, t in pair.links})
            counts.update((word, "NULL") for s, word in enumerate(pair.source) if s not in {s for s, _ in pair.links})
        by_source: Counter[str] = Counter()
        by_target: Counter[str] = Counter()
        for (source, target), count in counts.items():
            by_source[source] += count
            by_target[target] += count
        return (
            {(t, s): float(f"{count / by_source[s]:.7f}") for (s, t), count in counts.items()},
            {(s, t): float(f"{count / by_target[t]:.7f}") for (s, t), count in counts.items()},
        )

    def phrase_table(self, smoothing: str = "none") -> list[str]:
        f2e, e2f = self.lexical()
        by_source: Counter[Words] = Counter()
        by_target: Counter[Words] = Counter()
        for (source, target), seen in self.pairs.items():
            by_source[source] += seen.count
            by_target[target] += seen.count
        discounted = self._smoothing(smoothing, by_source, by_target)
        lines = []
        for (source, target), seen in self.pairs.items():
            links = best(seen.alignments, len(target))
            turned = Counter({frozenset((t, s) for s, t in links): count for links, count in seen.alignments.items()})
            back = best(turned, len(source))
            direct, inverse = discounted(source, target, seen.count)
            scores = [
                np.float32(inverse) / np.float32(by_target[target]),
                np.float32(weight(e2f, target, source, back)),
                np.float32(direct) / np.float32(by_source[source]),
                np.float32(weight(f2e, source, target, links)),
            ]
            points = " ".join(f"{s}-{t}" for s, t in sorted(links, key=lambda link: (link[1], link[0])))
            shown = " ".join(f"{score:.6g}" for score in scores)
            counts = f"{by_target[target]} {by_source[source]} {seen.count}"
            lines.append(f"{' '.join(source)} ||| {' '.join(target)} ||| {shown} ||| {points} ||| {counts} ||| |||")
        return sorted(lines, key=str.encode)

    def _smoothing(
        self, name: str, by_source: Counter[Words], by_target: Counter[Words]
    ) -> Callable[[Words, Words, int], tuple[float, float]]:
        """Counts as p(target | source) and p(source | target) take them; all in single precision."""
        f = np.float32
        n = Counter(seen.count for seen in self.pairs.values())
        if name == "good-turing":
            discounts = [f(0.01)]
            for i in range(1, 10):
                factor = f(float(f(i + 1) / f(i)) * ((n[i + 1] + 0.1) / (n[i] + 0.1)))
                discounts.append(max(min(factor, f(1)), discounts[-1]))
            return lambda source, target, count: (
                (float(f(count) * discounts[count]),) * 2 if count < 9 else (float(count),) * 2
            )
        if name == "kneser-ney":
            y = f(n[1]) / (f(n[1]) + f(2) * f(n[2]))
            estimates = [f(i) - f(i + 1) * y * f(n[i + 1]) / f(n[i]) for i in (1, 2, 3)]
            limits = [min(discount, f(most)) for discount, most in zip(estimates, (0.9, 1.9, 2.9), strict=True)]
            sources = Counter(source for source, _ in self.pairs)
            targets = Counter(target for _, target in self.pairs)
            total = f(len(self.pairs))

            def smoothed(source: Words, target: Words, count: int) -> tuple[float, float]:
                discount = limits[min(count, 3) - 1]
                discount = f(count - 0.01) if discount > count else discount
                source_total, target_total = f(by_source[source]), f(by_target[target])
                for_source = discount * f(sources[source]) / source_total
                for_target = discount * f(targets[target]) / target_total
                rest = f(count) - discount
                return (
                    float(rest + source_total * for_source * (f(targets[target]) / total)),
                    float(rest + target_total * for_target * (f(sources[source]) / total)),
                )

            return smoothed
        return lambda source, target, count: (count, count)

    def reordering_table(self, model: ReorderingModel, smoothing: float = 0.5) -> list[str]:
        extraction = ("wbe", "phrase", "hier").index(model.extraction)
        rows: defaultdict[str, Counter[tuple[int, bool, str]]] = defaultdict(Counter)
        for (source, target), seen in self.pairs.items():
            sides = [source] if model.condition == "f" else [source, target]
            rows["".join(f"{' '.join(side)} ||| " for side in sides)].update(seen.orientations)
        lines = []
        for key, counted in rows.items():
            numbers = []
            for direction in model.directions:
                counts = [
                    sum(counted[extraction, direction == "forward", name] for name in names) + smoothing
                    for names in CLASSES[model.orientation]
                ]
                numbers += [f"{count / sum(counts):.6g}" for count in counts]
            lines.append(key + " ".join(numbers))
        return sorted(lines, key=str.encode)


def best(alignments: Counter[Links], words: int) -> Links:
    """The most frequent alignment; of several the one whose words, one by one, are linked to greater places."""
    places: dict[Links, list[list[int]]] = {
        links: [sorted(s for s, t in links if t == word) for word in range(words)] for links in alignments
    }
    return max(alignments, key=lambda links: (alignments[links], places[links]))


def weight(table: dict[tuple[str, str], float], given: Words, words: Words, links: Links) -> float:
    """Each word by the mean over what it is linked to, by NULL if that is nothing."""
    product = 1.0
    for place, word in enumerate(words):
        probs = [table.get((word, given[s]), 1.0) for s, t in sorted(links) if t == place]
        product *= sum(probs) / len(probs) if probs else table.get((word, "NULL"), 1.0)
    return product


def lexical_lines(table: dict[tuple[str, str], float]) -> Iterator[str]:
    yield from sorted((f"{word} {given} {prob:.7f}" for (word, given), prob in table.items()), key=str.encode)
