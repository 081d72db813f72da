"""Every section, feature and feature key of a moses.ini, and what becomes of it; `MOSES.md` is made from this table.

The sections are those of Moses as of its last release, the features those that it is built with by default. Rows for
``phrases`` hold with the search algorithms 0, 1 and 4, those for ``charts`` with the others.
"""

from __future__ import annotations

from smtformats.config.moses import FALSE, TRUE
from smtplugins.host.config.toolkits.draft import Harmless
from smtplugins.host.config.toolkits.known_settings import Known, honoured, markdown, no_effect, refused

PHRASES, CHARTS = "phrases", "charts"
_ZERO: Harmless = ("0, words alone (factors are not supported)", lambda value: value == "0")
_OFF: Harmless = ("false", lambda value: value.lower() in FALSE)
_WORDS: Harmless = ("of factor 0, the words (factors are not supported)", _ZERO[1])
_ELSEWHERE = "all features and weights in [feature] and [weight]"


def is_true(text: str) -> bool:
    """A boolean; the reader of a moses.ini refuses what is neither true nor false."""
    return text.lower() in TRUE


def _at_least(number: int) -> Harmless:
    return (f"{number} or more", lambda value: value.isdigit() and int(value) >= number)


def _at_most(number: float) -> Harmless:
    return (f"{number:g} or less", lambda value: float(value) <= number)


