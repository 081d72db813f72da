"""``@feature("name")``: the shortest plugin, a function from a hypothesis to a number."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.offers import Offer

if TYPE_CHECKING:
    from smtformats import Candidates

_Made = TypeVar("_Made", bound=Callable[..., Any])
_MARK = "smt_offers"
_INPUTS = {"hyp": "target", "source": "source", "alignment": "alignment", "segmentation": "segmentation"}


def feature(name: str, *, summary: str = "", needs: frozenset[str] = frozenset()) -> Callable[[_Made], _Made]:
    """Register a function or a class as a feature.

    A function takes what it reads by name, any of ``hyp``, ``source``, ``alignment`` and ``segmentation`` (strings),
    and returns a number, or a mapping for an open set of features ``name:key``. Its keyword-only parameters are
    options, as are the parameters of a class's constructor.
    """

    def mark(made: _Made) -> _Made:
        text = summary or (inspect.getdoc(made) or "").partition("\n")[0] or f"{name}, from {made.__module__}"
        if inspect.isclass(made):
            offer = Offer(name=name, make=made, summary=text, needs=needs)
        else:
            offer = _function_offer(name, made, text)
        setattr(made, _MARK, offer)
        return made

    return mark


def marked_offers(module: Any) -> list[Offer]:
    """The offers marked in a module itself (not in what it imports)."""
    own = [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]
    found = [vars(value).get(_MARK) for value in own if hasattr(value, "__dict__")]
    # By identity: a second name for one function in a module is no second offer.
    return list({id(offer): offer for offer in found if isinstance(offer, Offer)}.values())


def function_offer(function: Callable[..., Any]) -> Offer:
    """The offer of a function or class that is used as a feature: its mark, or else a function's name and inputs."""
    offer = getattr(function, _MARK, None)
    if isinstance(offer, Offer):
        return offer
    name = getattr(function, "__name__", "")
    if inspect.isclass(function) or not name.isidentifier():
        raise UsageError(
            "features: expected names, functions with a name, or classes marked by @feature, found "
            f"{name or repr(function)}"
        )
    try:
        return _function_offer(name, function, (inspect.getdoc(function) or name).partition("\n")[0])
    except TypeError as error:
        raise UsageError(str(error)) from None


def _function_offer(name: str, function: Callable[..., Any], summary: str) -> Offer:
    from smtplugins.contracts.spec import evaluated

    signature = evaluated(function)
    inputs = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    options = [one for one in signature.parameters.values() if one.kind is inspect.Parameter.KEYWORD_ONLY]
    for one in inputs:
        if one.name not in _INPUTS:
            raise TypeError(
                f"feature {name!r}: expected parameters among {', '.join(_INPUTS)} (options after a `*`), "
                f"found {one.name!r}"
            )
    if not inputs:
        raise TypeError(f"feature {name!r}: expected a parameter to read, any of {', '.join(_INPUTS)}, found none")
    reads = tuple(one.name for one in inputs)

    def make(**values: Any) -> FunctionFeature:
        return FunctionFeature(name, function, reads, values)

    make.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return Offer(name=name, make=make, summary=summary, needs=frozenset(_INPUTS[one] for one in reads))


class FunctionFeature:
    """A candidate feature that calls a function for each hypothesis."""

    def __init__(
        self, name: str, function: Callable[..., Any], reads: tuple[str, ...], options: Mapping[str, Any]
    ) -> None:
        self._name = name
        self._function = function
        self._reads = reads
        self._options = dict(options)

    def score_candidates(self, source: str | None, candidates: Candidates) -> Any:
        """The function's value for each hypothesis."""
        columns = {
            "hyp": candidates.texts,
            "source": [source] * len(candidates),
            **{name: candidates.extras.get(name, []) for name in ("alignment", "segmentation")},
        }
        rows = zip(*(columns[name] for name in self._reads), strict=True)
        values = [self._function(*row, **self._options) for row in rows]
        if any(isinstance(value, Mapping) for value in values):
            if not all(isinstance(value, Mapping) for value in values):
                raise TypeError("expected a mapping for every hypothesis or for none, found both mappings and numbers")
            from smtformats import Columns

            return Columns.from_mappings([{f"{self._name}:{key}": v for key, v in row.items()} for row in values])
        return values
