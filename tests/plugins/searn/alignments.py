"""Random alignments, and items and labels found slowly, from the definitions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

from smtplugins.plugins.searn.labels.items import AlignedItem, Span

Link = tuple[int, int]
Window = tuple[int, int, int, int]
"""First and end of source words, first and end of target words."""


def random_links(rng: random.Random, sources: int, targets: int) -> list[Link]:
    """Sometimes near the diagonal, sometimes a permutation of chunks, sometimes anything."""
    kind = rng.random()
    if kind < 0.3:
        count = rng.randint(0, sources + targets)
        return [(rng.randrange(sources), rng.randrange(targets)) for _ in range(count)]
    places = list(range(targets))
    if kind < 0.7:
        rng.shuffle(places)
    links = [(i, places[i]) for i in range(min(sources, targets)) if rng.random() < 0.85]
    return links + [(rng.randrange(sources), rng.randrange(targets)) for _ in range(rng.choice((0, 0, 0, 1)))]


def bi_closed(links: Sequence[Link], sources: int) -> list[Window]:
    """Windows of source words, first and last of them linked, and their target words, that no link leads out of."""
    found = []
    for first, end in itertools.combinations(range(sources + 1), 2):
        inside = [link for link in links if first <= link[0] < end]
        ends = {link[0] for link in inside}
        if not {first, end - 1} <= ends:
            continue
        below, above = min(t for _, t in inside), max(t for _, t in inside) + 1
        if all(first <= s < end for s, t in links if below <= t < above):
            found.append((first, end, below, above))
    return found


def around(window: Window, closed: Sequence[Window]) -> Window:
    """The smallest bi-closed window that holds this one."""
    holding = [one for one in closed if one[0] <= window[0] and window[1] <= one[1]]
    holding = [one for one in holding if one[2] <= window[2] and window[3] <= one[3]]
    return min(holding, key=lambda one: (one[1] - one[0], one[3] - one[2]))


def meet(a: Window, b: Window) -> bool:
    """Whether windows have words in common."""
    return (a[0] < b[1] and b[0] < a[1]) or (a[2] < b[3] and b[2] < a[3])


def blocks_of(links: Sequence[Link], sources: int) -> list[Window]:
    """The finest windows that have no words in common and hold all links: merged by pairs, till none meet."""
    closed = bi_closed(links, sources)
    windows = sorted({around((s, s + 1, t, t + 1), closed) for s, t in links})
    while True:
        pair = next(((a, b) for a, b in itertools.combinations(windows, 2) if meet(a, b)), None)
        if pair is None:
            return windows
        a, b = pair
        whole = (min(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), max(a[3], b[3]))
        windows = sorted({*windows} - {a, b} | {around(whole, closed)})


def reducible(spans: Sequence[Span]) -> bool:
    """Whether neighbours can be reduced, in any order of doing so, till one is left."""
    if len(spans) == 1:
        return True
    for cut in range(1, len(spans)):
        left, right = spans[:cut], spans[cut:]
        ends = [(min(a for a, _ in side), max(b for _, b in side)) for side in (left, right)]
        if (ends[0][1] == ends[1][0] or ends[1][1] == ends[0][0]) and reducible(left) and reducible(right):
            return True
    return False


def interval(spans: Sequence[Span]) -> bool:
    """Whether there is nothing of others between them."""
    return max(b for _, b in spans) - min(a for a, _ in spans) == sum(b - a for a, b in spans)


def items_slowly(sources: int, targets: int, links: Sequence[Link]) -> list[AlignedItem]:
    """Items from the definitions: the smallest windows that don't decompose are merged first, till all decompose."""
    if not links:
        return []
    closed = bi_closed(links, sources)
    blocks = [(window, [window]) for window in attached(blocks_of(links, sources), targets)]
    while not reducible([one[0][2:] for one in blocks]):
        windows = sorted(itertools.combinations(range(len(blocks) + 1), 2), key=lambda one: (one[1] - one[0], one[0]))
        for a, b in windows:
            spans = [one[0][2:] for one in blocks[a:b]]
            if interval(spans) and not reducible(spans):
                break
        inner = [leaf for _, leaves in blocks[a:b] for leaf in leaves]
        whole = (blocks[a][0][0], blocks[b - 1][0][1], min(c for c, _ in spans), max(d for _, d in spans))
        blocks[a:b] = [(whole, inner)]
    items = []
    for whole, leaves in blocks:
        parts = [leaf for leaf in leaves if len(leaves) > 1]
        crossing = False
        for leaf in leaves:
            tight = [(s, t) for s, t in links if leaf[0] <= s < leaf[1]]
            crossing |= not connected(tight)
            parts += sorted(inside(tight, closed))
        kind = "simple" if len(leaves) > 1 else "crossing" if crossing else "linked"
        items.append(AlignedItem(whole[:2], whole[2:], kind, tuple((part[:2], part[2:]) for part in parts)))
    covered = {word for item in items for word in range(*item.source)}
    items += [AlignedItem((word, word + 1), (0, 0), "unaligned") for word in range(sources) if word not in covered]
    return sorted(items, key=lambda item: item.source)


