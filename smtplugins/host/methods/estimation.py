"""Methods of the host that estimate models from text: alignments, phrase and rule tables, language models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, cast

from smtplugins.host.arguments import listed

if TYPE_CHECKING:
    from smtformats.alignment.links import Alignment
    from smtplugins.contracts.runners import Jobs
    from smtplugins.core.lm.estimate import Estimate
    from smtplugins.host.estimate.align import Text
    from smtplugins.host.estimate.mix_lm import MixedLm
    from smtplugins.host.estimate.prepare import PreparedText
    from smtplugins.host.files.opening import Path
    from smtplugins.host.host import AnySpec, Host

Note = Callable[[str], None]


class Estimation:
    """Prepare text, and estimate models from it."""

    def prepare(
        self,
        folder: Path,
        source: Path | None = None,
        target: Path | Sequence[Path] | None = None,
        *,
        like: Path | None = None,
        clean: bool = False,
        tokenize: str | None = None,
        case: str | None = None,
        languages: str | Sequence[str] = (),
        max_length: int | None = None,
        max_ratio: float | None = None,
        keep_duplicates: bool | None = None,
        note: Note = lambda text: None,
        quiet: bool = True,
    ) -> PreparedText:
        """Clean and tokenize parallel text, or one side of it, into the files ``source`` and ``target`` of a folder.

        Control characters end words. ``tokenize``: none (default), moses (by sacremoses), or sacrebleu's 13a or intl.
        ``case``: keep (default), lower, or true, as Moses' truecaser does; the models of both sides are learnt from the
        text and kept in the folder, as ``case.source`` and ``case.target``. ``languages``: those of the sides, for
        moses (default: the suffixes of the files).

        Pairs are dropped that have an empty side, more than ``max_length`` words (default 80), one side more than
        ``max_ratio`` times (default 9) as long as the other, or that occurred before, unless ``keep_duplicates``; of
        one side alone, empty and long lines are dropped. The folder's ``dropped.tsv`` has their lines and reasons,
        ``prepared.json``, which is written last, the settings. ``like``: such a folder, whose settings and models are
        taken; then nothing is dropped unless ``clean``, and there may be several targets, the references of a set,
        which are written to ``target``, ``target.1`` and so on.
        """
        from smtplugins.host.estimate.prepare import PrepareSettings, prepare

        settings = PrepareSettings(
            like, clean, tokenize, case, tuple(listed(languages)), max_length, max_ratio, keep_duplicates
        )
        return prepare(folder, source, listed(target or ()), settings, note, quiet)

    def align(
        self,
        source: Text | None = None,
        target: Text | None = None,
        *,
        forward: Path | None = None,
        backward: Path | None = None,
        format: str | None = None,
        model: AnySpec | None = None,
        iterations: int | None = None,
        heuristic: str = "grow-diag-final-and",
        seed: int | None = None,
        jobs: Jobs = None,
        keep_forward: Path | None = None,
        keep_backward: Path | None = None,
        note: Note = lambda text: None,
        quiet: bool = True,
    ) -> Iterator[Alignment]:
        """Align the words of a text (files or sequences of sentences) by a model trained on it in both directions.

        Alternatively, ``forward`` and ``backward`` are files with alignments of both directions to symmetrise, in
        ``format``; then the text is optional. ``model``: ibm1, ibm2, hmm, ibm3, ibm4, fast-align (default) or eflomal,
        trained for ``iterations`` (default 5; ibm3 and ibm4 3; eflomal by the size of the text). ``heuristic``: as in
        symal, or ``forward`` or ``backward``. ``seed``: of eflomal, which samples. ``jobs=2`` trains both directions in
        parallel. ``keep_forward`` and ``keep_backward``: files to write these directions to.
        """
        from smtplugins.host.estimate.align import AlignSettings, align

        keep = keep_forward, keep_backward
        settings = AlignSettings(forward, backward, format, model, iterations, heuristic, seed, jobs, keep)
        return align(cast("Host", self), source, target, settings, note, quiet)

    def extract_phrases(
        self,
        source: Path,
        target: Path,
        alignment: Path,
        folder: Path,
        *,
        to_format: str | None = None,
        max_length: int = 7,
        smoothing: Literal["none", "good-turing", "kneser-ney"] = "none",
        reordering: str | Sequence[str] = (),
        reordering_smoothing: float = 0.5,
        lexical: tuple[Path, Path] | None = None,
        occurrences: bool = False,
        escape: str | None = None,
        skip_bad: bool = False,
        jobs: Jobs = None,
        memory: int | None = None,
        note: Note = lambda text: None,
        quiet: bool = True,
    ) -> int:
        """Extract phrase pairs from word-aligned text into a folder of tables; return their number.

        The files are ``phrase-table.gz`` (or ``grammar.gz`` in another format), ``lex.f2e`` and ``lex.e2f`` unless
        ``lexical`` names such tables, and ``reordering-table.MODEL.gz`` for each model in ``reordering``, named as in
        Moses (wbe-msd-bidirectional-fe). ``max_length``: words of a phrase. ``reordering_smoothing`` is added to the
        count of each orientation. ``occurrences``: also write Moses' extract files. ``escape``: the scheme to escape
        words with (moses, joshua), as tables cannot hold all; the tables of ``lexical`` are of escaped words.
        ``skip_bad``: skip sentence pairs with links outside the sentences. ``jobs``: a runner of the counting; same
        tables with any (default: the environment's). ``memory``: bytes beyond which to sort on disk (default: half the
        machine's).
        """
        from smtplugins.host.estimate.phrase_tables import Bitext, PhraseSettings, extract_phrases

        return extract_phrases(
            cast("Host", self),
            Bitext(source, target, alignment, escape),
            folder,
            PhraseSettings(max_length, smoothing, listed(reordering), reordering_smoothing, lexical, occurrences),
            to_format=to_format,
            skip_bad=skip_bad,
            jobs=jobs,
            memory=memory,
            note=note,
            quiet=quiet,
        )

    def extract_rules(
        self,
        source: Path,
        target: Path,
        alignment: Path,
        folder: Path,
        *,
        to_format: str | None = None,
        limits: Literal["moses", "chiang", "cdec", "thrax"] | None = None,
        max_span: int | None = None,
        max_source_symbols: int | None = None,
        max_target_symbols: int | None = None,
        max_source_words: int | None = None,
        max_target_words: int | None = None,
        max_nonterminals: int | None = None,
        min_hole: int | None = None,
        min_target_hole: int | None = None,
        min_words: int | None = None,
        adjacent: bool | None = None,
        adjacent_target: bool | None = None,
        aligned: bool | None = None,
        tight: bool | None = None,
        counts: Literal["fractional", "unit", "places"] | None = None,
        lexical: tuple[Path, Path] | None = None,
        escape: str | None = None,
        skip_bad: bool = False,
        jobs: Jobs = None,
        memory: int | None = None,
        note: Note = lambda text: None,
        quiet: bool = True,
    ) -> int:
        """Extract hierarchical rules from word-aligned text into a folder of tables; return their number.

        ``to_format``: moses (default), cdec or joshua, with that toolkit's scores. ``limits`` are those of Moses'
        train-model, Chiang (2007), cdec's extractor or Joshua's Thrax (default: the format's toolkit), changed by the
        arguments from ``max_span`` to ``counts``: fields of `core.extract.hierarchical_rules.RuleSettings`, in words.
        ``jobs``: threads, or a runner of the counting; same table with any (default: the environment's). ``lexical``,
        ``escape``, ``skip_bad`` and ``memory`` are those of :meth:`extract_phrases`.
        """
        # Those that are fields of the settings are picked out.
        changes = dict(locals())
        from smtplugins.host.estimate.phrase_tables import Bitext
        from smtplugins.host.estimate.rule_tables import extract_rules, rule_format, rule_settings

        return extract_rules(
            cast("Host", self),
            Bitext(source, target, alignment, escape),
            folder,
            rule_settings(limits, rule_format(to_format), changes),
            to_format=to_format,
            lexical=lexical,
            skip_bad=skip_bad,
            jobs=jobs,
            memory=memory,
            note=note,
            quiet=quiet,
        )

    def estimate_lm(
        self,
        text: Path | Sequence[Path],
        order: int,
        arpa: Path | None = None,
        *,
        binary: Path | None = None,
        prune: int | Sequence[int] = (),
        discount_fallback: float | Sequence[float] | None = None,
        vocabulary: Path | None = None,
        vocabulary_size: int | None = None,
        escape: str | None = None,
        memory: int | None = None,
        note: Note = lambda text: None,
        quiet: bool = True,
    ) -> Estimate:
        """Estimate an n-gram language model of tokenised text: interpolated modified Kneser-Ney, as lmplz does.

        ``text`` is a file, or several that are read one after the other. Written to the ARPA file ``arpa`` and the
        KenLM probing file ``binary``, if given. ``prune``: drop n-grams seen this often or less; a threshold per
        order, the last for all higher orders. ``discount_fallback``: discounts of counts 1, 2, and 3 or more for
        orders where none can be estimated; an empty sequence for lmplz's 0.5 1 1.5. ``vocabulary``: a file of words to
        keep n-grams of. ``vocabulary_size``: keep those of so many most frequent words; of equally frequent ones, the
        first in the text. ``escape``: the scheme to escape the words of text and vocabulary with, as for the tables of
        a decoder. ``memory``: bytes beyond which to sort on disk, beside the output (default: 80 % of the machine's);
        the vocabulary has to fit, and with ``binary`` that file, too.
        """
        from smtplugins.core.lm.ngram_model import write_arpa
        from smtplugins.host.estimate.lm import binary_target, estimate_files, output_folder

        if binary is not None:
            # Fails before the work is done.
            binary_target(binary, order, arpa)
        model = estimate_files(
            listed(text),
            order,
            prune=listed(prune),
            fallback=None if discount_fallback is None else listed(discount_fallback),
            vocabulary=vocabulary,
            vocabulary_size=vocabulary_size,
            memory=memory,
            folder=output_folder(arpa, binary),
            escape=escape,
            note=note,
            quiet=quiet,
        )
        try:
            write_arpa(model.arpa(), arpa, binary)
        except BaseException:
            model.close()
            raise
        return model

    def mix_lms(
        self,
        models: Sequence[Path],
        arpa: Path | None = None,
        *,
        tune: Path | None = None,
        weights: Sequence[float] = (),
        binary: Path | None = None,
        escape: str | None = None,
        note: Note = lambda text: None,
        quiet: bool = True,
    ) -> MixedLm:
        """Interpolate language models (ARPA files) linearly into one, as SRILM's static mixing does.

        The weights are tuned on the text ``tune`` by EM (``escape``: the scheme to escape its words with, as those of
        the models), or given. Written to the ARPA file ``arpa`` and the KenLM probing file ``binary``, if given: the
        n-grams of all models with the weighted sums of their probabilities, and back-offs that normalise each context.
        A word that a model does not know has the probability 0 there.
        """
        from smtplugins.host.estimate.mix_lm import mix_files

        return mix_files(models, arpa, tune=tune, weights=weights, binary=binary, escape=escape, note=note, quiet=quiet)
