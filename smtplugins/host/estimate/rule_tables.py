"""`smt extract --rules`: extract hierarchical rules from word-aligned text into a folder of tables."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.core.extract.hierarchical_rules import (
    LIMITS,
    RULE_FORMATS,
    USUAL_LIMITS,
    BadRules,
    ExtractedRules,
    RuleSettings,
    glue_grammar,
)
from smtplugins.host.arguments import argument
from smtplugins.host.estimate.phrase_tables import (
    CONVERTED_TABLE,
    LEXICAL_TABLES,
    Bitext,
    FileName,
    Note,
    check_memory,
    outputs,
    read_lexical,
    spill_folder,
    tell,
)
from smtplugins.host.estimate.spread_counts import count_text, runner_of, threads_of
from smtplugins.host.progress import progress

if TYPE_CHECKING:
    from smtplugins.contracts.runners import Jobs
    from smtplugins.host.host import Host

GLUE = "glue-grammar"
_TOOLKITS = {"moses": "moses-rules", "cdec": "cdec-grammar", "joshua": "joshua-grammar"}


def extract_rules(
    host: Host,
    bitext: Bitext,
    folder: FileName,
    settings: RuleSettings | None = None,
    *,
    to_format: str | None = None,
    lexical: tuple[FileName, FileName] | None = None,
    skip_bad: bool = False,
    jobs: Jobs = None,
    memory: int | None = None,
    note: Note = lambda text: None,
    quiet: bool = True,
) -> int:
    """Write the rule table of a text into a folder, created if needed; return the number of rules.

    The files are ``rule-table.gz`` for Moses or ``grammar.gz`` for cdec and Joshua, with that toolkit's scores; a
    ``glue-grammar`` if the toolkit needs one; ``lex.f2e`` and ``lex.e2f`` unless ``lexical`` names such tables. The
    default settings are those of the format's toolkit. The files appear together when all are complete.
    """
    table_format = rule_format(to_format)
    check_memory(memory)
    runner = runner_of(host, jobs)
    table = rule_table(to_format)
    glue = glue_grammar(table_format)
    lexical_names = LEXICAL_TABLES if lexical is None else ()
    names = [table, *lexical_names, *([] if glue is None else [GLUE])]
    make = functools.partial(
        ExtractedRules, settings=settings, table_format=table_format, skip_bad=skip_bad, lexical=lexical is None
    )
    with outputs(folder, names) as files, spill_folder(folder) as aside, bitext.naming():
        rules = make(aside, threads=threads_of(jobs), memory=memory)
        read_lexical(rules, lexical or ())
        for _ in count_text(rules, make, bitext, runner, quiet):
            pass
        for lines in progress(rules.table(), "writing, pieces", quiet=quiet):
            files[table].write(lines)
        for name, forward in zip(lexical_names, (True, False), strict=False):
            files[name].write(rules.lexical(forward=forward))
        if glue is not None:
            files[GLUE].write(glue.encode())
    tell(rules, note)
    return rules.rules


def rule_table(to_format: str | None) -> str:
    """The name of the table that :func:`extract_rules` writes."""
    return "rule-table.gz" if rule_format(to_format) == "moses-rules" else CONVERTED_TABLE


def rule_format(name: str | None) -> str:
    """The format of a rule table, given its name or the toolkit's."""
    table_format = _TOOLKITS.get(name or "moses", name)
    if table_format not in RULE_FORMATS:
        known = (*_TOOLKITS, *RULE_FORMATS)
        raise UsageError(f"rules are written to {', '.join(_TOOLKITS)}, not to {name!r}{suggestion(str(name), known)}")
    return str(table_format)


def rule_settings(limits: str | None, to_format: str, options: Mapping[str, Any]) -> RuleSettings:
    """Named extraction limits (by default those of the format's toolkit), changed by options.

    Options that are None or not fields of `RuleSettings` are ignored.
    """
    name = limits or USUAL_LIMITS[to_format]
    if name not in LIMITS:
        raise UsageError(f"unknown limits {name!r}{suggestion(name, LIMITS)}")
    changes = {field.name: options.get(field.name) for field in fields(RuleSettings)}
    try:
        return replace(LIMITS[name], **{key: value for key, value in changes.items() if value is not None})
    except BadRules as error:
        raise UsageError(f"{argument(error.setting)}: expected {error.expected}, found {error.found}") from error
