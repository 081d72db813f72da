"""What a learner implements, the problems it may accept, and the steps it yields."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from smtplugins.contracts.errors import SmtError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Columns
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.models import Model
    from smtplugins.contracts.runners import Runner
    from smtplugins.core.graph.hypergraph import Hypergraph

_VALUES = "state.json"


@dataclass(frozen=True)
class ListProblem:
    """A learning problem: n-best lists, and the statistics of each list's hypotheses under a metric."""

    lists: Sequence[Candidates]
    stats: Sequence[NDArray[Any]]
    metric: Metric


@dataclass(frozen=True)
class ForestProblem:
    """A learning problem: the hypergraphs of each sentence (one per decoding iteration), and references.

    ``references`` are streams, as for :meth:`Metric.stats`, with a text for each sentence.
    """

    graphs: Sequence[Sequence[Hypergraph]]
    references: Sequence[Sequence[str]]
    metric: Metric
    sources: Sequence[str] | None = None


@dataclass(frozen=True)
class RowProblem:
    """A learning problem: labelled rows of features, with optional weights."""

    features: Columns
    labels: NDArray[Any]
    weights: NDArray[Any] | None = None


@dataclass(frozen=True)
class EventRows:
    """Events as groups of rows: event i has rows ``offsets[i]`` up to ``offsets[i + 1]`` of ``features``.

    Each row is an alternative; row ``right[i]`` of event i, counted from 0, is the correct one.
    """

    features: Columns
    offsets: NDArray[Any]
    right: NDArray[Any]

    def __len__(self) -> int:
        return len(self.right)


@dataclass(frozen=True)
class EventProblem:
    """A learning problem: events, each with several alternatives of which one is correct.

    ``pieces`` hold consecutive events. A sequence may build its pieces on access, repeatedly, so that not all have to
    be in memory; each piece brings the names of its features.
    """

    pieces: Sequence[EventRows]


@dataclass
class LearnerState:
    """All a learner needs to resume bit for bit: arrays, and values that fit JSON (e.g. generator states)."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write the state as one zip file of ``state.json`` and a .npy file for each array, never pickle."""
        import numpy as np

        # Members carry no time: the same state gives the same bytes.
        with zipfile.ZipFile(path, "w") as out:
            out.writestr(zipfile.ZipInfo(_VALUES), json.dumps({"arrays": sorted(self.arrays), "values": self.values}))
            for name, array in self.arrays.items():
                with out.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)

    @classmethod
    def load(cls, path: Path) -> LearnerState:
        """Read a saved state."""
        import numpy as np

        try:
            with zipfile.ZipFile(path) as file:
                data = json.loads(file.read(_VALUES))
                arrays = {}
                for name in data["arrays"]:
                    with file.open(f"{name}.npy") as member:
                        arrays[name] = np.lib.format.read_array(member, allow_pickle=False)
        except FileNotFoundError:
            raise SmtError(f"{path}: expected a learner's state to resume from, found no file") from None
        except (zipfile.BadZipFile, ValueError, KeyError, TypeError) as error:
            raise SmtError(f"{path}: expected a learner's state as saved, found a changed file: {error}") from None
        return cls(arrays, data["values"])


@dataclass(frozen=True)
class LearnerStep:
    """A step of learning: the model so far, the objective, metrics, and the state to resume from."""

    model: Model
    objective: float
    metrics: Mapping[str, float]
    state: LearnerState


@runtime_checkable
class Learner(Protocol):
    """Learns a model from a problem of one of the ``accepts`` types, step by step; the last step is the result.

    With ``resume`` it continues after the step that had this state; ``start`` is then the model of that step (its
    artefacts are :class:`~smtplugins.contracts.models.Files` if it was loaded). The result must equal that of an
    uninterrupted run.
    """

    accepts: frozenset[type]

    def learn(
        self,
        problem: Any,
        start: Model,
        *,
        resume: LearnerState | None = None,
        seed: int = 1,
        runner: Runner | None = None,
    ) -> Iterator[LearnerStep]: ...
