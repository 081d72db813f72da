"""A joshua.config as a run.yaml. Scores of language models are log10; a word costs -log10 e, more is better.

What becomes of each key, feature function and parameter is in the table of `joshua_settings.py`, of which `JOSHUA.md`
is made. Joshua's defaults are written out. Columns of tables are `tm_OWNER_K`; the format joshua-grammar flips the
signs of bare numbers, as Joshua does. Every word has a pass-through rule, `decoder.pass_through: all`, and `joshua:
true` is what Joshua alone does, see the decoder. With cky, the decoder has `pops: joshua` (its limit converted to our
pops at equal model score) and `markers: true`; language models score `<s>` and `</s>` from the rules (`markers=rules`);
without a `tm` of owner glue there are `decoder.glue: true` and the feature `glue,value=1,name=tm_glue_0`. With stack it
has `search: cube` and no limit but the pops: `stack_size: 0`, `beam_threshold: 0`, `lm_beam: inf`.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from smtformats import FormatError
from smtformats.config.joshua import KEYS, WEIGHT, function, table
from smtformats.config.settings import Setting, Settings
from smtformats.errors import quote
from smtformats.tokens import blanks
from smtplugins.contracts.spec import suggestion
from smtplugins.host.config.toolkits.draft import Draft, bare
from smtplugins.host.config.toolkits.joshua_settings import CHARTS, FUNCTIONS, SETTINGS, STACKS
from smtplugins.host.config.toolkits.known_settings import apply

_WORD = "-0.4342945"
_LONGEST = 200  # words of a phrase, where nothing limits them
_KINDS = ("thrax", "hiero", "samt", "packed", "moses", "phrase")
_LMS = ("LanguageModel", "StateMinimizingLanguageModel")
_FORMAT = "%i ||| %s ||| %f ||| %c"


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
    _output(draft, stack=stack)
    draft.option("output.unique", "use-unique-nbest", _true, True)
    folder = path.parent if path is not None else Path()
    _grammars(draft, tables, folder, stack=stack)
    _functions(draft, folder, stack=stack)
    draft.option("model.weights", "weights-file")
    spelt = {bare(key): key for key in KEYS}
    for setting in settings.all(WEIGHT):
        if (name := spelt.get(bare(blanks(setting.value)[0]))) is not None:
            draft.remark(setting, f"a weight, as in Joshua; the setting is `{name} = VALUE`")
    if settings.all(WEIGHT):
        draft.own_weights(draft.every(WEIGHT)[0], path)
    _lists(draft)
    _rescoring(draft)
    apply(draft, SETTINGS, STACKS if stack else CHARTS)
    return draft


def _output(draft: Draft, *, stack: bool) -> None:
    """The form of translations: Joshua's output format, and the case of the input."""
    formats = draft.setting("output-format")
    if draft.every("moses"):
        if formats is not None:
            draft.idle(formats, formats.value)
    elif formats is not None and "%d" in formats.value:
        draft.refuse(formats, "a format without %d (`smt decode --trace` prints derivations)")
    elif formats is not None and stack and "%t" in formats.value:
        draft.refuse(formats, "a format without %t (search = cky has trees; `smt decode --trace` prints the phrases)")
    elif formats is not None:
        draft.put("output.template", formats.value, formats.line)
    else:
        draft.put("output.template", _FORMAT)
    lowercase = draft.setting("lowercase")
    if lowercase is None:
        # There is no case to project.
        draft.reasons["project-case"] = "for lowercase"
        return
    draft.put("decoder.lowercase", True, lowercase.line)
    project = draft.setting("project-case")
    if project is not None and draft.settings.all("lattice-decoding"):
        draft.refuse(project, "no such setting with lattice-decoding")
    elif project is not None:
        draft.put("output.project_case", True, project.line)