SECTIONS = (
    honoured(
        "search-algorithm", "`decoder.name`, `decoder.search`; 5 to 9 need a plugin that offers such a search", "0"
    ),
    honoured("stack", "`decoder.stack_size`", "7", PHRASES),
    honoured("beam-threshold", "`decoder.beam_threshold`, a probability", "0.1", PHRASES),
    honoured("distortion-limit", "`decoder.distortion_limit`; -1 for none", "2", PHRASES),
    honoured("max-phrase-length", "`decoder.max_phrase_length`", "3", PHRASES),
    honoured("monotone-at-punctuation", "`decoder.monotone_at_punctuation`", "true", PHRASES),
    honoured("stack-diversity", "`decoder.stack_diversity`", "2", PHRASES),
    honoured("translation-option-threshold", "`decoder.option_threshold`, a probability", "0.1", PHRASES),
    honoured("early-discarding-threshold", "`decoder.early_discarding`, a probability", "0.1", PHRASES),
    honoured(
        "max-trans-opt-per-coverage", "`limit` of the table; of several tables, no less than theirs", "9", PHRASES
    ),
    honoured("decoding-graph-backoff", "`backoff` of the tables but the first", "0\n3", PHRASES),
    honoured("cube-pruning-pop-limit", "`decoder.pop_limit`, for each stack or span", "77"),
    honoured("cube-pruning-diversity", "`decoder.cube_diversity`", "3", PHRASES),
    honoured("max-chart-span", "`decoder.max_span`; `max_span` of a table that has another", "5", CHARTS),
    honoured("non-terminals", "`decoder.nonterminal`", "Y", CHARTS),
    honoured(
        "inputtype",
        "`decoder.input`: 1 confusion-net, 2 lattice, both with `InputFeature`; 3 tree, 5 tabbed, 6 forest need a "
        "plugin's decoder",
        "2",
    ),
    honoured("xml-input", "`decoder.xml`", "exclusive", PHRASES),
    honoured("xml-brackets", "`source_format` with the option `brackets`", "{{ }}", PHRASES),
    honoured("drop-unknown", "`decoder.drop_unknown`", "true"),
    honoured("mark-unknown", "`decoder.mark_unknown`", "true", PHRASES),
    honoured("unknown-word-prefix", "`decoder.unknown_prefix`", "<", PHRASES),
    honoured("unknown-word-suffix", "`decoder.unknown_suffix`", ">", PHRASES),
    honoured("input-file", "`source`", "in.de"),
    honoured(
        "n-best-list",
        "`output.lists`, `output.nbest`, `output.unique`: FILE, N, `distinct`; `-` is the output",
        "out 7 distinct",
    ),
    honoured("minimum-bayes-risk", "`output.choice: mbr`; off without a value, as in Moses", "true", PHRASES),
    honoured(
        "lminimum-bayes-risk",
        "`output.choice: lattice-mbr`; `[n-best-list]` has the gains of texts (`output.gains`)",
        "true",
        PHRASES,
    ),
    honoured("consensus-decoding", "`output.choice: consensus`", "true", PHRASES),
    honoured("mbr-size mbr-scale", "options `size` and `scale` of the three", "7", PHRASES),
    honoured("n-best-factor", "their option `factor`; lists have as many texts as there are", "3", PHRASES),
    honoured("lmbr-pruning-factor", "option `density` of `lattice-mbr` and `consensus`", "9", PHRASES),
    honoured(
        "lmbr-p lmbr-r lmbr-map-weight", "options `precision`, `ratio`, `map_weight` of `lattice-mbr`", "0.5", PHRASES
    ),
    honoured("lmbr-thetas", "its option `thetas`, five numbers", "-1 1 2 3 4", PHRASES),
    honoured("print-id output-hypo-score", "`output.show: id` and `score`", "true"),
    honoured("report-segmentation", "`output.show: segmentation`", "true", PHRASES),
    honoured("print-alignment-info", "`output.show: alignment`", "true"),
    honoured("alignment-output-file", "`output.alignments`", "words"),
    honoured("output-unknowns", "`output.unknowns`, in the order of the input", "words"),
    honoured("translation-details", "`output.details`", "details", PHRASES),
    honoured("output-search-graph", "`output.graphs`", "graphs", PHRASES),
    honoured("output-search-graph-extended", "`output.graphs`, with `graphs_format`", "graphs", PHRASES),
    honoured("start-translation-id", "`output.first_id`", "5"),
    honoured("include-segmentation-in-n-best", "`output.fields: segmentation`", "true", PHRASES),
    honoured("print-alignment-info-in-n-best", "`output.fields: alignment`", "true"),
    honoured("recover-input-path", "`output.fields: input`", "true", PHRASES),
    honoured("mapping", "the tables, each a graph of one step", "0 T 0"),
    honoured("feature", "`model.tables`, `model.features`: below", "PhrasePenalty name=Other"),
    honoured("weight", "`model.weights`, the moses.ini itself; `model.missing: 1`", "LM0= 1"),
    # Where the other kind of search has no use for them, and neither has Moses.
    no_effect(
        """distortion-limit max-phrase-length stack-diversity translation-option-threshold early-discarding-threshold
        max-trans-opt-per-coverage cube-pruning-diversity cube-pruning-lazy-scoring xml-brackets unknown-word-prefix
        unknown-word-suffix recover-input-path decoding-graph-backoff monotone-at-punctuation""",
        "it is for phrases",
        where=CHARTS,
    ),
    no_effect(
        """max-chart-span non-terminals default-non-term-for-empty-range-only rule-limit source-label-overlap
        unknown-lhs""",
        "it is for charts",
        where=PHRASES,
    ),
    no_effect("phrase-drop-allowed", "a phrase without source words translates nothing"),
    # What is printed.
    no_effect(
        "include-segmentation-in-n-best",
        "lists of charts have no such field",
        "true",
        CHARTS,
    ),
    no_effect("report-segmentation", "`--trace`, `--built FILE`", where=CHARTS),
    no_effect("report-segmentation-enriched", "`--trace`"),
    no_effect("translation-details", "`--trace`, `--built FILE`", where=CHARTS),
    no_effect("translation-all-details tree-translation-details", "`--trace`, `--built FILE`"),
    no_effect("output-search-graph output-search-graph-extended", "`--forests DIR`", where=CHARTS),
    no_effect("output-search-graph-hypergraph", "`--forests DIR --forests-format moses-hypergraph`"),
    no_effect("output-search-graph-slf output-word-graph", "`--forests DIR --forests-format slf-lattice`"),
    no_effect("output-search-graph-pb", "`--forests DIR` has other formats"),
    no_effect(
        "unpruned-search-graph include-lhs-in-search-graph print-all-derivations", "`--forests DIR` writes what is kept"
    ),
    no_effect("lattice-samples", "`smt mbr --forests` samples"),
    no_effect("labeled-n-best-list n-best-trees sort-word-alignment", "lists have names, no trees, one order"),
    no_effect("n-best-factor", "lists have as many texts as there are, up to their size", where=CHARTS),
    no_effect("report-all-factors report-all-factors-in-n-best", "words have one factor"),
    no_effect("print-passthrough print-passthrough-in-n-best", "tags are not printed"),
    no_effect("show-weights", "`smt info FILE`"),
    no_effect("version", "`smt --version`"),
    # How it is done.
    no_effect("threads", "`-j N`"),
    no_effect("verbose", "`--trace`, `--stats FILE`"),
    no_effect("clean-lm-cache no-cache minlexr-memory minphr-memory", "memory"),
    no_effect("cpu-affinity-increment cpu-affinity-offset serial", "processes"),
    no_effect(
        """daemon server server-keepalive-maxconn server-keepalive-timeout server-log server-maxconn
        server-maxconn-backlog server-port server-timeout session-cache-size session-timeout""",
        "there is no server",
    ),
    no_effect("config description", "for people"),
    no_effect("cube-pruning-deterministic-search", "results are always the same"),
    no_effect("max-partial-trans-opt", "for mappings of several steps"),
    no_effect("s2t-parsing-algorithm", "both algorithms find the same"),
    no_effect("link-param-count lmodel-oov-feature references text-type", "for features that are not supported"),
    no_effect("lattice-hypo-set", "nor has it in Moses, which reads it"),
    no_effect(
        "mbr-scale mbr-size lmbr-map-weight lmbr-p lmbr-pruning-factor lmbr-r lmbr-thetas",
        "it is for phrases",
        where=CHARTS,
    ),
    # What would change translations.
    refused("input-factors output-factors", _ZERO),
    refused("factor-delimiter", ("|, or none", lambda value: value in ("|", "none")), "^"),
    refused("minimum-bayes-risk lminimum-bayes-risk consensus-decoding", _OFF, "true", CHARTS),
    refused("always-create-direct-transopt disable-discarding early-distortion-cost mira", _OFF, "true"),
    refused(
        """context-string context-weights context-window distortion lm-interpolation-weights muxlm placeholder-factor
        spe-aln spe-src spe-trg"""
    ),
    refused(
        """alternate-weight-setting feature-add feature-name-overwrite feature-overwrite weight-add weight-file
        weight-overwrite""",
        about=_ELSEWHERE,
    ),
    refused("time-out", ("-1 (no limit)", lambda value: value.lstrip("-").isdigit() and int(value) <= 0), "60"),
    refused("cube-pruning-lazy-scoring", _OFF, "true", PHRASES),
    refused("mark-unknown", _OFF, "true", CHARTS),
    refused("stack", _at_least(200), "20", CHARTS, "200 or more (`cube-pruning-pop-limit` prunes charts)"),
    refused("beam-threshold", _at_most(1e-5), "0.1", CHARTS, "1e-05 or less (`cube-pruning-pop-limit` prunes charts)"),
    refused(
        "default-non-term-for-empty-range-only",
        ("true", lambda value: value.lower() not in FALSE),
        "false",
        CHARTS,
    ),
    refused("rule-limit", _at_least(5000), "20", CHARTS),
    refused("source-label-overlap", ("0", lambda value: value == "0"), "1", CHARTS),
    refused("unknown-lhs", value="labels", where=CHARTS),
    refused("xml-input", ("pass-through", lambda value: value == "pass-through"), "exclusive", CHARTS),
)
"""The sections."""

