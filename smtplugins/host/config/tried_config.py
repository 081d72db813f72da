"""Try a configuration on one sentence, and describe what it loads: tables, weights, options, the translation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtformats.escapes import unescape
from smtformats.format import shortest
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import parameters
from smtplugins.host.arguments import argument
from smtplugins.host.config.offered import check_offers
from smtplugins.host.decode.sentences import read_source
from smtplugins.host.decode.translator import make_translator
from smtplugins.host.files.opening import open_known

if TYPE_CHECKING:
    from smtplugins.host.config.rule_tables import RuleTable
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.translator import Translator
    from smtplugins.host.files.opening import Path
    from smtplugins.host.host import Host

_WORDS = 5
"""The words of a sentence that is made up."""
_SHOWN = 100
"""The number of features that are described."""


@dataclass(frozen=True)
class TriedConfig:
    """What a configuration loads, and how it translates a sentence.

    ``options`` of the decoder are those with another value than the default. ``tables`` are described by path,
    ``weights`` listed by feature; ``features`` is their number, as of many only the first are listed.
    """

    decoder: str
    options: Mapping[str, Any]
    tables: Mapping[str, str]
    weights: Mapping[str, float]
    features: int
    sentence: str
    translation: str

    def rows(self) -> list[dict[str, str]]:
        """The facts, a row each."""
        facts = [("decoder", self.decoder)]
        facts += [(f"decoder.{name}", str(value)) for name, value in self.options.items()]
        facts += [(f"table {path}", text) for path, text in self.tables.items()]
        facts += [(f"weight of {name}", shortest(value)) for name, value in self.weights.items()]
        if self.features > len(self.weights):
            facts.append(("further weights", str(self.features - len(self.weights))))
        facts += [("sentence", self.sentence), ("translation", self.translation)]
        return [{"what": what, "value": value} for what, value in facts]


def try_config(
    host: Host,
    config: RunConfig,
    path: Path | None = None,
    cache: str | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> TriedConfig:
    """Load a configuration and translate the first sentence of a file, or some words of the first table."""
    check_offers(host, config)
    translator = make_translator(host, config, cache=cache, note=note).loaded()
    sentence = next(_sentences(host, translator, path), None)
    if sentence is None:
        raise SmtError(f"{path}: expected a sentence to translate, found none")
    (decoding,) = translator.decode([sentence])
    if not decoding.found:
        raise SmtError(
            f"expected a translation of {sentence.text!r}, found none (`smt decode --trace` shows the search)"
        )
    assert config.decoder is not None
    defaults = parameters(host.registry.factory("decoders", config.decoder.name))
    own = getattr(translator.decoder, "table_names", lambda: None)() or ()
    weights = {name: translator.model.weights.get(name, 0.0) for name in (*own, *translator.features())}
    weights |= translator.model.weights
    return TriedConfig(
        config.decoder.name,
        {name: value for name, value in config.decoder.options.items() if value != defaults[name].default},
        {str(table.path): _described(host, table, cache) for table in config.model.tables},
        dict(list(weights.items())[:_SHOWN]),
        len(weights),
        sentence.text,
        decoding.best,
    )


def _sentences(host: Host, translator: Translator, path: Path | None) -> Iterator[Sentence]:
    if path is not None:
        return read_source(host, translator, path)
    options = {} if translator.config.decoder is None else translator.config.decoder.options
    for table in translator.config.model.tables if options.get("input", "text") == "text" else ():
        rules = table.first_rules(host.formats("grammar")) or []
        words = dict.fromkeys(word for rule in rules for word in rule.source if isinstance(word, str))
        some = [word for word in words if not word.startswith("<")][:_WORDS]
        if some:
            scheme = translator.config.escape
            return iter([Sentence("0", tuple(some if scheme is None else [unescape(word, scheme) for word in some]))])
    raise UsageError(
        f"expected a text to translate ({argument('sentences', '-i FILE')}): none can be made of words of the tables"
    )


def _described(host: Host, table: RuleTable, cache: str | None) -> str:
    """The format and size of a table."""
    formats = host.formats("grammar")
    with open_known(table.path, "grammar", table.format, formats) as opened:
        name = opened.record.name
    if table.lookup(formats) is not None:
        return f"{name}, looked up for each sentence"
    count = len(table.load(formats, cache))
    return f"{name}, {count} rule{'' if count == 1 else 's'}"
