"""Translate with a configuration into files: translations or lists, forests, building steps, statistics."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from smtformats.files import open_write
from smtformats.tokens import is_id
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.runners import Jobs
from smtplugins.host.config.run_yaml import RunConfig
from smtplugins.host.config.weight_names import checked
from smtplugins.host.decode.job import Outputs, run
from smtplugins.host.decode.printing.lines import Printing
from smtplugins.host.decode.sentences import note_cuts, read_source
from smtplugins.host.decode.statistics import DecodingStatistics
from smtplugins.host.decode.translator import as_sentences, make_translator
from smtplugins.host.files.opening import Path, find_format
from smtplugins.host.host import Host
from smtplugins.host.spread.choice import make_runner

Note = Callable[[str], None]


def decode_files(
    host: Host,
    config: RunConfig,
    sentences: Path | Iterable[Sentence | str | Sequence[str]] | None,
    outputs: Outputs,
    *,
    weights: Mapping[str, float] | None = None,
    set_weights: Mapping[str, float] | None = None,
    format: str | None = None,
    jobs: Jobs = None,
    cache: str | None = None,
    trace: Note | None = None,
    note: Note = lambda text: None,
    quiet: bool = True,
) -> DecodingStatistics:
    """Translate sentences, by default the configuration's source; return times and counts."""
    lists = config.output.lists if outputs.nbest is None else None
    configured = config.output.nbest
    if lists is None and (outputs.nbest or configured):
        outputs = _with_format(host, config, outputs)
    template = config.output.template if outputs.to_format is None else None
    if configured is None and (template is not None or lists is not None):
        configured = 1
    nbest = configured if outputs.nbest is None else outputs.nbest
    outputs.check(nbest)
    printing = Printing.of(config)
    _check_lines(config, template, lists, printing)
    source = config.source if sentences is None else sentences
    if source is None:
        raise UsageError("sentences: expected a file or sentences, or a source in the configuration, found none")
    # Check the runner before loading tables.
    make_runner(host, jobs, config)
    translator = make_translator(host, config, weights, cache, note, set_weights=set_weights)
    if isinstance(source, (str, os.PathLike)):
        records = read_source(host, translator, source, format, note)
    else:
        records = as_sentences(source, translator.text)
    if config.output.first_id:
        records = (_renumbered(sentence, config.output.first_id) for sentence in records)
    translator = translator.loaded()
    for text in (*config.notes, *translator.notes()):
        note(text)
    if nbest is not None and lists is None and template is None and (unused := printing.of_lines):
        note(f"not used, as n-best lists are on the output: {', '.join(unused)}")
    fields = outputs.fields or (config.output.fields if nbest is not None else ())
    unique, cased = outputs.unique or config.output.unique, bool(config.output.project_case)
    outputs = replace(outputs, nbest=nbest, unique=unique, fields=fields, template=template, project_case=cased)
    outputs = replace(outputs, lists=lists, printing=printing)
    if outputs.forests is None and config.output.forests is not None:
        outputs = replace(outputs, forests=config.output.forests, forests_format=config.output.forests_format)
    _check_places(outputs, source)
    records = note_cuts(translator, checked(translator, records, note), note)
    statistics = run(host, translator, records, outputs, jobs=jobs, trace=trace, note=note, quiet=quiet)
    if outputs.stats is not None:
        _write_statistics(outputs.stats, statistics)
    return statistics


def _with_format(host: Host, config: RunConfig, outputs: Outputs) -> Outputs:
    """Name the format of lists that the output's suffix implies; without one it is the configuration's."""
    from smtplugins.host.files.conversion import output_format

    usual = find_format(config.output.format, "nbest", host.formats("nbest"))
    record = output_format(outputs.to_format, "nbest", usual, outputs.output, host.formats)
    return outputs if outputs.to_format or record is usual else replace(outputs, to_format=record.name)


def _check_lines(config: RunConfig, template: str | None, lists: Path | None, printing: Printing) -> None:
    """Raise UsageError if the configuration asks for lines that are made in two ways."""
    if printing.rescored is not None and template is None:
        with config.at("output", "rescored"):
            raise UsageError("expected lines by output.template (and no --to)")
    ways = {"choice": printing.choice is not None, "show": bool(printing.parts)}
    given = {"template": template is not None, "project_case": bool(config.output.project_case)}
    for key, on in {"template": given["template"], "show": ways["show"]}.items():
        if on and config.text is not None:
            with config.at("output", key):
                raise UsageError("cannot be used with the key `text`, by which translations are raw text")
    for key in (key for key, on in given.items() if on):
        others = {**ways, "lists": lists is not None and key == "template"}
        for other in (other for other, on in others.items() if on):
            with config.at("output", other):
                raise UsageError(f"cannot be used with output.{key}, which makes lines of its own")


def _check_places(outputs: Outputs, source: object) -> None:
    """Raise UsageError if two of the outputs and the source are one file, or a file beside them is `-`."""
    printing = outputs.printing.files if outputs.printing is not None else None
    beside = {f"output.{name}": path for name, path in (printing or {}).items()}
    for name, path in beside.items():
        if os.path.basename(path) == "-":
            raise UsageError(f"{name}: expected a file, found -, which is for translations or lists")
    read = source if isinstance(source, (str, os.PathLike)) else None
    places = {"the source": read, "translations": outputs.output, "output.lists": outputs.lists, **beside}
    places |= {"forests": outputs.forests, "statistics": outputs.stats, "building steps": outputs.built}
    known: dict[str, str] = {}
    for what, place in places.items():
        # Standard input and output are two, and may be a device.
        if place is None or os.fspath(place) == "-" or (os.path.exists(place) and not os.path.isfile(place)):
            continue
        other = known.setdefault(os.path.realpath(place), what)
        if other != what:
            raise UsageError(f"expected different files for {other} and {what}, found {os.fspath(place)} for both")


def _renumbered(sentence: Sentence, first: int) -> Sentence:
    return replace(sentence, id=str(int(sentence.id) + first)) if is_id(sentence.id) else sentence


def _write_statistics(path: Path, statistics: DecodingStatistics) -> None:
    import json

    with open_write(path) as out:
        json.dump(statistics.record(), out, indent=1)
        out.write("\n")