TABLE_KINDS = frozenset({"PhraseDictionaryMemory", "PhraseDictionaryCompact", "ProbingPT", "RuleTable"})
"""The kinds of tables that are read."""

_READ = "`PhraseDictionaryMemory path=TEXT` reads"
OTHER_MODELS = (
    Known(
        ("PhraseDictionaryOnDisk",),
        "not supported",
        f"{_READ} the text table that `CreateOnDiskPt` made the folder from; `queryOnDiskPt -t FOLDER` shows its rules",
    ),
    Known(
        ("PhraseDictionaryBinary",),
        "not supported",
        f"{_READ} the text table that `processPhraseTable` made `PATH.binphr.*` from, or what "
        "`queryPhraseTable -n SCORES -t PATH` prints for the source phrases of its input, one on each line",
    ),
    Known(
        ("PhraseDictionaryScope3",),
        "not supported",
        f"{_READ} the same text: the kinds differ in how charts look up rules",
    ),
    Known(
        ("PhraseDictionaryMultiModel", "PhraseDictionaryMultiModelCounts"),
        "not supported",
        f"{_READ} the text table that Moses' `contrib/tmcombine/tmcombine.py` combines of several",
    ),
    Known(
        ("PhraseDictionaryALSuffixArray",),
        "not supported",
        "its files `grammar.N.gz` are the text grammars of single sentences, which cdec's input names: "
        "`<seg grammar=FILE id=N>`",
    ),
    Known(
        ("PhraseDictionaryDynSuffixArray", "PhraseDictionaryBitextSampling", "Mmsapt"),
        "not supported",
        f"{_READ} the table that `smt extract` makes of the aligned corpus, from which Moses samples phrases",
    ),
    Known(
        ("IRSTLM", "SRILM"),
        "not supported",
        "`KENLM path=ARPA` reads the model as an ARPA file, which IRSTLM's `compile-lm --text=yes` writes",
    ),
)
"""Kinds of tables and language models that are not read, with what to use instead."""

