"""Methods of the host that make tables of rules and phrases fit for use: filtered to an input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from smtplugins.host.arguments import listed

if TYPE_CHECKING:
    from smtplugins.host.files.opening import Path
    from smtplugins.host.host import Host


class TableFiles:
    """Rule tables, phrase tables and reordering tables as files."""

    def filter_table(
        self,
        table: Path,
        inputs: Path | Sequence[Path],
        target: Path,
        *,
        format: str | None = None,
        input_format: str | None = None,
        escape: str | None = None,
        lowercase: bool = False,
        note: Callable[[str], None] = lambda text: None,
        quiet: bool = True,
    ) -> tuple[int, int]:
        """Copy the lines of a table that can match a sentence of ``inputs``; return the numbers kept and read.

        Phrases are kept if a sentence has them; rules with gaps if their runs of words occur in one sentence in this
        order, with a word or more for each gap. Decoding the input with the copy gives what the table gives. Lines are
        copied as they are; the table is read as a stream. Of a folder of ours (``.smt``), a folder of the rules that
        are kept is written, with the names of all features. ``format`` is the table's. ``escape`` and ``lowercase``
        spell the words of the input as decoding does. The tables of a folder, as extraction writes it, are filtered
        into a new folder.
        """
        from smtplugins.host.files.filtering import filter_folder, filter_table, input_phrases, is_folder_of_tables

        host = cast("Host", self)
        phrases = input_phrases(host, listed(inputs), input_format, escape=escape, lowercase=lowercase)
        if format is None and is_folder_of_tables(table):
            kept, read = filter_folder(host, table, target, phrases, note, quiet=quiet)
        else:
            kept, read = filter_table(host, table, target, phrases, format, quiet=quiet)
        note(f"{kept} of {read} rules kept")
        return kept, read
