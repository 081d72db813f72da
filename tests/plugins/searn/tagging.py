"""Sentences to be tagged, made at random, and SEARN written down slowly, with dictionaries and names."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Items = list[list[tuple[Any, ...]]]
SHIFTS = ("S", "S,R+", "S,R-", "S,R+,R-", "S,R-,R+")


def sentences(seed: int, count: int = 12, values: bool = False) -> Items:
    """Items with a few features, a label that depends on them and on the one before, and a last word."""
    source = random.Random(seed)
    made: Items = []
    for _ in range(count):
        items: list[tuple[Any, ...]] = []
        before = ""
        for _ in range(source.randint(0, 6)):
            word = source.choice("abcdefgh")
            label = SHIFTS[(ord(word) + len(before)) % 5] if source.random() < 0.8 else source.choice(SHIFTS)
            names = [f"source={word}", f"previous={source.choice('abcd')}", f"target={source.choice('wxyz')}"]
            features: Any = {name: source.choice((1.0, 0.5, -2.0)) for name in names} if values else names
            items.append((features, label, source.choice(("w", "x", "y", ""))))
            before = label
        made.append(items)
    return made


def sticky(seed: int, count: int, labels: int = 4, stay: float = 0.9, hint: float = 0.6) -> Items:
    """Labels that mostly stay what they are, and two hints that tell them more often than not."""
    source = random.Random(seed)
    made: Items = []
    for _ in range(count):
        label = source.randrange(labels)
        items: list[tuple[Any, ...]] = []
        for _ in range(20):
            if source.random() > stay:
                label = source.randrange(labels)
            told = [label if source.random() < hint else source.randrange(labels) for _ in range(2)]
            items.append(([f"hint{k}={one}" for k, one in enumerate(told)], f"T{label}"))
        made.append(items)
    return made


MASK = 2**64 - 1


def chained(key: int, *numbers: int) -> int:
    """SplitMix64, its state moved by the number."""
    for number in numbers:
        z = (key + 0x9E3779B97F4A7C15 * (number + 1)) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        key = z ^ (z >> 31)
    return key


def uniform(key: int) -> float:
    return (key >> 11) / 2**53


def best(scores: Mapping[str, float], labels: Sequence[str]) -> str:
    return max(labels, key=lambda label: scores[label])


class Slow:
    """SEARN, one line of its pseudo-code after another: states are lists of labels, features are names."""

    def __init__(self, items: Items, templates: Sequence[str], **options: Any) -> None:
        self.items, self.templates = items, templates
        known = [item[1] for one in items for item in one]
        self.labels = sorted(set(known), key=lambda label: (-known.count(label), label))
        self.passes = options.get("passes", 5)
        self.iterations = options.get("iterations", 3)
        self.logistic = options.get("base", "perceptron") == "logistic"
        self.rate = options.get("rate", 0.1)
        self.average = options.get("average", True)
        self.shuffle = options.get("shuffle", True)
        self.beta = options.get("beta", 0.3)
        self.roll_in = options.get("roll_in", "sampled")
        self.roll_out = options.get("roll_out", "optimal")
        self.samples = options.get("samples", 1)
        self.policies: list[dict[tuple[str, str], float]] = []
        self.shares = [1.0]

    def features(self, s: int, taken: Sequence[str]) -> dict[str, float]:
        own = self.items[s][len(taken)][0]
        found = dict(own) if isinstance(own, dict) else dict.fromkeys(own, 1.0)
        before, last = (["<s>", "<s>", *taken])[-2:]
        stack: list[str] = []
        for item, label in zip(self.items[s], taken, strict=False):
            stack.append(item[2] if len(item) > 2 else "")
            for operation in label.split(",")[1:]:
                if len(stack) > 1:
                    right, left = stack.pop(), stack.pop()
                    # R+ puts the right one behind, R- before.
                    joined = [left, right] if operation == "R+" else [right, left]
                    stack.append(([""] + [one for one in joined if one])[-1])
        top = stack[-1] if stack else "<s>"
        for name, value in (
            ("label", last),
            ("label2", f"{before} {last}"),
            ("depth", str(min(5, len(stack)))),
            ("fragment", top),
        ):
            if name in self.templates:
                found[f"{name}={value}"] = 1.0
        return found

    def predict(self, policy: Mapping[tuple[str, str], float], s: int, taken: Sequence[str]) -> str:
        phi = self.features(s, taken)
        return best({a: sum(policy.get((n, a), 0.0) * v for n, v in phi.items()) for a in self.labels}, self.labels)

    def vote(self, s: int, taken: Sequence[str]) -> str:
        if not self.policies:
            return str(self.items[s][len(taken)][1])
        votes = dict.fromkeys(self.labels, 0.0)
        total = float(np.array(self.shares[1:]).sum())
        for policy, share in zip(self.policies, self.shares[1:], strict=True):
            votes[self.predict(policy, s, taken)] += share / total
        return best(votes, self.labels)

    def decide(self, how: str, s: int, taken: Sequence[str], key: int) -> str:
        gold = str(self.items[s][len(taken)][1])
        if how == "optimal" or not self.policies:
            return gold
        if how == "policy":
            return self.vote(s, taken)
        u, end, k = uniform(key) * np.cumsum(self.shares)[-1], 0.0, 0
        while (end := end + self.shares[k]) <= u and k < len(self.policies):
            k += 1
        return gold if k == 0 else self.predict(self.policies[k - 1], s, taken)

    def cost(self, s: int, taken: Sequence[str], a: str, key: int) -> float:
        """The expected loss of completing from (state, a)."""
        golds = [item[1] for item in self.items[s]]
        total = 0
        samples = self.samples if self.roll_out == "sampled" else 1
        for sample in range(samples):
            done = [*taken, a]
            while len(done) < len(golds):
                done.append(self.decide(self.roll_out, s, done, chained(key, sample, len(done))))
            total += sum(x != y for x, y in zip(done[len(taken) + 1 :], golds[len(taken) + 1 :], strict=True))
        return float(a != golds[len(taken)]) + total / samples

    def examples(self, key: int) -> list[tuple[dict[str, float], dict[str, float]]]:
        found = []
        for s, sentence in enumerate(self.items):
            taken: list[str] = []
            for t in range(len(sentence)):
                costs = {a: self.cost(s, taken, a, chained(key, s, 1, t, k)) for k, a in enumerate(self.labels)}
                found.append((self.features(s, taken), {a: cost - min(costs.values()) for a, cost in costs.items()}))
                taken.append(self.decide(self.roll_in, s, taken, chained(key, s, 0, t)))
        return found

    def classifier(self, examples: Sequence[Any], random: Any) -> dict[tuple[str, str], float]:
        """The cost-sensitive perceptron, averaged by example; or the logistic one of the README."""
        w: dict[tuple[str, str], float] = {}
        u: dict[tuple[str, str], float] = {}
        c = 1
        for _ in range(self.passes):
            for i in random.permutation(len(examples)) if self.shuffle else range(len(examples)):
                phi, costs = examples[i]
                scores = {a: sum(w.get((n, a), 0.0) * v for n, v in phi.items()) for a in self.labels}
                delta = self.logistic_step(scores, costs) if self.logistic else self.step(scores, costs)
                for a, step in delta.items():
                    for n, v in phi.items():
                        w[n, a] = w.get((n, a), 0.0) + step * v
                        u[n, a] = u.get((n, a), 0.0) + c * (step * v)
                c += 1
        found = {key: value - u[key] / c if self.average else value for key, value in w.items()}
        return {key: float(np.float32(value)) for key, value in found.items()}

    def step(self, scores: Mapping[str, float], costs: Mapping[str, float]) -> dict[str, float]:
        guess = best(scores, self.labels)
        gold = best(scores, [a for a in self.labels if costs[a] == 0])
        return {gold: costs[guess], guess: -costs[guess]} if costs[guess] > 0 else {}

    def logistic_step(self, scores: Mapping[str, float], costs: Mapping[str, float]) -> dict[str, float]:
        def softmax(labels: Sequence[str]) -> dict[str, float]:
            most = max(scores[a] for a in labels)
            total = 0.0
            for a in labels:
                total += math.exp(scores[a] - most)
            return {a: math.exp(scores[a] - most) / total for a in labels}

        weight = max(costs.values())
        if not weight:
            return {}
        every, cheapest = softmax(self.labels), softmax([a for a in self.labels if costs[a] == 0])
        return {a: self.rate * weight * (cheapest.get(a, 0.0) - every[a]) for a in self.labels}

    def learn(self, seed: int, each: Callable[[int], None] = lambda iteration: None) -> None:
        for iteration in range(self.iterations):
            made = self.examples(chained(seed, iteration))
            self.policies.append(self.classifier(made, np.random.default_rng([seed, iteration])))
            self.shares = [share * (1.0 - self.beta) for share in self.shares] + [self.beta]
            each(iteration)

    def wrong(self) -> int:
        """By votes, on the sentences that were learnt from."""
        total = 0
        for s, sentence in enumerate(self.items):
            taken: list[str] = []
            for item in sentence:
                taken.append(self.vote(s, taken))
                total += taken[-1] != item[1]
        return total
