"""Every key, feature function and parameter of a joshua.config, and what becomes of it; `JOSHUA.md` is made from this.

The keys are those of Joshua 6.1, the last version. Rows for ``charts`` hold with `search = cky`, those for ``stacks``
with `search = stack`.
"""

from __future__ import annotations

from smtplugins.host.config.toolkits.draft import ABSENT, Harmless
from smtplugins.host.config.toolkits.known_settings import Known, honoured, markdown, no_effect, refused

CHARTS, STACKS = "charts", "stacks"
_OFF: Harmless = ("false", lambda value: value.lower() == "false")
_NOR_JOSHUA = "it has none in Joshua 6.1 either"

SETTINGS = (
    honoured(
        "search", "`decoder.name`: cky is `hiero`, stack is `phrase`; a `tm` of type moses or phrase too", "stack"
    ),
    honoured("pop-limit", "`decoder.pop_limit`, for each span (0: no limit) or stack (100)", "7"),
    honoured(
        "num-translation-options",
        "`decoder.max_options` (20); Joshua's stacks keep one fewer if there are more",
        "7",
    ),
    honoured("reordering-limit", "`decoder.distortion_limit`, `.max_phrase_length`, with `order: window`", "5", STACKS),
    honoured("goal-symbol", "`decoder.goal` (GOAL), without brackets and index", "[TOP]", CHARTS),
    honoured("default-non-terminal", "`decoder.nonterminal` (X), without brackets and index", "[Y]", CHARTS),
    honoured("lattice-decoding", "`decoder.input: lattice`; its presence switches it on", "true", CHARTS),
    honoured("oov-list", "`decoder.oov_path` if it is one word, else `decoder.oov_list`", "CD 0.1 NN 0.9", CHARTS),
    honoured("mark-oovs", "`decoder.mark_oovs` (false)", "true"),
    honoured("maxlen", "`decoder.max_length` (200); the first sentence that is cut is noted", "7"),
    honoured("lowercase", "`decoder.lowercase`; its presence switches it on", "true"),
    honoured("project-case", "`output.project_case`, with `lowercase`; not with lattices", "true"),
    honoured("top-n", "`output.nbest` (1); 0 is the best alone", "7"),
    honoured("n-best-list", "`output.nbest`: the number; with `moses` also `output.lists`: the file", "out 7"),
    honoured("moses", "translations alone are printed, lists go to the file of n-best-list, in moses-nbest", "true"),
    honoured("use-unique-nbest", "`output.unique` (true)", "false"),
    honoured(
        "output-format",
        "`output.template` (`%i ||| %s ||| %f ||| %c`); `--to` writes another format. Without %d, "
        "with stacks without %t",
        "%i %s",
    ),
    honoured("rescore-forest", "`output.rescored: bleu`, with a LanguageModel", "true", CHARTS),
    honoured("rescore-forest-weight", "its `weight` (10)", "7", CHARTS),
    honoured("input-file", "`source`", "in.de"),
    honoured("weights-file", "`model.weights`; or the joshua.config itself, if it has lines `NAME VALUE`", "weights"),
    honoured(
        "tm",
        "`model.tables`: below; of the types thrax, hiero, samt, packed, moses, phrase",
        "thrax -owner pt -maxspan 20 -path other",
    ),
    honoured("lm feature-function", "`model.features`: below", "PhrasePenalty -owner pt"),
    # Where the other kind of search has no use for them, and neither has Joshua.
    no_effect("reordering-limit", "it is for stacks", "5", CHARTS),
    no_effect("goal-symbol default-non-terminal", "phrases have one label", "[Y]", STACKS),
    # What is printed.
    no_effect("include-align-index", "`-k 1 --fields segmentation`", "true"),
    no_effect("fragment-map", "trees have a bracket for each rule"),
    no_effect("show-weights", "`smt info FILE`"),
    no_effect("v", "`--trace`, `--stats FILE`"),
    # How it is done.
    no_effect("threads num-parallel-decoders", "`-j N`"),
    no_effect("server-port", "there is no server"),
    no_effect("server-type", "there is no server", "tcp"),
    no_effect("amortize", "tables are sorted when they are loaded", "true"),
    no_effect("cached-rules-size", "memory"),
    no_effect("no-dot-chart", "both algorithms find the same"),
    no_effect("c config", "for people"),
    # What Joshua itself does not use.
    no_effect("constrain-parse", "lines `source ||| target` are constrained in any case, as in Joshua", "true"),
    no_effect("filter-grammar true-oovs-only", _NOR_JOSHUA, "true"),
    no_effect(
        """add-combined-cost use-beam-and-threshold-prune use-cube-prune use-kenlm use-sent-specific-tm use-tree-nbest
        weight-file""",
        _NOR_JOSHUA,
    ),
    no_effect("rescore-forest-weight", "for rescore-forest", "7", STACKS),
    # What would change translations.
    refused("rescore-forest", where=STACKS, about="no such setting (search = cky has it)"),
    refused("segment-oovs", about="no such setting (give a lattice of segmentations, with lattice-decoding)"),
    refused("source-annotations", about="no such setting (words are looked up without their annotations)"),
    refused("fuzzy-matching", ("false (labels have to be the same)", _OFF[1]), "true"),
    refused("regexp-grammar", about="no such setting (a grammar with the words themselves)"),
    refused("parse", ("false (no parsing of sentence pairs)", _OFF[1]), "true"),
    refused("use-pos-labels", _OFF, "true"),
    refused("input-type", ("plain (lines of text)", lambda value: value == "plain"), "json"),
    refused("lattice-decoding oov-list", ABSENT, "X 1", STACKS, "no such setting (search = cky has it)"),
)
"""The keys."""

