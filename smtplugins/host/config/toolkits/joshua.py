r"""A joshua.config as a run.yaml. Scores of language models are log10; a word costs -log10 e, more is better.

| Joshua | run.yaml |
|---|---|
| `search = cky` · `stack` (cky; stack with a `tm` of type moses or phrase) | `decoder: hiero` · `phrase` |
| `pop-limit` (100) | `decoder.pop_limit`, for each span (0: no limit) or stack |
| `num-translation-options` (20) | `decoder.max_options`; Joshua 6.1 keeps one fewer if there are more |
| `reordering-limit` (8, stack) | `decoder.distortion_limit`, `.max_phrase_length`, with `order: window` |
| `goal-symbol` (GOAL) `default-non-terminal` (X) | `decoder.goal`, `.nonterminal` (cky), without brackets and index |
| `top-n` `n-best-list` FILE N | `output.nbest`; 0 is 1 |
| `use-unique-nbest` (true) `mark-oovs` (false) `maxlen` (200) | `output.unique`, `.mark_oovs`, `.max_length` |
| `lattice-decoding` (cky) | `decoder.input: lattice` |
| `oov-list` (cky) | `decoder.oov_path` if it is one word, else `decoder.oov_list` |
| `input-file` `weights-file` | `source`, `model.weights` |
| `output-format` | `output.template`: translations and lists are printed in this form (`--to` for another) |
| `lowercase` `project-case` | `decoder.lowercase`, `output.project_case` |
| weight lines | `model.weights`: the joshua.config itself |
| `tm = ... -owner O -maxspan N -path P` | `model.tables: {path: P, name: tm_O, owner: O}` |
| its span limit | `decoder.max_span`; `max_span` of a table that has another (-1: from the start; packed: none) |
| no `tm` of owner glue (cky) | `decoder.glue: true`, the feature `glue,value=1,name=tm_glue_0` |
| `source \|\|\| target` lines (cky, with a `LanguageModel`) | `decoder.constraint_words`: the model's order less 1 |
| `LanguageModel` `StateMinimizingLanguageModel` | `lm,path=,base=10,order=,class_path=,name=lm_K`, K from 0 on |
| its `-oov_feature` | `oov=true,oov_name=lm_K_oov` |
| `WordPenalty [-value V]` (-0.4342945) | `word-penalty,value=`; cky counts `<s>` and `</s>`: `count_bos=true` |
| `OOVPenalty` | `oov,value=-100,name=OOVPenalty`; ln p for a label of the `oov-list` |
| `PhrasePenalty [-owner O]` | `phrase-penalty,value=1,owner=O,name=PhrasePenalty` |
| `Distortion` `SourcePath` | `distortion`, `source-path` of those names |
| any other | the feature of Joshua's name, its parameters as they are |

Columns of tables are `tm_OWNER_K`; the format joshua-grammar flips the signs of bare numbers, as Joshua does. Every
word has a pass-through rule, `decoder.pass_through: all`, and `joshua: true` is what Joshua alone does, see the
decoder. With cky, the decoder has `pops: joshua` (its limit converted to our pops at equal model score) and `markers:
true`; language models score `<s>` and `</s>` from the rules (`markers=rules`). With stack it has `search: cube` and no
limit but the pops: `stack_size: 0`, `beam_threshold: 0`, `lm_beam: inf`. In brackets: Joshua's default, written out.

Other keys are refused if they change translations, such as `rescore-forest` and `segment-oovs` (which does nothing
sensible in Joshua itself), and else not used. Some are known to Joshua and do nothing there: `constrain-parse`,
`filter-grammar`. With an `output-format` numbers have three decimals unless `--precision` is given, and trees are
printed in target order (Joshua swaps the subtrees of rules that reorder). Paths are relative to the working directory.
Tables and language models may be beside the file instead, where later versions of Joshua look for them: the same name
in both places for different files is an error.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from smtformats import FormatError
from smtformats.config.joshua import WEIGHT, function, table
from smtformats.config.settings import Setting, Settings
from smtformats.errors import quote
from smtformats.tokens import blanks
from smtplugins.host.config.toolkits.draft import ABSENT, Draft, Harmless

_WORD = "-0.4342945"
_LONGEST = 200  # words of a phrase, where nothing limits them
_LMS = ("LanguageModel", "StateMinimizingLanguageModel")
_OFF: Harmless = ("false", lambda value: value.lower() == "false")
_CHANGES: dict[str, Harmless] = {
    # Their presence alone switches them on.
    "rescore-forest": (
        "no such setting (`smt decode --forests` and `smt oracle` find the translations that score best with "
        "references)",
        ABSENT[1],
    ),
    "segment-oovs": ("no such setting (give a lattice of segmentations, with lattice-decoding)", ABSENT[1]),
    "source-annotations": ("no such setting (a LanguageModel that reads classes from the input)", ABSENT[1]),
    "fuzzy-matching": ("false (a grammar whose rules match by their labels)", _OFF[1]),
    "regexp-grammar": ("no such setting (a grammar with the words themselves)", ABSENT[1]),
    **dict.fromkeys(("parse", "use-pos-labels"), _OFF),
    "input-type": ("plain", lambda value: value == "plain"),
}
"""Keys that change translations and are not supported."""
_CHANGES_STACKS: dict[str, Harmless] = {"lattice-decoding": ABSENT, "oov-list": ABSENT}


def adapt(settings: Settings, path: Path | None) -> Draft:
    """Convert a joshua.config."""
    draft = Draft(settings, -1)
    tables = [(setting, *table(setting.value)) for setting in draft.every("tm")]
    stack = draft.text("search") == "stack" or any(kind in ("moses", "phrase") for _, kind, _ in tables)
    draft.option("source", "input-file", skip="-")
    draft.put("decoder.name", "phrase" if stack else "hiero")
    draft.option("decoder.pop_limit", "pop-limit", int, 100)
    draft.option("decoder.max_options", "num-translation-options", int, 20)
    draft.option("decoder.mark_oovs", "mark-oovs", _true, False)
    draft.option("decoder.max_length", "maxlen", int, 200)
    draft.decoder(pass_through="all", joshua=True)
    if stack:
        _stacks(draft)
    else:
        _charts(draft)
    draft.put("output.format", "joshua-nbest")
    _output(draft)
    draft.option("output.unique", "use-unique-nbest", _true, True)
    folder = path.parent if path is not None else Path()
    _grammars(draft, tables, folder, stack=stack)
    _functions(draft, folder, stack=stack)
    draft.option("model.weights", "weights-file")
    if settings.all(WEIGHT):
        draft.own_weights(draft.every(WEIGHT)[0], path)
    draft.option("output.nbest", "top-n", lambda value: max(1, int(value)))
    lists = blanks(draft.text("n-best-list"))
    if len(lists) > 1:
        draft.put("output.nbest", max(1, int(lists[1])), settings.all("n-best-list")[-1].line)
    if lists:
        draft.idle(settings.all("n-best-list")[-1], lists[0])
    draft.refuse_all(_CHANGES)
    return draft


def _output(draft: Draft) -> None:
    """The form of translations: Joshua's output format, and the case of the input."""
    formats = draft.setting("output-format")
    if formats is not None and "%d" in formats.value:
        draft.refuse(formats, "a format without %d (`smt decode --trace` prints derivations)")
    elif formats is not None:
        draft.put("output.template", formats.value, formats.line)
    lowercase, project = draft.setting("lowercase"), draft.setting("project-case")
    if lowercase is not None:
        draft.put("decoder.lowercase", True, lowercase.line)
    if project is not None and draft.settings.all("lattice-decoding"):
        draft.refuse(project, "no such setting with lattice-decoding")
    elif project is not None and lowercase is not None:
        draft.put("output.project_case", True, project.line)


