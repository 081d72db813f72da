"""The host: loaded plugins, their registry, and a method for each job. Every command is a parser and one such call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtformats.display import html_table
from smtplugins.contracts.spec import Spec
from smtplugins.host.arguments import argument, config_of, listed, stream_of, weights_of
from smtplugins.host.files.lists import ListStream, read, read_weights, write_best
from smtplugins.host.files.opening import Path
from smtplugins.host.loading.registry import Registry
from smtplugins.host.methods.building import Building
from smtplugins.host.methods.caches import Caches
from smtplugins.host.methods.configuring import Configuring
from smtplugins.host.methods.estimation import Estimation
from smtplugins.host.methods.judging import Judging
from smtplugins.host.methods.learning import Learning
from smtplugins.host.methods.table_files import TableFiles
from smtplugins.host.scores.score_cache import ScoreFolder, score_folder
from smtplugins.host.spread.choice import make_runner

if TYPE_CHECKING:
    from types import ModuleType

    from smtformats import Candidates, Format
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.runners import Jobs
    from smtplugins.host.arguments import Overrides
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.statistics import DecodingStatistics
    from smtplugins.host.decode.translator import Translator
    from smtplugins.host.files.description import Description
    from smtplugins.host.files.joining import System
    from smtplugins.host.loading.manager import _Loader
    from smtplugins.host.pooling.merging import Missing, Scores
    from smtplugins.host.spread.loading import Loading

AnySpec = str | Mapping[str, Any] | Spec
Note = Callable[[str], None]


class Host(Configuring, Judging, Learning, Estimation, TableFiles, Building, Caches):
    """Loaded plugins (``plugins``), their offers (``registry``), and a method for each job.

    Features and metrics keep slow scores in the folder ``score_cache`` and tell ``note`` what the user should know.
    """

    def __init__(
        self,
        loaded: _Loader,
        given: Sequence[str | os.PathLike[str] | ModuleType] = (),
        *,
        score_cache: Path | None = None,
        note: Note = lambda text: None,
    ) -> None:
        self.plugins = loaded.infos
        self.given = tuple(given), frozenset(loaded.disabled), None if score_cache is None else os.fspath(score_cache)
        gifts = {"note": note, "score_cache": ScoreFolder(score_folder(score_cache), note), "loading": self._loading}
        self.registry = Registry(loaded.infos, gifts)
        self.hooks = loaded.manager
        for kind, record, info in loaded.records:
            self.registry.add(kind, record, info)

    def _loading(self) -> Loading:
        """How this host was loaded, for another machine."""
        from smtplugins.host.spread.loading import Loading

        return Loading.of(self)

    def __reduce__(self) -> tuple[Any, ...]:
        from smtplugins.host.spread.loading import host_again

        return host_again, (self._loading(),)

    def __repr__(self) -> str:
        return f"<smtplugins host, plugins: {', '.join(plugin.name for plugin in self.plugins)}>"

    def _repr_html_(self) -> str:
        rows = [(plugin.name, plugin.version, plugin.status) for plugin in self.plugins]
        return html_table(("plugin", "version", "status"), rows)

    def formats(self, *kinds: str) -> list[Format]:
        """The formats of some kinds, or all: built-in and from plugins."""
        if kinds:
            return self.registry.formats(kinds)
        return [entry.record for entry in self.registry.entries("formats")]

    def read(
        self,
        path: Path,
        *,
        source: Path | None = None,
        annotations: Mapping[str, Path] | None = None,
        format: str | None = None,
        allow_partial: bool = False,
        derivations: int | None = None,
        unique: bool = False,
    ) -> ListStream:
        """Open n-best lists in any known format, or forests, search graphs and lattices as lists.

        ``source`` (a line per sentence, or with ids) and ``annotations`` (files by name) are joined by id;
        ``allow_partial`` accepts ids that some files lack. ``format``: ``NAME[,key=value...]`` (default: detected).
        ``derivations`` (default: 100) is the length of the list of a forest, of different texts if ``unique``, by the
        scores in the file; ``rescore(weights)`` of the stream finds the best derivations under weights.
        """
        return read(
            path,
            source=source,
            annotations=annotations,
            format=format,
            allow_partial=allow_partial,
            derivations=derivations,
            unique=unique,
            formats=self.formats(),
        )

    def read_weights(self, path: Path, format: str | None = None) -> dict[str, float]:
        """Read weights in any known format."""
        return read_weights(path, format, self.formats("weights"))

    def score(
        self,
        lists: ListStream | Iterable[Candidates] | Path,
        features: AnySpec | Callable[..., Any] | Sequence[AnySpec | Callable[..., Any]],
        *,
        jobs: Jobs = None,
    ) -> ListStream:
        """Append the features' columns to the lists.

        A feature is a name with options (``lm,path=en.arpa``), or a function of any of ``hyp``, ``source``,
        ``alignment`` and ``segmentation``, whose column has its name. ``jobs``: processes, or a runner
        (``dask,address=tcp://HOST:PORT``); the scores are the same with any.
        """
        from smtplugins.host.features.scoring import activate, reads_ahead, score_lists

        stream = stream_of(self, lists)
        active = activate(self.registry, listed(features))

        def start() -> Iterator[Candidates]:
            yield from score_lists(stream, active, make_runner(self, jobs))

        slow = stream.again and any(map(reads_ahead, active))
        total = (lambda: sum(1 for _ in stream)) if slow else None
        return ListStream(start, stream.name, stream.format, total=total)

    def merge(
        self,
        systems: Mapping[str, System] | Iterable[System],
        *,
        missing: Missing = "flag",
        scores: Scores = "all",
        ranks: bool = False,
        dedup: bool = True,
        source: Path | None = None,
        allow_partial: bool = False,
        format: str | Mapping[str, str] | None = None,
        derivations: int | None = None,
        unique: bool = False,
        weights: Mapping[str, Mapping[str, float] | Path] | None = None,
        missing_weight: float | None = None,
    ) -> ListStream:
        """Pool the candidates of several systems, joined by id.

        A system is n-best lists, or texts with one candidate for each sentence: a path, a stream of lists or a list
        of texts; ``systems`` has them by name, or as paths that name them. A candidate keeps the scores of each system
        that has it as features ``SYSTEM.NAME`` (the total is ``SYSTEM.total``), and its extra ``system`` names these
        systems, separated by commas. ``missing`` says what stands for the scores of a system that lacks the candidate:
        the smallest values of its list with a feature ``SYSTEM.missing`` of 1 (``flag``) or without it (``min``),
        ``0``, or ``error``. ``scores="totals"`` leaves the features out, for weights from few sentences. ``ranks``
        adds the ranks as ``SYSTEM.rank``. A text is one candidate unless ``dedup`` is False. The total is the log of
        the mean of the systems' posterior probabilities of the text. ``source`` is joined by id; ``allow_partial``
        accepts ids that only some systems have. ``format``: of all systems, or by name. Of forests, search graphs and
        lattices the candidates are the best ``derivations`` (default: 100), of different texts if ``unique``.
        ``weights`` by system compute its totals; ``missing_weight`` is that of features without one.
        """
        from smtplugins.host.pooling.pools import merge

        return merge(
            systems,
            missing=missing,
            scores=scores,
            ranks=ranks,
            dedup=dedup,
            source=source,
            allow_partial=allow_partial,
            format=format,
            derivations=derivations,
            unique=unique,
            weights={name: weights_of(self, table) or {} for name, table in (weights or {}).items()},
            missing_weight=missing_weight,
            formats=self.formats(),
        )

    def write(
        self,
        lists: ListStream | Iterable[Candidates] | Path,
        path: Path,
        format: str | None = None,
        *,
        precision: int | None = None,
        note: Note = lambda text: None,
        quiet: bool = True,
    ) -> int:
        """Write lists in any known format (default: that of the suffix, or their own); return their number.

        ``precision``: significant digits of new numbers (default: the fewest that read back equal). ``note`` is told
        what the format cannot store; ``quiet=False`` shows a progress bar on a terminal.
        """
        from smtplugins.host.files.conversion import write_records

        stream = stream_of(self, lists)
        return write_records(
            self,
            iter(stream),
            stream.format,
            path,
            format,
            precision=precision,
            note=note,
            quiet=quiet,
            total=stream.total,
        )

    def write_best(
        self,
        lists: ListStream | Iterable[Candidates] | Path,
        path: Path,
        *,
        fill: bool = False,
        note: Note = lambda text: None,
    ) -> int:
        """Write the best text of each list, a line each; return the number of ids in between that have no list.

        ``fill`` writes an empty line for each of them (ids are then numbers); otherwise ``note`` is told their number.
        """
        skipped = write_best(stream_of(self, lists), path, fill=fill)
        if skipped and not fill:
            option = argument("fill=True")
            note(f"{skipped} ids have no list, so line numbers are not ids; {option} writes empty lines for them")
        return skipped

    def convert(
        self,
        source: Path,
        target: Path,
        to_format: str | None = None,
        *,
        from_format: str | None = None,
        unescape: str | None = None,
        escape: str | None = None,
        precision: int | None = None,
        derivations: int | None = None,
        unique: bool = False,
        weights: Mapping[str, float] | Path | None = None,
        missing: float | None = None,
        ignore: str | Iterable[str] = (),
        sources: Path | None = None,
        refs: System | Sequence[System] = (),
        metric: AnySpec | None = None,
        allow_partial: bool = False,
        note: Note = lambda text: None,
        quiet: bool = True,
    ) -> int:
        """Convert a file to another format of its kind (default: the suffix's, or its own); return their number.

        Forests, search graphs and lattices convert to n-best lists, too: the best ``derivations`` (default: 100), of
        different texts if ``unique``, by their own scores or under ``weights``, where ``missing`` is the weight of
        features without one.

        Any configuration converts to ``run-yaml``, which a target that ends in .yaml implies; ``ignore`` names
        unsupported settings to leave out. ``unescape`` and ``escape`` name the escaping of special characters in words
        to undo and to apply. ``precision`` and ``note`` are those of :meth:`write`. To lists, ``sources`` are joined;
        with ``refs`` or ``metric`` (default: bleu) their totals become the metric's sentence scores (negative ones if
        lower scores are better).
        """
        from smtplugins.host.files.conversion import Listing, convert

        scores = weights_of(self, weights)
        listing = Listing(derivations, unique, scores, missing, sources, tuple(listed(refs)), metric, allow_partial)
        return convert(
            self,
            source,
            target,
            from_format,
            to_format,
            unescape=unescape,
            escape=escape,
            precision=precision,
            ignore=listed(ignore),
            listing=listing,
            note=note,
            quiet=quiet,
        )

    def update_weights(
        self,
        weights: Mapping[str, float] | Path,
        into: Path,
        target: Path,
        *,
        format: str | None = None,
        precision: int | None = None,
        note: Note = lambda text: None,
    ) -> None:
        """Copy the file ``into`` (moses.ini or weights) to ``target`` with these weights in its weight lines.

        All other bytes stay. ``format`` is that of the weights, if they are a path; ``note`` is told which weights the
        file has no line for.
        """
        from smtplugins.host.files.conversion import update

        update(self, weights, into, target, format, precision=precision, note=note)

    def describe(self, path: Path, format: str | None = None) -> Description:
        """Describe a file: its format, counts, ranges of features, problems with their lines."""
        from smtplugins.host.files.description import describe

        return describe(self, path, format)

    def translator(
        self,
        config: Path | RunConfig,
        overrides: Overrides = (),
        *,
        weights: Mapping[str, float] | Path | None = None,
        set_weights: Mapping[str, float] | None = None,
        features: AnySpec | Sequence[AnySpec] = (),
        cache: str | None = None,
        ignore: str | Iterable[str] = (),
        note: Note = lambda text: None,
    ) -> Translator:
        """Make a decoder with its model from a run.yaml, cdec.ini, moses.ini or joshua.config.

        ``overrides``: ``{"decoder.pop_limit": 200}``, or as on the command line, ``decoder.pop_limit=200``. ``weights``
        replace the configuration's; ``set_weights`` are added to them, or change their values. ``features`` are added
        to the configuration's: ``lm,path=more.arpa,name=LM1``. ``cache``: folder of loaded grammars, or ``off``.
        ``ignore`` names unsupported toolkit settings to ignore, although they change translations. ``note`` is told
        which features have no weight.
        ``host.translator("run.yaml").decode(sentences)`` translates; sentences are texts, words or records.
        """
        from smtplugins.host.decode.translator import make_translator

        record = config_of(config, overrides, ignore).with_features(listed(features))
        return make_translator(self, record, weights_of(self, weights), cache, note, set_weights=set_weights)

    def decode(
        self,
        config: Path | RunConfig,
        output: Path,
        sentences: Path | Iterable[Sentence | str | Sequence[str]] | None = None,
        overrides: Overrides = (),
        *,
        weights: Mapping[str, float] | Path | None = None,
        set_weights: Mapping[str, float] | None = None,
        features: AnySpec | Sequence[AnySpec] = (),
        format: str | None = None,
        nbest: int | None = None,
        unique: bool = False,
        fields: str | Sequence[str] = (),
        to_format: str | None = None,
        precision: int | None = None,
        forests: Path | None = None,
        forests_format: str | None = None,
        built: Path | None = None,
        stats: Path | None = None,
        trace: Note | None = None,
        jobs: Jobs = None,
        cache: str | None = None,
        ignore: str | Iterable[str] = (),
        note: Note = lambda text: None,
        quiet: bool = True,
    ) -> DecodingStatistics:
        """Translate into files with the system of a run.yaml, cdec.ini, moses.ini or joshua.config.

        ``output`` gets translations, or with ``nbest`` (default: output.nbest of the configuration) lists of
        that length in ``to_format`` (default: the toolkit's), with additional ``fields`` (segmentation, alignment,
        input), each text once if ``unique``. ``sentences``: a path, in ``format``, or the sentences (default: the
        configuration's source). ``forests``: a folder for the forest of each sentence; ``built``: a file for the
        building steps of trees; ``stats``: a file for times and counts as JSON; ``trace`` is called with the lines of
        the best derivations. ``jobs``: processes, or a runner; same output with any (default: the configuration's).
        Other arguments are those of :meth:`translator` and :meth:`write`.
        """
        from smtplugins.host.decode.decoded_files import decode_files
        from smtplugins.host.decode.job import Outputs

        outputs = Outputs(
            output, nbest, unique, tuple(listed(fields)), to_format, precision, forests, forests_format, built, stats
        )
        return decode_files(
            self,
            config_of(config, overrides, ignore).with_features(listed(features)),
            sentences,
            outputs,
            weights=weights_of(self, weights),
            set_weights=set_weights,
            format=format,
            jobs=jobs,
            cache=cache,
            trace=trace,
            note=note,
            quiet=quiet,
        )
