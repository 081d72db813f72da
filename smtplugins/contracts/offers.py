"""The records hooks yield: an ``Offer`` of a feature, learner, decoder, metric, runner or recipe, and a ``Command``."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.records import dataclass

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
    "recipes": "recipe",
    "formats": "format",
    "commands": "command",
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def resolve(reference: Callable[..., Any] | str) -> Callable[..., Any]:
    """Return a callable; ``"package.module:name"`` is imported."""
    if not isinstance(reference, str):
        return reference
    module, _, name = reference.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def _is_reference(text: str) -> bool:
    module, _, name = text.partition(":")
    return name.isidentifier() and all(map(str.isidentifier, module.split(".")))


def _check_callable(what: str, value: object) -> None:
    if not callable(value) and not (isinstance(value, str) and _is_reference(value)):
        raise TypeError(f"{what}: expected a callable or 'package.module:name', found {value!r}")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"expected a name of letters, digits, `-`, `_` and `.`, found {name!r}")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Something a plugin can make by name.

    ``make(**options)`` returns the object; its signature declares the options and their types. Give it as
    ``"package.module:name"`` to import the module on first use only. ``needs`` lists what a feature reads (target,
    source, alignment, segmentation, derivation, grammar, ``annotations:NAME``); ``list`` means that the score of a
    hypothesis depends on the rest of its list. ``requires`` names offers of other plugins used at run time, such as
    ``learner:minrisk``. ``trial(folder)`` returns options with which the conformance kit can make the object; it may
    write files into the empty folder. ``files(path)`` returns the options with which a feature uses a file, None for a
    file of another kind: by it `smt config new` finds what to use.

    Parameters ``score_cache`` and ``note`` of ``make`` are no options: the host gives where scores are kept (for a
    ``ScoreCache`` of ``contracts.tools.running``), and a function that prints a note to the user.
    """

    name: str
    make: Callable[..., Any] | str
    summary: str
    reference: str = ""
    needs: frozenset[str] = frozenset()
    requires: tuple[str, ...] = ()
    trial: Callable[[Path], Mapping[str, Any]] | str | None = None
    files: Callable[[Path], Mapping[str, Any] | None] | str | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        _check_callable(f"offer {self.name}: `make`", self.make)
        if self.files is not None:
            _check_callable(f"offer {self.name}: `files`", self.files)
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

    @property
    def factory(self) -> Callable[..., Any]:
        """``make`` as a callable."""
        return resolve(self.make)

    def trial_options(self, folder: Path) -> Mapping[str, Any]:
        """The options that ``trial`` returns; none if there is no ``trial``."""
        options: Mapping[str, Any] = resolve(self.trial)(folder) if self.trial is not None else {}
        return options

    def options_for(self, path: Path) -> Mapping[str, Any] | None:
        """The options that ``files`` returns; None if there is no ``files``."""
        options: Mapping[str, Any] | None = resolve(self.files)(path) if self.files is not None else None
        return options


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command of a plugin, run as ``smt PLUGIN NAME``.

    ``configure`` adds arguments to a parser; ``run`` does the work. Both may be given as ``"package.module:name"``.
    """

    name: str
    summary: str
    configure: Callable[[argparse.ArgumentParser], None] | str
    run: Callable[[Host, argparse.Namespace], None] | str

    def __post_init__(self) -> None:
        _check_name(self.name)
        _check_callable(f"command {self.name}: `configure`", self.configure)
        _check_callable(f"command {self.name}: `run`", self.run)


@dataclass
class PluginInfo:
    """A plugin's name, origin, status and offers, whether it is usable or not.

    The package's own formats are among the standard plugin's offers once all formats were asked for.
    """

    name: str
    distribution: str
    version: str
    origin: str
    status: str = "ok"
    reason: str = ""
    hooks: tuple[str, ...] = ()
    offers: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def described(self) -> str:
        """Return the name and origin, for messages."""
        where = f"{self.distribution} {self.version}".strip() or self.origin
        return f"'{self.name}' ({where})"
