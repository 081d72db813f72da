"""The records hooks yield: an ``Offer`` of a feature, learner, decoder, metric or runner, and a ``Command``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from smtplugins.host.host import Host

NEEDS = ("target", "source", "list", "alignment", "segmentation", "derivation", "grammar", "annotations")
KINDS = {
    "features": "feature",
    "learners": "learner",
    "decoders": "decoder",
    "metrics": "metric",
    "runners": "runner",
    "formats": "format",
    "commands": "command",
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"expected a name of letters, digits, `-`, `_` and `.`, found {name!r}")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Something a plugin can make by name.

    ``make(**options)`` gives the object; its signature names the options and their types. ``needs`` says what of
    target, source, alignment, segmentation, derivation, grammar, ``annotations:NAME`` a feature reads, and ``list``
    that the score of a hypothesis depends on the others of its list. ``requires`` names other plugins' offers used at
    run time, as ``learner:minrisk``. ``trial(folder)`` gives options with which the conformance kit can make it,
    writing what files it needs into the empty folder.
    """

    name: str
    make: Callable[..., Any]
    summary: str
    reference: str = ""
    needs: frozenset[str] = frozenset()
    requires: tuple[str, ...] = ()
    trial: Callable[[Path], Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        if not callable(self.make):
            raise TypeError(f"offer {self.name}: `make` is not callable")
        if not self.summary:
            raise ValueError(f"offer {self.name}: `summary` is empty")
        # frozenset(...) so that a plain set or list in a plugin works too.
        object.__setattr__(self, "needs", frozenset(self.needs))
        for need in self.needs:
            if need.partition(":")[0] not in NEEDS:
                raise ValueError(f"offer {self.name}: needs {need!r}, expected one of {', '.join(NEEDS)}")
        for other in self.requires:
            kind, _, name = other.partition(":")
            if kind not in KINDS.values() or not name:
                raise ValueError(f"offer {self.name}: requires {other!r}, expected KIND:NAME as learner:mert")


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command of a plugin, run as ``smt PLUGIN NAME``."""

    name: str
    summary: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Host, argparse.Namespace], None]

    def __post_init__(self) -> None:
        _check_name(self.name)


@dataclass
class PluginInfo:
    """What is known of a plugin, usable or not."""

    name: str
    distribution: str
    version: str
    origin: str
    status: str = "ok"
    reason: str = ""
    hooks: tuple[str, ...] = ()
    offers: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def described(self) -> str:
        """Name and where it came from, for messages."""
        where = f"{self.distribution} {self.version}".strip() or self.origin
        return f"'{self.name}' ({where})"