FUNCTIONS = (
    honoured(
        "LanguageModel StateMinimizingLanguageModel", "`lm,base=10`, its scores `lm_K`, K from 0 on", "-lm_file lm"
    ),
    honoured("OOVPenalty", "`oov,value=-100`; ln p for a label of the `oov-list`", ""),
    honoured("WordPenalty", "`word-penalty,value=-0.4342945`; charts count `<s>` and `</s>` too: `count_bos=true`", ""),
    honoured("PhrasePenalty", "`phrase-penalty,value=1`, of an owner's rules", "-owner pt"),
    honoured("Distortion", "`distortion`", ""),
    honoured("SourcePath", "`source-path`", ""),
    Known(
        tuple(
            """ArityPhrasePenalty EdgePhraseSimilarity FragmentLM LabelCombination LabelSubstitution LexicalFeatures
            RuleCountBin RuleFF RuleShape TargetBigram""".split()
        ),
        "not supported",
        "a plugin offers a feature of that name, which takes its parameters as they are",
    ),
)
"""The feature functions; Joshua reads their names with and without the ending FF."""

PARAMETERS = (
    honoured("tm.owner", "`owner`, `name: tm_OWNER`: columns are `tm_OWNER_K`", "other"),
    honoured(
        "tm.maxspan", "`decoder.max_span`; `max_span` of a table that has another (-1: from the start)", "3", CHARTS
    ),
    honoured("tm.path", "`path`", "other"),
    honoured("LanguageModel.lm_file", "`path`", "other"),
    honoured("LanguageModel.lm_order", "`order`", "2"),
    honoured("LanguageModel.class_map", "`class_path`", "classes"),
    honoured("LanguageModel.oov_feature", "`oov=true,oov_name=lm_K_oov`", ""),
    honoured("WordPenalty.value", "`value`", "-1"),
    honoured("PhrasePenalty.owner", "`owner`", "other"),
    no_effect("LanguageModel.lm_type", "berkeleylm is scored as by KenLM, with a note: words it does not know differ"),
    no_effect("*.*", "any other parameter is not used, with a note: it has no effect in Joshua"),
)
"""The parameters, as ``KIND.parameter``; ``*`` is every kind."""

_HEAD = """\
# What becomes of a joshua.config

`smt decode`, `smt tune` and `smt config show` take a joshua.config as it is. This page lists every key, feature
function and parameter that Joshua 6.1 knows. `smt config show -c joshua.config` prints what yours amounts to as a
run.yaml.

- What is honoured has a key of a run.yaml. Joshua's defaults, in brackets, are written out.
- What has no effect on translations here is named in a note, with an option of ours that does the same if there is one.
- What would change translations and is not supported is an error with file, line and key. `--ignore KEY` continues
  without it, and notes and `--manifest` say so. A feature that no plugin offers is left out by its name.
- An unknown key is an error with a suggestion. So is `weight-overwrite`: weights are lines `NAME VALUE`.

Keys are read in any spelling that Joshua reads: `pop-limit`, `popLimit`. Of a repeated key the last line counts. Paths
are relative to the working directory; tables and language models may be beside the file, where Joshua looks for them
with `-c`. A name that is in both places for different files is an error.

Lines of input are sentences or lattices, or `source ||| target ||| references`. `<seg>` tags are dropped, but an error
if they name a grammar, annotations (`word[NN;k=v]`) removed, and a sentence without a translation is printed as it is.

A target constrains the translation, as in Joshua. With `search = cky` and a `LanguageModel`, first and last words of
every constituent have to stand in it (`decoder.constraint_words`). With `search = stack`, every two phrases that follow
each other have to (`decoder.constrained`). Here that holds for all derivations of the search; Joshua looks at the best
predecessor of a recombined hypothesis, and at no further hypothesis if no phrase may follow the best one, so it may
miss a translation that is found here.

Translations are printed by the `output-format`, `%i ||| %s ||| %f ||| %c` if there is none, with three decimals unless
`--precision` is given; `--set "output.template='%s'"` prints the words alone. Trees are printed in target order, where
Joshua swaps the subtrees of rules that reorder. With `rescore-forest` every list is printed three times: by score, by
score less `weight` times BLEU with the references (the sign is Joshua's), and by score again. Scores (`%c`) of the
second list are Joshua's, too: the best derivations of a derivation's parts stand for those that it has, so a score may
differ from the weighted sum of its features.

`segment-oovs` is not supported because there is no right answer: to find the parts of a word that it knows, Joshua 6.1
looks up the number of the sentence instead of the part.

Charts are `search = cky`, the default; stacks are `search = stack`. Language models are log10.

## Keys
"""


def documentation() -> str:
    """The page about all settings."""
    kinds = {CHARTS: "charts", STACKS: "stacks"}
    text = _HEAD + markdown(SETTINGS, "`{}`".format, kinds)
    text += "\n## Feature functions\n" + markdown(FUNCTIONS, "`{}`".format, kinds)
    return text + "\n## Parameters\n" + markdown(PARAMETERS, "`{}`".format, kinds)