def _charts(draft: Draft) -> None:
    draft.option("decoder.goal", "goal-symbol", _label, "GOAL")
    draft.option("decoder.nonterminal", "default-non-terminal", _label, "X")
    if draft.every("lattice-decoding"):
        draft.put("decoder.input", "lattice")
    labels = draft.text("oov-list")
    if labels:
        draft.put("decoder.oov_list" if len(blanks(labels)) > 1 else "decoder.oov_path", labels)
    draft.decoder(pops="joshua", markers=True)


def _stacks(draft: Draft) -> None:
    """Limit stacks by pops alone; no phrase ends further than the limit from the first uncovered word."""
    draft.decoder(search="cube", stack_size=0, beam_threshold=0.0, lm_beam=math.inf, order="window")
    draft.option("decoder.distortion_limit", "reordering-limit", lambda value: max(-1, int(value)), 8)
    limit = draft.values["decoder"]["distortion_limit"]
    draft.put("decoder.max_phrase_length", limit if limit > 0 else _LONGEST)
    if limit == 0:
        draft.refuse(draft.settings.all("reordering-limit")[-1], "1 or more (with 0 Joshua finds no translation)")
    # Phrases have one label; these keys have no effect.
    draft.setting("goal-symbol")
    draft.setting("default-non-terminal")
    draft.refuse_all(_CHANGES_STACKS)