KINDS = (
    honoured("KENLM", "the feature `lm,base=e`", "KENLM path=en.arpa"),
    honoured(
        "WordPenalty", "`word-penalty,value=-1`; charts count `<s>` and `</s>` too: `count_bos=true`", "WordPenalty"
    ),
    honoured("PhrasePenalty", "`phrase-penalty,value=1`, for each phrase or rule, glue too", "PhrasePenalty"),
    honoured("UnknownWordPenalty", "`oov,value=-100,tuneable=false`", "UnknownWordPenalty tuneable=true"),
    honoured("Distortion", "`distortion`: -1 for each word jumped over", "Distortion", PHRASES),
    honoured("LexicalReordering", "`lexical-reordering`", "LexicalReordering type=msd path=rt num-features=3", PHRASES),
    honoured("InputFeature", "`source-path,log=true`", "InputFeature num-features=1 num-input-features=1"),
    honoured(
        "PhraseDictionaryMemory PhraseDictionaryCompact ProbingPT RuleTable",
        "`model.tables`, each with its own scores and limit",
        "PhraseDictionaryMemory path=pt",
    ),
    Known(
        tuple(
            """BleuScoreFeature ConstrainedDecoding ControlRecombination CorrectionPattern CountNonTerms
            CoveredReferenceFeature EditOps EditSequenceModel ExternalFeature Generation GlobalLexicalModel
            HyperParameterAsWeight MaxEntLM MaxSpanFreeNonTermSource NeuralLM NieceTerminal
            OpSequenceModel PhraseBoundaryFeature PhraseLengthFeature PhrasePairFeature RANDLM ReferenceComparison
            RuleScope SetSourcePhrase SoftMatchingFeature SoftSourceSyntacticConstraintsFeature
            SourceGHKMTreeInputMatchFeature SourceWordDeletionFeature SpanLength SparseHieroReorderingFeature SyntaxRHS
            PhraseDictionaryFuzzyMatch PhraseDictionaryGroup PhraseDictionaryTransliteration TargetBigramFeature
            TargetNgramFeature TargetWordInsertionFeature TreeStructureFeature WordTranslationFeature""".split()
        ),
        "not supported",
        "a plugin offers a feature of that name, which takes its keys as they are",
    ),
    *OTHER_MODELS,
)
"""The kinds of features."""

INSTEAD = {kind: row.about for row in OTHER_MODELS for kind in row.keys}
"""What to use instead of a kind of feature."""

_CUBE = "[search-algorithm] 3 searches the same model by cube pruning"
_TREES = "search algorithms 0, 1 and 3 translate sentences"
SEARCHES_INSTEAD = {
    "incremental": f"{_CUBE}, instead of 5",
    "s2t": f"{_CUBE}, instead of 6",
    "t2s": f"7 is for trees as input; {_TREES}",
    "t2s-scfg": f"8 is for trees as input; {_TREES}",
    "f2s": f"9 is for forests as input; {_TREES}",
}
INPUTS_INSTEAD = {
    "tree": "[inputtype] 0 is for the words of the trees, with rules that have no labels of the source",
    "tabbed": "[inputtype] 0 is for the first column alone, if no feature needs the others",
    "forest": "[inputtype] 0 is for sentences, 2 for lattices",
}
"""What to use instead of the searches and inputs of a decoder that no plugin offers."""

