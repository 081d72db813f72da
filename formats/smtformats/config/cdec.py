r"""The settings of a cdec.ini.

    formalism=scfg
    grammar=grammar.gz
    add_pass_through_rules=true
    feature_function=WordPenalty
    feature_function=KLanguageModel -n LM lm/en.4.klm

Lines are ``key=value``; blanks around key and value are ignored. ``#`` starts a comment anywhere, so no value contains
it; blank lines are skipped. ``grammar`` and ``feature_function`` (with ``2`` and ``3`` for later passes) may be
repeated and keep their order; any other key occurs once. A flag such as ``add_pass_through_rules`` is on if it is
present: cdec reads ``=false`` as on too. The values of ``formalism`` and ``intersection_strategy`` are
case-insensitive.

If cdec gets several files with ``-c``, the first one with a key wins, and lists are joined; here each file is read by
itself.

Errors, as in cdec, which aborts: unknown keys, keys under a ``[section]``, a key without ``=``, a repeated key, a
malformed number, ``cubepruning_pop_limit=0`` (which crashes cdec), no ``formalism``. Deliberately stricter than cdec:
an empty value, and an unknown ``intersection_strategy`` (cdec uses cube pruning instead), are errors. The option
``max_lines`` limits the number of lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TextIO

from smtformats.config.settings import (
    MAX_LINES,
    Setting,
    Settings,
    check,
    gather,
    one_of,
    real,
    unknown,
    whole,
    words,
    write_settings,
)
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.tokens import BadField, blanks, trim
from smtformats.weights.lines import is_number

NAME = "cdec-settings"
FORMALISMS = ("scfg", "fst", "pb", "csplit", "lextrans", "lexalign", "rescore", "tagger", "t2s")
STRATEGIES = ("cube_pruning", "full", "fast_cube_pruning", "fast_cube_pruning_2")
FLAGS = words(
    """add_pass_through_rules aligner aligner_use_viterbi cll_gradient csplit_output_plf csplit_preserve_full_word
    ctf_no_exhaustive feature_expectations freeze_feature_set get_oracle_forest graphviz lextrans_align_only
    lextrans_dynasearch lextrans_use_null list_feature_functions mr_mira_compat quiet
    remove_intersected_rule_annotations scale_prune_srclen scfg_no_hiero_glue_grammar show_cfg_alignment_space
    show_cfg_search_space show_conditional_prob show_config show_expected_length show_feature_dictionary
    show_joshua_visualization show_partition show_tree_structure show_weights unique_k_best warn_0_weight"""
)
LISTS = frozenset({"grammar", "feature_function", "feature_function2", "feature_function3"})
_LEAST = {
    **dict.fromkeys(("cubepruning_pop_limit", "cubepruning_pop_limit2", "cubepruning_pop_limit3", "k_best"), 1),
    **dict.fromkeys(("add_extra_pass_through_features", "combine_size", "ctf_num_widenings"), 0),
    **dict.fromkeys(("max_translation_beam", "max_translation_sample", "pb_max_distortion"), 0),
    **dict.fromkeys(("scfg_max_span_limit", "show_derivations_mask"), 0),
}
"""Keys of whole numbers, with their minimum."""
_REAL = words(
    """beam_prune beam_prune2 beam_prune3 coarse_to_fine_beam_prune ctf_beam_widen density_prune density_prune2
    density_prune3 promise_power"""
)
_TEXT = words(
    """cmph_perfect_feature_hash extract_rules forest_output formalism goal incremental_search input
    intersection_strategy intersection_strategy2 intersection_strategy3 per_sentence_grammar_file scfg_default_nt
    scfg_extra_glue_grammar show_derivations show_target_graph summary_feature summary_feature2 summary_feature3
    summary_feature_type tagger_tagset vector_format weights weights2 weights3"""
)
KEYS = FLAGS | LISTS | _LEAST.keys() | _REAL | _TEXT


def parse(lines: Lines, *, max_lines: int = MAX_LINES) -> Iterator[Settings]:
    """Parse the file, which is one configuration."""
    entries: list[Setting] = []
    seen: set[str] = set()
    raw = []
    section = ""
    for line in gather(lines, max_lines):
        raw.append(line)
        body = trim(line.split("#", 1)[0])
        if not body:
            continue
        if body[0] == "[" and body[-1] == "]":
            section = body[1:-1] + "."
            continue
        key, equals, value = map(trim, body.partition("="))
        if not equals:
            raise lines.error("key=value", quote(body), 1)
        key = section + key
        if key not in KEYS:
            raise unknown(lines, key, KEYS, "a key that cdec knows")
        if key in seen and key not in LISTS:
            raise lines.error("each key once", f"{quote(key)} again", 1)
        seen.add(key)
        check(lines, partial(_check, key), value)
        entries.append(Setting(key, value, lines.number))
    if "formalism" not in seen:
        raise lines.error("a formalism, such as formalism=scfg", "none in the file", 1, line=1)
    yield Settings(tuple(entries), "".join(raw), NAME, lines.name)


def _check(key: str, value: str) -> None:
    if not value:
        raise BadField("a value", "nothing")
    if key in _LEAST:
        whole(value, _LEAST[key])
    elif key in _REAL:
        real(value)
    elif key == "formalism":
        one_of(value.lower(), FORMALISMS)
    elif key.startswith("intersection_strategy"):
        one_of(value.lower(), STRATEGIES)
    elif key.startswith("feature_function"):
        kind = blanks(value)[0]
        if not re.fullmatch(r"[A-Za-z]\w*", kind, re.ASCII):
            raise BadField("the name of a feature function", quote(kind))
        if kind == "KLanguageModel":
            language_model(value)


def language_model(value: str) -> tuple[str, dict[str, str]]:
    """Parse ``KLanguageModel [-x] [-n NAME] [-m CLASSES] FILE``; returns the file and the switches."""
    _, *tokens = blanks(value)
    paths: list[str] = []
    switches: dict[str, str] = {}
    wanted = "KLanguageModel [-x] [-n NAME] [-m CLASSES] FILE"
    while tokens:
        token = tokens.pop(0)
        if token == "-x":
            switches[token] = ""
        elif token in ("-n", "-m") and tokens:
            switches[token] = tokens.pop(0)
        elif token[0] == "-":
            raise BadField(wanted, quote(token))
        else:
            paths.append(token)
    if len(paths) != 1:
        raise BadField(f"{wanted}, one file", str(len(paths)))
    return paths[0], switches


def write(records: Iterable[Settings], out: TextIO, number: Number) -> int:
    """Write configurations, unchanged if read by this format; returns their count."""
    return write_settings(records, out, NAME, parse, _compose)


def _compose(settings: Settings) -> str:
    return "".join(f"{setting.key}={setting.value}\n" for setting in settings.entries)


def matches(head: bytes) -> bool:
    """Match keys and values if at least half of the keys are cdec's and some value is not a number (as in weights)."""
    bodies = [trim(line.split("#", 1)[0]) for line in first_lines(head)]
    pairs = [body.partition("=") for body in bodies if body and not (body[0] == "[" and body[-1] == "]")]
    known = [value.strip() for key, _, value in pairs if key.strip() in KEYS]
    has_setting = any(value and not is_number(value) for value in known)
    return has_setting and len(pairs) <= 2 * len(known)


FORMAT = Format(
    name=NAME,
    kind="config",
    summary="the settings of a cdec.ini: key=value lines",
    matches=matches,
    parse=parse,
    write=write,
    suffixes=(".ini",),
    example="formalism=scfg\ngrammar=rules.gz\nadd_pass_through_rules=true\nfeature_function=WordPenalty\n",
)
