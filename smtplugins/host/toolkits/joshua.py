"""A joshua.config as a run.yaml. Scores of language models are log10; a word costs -log10 e, more is better.

| Joshua | run.yaml |
|---|---|
| `search = cky` · `stack` (cky; stack with a `tm` of type moses or phrase) | `decoder: hiero` · `phrase` |
| `pop-limit` (100) | `decoder.pop_limit`, for each span (0: no limit) or stack |
| `num-translation-options` (20) | `decoder.max_options`; stack search keeps one less |
| `reordering-limit` (8, stack) | `decoder.distortion_limit` |
| `goal-symbol` (GOAL) `default-non-terminal` (X) | `decoder.goal`, `.nonterminal`, without brackets and index |
| `top-n` `n-best-list` FILE N | `output.nbest`; 0 is 1 |
| `use-unique-nbest` (true) `mark-oovs` (false) `maxlen` (200) | `output.unique`, `.mark_oovs`, `.max_length` |
| `lattice-decoding` `segment-oovs` | `decoder.input: lattice`, `decoder.segment_oovs: true` |
| `oov-list` | `decoder.oov_path` if it is one word, else `decoder.oov_list` |
| `input-file` `weights-file` | `source`, `model.weights` |
| weight lines | `model.weights`: the joshua.config itself |
| `tm = ... -owner O -maxspan N -path P` | `model.grammar`, `translation-model,path=P,owner=O,name=tm_O` |
| its span limit | `decoder.max_span`; `max_span` of a table that has another (-1: from the start; packed: none) |
| no `tm` of owner glue (cky) | `decoder.glue: true`, the feature `glue,value=1,name=tm_glue_0` |
| `LanguageModel` `StateMinimizingLanguageModel` | `lm,path=,base=10,order=,class_path=,name=lm_K`, K from 0 on |
| its `-oov_feature` | `oov=true,oov_name=lm_K_oov` |
| `WordPenalty [-value V]` (-0.4342945) | `word-penalty,value=`; cky counts `<s>` and `</s>`: `count_bos=true` |
| `OOVPenalty` | `oov,value=-100,name=OOVPenalty`; ln p for a label of the `oov-list` |
| `PhrasePenalty [-owner O]` | `phrase-penalty,value=1,owner=O,name=PhrasePenalty` |
| `Distortion` `SourcePath` | `distortion`, `source-path` of those names |
| any other | the feature of Joshua's name, its parameters as they are |

Columns of tables are `tm_OWNER_K`; the format joshua-grammar turns the signs of bare numbers, as Joshua does. Every
word has a pass-through rule, `decoder.pass_through: all`. With cky, the decoder has `pops: joshua` (as many of our
pops as score no worse), `markers: true` and `joshua: true` (what Joshua alone does, see the decoder); language models
score `<s>` and `</s>` from the rules (`markers=rules`). In brackets: Joshua's default, written out. All other keys are
not used. As after `joshua -c`, paths of tables and language models are relative to the file, all others to the working
directory.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from smtformats.config.joshua import WEIGHT, function, table
from smtformats.config.settings import Setting, Settings
from smtformats.tokens import blanks
from smtplugins.host.toolkits.draft import Draft

_WORD = "-0.4342945"
_LMS = ("LanguageModel", "StateMinimizingLanguageModel")


def adapt(settings: Settings, path: Path | None) -> Draft:
    """What a joshua.config amounts to."""
    draft = Draft(settings, -1)
    folder = path.parent if path is not None else Path()
    tables = [(one, *table(one.value)) for one in draft.every("tm")]
    stack = draft.text("search") == "stack" or any(kind in ("moses", "phrase") for _, kind, _ in tables)
    draft.option("source", "input-file", skip="-")
    draft.put("decoder.name", "phrase" if stack else "hiero")
    draft.option("decoder.pop_limit", "pop-limit", int, 100)
    draft.option("decoder.max_options", "num-translation-options", int, 20)
    if stack:
        draft.option("decoder.distortion_limit", "reordering-limit", int, 8)
    draft.option("decoder.goal", "goal-symbol", _label, "GOAL")
    draft.option("decoder.nonterminal", "default-non-terminal", _label, "X")
    draft.put("output.format", "joshua-nbest")
    draft.option("output.unique", "use-unique-nbest", _true, True)
    draft.option("decoder.mark_oovs", "mark-oovs", _true, False)
    draft.option("decoder.max_length", "maxlen", int, 200)
    draft.option("decoder.segment_oovs", "segment-oovs", lambda value: True)
    if draft.every("lattice-decoding") or settings.all("segment-oovs"):
        draft.put("decoder.input", "lattice")
    labels = draft.text("oov-list")
    if labels:
        draft.put("decoder.oov_list" if len(blanks(labels)) > 1 else "decoder.oov_path", labels)
    draft.put("decoder.pass_through", "all")
    if not stack:
        draft.put("decoder.pops", "joshua")
        draft.put("decoder.markers", True)
        draft.put("decoder.joshua", True)
    _grammars(draft, tables, folder, stack=stack)
    _functions(draft, folder, stack=stack)
    _weights(draft, path)
    draft.option("output.nbest", "top-n", lambda value: max(1, int(value)))
    lists = blanks(draft.text("n-best-list"))
    if len(lists) > 1:
        draft.put("output.nbest", max(1, int(lists[1])), settings.all("n-best-list")[-1].line)
    return draft


def _label(text: str) -> str:
    """A non-terminal without its brackets and index."""
    return re.sub(r",\d+(?=\]?$)", "", text).removeprefix("[").removesuffix("]")


def _true(text: str) -> bool:
    return text.lower() == "true"


def _grammars(draft: Draft, tables: list[tuple[Setting, str, dict[str, str]]], folder: Path, *, stack: bool) -> None:
    usual = next((found["maxspan"] for _, _, found in tables if found["owner"] != "glue"), None)
    if usual is not None and not stack:
        draft.put("decoder.max_span", int(usual))
    for one, _, found in tables:
        path = os.path.join(folder, found["path"])
        draft.grammar(path, one.line)
        draft.feature(
            "translation-model",
            one.line,
            path=path,
            owner=found["owner"],
            max_span=None if stack or found["maxspan"] == usual else found["maxspan"],
            name=f"tm_{found['owner']}",
        )
        for name, value in found.items():
            if name not in ("owner", "maxspan", "path"):
                draft.idle(one, f"-{name} {value}".rstrip())
    if not stack:
        glue = all(found["owner"] != "glue" for _, _, found in tables)
        draft.put("decoder.glue", glue)
        if glue:
            draft.feature("glue", value=1, name="tm_glue_0")


def _functions(draft: Draft, folder: Path, *, stack: bool) -> None:
    found = sorted(draft.every("lm") + draft.every("feature-function"), key=lambda one: one.line)
    models = 0
    for one in found:
        name, options = function(one.key, one.value)
        if name in _LMS:
            draft.feature(
                "lm",
                one.line,
                path=os.path.join(folder, options.pop("lm_file")),
                base=10,
                order=options.pop("lm_order", None),
                class_path=options.pop("class_map", None),
                markers=None if stack else "rules",
                oov=True if "oov_feature" in options else None,
                oov_name=f"lm_{models}_oov" if "oov_feature" in options else None,
                name=f"lm_{models}",
            )
            models += 1
            options = {key: value for key, value in options.items() if key not in ("lm_type", "oov_feature")}
        elif name == "WordPenalty":
            value = options.pop("value", _WORD)
            draft.feature("word-penalty", one.line, value=value, count_bos=None if stack else True, name=name)
        elif name == "OOVPenalty":
            draft.feature("oov", one.line, value=-100, name=name)
        elif name == "PhrasePenalty":
            draft.feature("phrase-penalty", one.line, value=1, owner=options.pop("owner", None), name=name)
        elif name in ("Distortion", "SourcePath"):
            draft.feature("distortion" if name == "Distortion" else "source-path", one.line, name=name)
        else:
            draft.feature(name, one.line, **{_option(key): value or "true" for key, value in options.items()})
            options = {}
        for key, value in options.items():
            draft.idle(one, f"{name} -{key} {value}".rstrip())


def _option(key: str) -> str:
    """A parameter as an option; ``name`` is the host's own."""
    return "lm_name" if key == "name" else key.replace("-", "_")


def _weights(draft: Draft, path: Path | None) -> None:
    draft.option("model.weights", "weights-file")
    if draft.settings.all(WEIGHT) and path is not None:
        draft.put("model.weights", str(path), draft.every(WEIGHT)[0].line)
