"""Undirected decoding. Use the Python modules around it."""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

import smtplugins.core._core


class Part:
    """A feature at work on a tree that grows."""

    @property
    def components(self) -> int:
        """How many values it gives an edge."""

class CallbackPart(Part):
    """A feature in Python: an object with begin, reset, score and attach."""

    def __init__(self, object: object, components: int) -> None: ...

def shape_part() -> Part:
    """How edges are put and how many tails they have."""

def lm_part(scorer: smtplugins.core._core.LmScorer, mode: str) -> Part:
    """A language model at work on a tree that grows."""

class Growth:
    """Grows trees in forests, one sentence after another."""

    def __init__(self, parts: Sequence[Part], bounds: int, scale: float, joins: bool = False, difference: bool = False) -> None: ...

    @property
    def components(self) -> int: ...

    def begin(self, forest: smtplugins.core._core.SearchForest, scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], estimates: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def follow(self, prefix: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], int]: ...

    def draw(self, prefix: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], temperature: float, seed: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], int]: ...

    def ranked(self, prefix: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

    def values(self, prefix: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], actions: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...
