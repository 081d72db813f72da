"""The runner ``dask``: work on the machines of a cluster, or on a cluster that it starts on this one.

The extra `cluster` (dask.distributed) is imported when work is spread.
"""

from __future__ import annotations

from collections.abc import Iterator

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Offer


@hookimpl
def smt_runners() -> Iterator[Offer]:
    """Runners beyond one machine."""
    yield Offer(
        name="dask",
        make="smtplugins.plugins.cluster.runner:Dask",
        summary="workers of dask.distributed: those of a scheduler's address, or `jobs` new ones on this machine",
    )
