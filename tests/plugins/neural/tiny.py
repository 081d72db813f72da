"""The tiny models in numpy, and lists to score."""

from __future__ import annotations

from typing import Any

import numpy as np

import smtplugins as smt
from smtplugins.plugins.neural.trial import LETTERS, SPECIAL, tiny_weights

WEIGHTS = tiny_weights()
E, K, W, V = (WEIGHTS[name].astype(np.float64) for name in "EKWv")
NUMBERS = {word: i for i, word in enumerate([*SPECIAL, *LETTERS])}
PAD, UNK, CLS, SEP, MASK = range(5)

TEXTS = ["a house", "", "the house, big and old .", "a house", "Ü \U0001f600 x"]
LISTS = [smt.candidates(TEXTS, id=3, source="ein haus"), smt.candidates(["b", "a b c d"], id=4, source="")]


def ids(text: str) -> list[int]:
    return [NUMBERS.get(char, UNK) for char in text]


def framed(*texts: str) -> list[int]:
    return [CLS, *(number for text in texts for number in [*ids(text), SEP])]


def log_softmax(scores: Any) -> Any:
    return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))


def causal(text: str, prompt: str = "", end: bool = True) -> list[float]:
    row = [CLS, *ids(prompt), *ids(text), *([SEP] if end else [])]
    scores = log_softmax(np.tanh(np.cumsum(E[row], axis=0)) @ W)
    return [float(scores[i - 1, row[i]]) for i in range(1 + len(prompt), len(row))]


def masked(text: str) -> list[float]:
    row, found = framed(text), []
    for i in range(1, len(row) - 1):
        hidden = [MASK if k == i else number for k, number in enumerate(row)]
        found.append(float(log_softmax(np.tanh(E[MASK] + E[hidden].sum(axis=0)) @ W)[row[i]]))
    return found


def seq2seq(source: list[int], target: list[int], forced: int = 1) -> list[float]:
    scores = log_softmax(np.tanh(np.cumsum(E[target[:-1]], axis=0) + E[source].sum(axis=0)) @ W)
    return [float(scores[i - 1, target[i]]) for i in range(forced, len(target))]


def vector(text: str, pooling: str = "mean") -> Any:
    row = framed(text)
    states = np.tanh(E[row] + E[row].sum(axis=0))
    pooled = states[0] if pooling == "cls" else states.mean(axis=0)
    return pooled / np.linalg.norm(pooled)


def quality(first: str, second: str) -> float:
    row = framed(first, second)
    kinds = [0] * (2 + len(first)) + [1] * (1 + len(second))
    return float((np.tanh((E[row] * K[kinds]).sum(axis=0)) @ V)[0])
