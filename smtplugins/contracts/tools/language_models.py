"""N-gram language models from ARPA and KenLM files."""

from __future__ import annotations

from smtplugins.core.lm.ngram_model import KenlmMissing, check_lm, read_lm, read_native_lm

__all__ = [
    "KenlmMissing",
    "check_lm",
    "read_lm",
    "read_native_lm",
]
