"""Word-aligned text, phrase extraction and phrase tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtplugins.core.extract.phrase_pairs import MAX_PHRASE, BitextCounts, Phrases, default_memory, read_lines
from smtplugins.host.estimate.phrase_tables import PHRASE_TABLE, Bitext, PhraseSettings, extract_phrases, spill_folder
from smtplugins.host.files.aligned_text import read_pairs

if TYPE_CHECKING:
    from smtplugins.host.files.aligned_text import Pair

__all__ = [
    "MAX_PHRASE",
    "PHRASE_TABLE",
    "Bitext",
    "BitextCounts",
    "Pair",
    "PhraseSettings",
    "Phrases",
    "default_memory",
    "extract_phrases",
    "read_lines",
    "read_pairs",
    "spill_folder",
]
