"""Weights against the features they are for: numbers that are too large, names of no feature, features without one."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.host.decode.decoding import Translator

_IGNORING = ("cdec", "joshua")
"""Toolkits that leave weights aside that no feature has: their files often hold some."""
_SHOWN = 10


def check_range(weights: Mapping[str, float]) -> None:
    """Refuse weights that 32-bit floats cannot hold, which tables and searches compute with."""
    from smtformats import FormatError
    from smtformats.grammar.shared.lines import FLOAT32_END

    for name, value in weights.items():
        if not abs(value) < FLOAT32_END:
            line = getattr(weights, "places", {}).get(name)
            if line is not None:
                expected = f"a weight of {name} that fits 32-bit floats"
                raise FormatError(expected, f"{value:g}", file=getattr(weights, "file", ""), line=line)
            raise UsageError(f"weight of {name!r}: expected a number that fits 32-bit floats, found {value:g}")


def check_names(translator: Translator, sentences: Sequence[Sentence], note: Callable[[str], None]) -> None:
    """Refuse weights of no feature. The decoder has to be loaded; one that does not tell all names is left alone.

    Some may be of features that are not known yet: then it is a note. That is so if sentences bring grammars, with
    names of sparse features, which Moses calls ``FEATURE_name``, and for toolkits that leave unknown weights aside.
    """
    own = sentences[0].grammars if sentences else ()
    names = getattr(translator.decoder, "table_names", lambda own: None)(own)
    if names is None:
        return
    known = {*translator.features(), *names}
    # Names with a colon are of open namespaces.
    left = [name for name in translator.model.weights if name not in known and ":" not in name]
    if not left:
        return
    config = translator.config
    labels = tuple(f"{one.options.get('name', one.name)}_" for one in config.model.features)
    is_open = any(one.grammars for one in sentences) or config.toolkit in _IGNORING
    wrong = [] if is_open else [name for name in left if not name.startswith(labels)]
    place = f"{file}: " if (file := getattr(translator.given, "file", "")) else ""
    if wrong:
        listed = _listed(translator, wrong, known)
        raise UsageError(f"{place}weights of no feature: {listed}; correct the names or take them out")
    where = " of the configuration or the first sentence's grammars" if own else ""
    note(f"{place}weights of no feature{where} are not used: {_listed(translator, left, known)}")


def checked(translator: Translator, sentences: Iterable[Sentence], note: Callable[[str], None]) -> Iterator[Sentence]:
    """The sentences; before the first one the names of the weights are checked, as it may have grammars of its own."""
    first = True
    for one in sentences:
        if first:
            check_names(translator, [one], note)
            first = False
        yield one


def _listed(translator: Translator, names: Sequence[str], known: Iterable[str]) -> str:
    """Each name with its line and the nearest name of a feature."""
    spelt = {name.casefold(): name for name in sorted(known, reverse=True)}
    places = getattr(translator.given, "places", {})
    shown = []
    for name in names[:_SHOWN]:
        near = difflib.get_close_matches(name.casefold(), spelt, n=1, cutoff=0.0)
        parts = [f"line {places[name]}"] if name in places else []
        parts += [f"the nearest is {spelt[near[0]]!r}"] if near else []
        shown.append(repr(name) + (f" ({', '.join(parts)})" if parts else ""))
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
