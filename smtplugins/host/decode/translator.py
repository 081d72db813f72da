"""A decoder with its tables, features and weights, made from a configuration."""

from __future__ import annotations

import functools
import itertools
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from smtformats.records import dataclass
from smtformats.tokens import words
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.host.arguments import argument
from smtplugins.host.config.loaded_passes import check_decoder, check_summaries, with_weights
from smtplugins.host.config.resources import resources
from smtplugins.host.config.rule_tables import RuleTable, merged
from smtplugins.host.config.start_weights import listed_weights, start_weights
from smtplugins.host.decode.statistics import added
from smtplugins.host.features.rule_columns import column_names, declares_columns, is_stateful
from smtplugins.host.features.scoring import tuneable
from smtplugins.host.files.escaping import escaped, unescaped
from smtplugins.host.spread.translators import TranslatorRecipe, translator_again

if TYPE_CHECKING:
    from smtplugins.contracts.decoders import Decoder, Decoding
    from smtplugins.contracts.spec import Spec
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.host import Host
    from smtplugins.host.text.decoding import DecoderText


START_NOTE = "no weights: those that tuning starts from are used (`smt tune` learns better ones)"


@dataclass(frozen=True)
class Translator:
    """A decoder and its model, with the names of the features that every n-best list shows.

    ``columns`` are the names of the columns of each feature and named table of the configuration. ``arc_name`` is the
    feature that scores the arcs of lattices, ``arc_scores`` the number of scores of an arc. ``given`` are the weights
    as they were read. ``undeclared`` are features of rules that do not say which columns they have. ``pass_columns``
    are the columns of the features of later passes, ``pass_weights`` the weights that such passes have of their own.
    ``started`` says that there were no weights, so that the model has those that tuning starts from.
    ``text`` prepares raw sentences, and translations of them. ``probabilities`` are regular expressions for the
    probabilities of tables without a name. ``made`` is what it was made from.
    """

    decoder: Decoder
    model: Model
    config: RunConfig
    columns: tuple[tuple[str, ...], ...] = ()
    stateful: frozenset[str] = frozenset()
    arc_name: str | None = None
    loading: Mapping[str, float] = field(default_factory=dict)
    arc_scores: int | None = None
    given: Mapping[str, float] = field(default_factory=dict)
    undeclared: tuple[str, ...] = ()
    note: Callable[[str], None] = lambda text: None
    pass_columns: tuple[tuple[str, ...], ...] = ()
    pass_weights: tuple[Mapping[str, float], ...] = ()
    started: bool = False
    text: DecoderText | None = None
    probabilities: tuple[str, ...] = ()
    made: TranslatorRecipe | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # Another machine makes the decoder again, once for all weights.
        assert self.made is not None, "made by make_translator()"
        names = ("model", "given", "pass_weights", "started")
        return translator_again, (self.made.packed(), {name: getattr(self, name) for name in names})

    def loaded(self) -> Translator:
        """Load the tables now instead of when decoding begins; return self."""
        load = getattr(self.decoder, "load", None)
        if load is None:
            return self
        translator = replace(self, loading=added(self.loading, load(self.model)))
        names = getattr(self.decoder, "table_names", None)
        if names is not None and hasattr(self.decoder, "passes"):
            check_summaries(self.config, [*translator.features(), *names()])
        return translator

    def names(self) -> tuple[str, ...]:
        """The features that every n-best list shows, in the order of the lists.

        Moses lists stateful features first, Joshua those of tables. Names of tables' features are known once the
        tables are loaded.
        """
        dense = tuple(getattr(self.decoder, "dense_names", ()))
        shown = list(self.features())
        if self.config.output.format.startswith("joshua"):
            shown.sort(key=lambda name: name not in dense)
        if self.config.output.format.startswith("moses"):
            shown.sort(key=lambda name: name not in self.stateful)
        return tuple(shown)

    def features(self) -> tuple[str, ...]:
        """The features that every n-best list shows, in the order of the configuration."""
        dense = tuple(getattr(self.decoder, "dense_names", ()))
        tables = {table.name for table in self.config.model.tables}
        features: list[str] = []
        for label in itertools.chain.from_iterable(self.columns):
            own = [name for name in dense if name == label or name.startswith((f"{label}[", f"{label}_"))]
            features += own if label in tables else [label]
        return tuple(dict.fromkeys([*features, *itertools.chain.from_iterable(self.pass_columns)]))

    @property
    def fixed(self) -> frozenset[str]:
        """The features that are not tuned (``tuneable=false``)."""
        parts = zip(_listed(self.config), self.columns, strict=True)
        labels = {name for part, names in parts if not _is_tuneable(part) for name in names}
        dense = getattr(self.decoder, "dense_names", ())
        return frozenset(labels).union(name for name in dense if name.partition("[")[0] in labels)

    def unweighted(self) -> list[str]:
        """The features without a weight, each component by its name.

        A second column of a feature, such as a language model's count of unknown words, needs no weight. Tables'
        features are included once the tables are loaded.
        """
        weights = set(self.model.weights).union(*self.pass_weights)
        columns = (*self.columns, *self.pass_columns)
        beside = {name for names in columns if names and names[0] in weights for name in names if name[-1] != "]"}
        for label in self.undeclared:
            beside |= {label} if any(name.startswith((f"{label}[", f"{label}:")) for name in weights) else set()
        names = dict.fromkeys([*self.features(), *self._probabilities()])
        return [name for name in names if name not in weights and name not in beside]

    def _probabilities(self) -> list[str]:
        """The features of tables without a name that are probabilities by the tables' formats."""
        names = getattr(self.decoder, "table_names", lambda: None)() if self.probabilities else None
        known = re.compile("|".join(f"(?:{one})" for one in self.probabilities))
        return [name for name in names or () if known.fullmatch(name)]

    def notes(self) -> list[str]:
        """Warnings to print before decoding."""
        notes = list(getattr(self.decoder, "notes", ()))
        if self.started:
            notes.append(f"{START_NOTE}: {listed_weights(self.model.weights)}")
        if not self.model.weights:
            where = f"{argument('weights=FILE', '-w FILE')}, or model.weights in the configuration"
            notes.append(f"no weights: all translations score 0 ({where})")
        elif self.unweighted():
            notes.append(f"features without a weight count 0: {', '.join(self.unweighted())}")
        return notes

    def decode(
        self, sentences: Iterable[Sentence | str | Sequence[str]], *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]:
        """Translate sentences, given as records, texts or sequences of words; translations come in their order.

        The translation is the one that ``output.choice`` of the configuration chooses. Weights of unknown features are
        refused; ``note`` is told which features have no weight. With ``text`` in the configuration, texts are raw, and
        so are their translations; sequences of words are the model's.
        """
        if threads < 1:
            raise UsageError(f"jobs: expected 1 or more, found {threads}")
        raw: deque[bool] = deque()
        given = self._checked(as_sentences(sentences, self.text), raw)
        scheme = self.config.escape
        if scheme is not None:
            given = (escaped(sentence, scheme) for sentence in given)
        choice = None
        if self.config.output.choice is not None:
            from smtplugins.host.decode.printing.choice import choice_of, with_choice

            with self.config.at("output", "choice"):
                choice = choice_of(self.config.output.choice)
        # A decoder without graphs need not have the parameter.
        asked = {"graphs": True} if graphs or choice is not None else {}
        decodings = self.decoder.decode(given, self.model, threads=threads, **asked)
        if choice is not None:
            decodings = map(functools.partial(with_choice, choice=choice), decodings)
        if scheme is not None:
            decodings = (unescaped(decoding, scheme) for decoding in decodings)
        text = self.text
        if text is None:
            return decodings
        # A decoder gives a decoding for each sentence, in their order.
        return (replace(one, best=text.translation(one.best)) if raw.popleft() else one for one in decodings)

    def _checked(self, sentences: Iterable[Sentence], raw: deque[bool]) -> Iterator[Sentence]:
        """Pass the sentences on; check the weights with the first, when the decoder has loaded its tables."""
        from smtplugins.host.config.weight_names import check_names

        for number, sentence in enumerate(sentences):
            if not number:
                check_names(self, [sentence], self.note)
                for text in self.notes():
                    self.note(text)
            if self.text is not None:
                raw.append(sentence.raw)
            yield sentence

    def decode_one(self, sentence: Sentence, *, graphs: bool = False) -> Decoding:
        """Translate a sentence into the words of the model."""
        # A decoder without graphs need not have the parameter.
        asked = {"graphs": True} if graphs else {}
        scheme = self.config.escape
        given = sentence if scheme is None else escaped(sentence, scheme)
        decodings = list(self.decoder.decode([given], self.model, **asked))
        if len(decodings) != 1:
            raise SmtError(f"sentence {sentence.id}: expected one decoding of one sentence, found {len(decodings)}")
        return decodings[0] if scheme is None else unescaped(decodings[0], scheme)