_COMMON = "require-sorting-after-source-context verbosity filterable"
FEATURE_KEYS = (
    honoured("*.name *.tuneable", "`name`, `tuneable`", "X"),
    honoured("*.num-features", "`scores` of tables and reordering models, else known", "2"),
    honoured("TABLE.path TABLE.table-limit", "`path`, `limit` (20)", "5"),
    honoured("KENLM.path KENLM.oov-feature", "`path`, `oov`", "1"),
    honoured(
        "LexicalReordering.path LexicalReordering.type LexicalReordering.default-scores",
        "`path`, `model`, `default_scores`",
        "0.1,0.2,0.7",
    ),
    honoured("InputFeature.num-input-features InputFeature.real-word-count", "`scores`, `real_words`", "1"),
    no_effect(" ".join(f"*.{key}" for key in _COMMON.split()), "nor in Moses' translations"),
    no_effect("KENLM.order KENLM.load KENLM.lazyken ProbingPT.load", "nor in Moses' translations"),
    no_effect("TABLE.cache-size LexicalReordering.cache-size", "nor in Moses' translations"),
    refused("*.tuneable-components", ("without tuneable-components", lambda value: False)),
    refused("TABLE.input-factor TABLE.output-factor KENLM.factor", _WORDS),
    refused("LexicalReordering.input-factor LexicalReordering.output-factor", _WORDS),
    refused(
        "Distortion.sparse Distortion.sparse-distance Distortion.sparse-subordinate",
        ("without sparse features", _OFF[1]),
        "true",
    ),
    refused("LexicalReordering.sparse-*", ("without sparse features", _OFF[1]), "true"),
    refused(
        "PhrasePenalty.per-dictionary",
        ("with a score for each table as num-features (`owners`)", _OFF[1]),
        "true",
    ),
    refused(
        "LexicalReordering.property-index",
        (
            "with the path of a reordering table, or with one table, a ProbingPT, that has its scores",
            lambda value: False,
        ),
    ),
)
"""The keys of features, as ``KIND.key``; ``*`` is every kind, ``TABLE`` the kinds of tables."""


def feature_keys(kind: str) -> list[str]:
    """The keys of a kind of feature."""
    owners = (kind, "TABLE", "*") if kind in TABLE_KINDS else (kind, "*")
    keys = (known.split(".") for row in FEATURE_KEYS for known in row.keys)
    return sorted({key for owner, key in keys if owner in owners})


def feature_row(kind: str, key: str) -> Known | None:
    """The row of a key of a feature; ``None`` if the kind does not have it."""
    names = (kind, "TABLE", "*") if kind in TABLE_KINDS else (kind, "*")
    for row in FEATURE_KEYS:
        for known in row.keys:
            owner, _, name = known.partition(".")
            if owner in names and (name == key or (name[-1] == "*" and key.startswith(name[:-1]))):
                return row
    return None


_HEAD = """\
# What becomes of a moses.ini

`smt decode`, `smt tune` and `smt config show` take a moses.ini as it is. This page lists every section, feature and key
of a feature that Moses knows. `smt config show -c moses.ini` prints what yours amounts to as a run.yaml.

- What is honoured has a key of a run.yaml. Moses' defaults are written out, so that they do not depend on ours.
- What has no effect on translations here is named in a note, with an option of ours that does the same if there is one.
- What would change translations and is not supported is an error with file, line and key. `--ignore KEY` continues
  without it, and notes and `--manifest` say so. Keys of features are `NAME.key`, as in `--ignore Distortion0.sparse`; a
  feature that no plugin offers is left out by its name.
- A switch needs its line `true`: a section without a value has no effect, as in Moses, where `-minimum-bayes-risk` on
  the command line is on without one. A note names such sections.
- An unknown section, feature or key is an error with a suggestion. The form of moses.ini before 2013, with
  `[ttable-file]` or `[weight-t]`, is an error.

Phrases are the search algorithms 0 (the default), 1 and 4, charts the others: 3, 5 and 6 are `decoder: hiero` with the
search `cube_pruning`, `incremental` and `s2t`; 7, 8 and 9 are the decoders `t2s`, `t2s-scfg` and `f2s`. All scores are
natural logarithms. Input that is NIST's SGML or JSON lines is read as such, where Moses takes it for words.

`[lminimum-bayes-risk]` and `[consensus-decoding]` prune the search graph and sum over it as Moses does, with hypotheses
divided as Moses recombines them. Choices are Moses' for all sentences of our reference data, and so are gains where the
same hypotheses are kept; Moses' stacks hold up to twice as many before they are pruned, and steps from the worst of
them change gains in the first or second decimal.

## Sections
"""


def documentation() -> str:
    """The page about all settings."""
    kinds = {PHRASES: "phrases", CHARTS: "charts"}
    text = _HEAD + markdown(SECTIONS, "`{}`".format, kinds)
    text += "\n## Features\n" + markdown(KINDS, "`{}`".format, kinds)
    return text + "\n## Keys of features\n" + markdown(FEATURE_KEYS, "`{}`".format, kinds)