def attached(blocks: Sequence[Window], targets: int) -> list[Window]:
    """With target words that belong to no block."""
    starts = sorted(block[2] for block in blocks)
    found = []
    for a, b, first, _ in blocks:
        later = [start for start in starts if start > first]
        found.append((a, b, 0 if first == starts[0] else first, later[0] if later else targets))
    return found


def connected(links: Sequence[Link]) -> bool:
    """Whether one gets from each link to each other over shared words."""
    reached, todo = set(), [links[0]]
    while todo:
        one = todo.pop()
        if one not in reached:
            reached.add(one)
            todo += [link for link in links if link[0] == one[0] or link[1] == one[1]]
    return reached == set(links)


def inside(links: Sequence[Link], closed: Sequence[Window]) -> set[Window]:
    """The smallest bi-closed windows around each group of linked words, but for one around all of them."""
    whole = (
        min(s for s, _ in links),
        max(s for s, _ in links) + 1,
        min(t for _, t in links),
        max(t for _, t in links) + 1,
    )
    return {around((s, s + 1, t, t + 1), closed) for s, t in links} - {whole}


def labels_slowly(spans: Sequence[Span]) -> tuple[list[str], int]:
    """Labels by keeping the target words of each element of the stack as a list."""
    stack: list[list[int]] = []
    labels = []
    for first, end in spans:
        stack.append(list(range(first, end)))
        label = "S"
        while len(stack) > 1:
            left, right = stack[-2:]
            joined = {"R+": left + right, "R-": right + left}
            way = next((name for name, words in joined.items() if rising(words) or not (left and right)), None)
            if way is None:
                break
            label += f",{way}"
            stack[-2:] = [joined[way]]
        labels.append(label)
    return labels, len(stack)


def rising(words: Sequence[int]) -> bool:
    """Without a gap."""
    return all(b == a + 1 for a, b in itertools.pairwise(words))


def random_separable(rng: random.Random, length: int) -> list[int]:
    """A permutation that a random binary tree makes."""
    if length == 1:
        return [0]
    cut = rng.randint(1, length - 1)
    left, right = random_separable(rng, cut), random_separable(rng, length - cut)
    if rng.random() < 0.5:
        return left + [place + cut for place in right]
    return [place + length - cut for place in left] + right


def avoids(permutation: Sequence[int], pattern: Sequence[int]) -> bool:
    """Whether no elements of it are in the order of the pattern."""
    order = sorted(range(len(pattern)), key=pattern.__getitem__)
    for chosen in itertools.combinations(permutation, len(pattern)):
        if sorted(range(len(pattern)), key=chosen.__getitem__) == order:
            return False
    return True
