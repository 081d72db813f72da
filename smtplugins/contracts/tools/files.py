"""Open, read and write users' files and folders of arrays by format."""

from __future__ import annotations

from smtformats.format import rounded
from smtplugins.host.files.array_folders import (
    Growing,
    add_output,
    check_folder,
    new_folder,
    read_array,
    read_record,
    write_arrays,
)
from smtplugins.host.files.joining import by_line, references_of
from smtplugins.host.files.lists import read_corpus, read_weights
from smtplugins.host.files.opening import find_format, load_grammar, naming, number, open_known, write_all
from smtplugins.host.forests.forest_files import ForestFiles
from smtplugins.host.learn.pools import write_json

__all__ = [
    "ForestFiles",
    "Growing",
    "add_output",
    "by_line",
    "check_folder",
    "find_format",
    "load_grammar",
    "naming",
    "new_folder",
    "number",
    "open_known",
    "read_array",
    "read_corpus",
    "read_record",
    "read_weights",
    "references_of",
    "rounded",
    "write_all",
    "write_arrays",
    "write_json",
]
