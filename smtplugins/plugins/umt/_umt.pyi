"""Undirected decoding. Use the Python modules around it."""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

import smtplugins.core._core


class Part:
    """A contextual feature of a growing tree."""

    @property
    def components(self) -> int:
        """The number of values for each edge."""

class CallbackPart(Part):
    """A Python feature: an object with begin, reset, score and attach."""

    def __init__(self, object: object, components: int) -> None: ...

def shape_part() -> Part:
    """Indicators of an edge's attachment and number of tails."""

def lm_part(scorer: smtplugins.core._core.LmScorer, mode: str) -> Part:
    """A language model for growing trees."""

class BoundOptions:
    """How the bounds of missing branches become features."""

    def __init__(self, **members: object) -> None: ...

    @property
    def components(self) -> int:
        """0: none, 1: their sum, more: one for each link of an edge."""

    @components.setter
    def components(self, arg: int, /) -> None: ...

    @property
    def scale(self) -> float:
        """Bounds are divided by this."""

    @scale.setter
    def scale(self, arg: float, /) -> None: ...

    @property
    def joins(self) -> bool:
        """Add the scores of parts where best branches join."""

    @joins.setter
    def joins(self, arg: bool, /) -> None: ...

    @property
    def difference(self) -> bool:
        """Subtract the bound of the branch that the edge fills."""

    @difference.setter
    def difference(self, arg: bool, /) -> None: ...

class Growth:
    """Grows trees in forests, sentence after sentence."""

    def __init__(self, parts: Sequence[Part], bounds: BoundOptions) -> None: ...

    @property
    def components(self) -> int: ...

    def begin(self, forest: smtplugins.core._core.SearchForest, scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], estimates: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def follow(self, prefix: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], int]: ...

    def draw(self, prefix: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], temperature: float, seed: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], int]: ...

    def ranked(self, prefix: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

    def values(self, prefix: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], actions: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...