def _label(text: str) -> str:
    """A non-terminal without its brackets and index."""
    return re.sub(r",\d+(?=\]?$)", "", text).removeprefix("[").removesuffix("]")


def _true(text: str) -> bool:
    return text.lower() == "true"


def _grammars(draft: Draft, tables: list[tuple[Setting, str, dict[str, str]]], folder: Path, *, stack: bool) -> None:
    usual = next((options["maxspan"] for _, _, options in tables if options["owner"] != "glue"), None)
    if usual is not None and not stack:
        draft.put("decoder.max_span", int(usual))
    for setting, _, options in tables:
        path = _located(draft, setting, folder, options["path"])
        draft.table(
            path,
            setting.line,
            name=f"tm_{options['owner']}",
            owner=options["owner"],
            max_span=None if stack or options["maxspan"] == usual else options["maxspan"],
        )
        for name, value in options.items():
            if name not in ("owner", "maxspan", "path"):
                draft.idle(setting, f"-{name} {value}".rstrip())
    if not stack:
        glue = all(options["owner"] != "glue" for _, _, options in tables)
        draft.put("decoder.glue", glue)
        if glue:
            draft.feature("glue", value=1, name="tm_glue_0")


def _functions(draft: Draft, folder: Path, *, stack: bool) -> None:
    settings = sorted(draft.every("lm") + draft.every("feature-function"), key=lambda setting: setting.line)
    models, constrained = 0, False
    if not stack:
        draft.decoder(constraint_words=0)
    for setting in settings:
        name, options = function(setting.key, setting.value)
        if name == "LanguageModel" and not stack and not constrained:
            # The states of the first language model with words hold what constrains a translation to a target.
            constrained = True
            if "class_map" not in options:
                draft.put("decoder.constraint_words", int(options.get("lm_order") or 5) - 1, setting.line)
        if name in _LMS:
            draft.feature(
                "lm",
                setting.line,
                path=_located(draft, setting, folder, options.pop("lm_file")),
                base=10,
                order=options.pop("lm_order", None),
                class_path=options.pop("class_map", None),
                markers=None if stack else "rules",
                oov=True if "oov_feature" in options else None,
                oov_name=f"lm_{models}_oov" if "oov_feature" in options else None,
                name=f"lm_{models}",
            )
            models += 1
            if options.get("lm_type") == "berkeleylm":
                draft.remark(setting, "scored as by KenLM, which differs for words that the model does not have")
            options = {key: value for key, value in options.items() if key not in ("lm_type", "oov_feature")}
        elif name == "WordPenalty":
            value = options.pop("value", _WORD)
            draft.feature("word-penalty", setting.line, value=value, count_bos=None if stack else True, name=name)
        elif name == "OOVPenalty":
            draft.feature("oov", setting.line, value=-100, name=name)
        elif name == "PhrasePenalty":
            draft.feature("phrase-penalty", setting.line, value=1, owner=options.pop("owner", None), name=name)
        elif name in ("Distortion", "SourcePath"):
            draft.feature("distortion" if name == "Distortion" else "source-path", setting.line, name=name)
        else:
            draft.feature(name, setting.line, **{_option(key): value or "true" for key, value in options.items()})
            options = {}
        for key, value in options.items():
            draft.idle(setting, f"{name} -{key} {value}".rstrip())


def _option(key: str) -> str:
    """A parameter as an option; ``name`` belongs to the host."""
    return "lm_name" if key == "name" else key.replace("-", "_")


def _located(draft: Draft, setting: Setting, folder: Path, path: str) -> str:
    """Resolve a path as Joshua does: in the working directory or, in later versions, beside the file."""
    here, beside = Path(path), folder / path
    if not beside.exists() or (here.exists() and here.samefile(beside)):
        return path
    if here.exists():
        expected = "a path that names one file, or an absolute one"
        found = f"{quote(path)}, which is in the working directory and beside the configuration"
        raise FormatError(expected, found, file=draft.settings.file, line=setting.line)
    return str(beside)
