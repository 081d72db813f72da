"""The scores of the links of an SLF lattice under the scales in its header, as HTK and SRILM compute them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtformats.errors import quote
from smtformats.hypergraph.graph import GraphColumns
from smtformats.tokens import BadField, numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The scale of each score and its value where the header has none (SRILM, ``lattice/src/HTKLattice.cc``; HTK has the
# first, second and fourth). All others, x1 .. x9 among them, count only with a scale.
_SCALES = {
    "acoustic": ("acscale", 1.0),
    "language": ("lmscale", 1.0),
    "ngram": ("ngscale", 1.0),
    "r": ("prscale", 1.0),
    "ds": ("duscale", 0.0),
}


def link_scores(graph: GraphColumns) -> NDArray[np.float64] | None:
    """Natural logarithms: scaled scores and the penalty of each word, or None if no score of the lattice has a scale.

    Of several numbered scores with one name in Moses' comments the first counts, as the others repeat it.
    """
    import numpy as np

    header, scales, names = (graph.extras[name] for name in ("header", "scales", "names"))
    weights, known = [], set()
    for name in graph.names:
        key, default = _SCALES.get(name, ("", 0.0))
        weight = scales.get(name) if name in scales else _number(header, key, default)
        weights.append(0.0 if names.get(name, name) in known else weight)
        known.add(names.get(name, name))
    by = np.array(weights, dtype=np.float64)
    counted = by[graph.features] != 0
    if not counted.any():
        return None
    base = _number(header, "base", np.e)
    if base < 0 or base == 1:
        raise BadField("base= and 0 or a number above 0 other than 1", quote(header["base"]))
    values = _logarithms(graph.values[counted], base)
    edges = np.repeat(np.arange(len(graph)), np.diff(graph.feature_offsets))[counted]
    scores = np.bincount(edges, values * by[graph.features[counted]], len(graph)).astype(np.float64)
    penalty = _number(header, "wdpenalty", 0.0)
    if penalty:
        scores[_with_words(graph)] += _logarithms(np.array([penalty]), base)
    return scores


def _number(header: dict[str, str], name: str, default: float) -> float:
    return numbers([header[name]], what=f"a finite number as {name}=")[0] if name in header else default


def _logarithms(values: NDArray[np.float64], base: float) -> NDArray[np.float64]:
    """Natural logarithms of numbers in the header's base, which is 0 for probabilities."""
    import numpy as np

    logarithms: NDArray[np.float64]
    if base:
        logarithms = values * np.log(base)
        return logarithms
    if (values < 0).any():
        raise BadField("probabilities, as base=0 says", str(values.min()))
    with np.errstate(divide="ignore"):
        logarithms = np.log(values)
    return logarithms


def _with_words(graph: GraphColumns) -> NDArray[np.bool_]:
    """The links with a word."""
    import numpy as np

    tails = np.diff(graph.tail_offsets)
    sizes = np.append(np.diff(graph.grammar.target_offsets), 0)[graph.rules]
    links: NDArray[np.bool_] = (tails == 1) & (sizes > 1)
    return links
