"""What a check is, what it checks, and how checks are run: the frame that the checks of each kind stand in.

A check is a function of a subject. It returns if the contract in its docstring holds, raises ``AssertionError`` with a
sentence if not, and ``DoesNotApply`` if the contract is not one for this subject.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.spec import build, parameters, suggestion
from smtplugins.host.errors import SmtError, UsageError, failure_text

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
}
"""The kinds that have checks, and the module of each."""

Check = Callable[[Any], None]


class DoesNotApply(Exception):
    """The contract says nothing about this subject; the message says why."""


class CannotBeMade(AssertionError):
    """The subject could not even be built, so that no other check has anything to look at."""


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check: its name, whether it held, and what was wrong if not."""

    check: str
    ok: bool
    message: str = ""


@dataclass(frozen=True)
class Subject:
    """An offer under check: how to make it, the loaded plugins, and an empty folder for files it needs."""

    offer: Offer
    folder: Path
    host: Host
    options: Mapping[str, Any] | None = None

    @functools.cached_property
    def chosen(self) -> Mapping[str, Any]:
        """The options to make it with: those given, or those of the offer's ``trial``."""
        if self.options is not None:
            return self.options
        if self.offer.trial is None:
            return {}
        folder = self.folder / "trial"
        folder.mkdir()
        return self.offer.trial(folder)

    @property
    def annotations(self) -> list[str]:
        """The names of the annotations that a feature reads."""
        parts = (need.partition(":") for need in sorted(self.offer.needs))
        return [name for kind, _, name in parts if kind == "annotations"]

    def make(self) -> Any:
        """A new object of what is offered."""
        return self.built(self.chosen)

    def built(self, options: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> Any:
        """A new object made with these options, and with the host's gifts for those that ask for them."""
        reason = self.host.registry.unavailable(self.offer)
        if reason:
            raise CannotBeMade(f"{self.offer.name!r} is unavailable: {reason}")
        required = [name for name, one in parameters(self.offer.make).items() if one.default is inspect.Parameter.empty]
        lacking = [name for name in required if name not in options]
        if lacking:
            raise CannotBeMade(
                f"{self.offer.name!r} cannot be made without {', '.join(lacking)}: give its Offer a `trial`, or the "
                "checks `options`"
            )
        try:
            return build(repr(self.offer.name), self.offer.make, options, given)
        except (Exception, SystemExit) as error:
            raise CannotBeMade(f"{self.offer.name!r} cannot be made: {described(error)}") from error


def described(error: BaseException) -> str:
    """An exception as a part of a sentence: our own speak for themselves."""
    return str(error) if isinstance(error, SmtError) else failure_text(error)


def is_documented(subject: Subject) -> None:
    """An offer has a summary of one line, and each of its options a type."""
    offer = subject.offer
    assert offer.summary.strip() and "\n" not in offer.summary, f"{offer.name!r} has no summary of one line"
    for name, one in parameters(offer.make).items():
        assert one.annotation is not inspect.Parameter.empty, (
            f"option {name!r} of {offer.name!r} has no type: annotate the parameter, so that text can be converted"
        )
        assert not isinstance(one.annotation, str), (
            f"the type {one.annotation!r} of option {name!r} of {offer.name!r} cannot be found when the program runs"
        )


def can_be_made(subject: Subject) -> None:
    """An offer can be made: without options, with those of its ``trial``, or with those given to the checks."""
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

    ``folder`` is an empty folder. ``given`` may hold ``options`` for an offer, ``problems`` for a learner, a ``model``
    and ``exact`` for a decoder, ``samples`` and ``files`` for a format, in place of the kit's own.
    """
    if kind not in KINDS:
        raise UsageError(f"no checks for {kind!r}{suggestion(kind, KINDS)}")
    if not __debug__:
        raise UsageError("the checks are assertions, which `python -O` leaves out: run without it")
    if host is None:
        from smtplugins.host.loading.manager import load_plugins

        host = load_plugins()
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