def make_translator(
    host: Host,
    config: RunConfig,
    weights: Mapping[str, float] | None = None,
    cache: str | None = None,
    note: Callable[[str], None] = lambda text: None,
    *,
    set_weights: Mapping[str, float] | None = None,
) -> Translator:
    """Load the features of a configuration and make its decoder.

    ``weights`` replace the configuration's; ``set_weights`` are added to them, or change their values.
    """
    begun = time.process_time(), time.perf_counter()
    from smtplugins.host.config.weight_names import check_range, with_values

    if config.decoder is None:
        raise UsageError(
            "the configuration names no decoder: `decoder: hiero`, or "
            + argument("overrides='decoder=hiero'", "--decoder NAME")
        )
    given = resources(host.registry, config.model, host.formats("grammar"), cache, config.at)
    columns, stateful = _columns(config, given)
    all_features = (*given.features, *(active for one in given.passes for active in one.features))
    undeclared = tuple(active.label for active in all_features if not declares_columns(active.feature))
    read = weights or {}
    if config.model.weights is not None:
        with config.at("model", "weights"):
            configured = host.read_weights(config.model.weights)
        read = configured if weights is None else read
        given = replace(given, weights=_with_missing(configured, config, columns))
    weights = given.weights if weights is None else weights
    unset = weights is None and not set_weights
    if set_weights:
        check_range(set_weights)
        read, weights = with_values(read, set_weights), {**(weights or {}), **set_weights}
    check_range(read)
    given = replace(given, passes=tuple(with_weights(host, given.passes, config.model.passes, config.at)))
    with config.at("decoder"):
        decoder: Decoder = host.registry.make("decoders", config.decoder, given={"resources": given})
    check_decoder(decoder, len(given.passes))
    # A toolkit has its own convention for a configuration without weights.
    if unset and not config.toolkit:
        weights = read = _with_missing(start_weights(decoder, given), config, columns)
    scoring = ((active.label, active.feature.arcs) for active in given.features if hasattr(active.feature, "arcs"))
    arc_name, arc_scores = next(scoring, (None, None))
    model = Model(dict(weights or {}))
    loading = {"cpu.loading": time.process_time() - begun[0], "wall.loading": time.perf_counter() - begun[1]}
    return Translator(
        *(decoder, model, config, columns, stateful, arc_name, loading, arc_scores, read, undeclared, note),
        pass_columns=tuple(names for one in given.passes for names in one.columns),
        pass_weights=tuple(one.weights for one in given.passes if one.weights is not None),
        started=unset and bool(weights),
        text=_text_of(config, note),
        probabilities=tuple(
            dict.fromkeys(table.probabilities(given.formats) for table in given.tables if not table.name)
        ),
        made=TranslatorRecipe(host, config, cache),
    )


