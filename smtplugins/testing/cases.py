"""Test classes for pytest: subclass one, name an offer, and each check is a test. Only this module needs pytest."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

from smtplugins.host.host import Host
from smtplugins.host.loading.manager import load_plugins
from smtplugins.testing import formats, learners, metrics
from smtplugins.testing.checks import Check, DoesNotApply
from smtplugins.testing.decoders import any_decoder as decoders
from smtplugins.testing.features import any_feature as features

_KEPT = pytest.StashKey[dict[str, Any]]()


def _kept_by_class(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return a dictionary that the tests of a class share, emptied after the last of them."""
    node = request.node.getparent(pytest.Class)
    if _KEPT not in node.stash:
        node.stash[_KEPT] = {}
        node.addfinalizer(functools.partial(node.stash.__delitem__, _KEPT))
    kept: dict[str, Any] = node.stash[_KEPT]
    return kept


def _each(checks: Sequence[Check]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("check", checks, ids=[check.__name__ for check in checks])


class _Checks:
    """``offer`` is a name, or a fixture that returns the record; ``plugins`` are loaded besides installed ones."""

    kind: ClassVar[str]
    module: ClassVar[ModuleType]
    offer: Any
    plugins: Sequence[str | Path | ModuleType] = ()

    @pytest.fixture
    def host(self, request: pytest.FixtureRequest) -> Host:
        """A host with the plugins loaded, shared by the tests of the class."""
        kept = _kept_by_class(request)
        if "host" not in kept:
            kept["host"] = load_plugins(self.plugins, score_cache="off")
        host: Host = kept["host"]
        return host

    @pytest.fixture
    def subject(self, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, host: Host) -> Any:
        """The subject of the checks; they share it, as in ``run_checks``, if the offer is the same object."""
        named = isinstance(self.offer, str)
        record = host.registry.entry(self.kind, self.offer).record if named else request.getfixturevalue("offer")
        replacements = self._replacements()
        key = (record, host, *replacements.values())
        subjects = _kept_by_class(request).setdefault("subjects", [])
        for known, subject in subjects:
            if all(first is second for first, second in zip(known, key, strict=True)):
                return subject
        subject = self.module.subject(record, tmp_path_factory.mktemp(type(self).__name__), host, **replacements)
        subjects.append((key, subject))
        return subject

    def _replacements(self) -> dict[str, Any]:
        return {}

    def _run(self, check: Check, subject: Any) -> None:
        try:
            check(subject)
        except DoesNotApply as reason:
            pytest.skip(str(reason))


class FeatureChecks(_Checks):
    """All checks of a feature; ``options`` replace those of the offer's ``trial``."""

    kind: ClassVar[str] = "features"
    module: ClassVar[ModuleType] = features
    options: Mapping[str, Any] | None = None

    def _replacements(self) -> dict[str, Any]:
        return {"options": self.options}

    @_each(features.CHECKS)
    def test_contract(self, check: Check, subject: Any) -> None:
        """One check."""
        self._run(check, subject)


class MetricChecks(_Checks):
    """All checks of a metric; ``options`` replace those of the offer's ``trial``."""

    kind: ClassVar[str] = "metrics"
    module: ClassVar[ModuleType] = metrics
    options: Mapping[str, Any] | None = None

    def _replacements(self) -> dict[str, Any]:
        return {"options": self.options}

    @_each(metrics.CHECKS)
    def test_contract(self, check: Check, subject: Any) -> None:
        """One check."""
        self._run(check, subject)


class FormatChecks(_Checks):
    """All checks of a format; ``samples`` (records) and ``files`` (contents), by name, replace the kit's."""

    kind: ClassVar[str] = "formats"
    module: ClassVar[ModuleType] = formats
    samples: Mapping[str, Sequence[Any]] | None = None
    files: Mapping[str, bytes] | None = None

    def _replacements(self) -> dict[str, Any]:
        return {"samples": self.samples, "files": self.files}

    @_each(formats.CHECKS)
    def test_contract(self, check: Check, subject: Any) -> None:
        """One check."""
        self._run(check, subject)


class LearnerChecks(_Checks):
    """All checks of a learner; ``problems``, by type, replace the kit's."""

    kind: ClassVar[str] = "learners"
    module: ClassVar[ModuleType] = learners
    options: Mapping[str, Any] | None = None
    problems: Mapping[type, Any] | None = None

    def _replacements(self) -> dict[str, Any]:
        return {"options": self.options, "problems": self.problems}

    @_each(learners.CHECKS)
    def test_contract(self, check: Check, subject: Any) -> None:
        """One check."""
        self._run(check, subject)


class DecoderChecks(_Checks):
    """All checks of a decoder; ``model`` is the model to decode with, ``exact`` the options that turn pruning off."""

    kind: ClassVar[str] = "decoders"
    module: ClassVar[ModuleType] = decoders
    options: Mapping[str, Any] | None = None
    model: Any = None
    exact: Mapping[str, Any] | None = None

    def _replacements(self) -> dict[str, Any]:
        return {"options": self.options, "model": self.model, "exact": self.exact}

    @_each(decoders.CHECKS)
    def test_contract(self, check: Check, subject: Any) -> None:
        """One check."""
        self._run(check, subject)
