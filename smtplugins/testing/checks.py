"""Define and run checks.

A check is a function of a subject. It returns if the contract in its docstring holds, raises ``AssertionError`` with a
message if not, and ``DoesNotApply`` if the contract does not concern the subject.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import build, parameters, suggestion
from smtplugins.host.errors import failure_text

if TYPE_CHECKING:
    from smtformats import Format
    from smtplugins.contracts.offers import Offer
    from smtplugins.host.host import Host

KINDS = {
    "features": "smtplugins.testing.features.any_feature",
    "metrics": "smtplugins.testing.metrics",
    "formats": "smtplugins.testing.formats",
    "learners": "smtplugins.testing.learners",
    "decoders": "smtplugins.testing.decoders.any_decoder",
    "recipes": "smtplugins.testing.recipes",
}
"""The module with the checks of each kind."""

Check = Callable[[Any], None]


class DoesNotApply(Exception):
    """The contract does not concern this subject; the message says why."""


class CannotBeMade(AssertionError):
    """The subject could not be made, so no other check can run."""


@dataclass(frozen=True)
class CheckResult:
    """The outcome of a check: its name, whether it passed, and the error message if not."""

    check: str
    ok: bool
    message: str = ""


@dataclass(frozen=True)
class Subject:
    """An offer under check, with options to make it, the host, and an empty folder for its files."""

    offer: Offer
    folder: Path
    host: Host
    options: Mapping[str, Any] | None = None

    @functools.cached_property
    def chosen(self) -> Mapping[str, Any]:
        """The options to make it with: ``options``, or those of the offer's ``trial``."""
        if self.options is not None:
            return self.options
        if self.offer.trial is None:
            return {}
        folder = self.folder / "trial"
        folder.mkdir()
        return self.offer.trial_options(folder)

    @property
    def annotations(self) -> list[str]:
        """The names of the annotations that a feature needs."""
        parts = (need.partition(":") for need in sorted(self.offer.needs))
        return [name for kind, _, name in parts if kind == "annotations"]

    def make(self) -> Any:
        """Make a new object of the offer."""
        return self.built(self.chosen)

    def built(self, options: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> Any:
        """Make a new object with these options; ``given`` are the values that the host supplies by parameter name."""
        reason = self.host.registry.unavailable(self.offer)
        if reason:
            raise CannotBeMade(f"{self.offer.name!r} is unavailable: {reason}")
        required = [
            name
            for name, parameter in parameters(self.offer.factory).items()
            if parameter.default is inspect.Parameter.empty
        ]
        lacking = [name for name in required if name not in options]
        if lacking:
            raise CannotBeMade(
                f"{self.offer.name!r} cannot be made without {', '.join(lacking)}: give its Offer a `trial`, or the "
                "checks `options`"
            )
        try:
            return build(repr(self.offer.name), self.offer.factory, options, given)
        except (Exception, SystemExit) as error:
            raise CannotBeMade(f"{self.offer.name!r} cannot be made: {described(error)}") from error


def described(error: BaseException) -> str:
    """Return an exception as text; exceptions of smtplugins without their type."""
    return str(error) if isinstance(error, SmtError) else failure_text(error)


def is_documented(subject: Subject) -> None:
    """An offer has a one-line summary, and each option has a type."""
    offer = subject.offer
    assert offer.summary.strip() and "\n" not in offer.summary, f"{offer.name!r} has no one-line summary"
    for name, parameter in parameters(offer.factory).items():
        assert parameter.annotation is not inspect.Parameter.empty, (
            f"option {name!r} of {offer.name!r} has no type: annotate the parameter so that text can be converted"
        )
        assert not isinstance(parameter.annotation, str), (
            f"the type {parameter.annotation!r} of option {name!r} of {offer.name!r} cannot be resolved at run time"
        )


def can_be_made(subject: Subject) -> None:
    """An offer can be made without options, with those of its ``trial``, or with those given to the checks."""
    subject.make()


def run_checks(
    kind: str,
    record: Offer | Format,
    folder: Path,
    *,
    host: Host | None = None,
    **given: Any,
) -> list[CheckResult]:
    """Run all checks of a kind that apply to an offer or a format.

    ``folder`` is an empty folder. ``given`` may replace the kit's own ``options`` of an offer, ``problems`` of a
    learner, ``model`` and ``exact`` of a decoder, ``samples`` and ``files`` of a format.
    """
    if kind not in KINDS:
        raise UsageError(f"no checks for {kind!r}{suggestion(kind, KINDS)}")
    if not __debug__:
        raise UsageError("the checks are assertions, which `python -O` removes: run without -O")
    if host is None:
        from smtplugins.host.loading.manager import load_plugins

        host = load_plugins(score_cache="off")
    module = importlib.import_module(KINDS[kind])
    return _run(module.CHECKS, module.subject(record, folder, host, **given))


def _run(checks: Sequence[Check], subject: Any) -> list[CheckResult]:
    results = []
    for check in checks:
        name = check.__name__
        try:
            check(subject)
        except DoesNotApply:
            continue
        except CannotBeMade as error:
            results.append(CheckResult(name, False, str(error)))
            break
        except AssertionError as error:
            results.append(CheckResult(name, False, str(error)))
        except (Exception, SystemExit) as error:
            results.append(CheckResult(name, False, described(error)))
        else:
            results.append(CheckResult(name, True))
    return results
