"""Check weights against features: numbers that are too large, and names that belong to no feature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from smtformats import FormatError
from smtformats.grammar.shared.lines import FLOAT32_END
from smtformats.weights.lines import FileWeights
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.models import Model
from smtplugins.host.arguments import argument
from smtplugins.host.decode.translator import Translator

_IGNORING = ("cdec", "joshua")
"""Toolkits that ignore weights of unknown features: their files often hold some."""
_COMPARED = 10
"""The names for which the nearest feature is looked up."""


def check_range(weights: Mapping[str, float]) -> None:
    """Refuse weights beyond 32-bit floats, with which tables and searches compute."""
    for name, value in weights.items():
        if not abs(value) < FLOAT32_END:
            line = getattr(weights, "places", {}).get(name)
            if line is not None:
                expected = f"a weight of {name} that fits 32-bit floats"
                raise FormatError(expected, f"{value:g}", file=getattr(weights, "file", ""), line=line)
            raise UsageError(f"weight of {name!r}: expected a number that fits 32-bit floats, found {value:g}")


def with_values(weights: Mapping[str, float], values: Mapping[str, float]) -> Mapping[str, float]:
    """The weights with these values; those of a file keep its name, and the others their lines."""
    changed = dict(weights) | dict(values)
    if not isinstance(weights, FileWeights):
        return changed
    places = {name: line for name, line in weights.places.items() if name not in values}
    return FileWeights(changed, weights.text, weights.origin, weights.file, places)


def check_names(translator: Translator, sentences: Sequence[Sentence], note: Callable[[str], None]) -> None:
    """Refuse weights of unknown features; the decoder must be loaded. A decoder without ``table_names`` is not checked.

    It is a note, not an error, if the features may not all be known: with per-sentence grammars or lattices, for sparse
    features, which Moses calls ``FEATURE_name``, with features of rules that do not declare their columns, and for
    toolkits that ignore unknown weights.
    """
    own = sentences[0].grammars if sentences else ()
    if translator.started and own:
        raise UsageError(
            f"no weights: expected some for the features of grammars of single sentences ({argument('weights=FILE')}, "
            "or model.weights in the configuration)"
        )
    for weights in translator.pass_weights:
        check_names(replace(translator, model=Model(dict(weights)), given=weights, pass_weights=()), sentences, note)
    names = getattr(translator.decoder, "table_names", lambda own: None)(own)
    if names is None:
        return
    lattices = [sentence.lattice for sentence in sentences if sentence.lattice is not None]
    known = {*translator.features(), *names, *(name for lattice in lattices for name in lattice.names[:])}
    config = translator.config
    numbered = tuple(f"{label}[" for label in translator.undeclared)
    # ``model.missing`` gives weights to tables by their names, before the number of their scores is known.
    made_up = set() if config.model.missing is None else translator.model.weights.keys() - translator.given.keys()
    # Names with a colon belong to open namespaces.
    left = [
        name
        for name in translator.model.weights
        if name not in known and name not in made_up and ":" not in name and not name.startswith(numbered)
    ]
    if not left:
        return
    labels = tuple(f"{spec.options.get('name', spec.name)}_" for spec in config.model.features)
    labels += tuple(f"{names[0].partition('[')[0]}_" for names in translator.pass_columns if names)
    labels += tuple(f"{table.name}_" for table in config.model.tables if table.name)
    may_have = [f"feature {label!r}" for label in translator.undeclared]
    is_open = bool(may_have or lattices or any(sentence.grammars for sentence in sentences))
    is_open = is_open or config.toolkit in _IGNORING
    wrong = [] if is_open else [name for name in left if not name.startswith(labels)]
    place = f"{file}: " if (file := getattr(translator.given, "file", "")) else ""
    if wrong:
        listed = _listed(translator, wrong, known)
        raise UsageError(f"{place}weights of unknown features: {listed}; correct or remove the names")
    brings = " and ".join(["grammars"] * bool(own) + ["lattice"] * bool(lattices))
    which = f"features outside the configuration and the first sentence's {brings}" if brings else "unknown features"
    unless = f", unless {' or '.join(may_have)} has such columns" if may_have else ""
    note(f"{place}weights of {which} are not used{unless}: {_listed(translator, left, known)}")


def checked(translator: Translator, sentences: Iterable[Sentence], note: Callable[[str], None]) -> Iterator[Sentence]:
    """Yield the sentences; the names of the weights are checked with the first, which may bring its own grammars."""
    first = True
    for sentence in sentences:
        if first:
            check_names(translator, [sentence], note)
            first = False
        yield sentence


def _listed(translator: Translator, names: Sequence[str], known: Iterable[str]) -> str:
    """The names, each with its line, the first also with the nearest name of a feature."""
    import difflib

    spelt = {name.casefold(): name for name in sorted(known, reverse=True)}
    places = getattr(translator.given, "places", {})
    shown = []
    for i, name in enumerate(names):
        near = difflib.get_close_matches(name.casefold(), spelt, n=1, cutoff=0.0) if i < _COMPARED else []
        parts = [f"line {places[name]}"] if name in places else []
        parts += [f"the nearest is {spelt[near[0]]!r}"] if near else []
        shown.append(repr(name) + (f" ({', '.join(parts)})" if parts else ""))
    return ", ".join(shown)