def _lists(draft: Draft) -> None:
    """How many translations are printed; with `moses`, one, and lists go to a file."""
    moses, setting = bool(draft.every("moses")), draft.setting("n-best-list")
    file, *numbers = blanks(setting.value) if setting is not None else [""]
    if not moses or file:
        draft.option("output.nbest", "top-n", lambda value: int(value) or None)
    elif (top := draft.setting("top-n")) is not None:
        draft.idle(top, top.value)
    if setting is None:
        return
    if numbers and int(numbers[0]):
        draft.put("output.nbest", int(numbers[0]), setting.line)
    if moses:
        draft.put("output.lists", file, setting.line)
        draft.put("output.format", "moses-nbest")
    else:
        draft.idle(setting, file)


def _rescoring(draft: Draft) -> None:
    """Lists by scores with references: their n-grams are those that the state of the first language model has."""
    rescore, values = draft.setting("rescore-forest"), draft.values
    if rescore is None or values["decoder"]["name"] != "hiero":
        draft.reasons["rescore-forest-weight"] = "for rescore-forest"
        if rescore is not None:
            draft.refuse(rescore, "no such setting (search = cky has it)")
        return
    weight = draft.setting("rescore-forest-weight")
    context = values["decoder"]["constraint_words"]
    models = (function(setting.key, setting.value)[0] for setting in _function_settings(draft))
    if next((name for name in models if name in _LMS), "") != "LanguageModel" or not context:
        draft.refuse(rescore, "a LanguageModel without classes as the first language model, as in Joshua")
    elif "template" not in values["output"]:
        draft.refuse(rescore, "no such setting with moses, which prints one translation")
    else:
        number = 10.0 if weight is None else float(weight.value)
        draft.decoder(boundary_words=context)
        draft.put("output.rescored", {"name": "bleu", "weight": number, "context": context}, rescore.line)


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
    draft.decoder(constrained=True)
    draft.option("decoder.distortion_limit", "reordering-limit", lambda value: max(-1, int(value)), 8)
    limit = draft.values["decoder"]["distortion_limit"]
    draft.put("decoder.max_phrase_length", limit if limit > 0 else _LONGEST)
    if limit == 0:
        draft.refuse(draft.settings.all("reordering-limit")[-1], "1 or more (with 0 Joshua finds no translation)")


_ONCE = ("WordPenalty", "OOVPenalty", "PhrasePenalty", "Distortion", "SourcePath")
"""Features whose weight has a name that no option changes."""


def _label(text: str) -> str:
    """A non-terminal without its brackets and index."""
    return re.sub(r",\d+(?=\]?$)", "", text).removeprefix("[").removesuffix("]")


def _true(text: str) -> bool:
    return text.lower() == "true"


def _grammars(draft: Draft, tables: list[tuple[Setting, str, dict[str, str]]], folder: Path, *, stack: bool) -> None:
    usual = next((options["maxspan"] for _, _, options in tables if options["owner"] != "glue"), None)
    if usual is not None and not stack:
        draft.put("decoder.max_span", int(usual))
    for setting, kind, options in tables:
        if kind not in _KINDS:
            regexp = ", as regular expressions are not read" * (kind == "regexp")
            draft.refuse(setting, f"one of {', '.join(_KINDS)}{regexp}", f"tm.{kind}", kind)
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


def _function_settings(draft: Draft) -> list[Setting]:
    return sorted(draft.every("lm") + draft.every("feature-function"), key=lambda setting: setting.line)


def _functions(draft: Draft, folder: Path, *, stack: bool) -> None:
    models, constrained = 0, False
    lines: dict[str, int] = {}
    if not stack:
        draft.decoder(constraint_words=0)
    for setting in _function_settings(draft):
        name, options = function(setting.key, setting.value)
        if name in _ONCE and lines.setdefault(name, setting.line) != setting.line:
            draft.refuse(setting, f"{name} once, in line {lines[name]}")
            continue
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
            if options.get("lm_type", "kenlm") not in ("kenlm", "berkeleylm"):
                draft.refuse(setting, "kenlm or berkeleylm", f"{name}.lm_type", options["lm_type"])
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
            known = {key for row in FUNCTIONS for key in row.keys}
            draft.may_ignore(name, "" if name in known else suggestion(name, known).partition("; known")[0])
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
