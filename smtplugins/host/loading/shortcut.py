"""``@feature("name")``: the shortest plugin, a function from a hypothesis to a number."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.offers import Offer

if TYPE_CHECKING:
    from smtformats import Candidates
    from smtformats.grammar.rules import NonTerminal
    from smtplugins.core.grammar.rules import Rules

_Made = TypeVar("_Made", bound=Callable[..., Any])
_MARK = "smt_offers"
_INPUTS = {"hyp": "target", "source": "source", "alignment": "alignment", "segmentation": "segmentation"}
_RULE_INPUTS = ("rule_source", "rule_target")
_KEPT_RULES = 1 << 16


def feature(name: str, *, summary: str = "", needs: frozenset[str] = frozenset()) -> Callable[[_Made], _Made]:
    """Register a function or a class as a feature.

    A function takes what it reads by name, any of ``hyp``, ``source``, ``alignment`` and ``segmentation`` (strings),
    and returns a number, or a mapping for an open set of features ``name:key``. It scores whole hypotheses: lists. A
    function of ``rule_source``, ``rule_target`` or both (the sides of a rule or phrase, with gaps as ``[X,1]``) is
    summed over the rules of a derivation: it takes part in decoding. Its keyword-only parameters are options, as are
    the parameters of a class's constructor.
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
    reads = tuple(one.name for one in inputs)
    either = f"{', '.join(_INPUTS)}, or {' and '.join(_RULE_INPUTS)}"
    if not reads:
        raise TypeError(f"feature {name!r}: expected a parameter to read, any of {either}, found none")
    of_rules = reads[0] in _RULE_INPUTS
    for read in reads:
        if read not in (_RULE_INPUTS if of_rules else _INPUTS):
            raise TypeError(
                f"feature {name!r}: expected parameters among {either} (options after a `*`), found {read!r}"
            )
    alone = signature.return_annotation in (float, int, bool)

    def make(**values: Any) -> FunctionFeature | RuleFunctionFeature:
        if of_rules:
            return (RuleNumberFeature if alone else RuleFunctionFeature)(name, function, reads, values)
        return FunctionFeature(name, function, reads, values)

    make.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    needs = {"grammar"} if of_rules else {_INPUTS[read] for read in reads}
    return Offer(name=name, make=make, summary=summary, needs=frozenset(needs))


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
        return _columns(self._name, [self._function(*row, **self._options) for row in rows], "hypothesis")


class RuleFunctionFeature:
    """A feature of rules that calls a function for each rule; its values are kept, as rules return."""

    def __init__(
        self, name: str, function: Callable[..., Any], reads: tuple[str, ...], options: Mapping[str, Any]
    ) -> None:
        self._name = name
        self._reads = reads
        self._value = functools.lru_cache(_KEPT_RULES)(functools.partial(function, **options))

    def score_rules(self, rules: Rules) -> Any:
        """The function's value for each rule."""
        if rules.origins is None:
            raise UsageError(f"feature {self._name!r} reads rules, which lists do not have: use it in a decoder")
        columns = rules.origins.columns()
        values = []
        for rule in map(columns.rule, range(len(columns))):
            sides = {"rule_source": rule.source, "rule_target": rule.target}
            values.append(self._value(*(_text(sides[name]) for name in self._reads)))
        return _columns(self._name, values, "rule")


def _text(side: Sequence[str | NonTerminal]) -> str:
    return " ".join(part if isinstance(part, str) else f"[{part.label},{part.index}]" for part in side)


class RuleNumberFeature(RuleFunctionFeature):
    """One whose function is annotated to return a number, so that it has one column."""

    components = 1


def _columns(name: str, values: list[Any], what: str) -> Any:
    """The values; mappings become columns with open names."""
    if any(isinstance(value, Mapping) for value in values):
        if not all(isinstance(value, Mapping) for value in values):
            raise TypeError(f"expected a mapping for every {what} or for none, found both mappings and numbers")
        from smtformats import Columns

        return Columns.from_mappings([{f"{name}:{key}": v for key, v in row.items()} for row in values])
    return values