def _text_of(config: RunConfig, note: Callable[[str], None]) -> DecoderText | None:
    if config.text is None:
        return None
    from smtplugins.host.text.decoding import DecoderText

    with config.at("text"):
        return DecoderText.of(config.text, note)


def _listed(config: RunConfig) -> tuple[Spec | RuleTable, ...]:
    return merged(config.model.tables, config.model.features)


def _is_tuneable(part: Spec | RuleTable) -> bool:
    return part.tuneable if isinstance(part, RuleTable) else tuneable(part)


def _columns(config: RunConfig, given: Resources) -> tuple[tuple[tuple[str, ...], ...], frozenset[str]]:
    """The names of the columns of features and named tables, in the order of lists, and which are stateful."""
    columns: list[tuple[str, ...]] = []
    stateful: set[str] = set()
    for part in _listed(config):
        label = part.name if isinstance(part, RuleTable) else str(part.options.get("name", part.name))
        active = next((active for active in given.features if active.label == label), None)
        # Tables name their columns themselves.
        own = (label,) if active is None else column_names(active, getattr(active.feature, "components", 1))
        columns.append(tuple(own))
        if active is not None and is_stateful(active.feature):
            stateful.update(own)
    return tuple(columns), frozenset(stateful)


def _with_missing(
    weights: Mapping[str, float], config: RunConfig, columns: Sequence[tuple[str, ...]]
) -> Mapping[str, float]:
    """Give features without a weight the weight ``model.missing``, if the configuration sets it."""
    if config.model.missing is None:
        return weights
    complete = dict(weights)
    for part, names in zip(_listed(config), columns, strict=True):
        count = part.scores or 1 if isinstance(part, RuleTable) else 1
        if count > 1:
            names = tuple(f"{names[0]}[{k}]" for k in range(count))
        for name in names:
            complete.setdefault(name, float(config.model.missing))
    return complete


def as_sentences(
    sentences: Iterable[Sentence | str | Sequence[str]], text: DecoderText | None = None
) -> Iterator[Sentence]:
    """Sentences as records; texts and sequences of words get their positions as ids. ``text`` prepares the texts."""
    return map(_as_sentence, itertools.count(), sentences, itertools.repeat(text))


def _as_sentence(number: int, given: Sentence | str | Sequence[str], text: DecoderText | None) -> Sentence:
    if isinstance(given, Sentence):
        return given
    if text is not None and isinstance(given, str):
        return Sentence(str(number), text.words(given), raw=True)
    return Sentence(str(number), tuple(words(given) if isinstance(given, str) else given))
